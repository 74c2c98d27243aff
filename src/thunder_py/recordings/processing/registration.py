"""Registration: one time scale for movements of which some parts were fast and others slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers, whole
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import POSITION, Trial
from .over_sets import moves, refuse_gaps, who
from .resampling import at_times

__all__ = ["affine_fit", "affine_registration", "half_path_time", "landmark_map", "peak_speed_time", "register"]

#: samples at which movements are compared
_SAMPLES = 256


def affine_registration(
    motions: MotionSet,
    reference: int,
    grid: tuple[int, int],
    shifts: tuple[float, float],
    stretches: tuple[float, float],
    n: int | None,
) -> MotionSet:
    """Register every trial to one of them; see `register`."""
    whole(reference, "reference", -len(motions), len(motions) - 1)
    _ = motions.dofs  # raises where they differ
    pairs = _pairs(grid, shifts, stretches)
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    index = int(reference) % len(motions)
    wanted = _standard(_over_tau(motions[index], tau))
    results: list[Trial] = []
    for k, trial in enumerate(motions):
        shift, stretch = (0.0, 1.0) if k == index else affine_fit(_over_tau(trial, tau), wanted, pairs)
        results.append(_moved(trial, shift, stretch, n))
    return MotionSet(results)


def _pairs(grid: tuple[int, int], shifts: tuple[float, float], stretches: tuple[float, float]) -> Array:
    """Return all (shift, stretch), shape (m, 2)."""
    if np.shape(grid) != (2,):
        raise ThunderError(f"grid must be two numbers of steps, got {grid!r}")
    for steps in grid:
        whole(steps, "grid: a number of steps", 1)
    for what, value in (("shifts", shifts), ("stretches", stretches)):
        if numbers(value, what).shape != (2,) or not np.isfinite(value).all() or value[0] > value[1]:
            raise ThunderError(f"{what} must be a smallest and a largest number, got {value!r}")
    if not stretches[0] > 0.0:
        raise ThunderError(f"stretches must be > 0, got {stretches!r}")
    a, b = np.meshgrid(np.linspace(*shifts, grid[0]), np.linspace(*stretches, grid[1]), indexing="ij")
    return np.column_stack([a.ravel(), b.ravel()])


def _over_tau(trial: Trial, tau: Array) -> Array:
    return at_times(trial, trial.t[0] + tau * trial.duration)


def _standard(values: Array) -> Array:
    """Return columns of mean 0 and length 1; a column that does not move becomes 0, and correlates with nothing."""
    centred = values - values.mean(axis=-2, keepdims=True)
    lengths = np.linalg.norm(centred, axis=-2, keepdims=True)
    still = lengths <= 1e-12 * (1.0 + np.abs(values).max())
    return np.asarray(np.where(still, 0.0, centred / np.where(still, 1.0, lengths)), dtype=np.float64)


def affine_fit(values: Array, wanted: Array, pairs: Array) -> tuple[float, float]:
    """Return the (shift, stretch) among `pairs` whose movement has the largest correlation with `wanted` in one dof.

    Parameters
    ----------
    values : (S, d) array
        At S equal steps of tau, linear in between.
    wanted : (S, d) array
        Columns of mean 0 and length 1.
    pairs : (m, 2) array
        Shifts and stretches.
    """
    tau = np.linspace(0.0, 1.0, len(values))
    place = np.clip((tau - pairs[:, :1]) / pairs[:, 1:], 0.0, 1.0) * (len(values) - 1)  # (m, S)
    left = np.minimum(place.astype(np.intp), len(values) - 2)
    part = (place - left)[..., None]
    moved = (1.0 - part) * values[left] + part * values[left + 1]  # (m, S, d)
    correlation = np.einsum("msd,sd->md", _standard(moved), wanted)
    shift, stretch = pairs[int(np.argmax(correlation.max(axis=1)))]
    return float(shift), float(stretch)


def _moved(trial: Trial, shift: float, stretch: float, n: int | None) -> Trial:
    """Return x((tau - shift) / stretch), ends held, over a duration that keeps speeds as they were."""
    count = len(trial) if n is None else whole(n, "n", 2)
    tau = np.linspace(0.0, 1.0, count)
    values = at_times(trial, trial.t[0] + np.clip((tau - shift) / stretch, 0.0, 1.0) * trial.duration)
    duration = trial.duration / stretch
    return trial.with_values(values, trial.t[0] + tau * duration, rate=(count - 1) / duration)


Landmarks = str | Callable[[Trial], npt.ArrayLike] | Sequence[npt.ArrayLike]


def register(
    motions: MotionSet,
    method: str = "landmark",
    *,
    n: int | None = None,
    reference: int = 0,
    grid: tuple[int, int] = (10, 10),
    shifts: tuple[float, float] = (-0.1, 0.1),
    stretches: tuple[float, float] = (0.4, 1.1),
    landmarks: Landmarks = "peak_speed",
    target: npt.ArrayLike | None = None,
    dofs: Sequence[str] = POSITION,
) -> MotionSet:
    """Move the samples of every trial in time so that the trials resemble each other.

    tau is the time of a trial divided by its duration, 0 to 1.

    - ``"none"``: the trials as they are.
    - ``"affine"``, as the authors of the fPCA planner did: ``x_new(tau) = x((tau - shift) / stretch)``, with
      the pair of a grid of shifts and stretches that has the largest correlation with the reference trial in any single
      dof. **Ends**: where (tau - shift) / stretch is below 0 or above 1 the first or the last value is held; crop both
      ends afterwards. The duration becomes duration / stretch, so that speeds remain what they were. The reference
      stays as it is. (The default grid holds neither a shift of 0 nor a stretch of 1: a trial equal to the reference
      is moved a little.)
    - ``"landmark"``: ``x_new(tau) = x(h(tau))``, h increasing, h(0) = 0, h(1) = 1, and h takes the target times to the
      times of the trial's landmarks; see `landmark_map` for h. Durations stay.

    Parameters
    ----------
    motions : MotionSet
        No gaps; the same dofs in all. Filter first: peaks of noise are landmarks too.
    method : str
        ``"none"``, ``"affine"`` or ``"landmark"``.
    n : int, optional
        Samples of every result, at equal time steps; by default as many as the trial has.
    reference : int
        Affine: index of the trial the others are compared to.
    grid : (int, int)
        Affine: numbers of shifts and stretches.
    shifts, stretches : (float, float)
        Affine: their ranges, equal steps from end to end.
    landmarks : str, callable or sequence
        Landmark: ``"peak_speed"``, the instant of the largest speed; ``"half_path"``, that at which half of the path
        is behind; or times [s] on a trial's own clock, as a function of the trial or one entry for each trial, the same
        number for all, increasing, inside of the trial. Where speeds have a flat top the instant of their peak is
        chance, and aligning it makes trials less alike: the half path is safer then.
    target : array_like, optional
        Landmark: where they go, in tau; by default the mean of where they are.
    dofs : sequence of str
        Landmark: whose speed has the peak, whose path is halved.

    Returns
    -------
    MotionSet
        Equal time steps, from the time at which each trial started.

    Raises
    ------
    ThunderError
        For gaps, unknown methods, landmarks that do not increase or lie outside of their trial.
    """
    if not isinstance(motions, MotionSet):
        raise ThunderError(f"register takes a MotionSet, got {type(motions).__name__}")
    for trial in motions:
        refuse_gaps(trial, "register")
    if method == "none" or len(motions) == 0:
        return motions
    if method == "affine":
        return affine_registration(motions, reference, grid, shifts, stretches, n)
    if method == "landmark":
        return _landmark_registration(motions, landmarks, target, n, dofs)
    raise ThunderError(f"method must be none, affine or landmark, got {method!r}")


def _landmark_registration(
    motions: MotionSet, landmarks: Landmarks, target: npt.ArrayLike | None, n: int | None, dofs: Sequence[str]
) -> MotionSet:
    if not isinstance(landmarks, str) and not callable(landmarks) and _count(landmarks) != len(motions):
        raise ThunderError(f"landmarks must be one entry for each of {len(motions)} trials, got {landmarks!r}")
    found = [_landmarks(trial, k, landmarks, dofs) for k, trial in enumerate(motions)]
    if len({len(times) for times in found}) > 1:
        raise ThunderError(f"trials must have as many landmarks as each other, got {sorted({len(f) for f in found})}")
    goal = np.mean(found, axis=0) if target is None else np.atleast_1d(numbers(target, "target"))
    if goal.shape != found[0].shape:
        raise ThunderError(f"target must have one entry for each of {len(found[0])} landmarks, got shape {goal.shape}")
    return MotionSet(_warped(trial, landmark_map(goal, times), n) for trial, times in zip(motions, found, strict=True))


def _count(landmarks: object) -> int:
    return len(landmarks) if isinstance(landmarks, (Sequence, np.ndarray)) else -1


def _landmarks(trial: Trial, k: int, landmarks: Landmarks, dofs: Sequence[str]) -> Array:
    """Return the landmarks of one trial in tau."""
    times: npt.ArrayLike
    if isinstance(landmarks, str):
        known = {"peak_speed": peak_speed_time, "half_path": half_path_time}
        if landmarks not in known:
            raise ThunderError(f"landmarks must be {' or '.join(known)}, a function or times, got {landmarks!r}")
        times = known[landmarks](trial, dofs)
    else:
        times = landmarks(trial) if callable(landmarks) else landmarks[k]
    tau: Array = (np.atleast_1d(numbers(times, "landmarks")) - trial.t[0]) / trial.duration
    if tau.ndim != 1 or not ((tau > 0.0) & (tau < 1.0)).all() or (np.diff(tau) <= 0.0).any():
        raise ThunderError(f"landmarks must increase inside of {who(trial)} (index {k}), got {tau.tolist()} in tau")
    return tau


def _warped(trial: Trial, h: Callable[[Array], Array], n: int | None) -> Trial:
    count = len(trial) if n is None else whole(n, "n", 2)
    tau = np.linspace(0.0, 1.0, count)
    times = trial.t[0] + tau * trial.duration
    values = at_times(trial, trial.t[0] + np.clip(h(tau), 0.0, 1.0) * trial.duration)
    return trial.with_values(values, times, rate=(count - 1) / trial.duration)


def landmark_map(target: npt.ArrayLike, source: npt.ArrayLike) -> Callable[[Array], Array]:
    """Return the increasing map h of [0, 1] onto itself with h(target) = source.

    For one landmark it is the fractional linear map ``h(tau) = tau / (tau + a (1 - tau))``, which has all derivatives:
    registered movements keep a smooth jerk. For several it is the monotone piecewise cubic through them (PCHIP,
    Fritsch and Carlson 1980), of which only the first derivative is continuous: accelerations of registered movements
    jump at landmarks.

    Parameters
    ----------
    target, source : float or array_like, shape (m,)
        Increasing, between 0 and 1.
    """
    c, s = (np.atleast_1d(numbers(v, what)) for v, what in ((target, "target"), (source, "source")))
    for what, value in (("target", c), ("source", s)):
        if value.shape != c.shape or value.ndim != 1 or not (np.diff([0.0, *value, 1.0]) > 0.0).all():
            raise ThunderError(f"{what} must be {len(c)} increasing numbers between 0 and 1, got {value.tolist()}")
    if not len(c):
        raise ThunderError("target must be one number or more, got none")
    if len(c) == 1:
        a = float(c[0] * (1.0 - s[0]) / (s[0] * (1.0 - c[0])))
        return lambda tau: tau / (tau + a * (1.0 - tau))
    from scipy.interpolate import PchipInterpolator

    pchip = PchipInterpolator(np.concatenate([[0.0], c, [1.0]]), np.concatenate([[0.0], s, [1.0]]))
    return lambda tau: np.asarray(pchip(tau), dtype=np.float64)


def peak_speed_time(trial: Trial, dofs: Sequence[str] = POSITION) -> float:
    """Return the instant [s] of the largest speed of the cubic spline through the samples, between samples too."""
    from scipy.interpolate import CubicSpline
    from scipy.optimize import minimize_scalar

    values = refuse_gaps(trial.select(dofs), "peak_speed_time")
    if not moves(trial.select(dofs)):
        raise ThunderError(f"{who(trial)} does not move, so its speed has no peak")
    spline = CubicSpline(trial.t, values)
    peak = int(np.argmax(np.linalg.norm(spline(trial.t, 1), axis=1)))
    around = trial.t[max(peak - 1, 0)], trial.t[min(peak + 1, len(trial) - 1)]
    best = minimize_scalar(
        lambda time: -float(np.linalg.norm(spline(time, 1))), bounds=around, method="bounded", options={"xatol": 1e-12}
    )
    return float(best.x)


def half_path_time(trial: Trial, dofs: Sequence[str] = POSITION) -> float:
    """Return the instant [s] at which half of the path (the polygon through the samples) is behind."""
    steps = np.linalg.norm(np.diff(refuse_gaps(trial.select(dofs), "half_path_time"), axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if length[-1] == 0.0:
        raise ThunderError(f"{who(trial)} does not move, so no instant halves its path")
    return float(np.interp(0.5 * length[-1], length, trial.t))
