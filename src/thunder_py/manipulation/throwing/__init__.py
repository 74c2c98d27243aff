"""Throwing (D4.2, section 3.3.3): flight, choice of the release, throwing motion, throw in simulation."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
