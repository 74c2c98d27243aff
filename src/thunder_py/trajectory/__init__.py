"""Trajectories: references with a beginning and an end, planned through points or along paths.

Every trajectory is called with a time, or an array of times, and returns a `thunder_py.reference.JointReference` or
`TaskReference` whose velocity and acceleration are the derivatives of its position. All are evaluated in C++ inside
`thunder_py.simulate`.
"""

from .fourier_series import FourierSeries
from .joint import JointTrajectory, parabolic_blends, point_to_point, quintic_spline, spline
from .obstacles import Box, Capsule, HalfSpace, Obstacle, Sphere
from .orientation import Orientation
from .path import Path
from .plan import Plan
from .potential_field import PotentialField
from .profiles import s_curve, trapezoidal
from .segments import Arc, Circle, Line, Turn
from .timing import TimingLaw, TimingState, cubic, min_jerk, quintic

__all__ = [
    "Arc",
    "Box",
    "Capsule",
    "Circle",
    "FourierSeries",
    "HalfSpace",
    "JointTrajectory",
    "Line",
    "Obstacle",
    "Orientation",
    "Path",
    "Plan",
    "PotentialField",
    "Sphere",
    "TimingLaw",
    "TimingState",
    "Turn",
    "cubic",
    "min_jerk",
    "parabolic_blends",
    "point_to_point",
    "quintic",
    "quintic_spline",
    "s_curve",
    "spline",
    "trapezoidal",
]
