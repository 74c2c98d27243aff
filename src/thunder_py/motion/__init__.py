"""Human-like motion: functional components, a planner based on them, movement primitives."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
