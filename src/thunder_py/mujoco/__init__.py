"""MuJoCo: an independent physics engine as a plant, conversion of robots to its format, pictures and films."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
