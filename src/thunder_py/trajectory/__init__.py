"""Trajectories: references with a beginning and an end, planned through points or along paths.

Every trajectory is called with a time, or an array of times, and returns a `thunder_py.reference.JointReference` or
`TaskReference` whose velocity and acceleration are the derivatives of its position. All are evaluated in C++ inside
`thunder_py.simulate`.
"""

from .fourier_series import FourierSeries

__all__ = ["FourierSeries"]
