"""MuJoCo: an independent physics engine as a plant, conversion of robots to its format, pictures and films."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
