"""Piecewise polynomial joint trajectories: point to point, splines, parabolic blends."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, all_positive, array, one_of, one_or_each, positives
from ..errors import ThunderError
from ..reference import _JointSource
from .timing import TimingLaw, quintic_coefficients, trapezoidal


class JointTrajectory(_JointSource, _core.JointTrajectory):
    """Piecewise polynomial joint trajectory; at rest before the first break and after the last.

    Usually constructed by `point_to_point`, `spline`, `quintic_spline` or `parabolic_blends`.

    Parameters
    ----------
    breaks : (m + 1,) array_like
        Increasing times [s].
    coefficients : (order, m, n) array_like
        Coefficients of the powers of ``t - breaks[k]``, highest first, as in `scipy.interpolate.PPoly`.

    Attributes
    ----------
    start_time, end_time, duration : float
        [s].

    Raises
    ------
    ValueError
        If `breaks` do not increase or shapes do not fit.

    Examples
    --------
    >>> from thunder_py.trajectory import JointTrajectory
    >>> ramp = JointTrajectory([0.0, 2.0], [[[0.5]], [[1.0]]])
    >>> ramp(1.0).q.tolist(), ramp(1.0).dq.tolist(), ramp(5.0).q.tolist(), ramp(5.0).dq.tolist()
    ([1.5], [0.5], [2.0], [0.0])
    """

    def __init__(self, breaks: npt.ArrayLike, coefficients: npt.ArrayLike) -> None:
        self.breaks: Array = increasing(breaks, "breaks", 2)
        self.coefficients: Array = array(coefficients, (None, self.breaks.size - 1, None), "coefficients")
        if self.coefficients.size == 0:
            raise ThunderError(f"coefficients must not be empty, got shape {self.coefficients.shape}")
        super().__init__(self.breaks, self.coefficients)
        self.start_time, self.end_time = float(self.breaks[0]), float(self.breaks[-1])
        self.duration = self.end_time - self.start_time


def increasing(value: npt.ArrayLike, what: str, least: int) -> Array:
    """Return at least `least` increasing times, or raise ValueError naming `what`."""
    t = array(value, (None,), what)
    if t.size < least:
        raise ThunderError(f"{what} must be at least {least}, got {t.size}")
    if not (np.diff(t) > 0.0).all():
        k = int(np.argmin(np.diff(t) > 0.0))
        raise ThunderError(f"{what} must increase, got {t[k]:g} and then {t[k + 1]:g}")
    return t


def _waypoints(times: npt.ArrayLike, q: npt.ArrayLike, least: int) -> tuple[Array, Array]:
    at = increasing(times, "times", least)
    points = array(q, (at.size, None), "points")
    if points.shape[1] == 0:
        raise ThunderError("points must have at least one joint, got none")
    return at, points


def point_to_point(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    timing: TimingLaw | None = None,
    *,
    v_max: npt.ArrayLike | None = None,
    a_max: npt.ArrayLike | None = None,
) -> JointTrajectory:
    """Return the straight, synchronized motion in joint space from q0 to q1.

    Parameters
    ----------
    q0, q1 : (n,) array_like
        [rad or m].
    timing : TimingLaw, optional
        Any law; its range is scaled to the whole displacement.
    v_max, a_max : float or (n,) array_like, optional
        Limits for the fastest trapezoidal law, in place of `timing` [rad/s, rad/s^2]; infinite for none.

    Returns
    -------
    JointTrajectory
        The motion; all joints start and stop together.

    Raises
    ------
    ValueError
        If both a law and limits are given, or neither; if limits are given and q1 equals q0.

    Examples
    --------
    >>> from thunder_py.trajectory import quintic, point_to_point
    >>> motion = point_to_point([0.0, 0.0], [0.8, -0.4], quintic(1.5))
    >>> motion.duration, motion(0.75).q.round(3).tolist()
    (1.5, [0.4, -0.2])
    >>> round(point_to_point([0.0, 0.0], [0.8, -0.4], v_max=[1.0, 0.5], a_max=2.0).duration, 3)
    1.3
    """
    a = array(q0, (None,), "q0")
    delta = array(q1, a.shape, "q1") - a
    if timing is None:
        if v_max is None or a_max is None:
            raise ThunderError("timing must be given, or both v_max and a_max")
        timing = _fastest(delta, v_max, a_max)
    elif v_max is not None or a_max is not None:
        raise ThunderError("timing must be None if v_max or a_max is given")
    law = timing.rescaled(0.0, 1.0)
    coefficients = law.coefficients[:, :, None] * delta
    coefficients[-1] += a
    return JointTrajectory(law.breaks, coefficients)


def _fastest(delta: Array, v_max: npt.ArrayLike, a_max: npt.ArrayLike) -> TimingLaw:
    """Return the fastest trapezoidal law from 0 to 1 within the limits of every joint."""
    moves = delta != 0.0
    if not moves.any():
        raise ThunderError("q1 must differ from q0 if v_max and a_max are given")
    least = []
    for bound, what in ((v_max, "v_max"), (a_max, "a_max")):
        limit = positives(bound, delta.size, what, finite=False)
        with np.errstate(over="ignore"):
            least.append(float((limit[moves] / np.abs(delta[moves])).min()))
    return trapezoidal(v_max=least[0], a_max=least[1])


def spline(
    times: npt.ArrayLike,
    points: npt.ArrayLike,
    boundary: Literal["natural", "clamped", "periodic", "not-a-knot"] = "clamped",
    *,
    start_velocity: npt.ArrayLike | None = None,
    end_velocity: npt.ArrayLike | None = None,
) -> JointTrajectory:
    """Return the cubic spline through points, continuous up to acceleration.

    Parameters
    ----------
    times : (m,) array_like
        Increasing times [s], at least two.
    points : (m, n) array_like
        Joint positions at these times [rad or m].
    boundary : {"natural", "clamped", "periodic", "not-a-knot"}
        Zero acceleration at the ends; prescribed velocities at the ends; equal first and last point with continuous
        derivatives; a single cubic over the first two pieces and over the last two.
    start_velocity, end_velocity : (n,) array_like, optional
        Velocities at the ends for ``"clamped"`` [rad/s or m/s]; default zero.

    Returns
    -------
    JointTrajectory
        The spline.

    Raises
    ------
    ValueError
        If `times` do not increase, shapes do not fit, or `boundary` is unknown.

    Examples
    --------
    >>> from thunder_py.trajectory import spline
    >>> motion = spline([0.0, 1.0, 2.5], [[0.0, 0.0], [0.8, -0.4], [0.3, 0.5]])
    >>> motion(1.0).q.round(3).tolist(), bool(abs(motion(2.5).dq).max() < 1e-9)
    ([0.8, -0.4], True)
    """
    from scipy.interpolate import CubicSpline

    at, q = _waypoints(times, points, 2)
    one_of(boundary, ("natural", "clamped", "periodic", "not-a-knot"), "boundary")
    if boundary != "clamped" and (start_velocity is not None or end_velocity is not None):
        raise ThunderError(f"boundary must be 'clamped' for start_velocity and end_velocity, got {boundary!r}")
    if boundary == "periodic" and not np.array_equal(q[0], q[-1]):
        raise ThunderError(f"points must end where they start if periodic, got {q[0].tolist()} and {q[-1].tolist()}")
    v0, v1 = (
        np.zeros(q.shape[1]) if value is None else array(value, q.shape[1:], what)
        for value, what in ((start_velocity, "start_velocity"), (end_velocity, "end_velocity"))
    )
    return JointTrajectory(at, CubicSpline(at, q, bc_type=((1, v0), (1, v1)) if boundary == "clamped" else boundary).c)


def quintic_spline(
    times: npt.ArrayLike,
    points: npt.ArrayLike,
    velocities: npt.ArrayLike | None = None,
    accelerations: npt.ArrayLike | None = None,
) -> JointTrajectory:
    """Return a quintic spline through points.

    Without velocities at the points it is continuous up to its fourth derivative, with zero velocity and acceleration
    at the ends. With velocities each piece is the quintic between its ends, continuous up to acceleration.

    Parameters
    ----------
    times : (m,) array_like
        Increasing times [s], at least two.
    points : (m, n) array_like
        [rad or m].
    velocities, accelerations : (m, n) array_like, optional
        Values at the points [rad/s, rad/s^2 or m/s, m/s^2]; accelerations default to zero if velocities are given.

    Returns
    -------
    JointTrajectory
        The spline.

    Raises
    ------
    ValueError
        If `times` do not increase, shapes do not fit, or accelerations are given without velocities.

    Examples
    --------
    >>> from thunder_py.trajectory import quintic_spline
    >>> motion = quintic_spline([0.0, 1.0, 2.5], [[0.0, 0.0], [0.8, -0.4], [0.3, 0.5]])
    >>> motion(1.0).q.round(3).tolist(), bool(abs(motion(0.0).ddq).max() < 1e-9)
    ([0.8, -0.4], True)
    """
    from scipy.interpolate import make_interp_spline

    at, q = _waypoints(times, points, 2)
    if velocities is None and accelerations is not None:
        raise ThunderError("velocities must be given if accelerations are")
    if velocities is not None:
        v = array(velocities, q.shape, "velocities")
        a = np.zeros(q.shape) if accelerations is None else array(accelerations, q.shape, "accelerations")
        T = np.diff(at)[:, None]
        return JointTrajectory(at, quintic_coefficients(T, q[:-1], v[:-1], a[:-1], q[1:], v[1:], a[1:]))
    rest = [(1, np.zeros(q.shape[1])), (2, np.zeros(q.shape[1]))]
    through = make_interp_spline(at, q, k=5, bc_type=(rest, rest))  # type: ignore[arg-type]  # knots are at the points
    coefficients = [through(at[:-1], nu=power) / math.factorial(power) for power in range(5, -1, -1)]
    return JointTrajectory(at, coefficients)


def parabolic_blends(times: npt.ArrayLike, points: npt.ArrayLike, blend: float | npt.ArrayLike) -> JointTrajectory:
    """Return straight lines joined by parabolas (linear segments with parabolic blends).

    The trajectory starts and ends at rest in the first and last point, and passes near the others. Point k is missed by
    ``(v_{k+1} - v_k) blend_k / 8`` with v the velocities of the lines before and after it, at ``t_k + blend_0 / 2``.
    The trajectory lasts ``(blend_0 + blend_m) / 2`` longer than `times`.

    Parameters
    ----------
    times : (m,) array_like
        Increasing times [s], at least two.
    points : (m, n) array_like
        [rad or m].
    blend : float or (m,) array_like
        Durations of the parabolas [s].

    Returns
    -------
    JointTrajectory
        The trajectory.

    Raises
    ------
    ValueError
        If two neighboring blends overlap.

    Notes
    -----
    Siciliano et al. (2009), section 4.2.2.

    Examples
    --------
    >>> from thunder_py.trajectory import parabolic_blends
    >>> motion = parabolic_blends([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]], blend=0.4)
    >>> round(motion.duration, 3), motion(1.2).q.round(3).tolist()
    (2.4, [0.9])
    """
    at, q = _waypoints(times, points, 2)
    b = all_positive(one_or_each(blend, at.size, "blend"), "blend")
    T = np.diff(at)
    free = T - 0.5 * (b[:-1] + b[1:])
    if (free < -1e-12 * T).any():
        k = int(np.argmin(free))
        raise ThunderError(f"blends {b[k]:g} s and {b[k + 1]:g} s overlap: points {k} and {k + 1} are {T[k]:g} s apart")
    v = np.zeros((at.size + 1, q.shape[1]))
    v[1:-1] = np.diff(q, axis=0) / T[:, None]
    breaks, rows, x = [float(at[0])], [], q[0]
    for k in range(at.size):
        pieces = [(float(b[k]), v[k], v[k + 1])]
        if k < T.size:
            pieces.append((float(free[k]), v[k + 1], v[k + 1]))
        for length, before, after in pieces:
            if breaks[-1] + length > breaks[-1]:
                rows.append([0.5 * (after - before) / length, before, x])
                breaks.append(breaks[-1] + length)
            x = x + 0.5 * length * (before + after)
    return JointTrajectory(breaks, np.array(rows).transpose(1, 0, 2))
