"""Recorded motion: trials and sets of them, file formats, processing, metrics, statistics, synthetic recordings."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
