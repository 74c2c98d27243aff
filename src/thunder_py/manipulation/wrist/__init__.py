"""Throwing with an elastic wrist (D4.2, section 4): models, optimal switching, base motion, joint optimization."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
