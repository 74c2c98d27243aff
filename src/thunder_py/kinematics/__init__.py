"""Kinematic control and inverse kinematics: CLIK, numeric and analytic solvers, wrenches."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
