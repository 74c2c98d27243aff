"""Trajectories: references of finite duration, planned through points or along paths.

Every trajectory is called with a time, or an array of times, and returns a `thunder_py.reference.JointReference` or
`TaskReference` with consistent derivatives. All are evaluated in C++ inside `thunder_py.simulate`.
"""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
