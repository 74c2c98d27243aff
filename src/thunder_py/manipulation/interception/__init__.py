"""Grasping of moving objects: motion estimate, replanning decision, reach, and a simulated conveyor."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
