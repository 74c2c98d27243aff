"""Recorded motion: trials and sets of them, file formats, processing, metrics, statistics, synthetic recordings."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
