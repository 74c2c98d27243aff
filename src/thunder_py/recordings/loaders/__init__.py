"""Loaders of recordings; each returns a `MotionSet` in meters, radians and seconds."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
