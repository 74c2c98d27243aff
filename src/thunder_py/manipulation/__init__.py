"""Dynamic manipulation: throwing, throwing with an elastic wrist, grasping what moves, picking what is seen."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
