"""Synthetic recordings: seeded, in SI units, of several subjects; no download needed."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
