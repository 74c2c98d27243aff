"""Length and straightness of a path."""

from __future__ import annotations

import math

import numpy as np

from ...checks import Array
from ...errors import ThunderError
from ..processing.filtering import low_pass
from ..processing.over_sets import refuse_gaps
from .sampling import MotionLike, as_trial, choose_part, dofs_of, even_times, is_motion, sample

__all__ = ["path_length", "path_points", "straightness"]


def path_length(
    motion: MotionLike, *, part: str | None = None, cutoff: float = math.inf, filter_order: int = 2
) -> float:
    """Return the length of the path: m for translation, rad for orientation and joints.

    Parameters
    ----------
    motion : Trial, motion object or (t, x)
        Of motion objects the speed is integrated, exactly but for the quadrature of `jerk_summary`. Of recordings the
        samples are joined by straight lines (by geodesics between orientations).
    part : {"translation", "orientation", "joints"}, optional
        By default the translation if there is one, else the joints.
    cutoff : float
        Of a zero-phase Butterworth filter for recordings, Hz. Without one (`math.inf`) samples are taken as they are,
        and noise adds to the length.
    filter_order : int
        Of one pass.

    Returns
    -------
    float

    Raises
    ------
    ThunderError
        For gaps, and for parts that are not there.
    """
    name, columns = choose_part(dofs_of(motion), part)
    if is_motion(motion):
        s = sample(motion, 1, part=name, cutoff=None if cutoff == math.inf else cutoff)
        return float(s.weights @ s.norm(1))
    return float(_steps(_recorded(motion, columns, cutoff, filter_order), name).sum())


def straightness(
    motion: MotionLike, *, part: str | None = None, cutoff: float = math.inf, filter_order: int = 2
) -> float:
    """Return the distance from start to end over the length of the path: 1 for a straight line, 0 for a closed one.

    Parameters as for `path_length`. Of orientations the distance is the angle of the geodesic.

    Raises
    ------
    ThunderError
        As `path_length`, and for a motion that rests.
    """
    name, columns = choose_part(dofs_of(motion), part)
    length = path_length(motion, part=name, cutoff=cutoff, filter_order=filter_order)
    if not length > 0.0:
        raise ThunderError("straightness needs a motion that moves, this one rests")
    if is_motion(motion):
        ends = motion.position(even_times(motion, 2))[:, columns]  # type: ignore[operator,union-attr]
    else:
        ends = _recorded(motion, columns, cutoff, filter_order)[[0, -1]]
    # of a straight line the two may differ by rounding
    return min(1.0, float(_steps(ends, name)[0]) / length)


def path_points(motion: MotionLike, part: str, columns: list[int], n: int) -> Array:
    """Return n points (n, k) of a motion at equal steps of tau = t / T; between samples runs a cubic spline."""
    if is_motion(motion):
        t = even_times(motion, n)
        return np.asarray(motion.position(t)[:, columns], dtype=np.float64)  # type: ignore[operator,union-attr]
    trial = as_trial(motion)
    x = np.array(_recorded(motion, columns, math.inf, 2))
    t = np.linspace(trial.t[0], trial.t[-1], n)
    if part == "orientation":
        from scipy.spatial.transform import Rotation, Slerp

        return np.asarray(Slerp(trial.t, Rotation.from_rotvec(x))(t).as_rotvec(), dtype=np.float64)
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(trial.t, x)(t), dtype=np.float64)


def _recorded(motion: MotionLike, columns: list[int], cutoff: float, order: int) -> Array:
    trial = as_trial(motion)
    trial = trial.select([trial.dofs[k] for k in columns])
    refuse_gaps(trial, "a path")
    return low_pass(trial, cutoff, order).x


def _steps(x: Array, part: str) -> Array:
    """Return the distances (n - 1,) between successive points."""
    if part == "orientation":
        from scipy.spatial.transform import Rotation

        R = Rotation.from_rotvec(np.array(x))  # SciPy wants to be able to write
        return np.asarray((R[:-1].inv() * R[1:]).magnitude(), dtype=np.float64)
    return np.asarray(np.linalg.norm(np.diff(x, axis=0), axis=1), dtype=np.float64)
