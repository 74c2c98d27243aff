"""Registration: a common time scale for movements with different timing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from ...checks import Array, numbers, one_of, whole
from ...errors import ThunderError
from ..motion_set import MotionSet
from ..trial import POSITION, Trial, require_no_gaps, trial_label
from .over_sets import has_motion
from .resampling import at_times

#: samples for the comparison of movements
_SAMPLES = 256


#: a map of tau, and the stretch of time
Warp = tuple[Callable[[Array], Array], float]


def _affine_warps(motions: MotionSet, reference: int, pairs: Array) -> list[Warp]:
    whole(reference, "reference", -len(motions), len(motions) - 1)
    _ = motions.dofs  # raises if they differ
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    values = [at_times(trial, trial.t[0] + tau * trial.duration) for trial in motions]
    warps = [_affine_fit(x, _standardize(values[reference]), pairs) for x in values]
    warps[reference] = (lambda tau: tau), 1.0
    return warps


def _pairs(grid: tuple[int, int], shifts: tuple[float, float], stretches: tuple[float, float]) -> Array:
    """Return all (shift, stretch), shape (m, 2)."""
    if np.shape(grid) != (2,):
        raise ThunderError(f"grid must be two numbers of steps, got {grid!r}")
    counts = [whole(steps, "grid: a number of steps", 1) for steps in grid]
    for what, value in (("shifts", shifts), ("stretches", stretches)):
        if numbers(value, what).shape != (2,) or not np.isfinite(value).all() or value[0] > value[1]:
            raise ThunderError(f"{what} must be (smallest, largest), got {value!r}")
    if not stretches[0] > 0.0:
        raise ThunderError(f"stretches must be positive, got {stretches!r}")
    return np.array(list(product(np.linspace(*shifts, counts[0]), np.linspace(*stretches, counts[1]))))


def _standardize(values: Array) -> Array:
    """Return columns of mean 0 and length 1; constant columns become 0, with zero correlation."""
    centered = values - values.mean(axis=-2, keepdims=True)
    lengths = np.linalg.norm(centered, axis=-2, keepdims=True)
    constant = lengths <= 1e-12 * (1.0 + np.abs(values).max())
    return np.asarray(np.where(constant, 0.0, centered / np.where(constant, 1.0, lengths)), dtype=np.float64)


def _affine_fit(values: Array, target: Array, pairs: Array) -> Warp:
    """Return the warp of `pairs` (m, 2) with the largest correlation with `target` (S, d) in one dof."""
    tau = np.linspace(0.0, 1.0, len(values))
    times = np.clip((tau - pairs[:, :1]) / pairs[:, 1:], 0.0, 1.0)
    warped = np.stack([np.interp(times, tau, column) for column in values.T], axis=-1)  # (m, S, d)
    correlation = np.einsum("msd,sd->md", _standardize(warped), target)
    shift, stretch = pairs[int(np.argmax(correlation.max(axis=1)))]
    return lambda tau: (tau - shift) / stretch, float(stretch)


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
    """Warp the time of every trial to align the trials.

    tau is the time of a trial divided by its duration, 0 to 1.

    - ``"none"``: return the trials unchanged.
    - ``"affine"``, as the authors of the fPCA planner did: ``x_new(tau) = x((tau - shift) / stretch)``, with
      the pair from a grid of shifts and stretches with the largest correlation with the reference trial in any single
      dof. **Ends**: where (tau - shift) / stretch is below 0 or above 1, the first or the last value is held; crop both
      ends afterwards. The duration becomes duration / stretch, which preserves speeds. The reference is unchanged.
      (The default grid contains neither a shift of 0 nor a stretch of 1: a trial equal to the reference is warped
      slightly.)
    - ``"landmark"``: ``x_new(tau) = x(h(tau))``, h increasing, h(0) = 0, h(1) = 1, and h maps the target times to the
      times of the trial's landmarks; see `landmark_map` for h. Durations are unchanged.

    Parameters
    ----------
    motions : MotionSet
        No gaps; equal dofs. Filter first: peaks of noise are landmarks too.
    method : str
        ``"none"``, ``"affine"`` or ``"landmark"``.
    n : int, optional
        Samples of every result, at equal time steps; by default as many as the trial has.
    reference : int
        Affine: index of the reference trial.
    grid : (int, int)
        Affine: numbers of shifts and stretches.
    shifts, stretches : (float, float)
        Affine: their ranges, divided into equal steps.
    landmarks : str, callable or sequence
        Landmark: ``"peak_speed"``, see `peak_speed_time`; ``"half_path"``, see `half_path_time`; or times [s] on the
        trial's own clock, as a function of the trial or one entry per trial, equally many for all trials, increasing,
        inside of the trial. For speeds with a flat top the instant of the peak is random, and aligning it makes trials
        less alike; prefer the half path.
    target : array_like, optional
        Landmark: target times in tau; by default the mean over the trials.
    dofs : sequence of str
        Landmark: dofs of the speed or the path.

    Returns
    -------
    MotionSet
        Trials with equal time steps and unchanged start times.

    Raises
    ------
    ThunderError
        For gaps, unknown methods, and landmarks that do not increase or lie outside of their trial.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.processing import half_path_time, register
    >>> from thunder_py.recordings.synthetic import sigma_lognormal_reaches
    >>> motions = register(sigma_lognormal_reaches(3, seed=0), landmarks="half_path", target=0.4, n=101)
    >>> [round(half_path_time(trial) / trial.duration, 2) for trial in motions]
    [0.4, 0.4, 0.4]
    """
    if not isinstance(motions, MotionSet):
        raise ThunderError(f"motions must be a MotionSet, got {type(motions).__name__}")
    one_of(method, ("none", "affine", "landmark"), "method")
    for trial in motions:
        require_no_gaps(trial, "register")
    if method == "none" or len(motions) == 0:
        return motions
    if method == "affine":
        warps = _affine_warps(motions, reference, _pairs(grid, shifts, stretches))
    else:
        warps = _landmark_warps(motions, landmarks, target, dofs)
    return MotionSet(_warp(trial, *warp, n) for trial, warp in zip(motions, warps, strict=True))


def _landmark_warps(
    motions: MotionSet, landmarks: Landmarks, target: npt.ArrayLike | None, dofs: Sequence[str]
) -> list[Warp]:
    listed = isinstance(landmarks, (Sequence, np.ndarray)) and len(landmarks) == len(motions)
    if not (isinstance(landmarks, str) or callable(landmarks) or listed):
        raise ThunderError(f"landmarks must be one entry for each of {len(motions)} trials, got {landmarks!r}")
    sources = [_landmarks(trial, k, landmarks, dofs) for k, trial in enumerate(motions)]
    counts = sorted({len(times) for times in sources})
    if len(counts) > 1:
        raise ThunderError(f"landmarks must be equally many for all trials, got {counts}")
    goal = np.mean(sources, axis=0) if target is None else np.atleast_1d(numbers(target, "target"))
    if goal.shape != sources[0].shape:
        raise ThunderError(f"target must have one entry for each of {counts[0]} landmarks, got shape {goal.shape}")
    return [(landmark_map(goal, times), 1.0) for times in sources]


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
        raise ThunderError(
            f"landmarks must increase inside of {trial_label(trial)} (index {k}), got {tau.tolist()} in tau"
        )
    return tau


def _warp(trial: Trial, h: Callable[[Array], Array], stretch: float, n: int | None) -> Trial:
    """Return x(h(tau)) with end values held, over the duration divided by `stretch`, which preserves speeds."""
    count, duration = len(trial) if n is None else whole(n, "n", 2), trial.duration / stretch
    tau = np.linspace(0.0, 1.0, count)
    values = at_times(trial, trial.t[0] + np.clip(h(tau), 0.0, 1.0) * trial.duration)
    return trial.with_values(values, trial.t[0] + tau * duration, rate=(count - 1) / duration)


def landmark_map(target: npt.ArrayLike, source: npt.ArrayLike) -> Callable[[Array], Array]:
    """Return the increasing map h of [0, 1] onto itself with h(target) = source.

    For one landmark it is the linear fractional map ``h(tau) = tau / (tau + a (1 - tau))``, which is infinitely
    differentiable: registered movements keep a smooth jerk. For several it is the monotone piecewise cubic interpolant
    (PCHIP, Fritsch and Carlson 1980), with a continuous first derivative only: accelerations of registered movements
    jump at landmarks.

    Parameters
    ----------
    target, source : float or array_like, shape (m,)
        Increasing, between 0 and 1.

    Returns
    -------
    callable
        h: tau (...) -> (...).

    Raises
    ------
    ThunderError
        If numbers do not increase, lie outside of (0, 1), or `target` and `source` differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.recordings.processing import landmark_map
    >>> h = landmark_map(0.4, 0.5)
    >>> np.round(h(np.array([0.0, 0.4, 1.0])), 6).tolist()
    [0.0, 0.5, 1.0]
    """
    c, s = (np.atleast_1d(numbers(v, what)) for v, what in ((target, "target"), (source, "source")))
    for what, value in (("target", c), ("source", s)):
        if value.shape != c.shape or value.ndim != 1 or not (np.diff([0.0, *value, 1.0]) > 0.0).all():
            raise ThunderError(f"{what} must be {len(c)} increasing numbers between 0 and 1, got {value.tolist()}")
    if not len(c):
        raise ThunderError("target must hold one number or more, got none")
    if len(c) == 1:
        a = float(c[0] * (1.0 - s[0]) / (s[0] * (1.0 - c[0])))
        return lambda tau: tau / (tau + a * (1.0 - tau))
    from scipy.interpolate import PchipInterpolator

    pchip = PchipInterpolator(np.concatenate([[0.0], c, [1.0]]), np.concatenate([[0.0], s, [1.0]]))
    return lambda tau: np.asarray(pchip(tau), dtype=np.float64)


def peak_speed_time(trial: Trial, dofs: Sequence[str] = POSITION) -> float:
    """Return the time [s] of the largest speed of the cubic spline through the samples.

    Parameters
    ----------
    trial : Trial
        No gaps.
    dofs : sequence of str
        Dofs of the speed; by default the position.

    Returns
    -------
    float
        Time on the trial's clock, also between samples [s].

    Raises
    ------
    ThunderError
        For gaps, or a trial at rest.

    Examples
    --------
    >>> from thunder_py.recordings.processing import peak_speed_time
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> trial = minimum_jerk_reaches(1, seed=0, curvature=0.0)[0]
    >>> round(peak_speed_time(trial) / trial.duration, 4)
    0.5
    """
    from scipy.interpolate import CubicSpline
    from scipy.optimize import minimize_scalar

    values = require_no_gaps(trial.select(dofs), "peak_speed_time")
    if not has_motion(trial.select(dofs)):
        raise ThunderError(f"{trial_label(trial)} must move to have a peak of speed, got one at rest")
    spline = CubicSpline(trial.t, values)
    peak = int(np.argmax(np.linalg.norm(spline(trial.t, 1), axis=1)))
    bounds = trial.t[max(peak - 1, 0)], trial.t[min(peak + 1, len(trial) - 1)]
    best = minimize_scalar(
        lambda time: -float(np.linalg.norm(spline(time, 1))), bounds=bounds, method="bounded", options={"xatol": 1e-12}
    )
    return float(best.x)


def half_path_time(trial: Trial, dofs: Sequence[str] = POSITION) -> float:
    """Return the time [s] at half of the path length, that of the polyline through the samples.

    Parameters
    ----------
    trial : Trial
        No gaps.
    dofs : sequence of str
        Dofs of the path; by default the position.

    Returns
    -------
    float
        Time on the trial's clock [s].

    Raises
    ------
    ThunderError
        For gaps, or a trial at rest.

    Examples
    --------
    >>> from thunder_py.recordings import Trial
    >>> from thunder_py.recordings.processing import half_path_time
    >>> half_path_time(Trial.from_positions([0.0, 1.0, 4.0], [[0, 0, 0], [1, 0, 0], [4, 0, 0]]))
    2.0
    """
    steps = np.linalg.norm(np.diff(require_no_gaps(trial.select(dofs), "half_path_time"), axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    if length[-1] == 0.0:
        raise ThunderError(f"{trial_label(trial)} must move to have a half path, got one at rest")
    return float(np.interp(0.5 * length[-1], length, trial.t))
