"""Trajectories: references of finite duration, planned through points or along paths.

Every trajectory is called with a time, or an array of times, and returns a `thunder_py.reference.JointReference` or
`TaskReference` with consistent derivatives. All are evaluated in C++ inside `thunder_py.simulate`.
"""

from .fourier_series import FourierSeries
from .hermite import MinimumJerk, minimum_jerk
from .joint import JointTrajectory, parabolic_blends, point_to_point, quintic_spline, spline
from .orientation import Orientation
from .path import Path
from .potential_field import Plan, PotentialField
from .segments import Arc, Circle, Line, RotationSegment
from .timing import TimingLaw, TimingState, cubic, quintic, s_curve, trapezoidal

__all__ = [
    "Arc",
    "Circle",
    "FourierSeries",
    "JointTrajectory",
    "Line",
    "MinimumJerk",
    "Orientation",
    "Path",
    "Plan",
    "PotentialField",
    "RotationSegment",
    "TimingLaw",
    "TimingState",
    "cubic",
    "minimum_jerk",
    "parabolic_blends",
    "point_to_point",
    "quintic",
    "quintic_spline",
    "s_curve",
    "spline",
    "trapezoidal",
]
