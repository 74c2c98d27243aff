"""Synthetic recordings: seeded, in SI units, of several subjects; no download needed."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
