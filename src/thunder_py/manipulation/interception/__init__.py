"""Grasping of moving objects: motion estimate, replanning decision, reach, and a simulated conveyor."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
