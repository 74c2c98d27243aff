"""MuJoCo: an independent physics engine as the plant, robots to and from its format, pictures and films of robots."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
