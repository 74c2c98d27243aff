"""What comes from a pose source, taken with care: sources raise errors, and send what is no pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array
from ...perception.options import is_pose
from ...perception.pose_source import PoseMeasurement, PoseSource

__all__ = ["poll", "rigid"]

#: farther away [m] nothing is seen, and squares of such numbers overflow
_FARTHEST = 1e6


def poll(source: PoseSource, t: float) -> tuple[list[PoseMeasurement], Exception | None]:
    """Ask a source; a control loop goes on where it raises an error, or answers with anything but measurements.

    Parameters
    ----------
    source : PoseSource
    t : float
        [s].

    Returns
    -------
    list of PoseMeasurement
        Empty where the source failed.
    Exception or None
        What went wrong.
    """
    try:
        found = list(source.poll(t))
        for one in found:
            if not isinstance(one, PoseMeasurement):
                raise TypeError(f"poll must return a list of PoseMeasurement, got a {type(one).__name__} in it")
    except Exception as error:  # a source may be a network, a driver, anybody's code
        return [], error
    return found, None


def rigid(pose: Any) -> Array | None:
    """Return a seen pose as an array (4, 4), or None where it is no rigid transform of sensible numbers."""
    if pose is None:
        return None
    T = np.asarray(pose, dtype=np.float64)
    if T.shape != (4, 4) or not np.abs(T).max() <= _FARTHEST or not is_pose(T):
        return None
    return T
