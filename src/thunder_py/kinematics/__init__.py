"""Kinematic control and inverse kinematics: CLIK, numeric and analytic solvers, wrenches."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
