"""Least squares for nonlinear parameters of sensors and friction around the linear ones of the robot.

The torque sensor of joint j reads, with the linear parameters x and the nonlinear ones theta,

``tau_j(t + d_j) = g_j (Y(q, dq, ddq) pi + Phi(dq) c)_j + b_j + noise``, ``q_i(t) = (read_i(t + e_i) - c_i) / a_i``.

For each theta, x is the solution of a linear least-squares problem, and a Gauss-Newton step for theta uses the
derivatives of the residual after the columns of x have been projected out (Kaufman 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..model.parameters import BaseParameters
from ..robot import Robot
from .friction import friction_terms
from .intervals import block_length, split, uncertainty
from .least_squares import Blocks, Data, Fit, fit, fit_reweighted, nearest_change, residual_rms, scale_of
from .segments import FrictionParts, Segment
from .sensors import SensorCalibration, quantity_names
from .signals import NORMAL_MEDIAN
from .triangle import r_factor

#: Gauss-Newton steps, and the decrease of the sum of squares, in units of the noise, at which they end
_STEPS, _SETTLED = 60, 1e-6
#: decrease below which an iteration that finds no smaller squares has converged
_ROUNDING = 1e-2
#: searches for better Stribeck velocities after the first minimum
_RESTARTS = 3
#: passes that reject outliers, and number of standard deviations above which residuals are outliers
_REJECTIONS, _OUTLIER = 10, 4.0
#: relative decrease that an accepted step has at least, and the smallest part of a step that is tried
_DECREASE, _SHORTEST = 1e-4, 1e-6
#: length of a direction of theta, all parameters scaled to unit influence, below which torques do not show it
_INVISIBLE = 1e-6
#: part of such a direction above which a parameter belongs to it
_LEAST_PART = 1e-3
#: smallest gain
_SMALLEST_GAIN = 0.01
#: number of Stribeck velocities tried at the start, the bounds among them
_FIRST = 6


class Point(NamedTuple):
    """Values of all nonlinear parameters: those of the sensors and the Stribeck velocities, (n,)."""

    sensors: SensorCalibration
    velocity: Array


@dataclass(frozen=True, kw_only=True)
class NonlinearProblem:
    """Logs and unknown parameters.

    Attributes
    ----------
    robot : Robot
        Geometry and known parameters, without friction.
    prior : (p,) array
        Parameters of the links that directions without influence keep.
    mask : (p,) bool array
        Unknown ones.
    base : BaseParameters
        Their identifiable combinations.
    terms : tuple of tuple of str
        Columns of friction of each joint, see `friction_terms`.
    rubbing : tuple of (c,) array
        Known coefficients of these; NaN for unknown ones.
    delta : float
        Width of the smooth sign of friction.
    start : SensorCalibration
        Known values of sensors, and initial ones of unknown values.
    chosen : (s,) int array
        Indices into ``start.vector()`` of unknown values.
    segments : sequence of Segment
        The logs.
    longest_delay : float
        Bound of delays [s], which the segments keep from their ends.
    noise : (n,) array or None
        Standard deviations of torques behind the filter; None estimates them.
    """

    robot: Robot
    prior: Array
    mask: npt.NDArray[np.bool_]
    base: BaseParameters
    terms: tuple[tuple[str, ...], ...]
    rubbing: tuple[Array, ...]
    delta: float
    start: SensorCalibration
    chosen: npt.NDArray[np.intp]
    segments: Sequence[Segment]
    longest_delay: float
    noise: Array | None = None

    @cached_property
    def scale(self) -> Array:
        """Root mean square of each joint's torque, (n,), with a lower bound for joints without torque."""
        torques = np.concatenate([segment.torque(np.zeros(self.robot.n))[0] for segment in self.segments])
        return scale_of(np.sqrt(np.mean(torques**2, axis=0)))

    @cached_property
    def velocities(self) -> Array:
        """Stribeck velocities from the lower to the upper bound, delta and the joint's largest speed, (v, n)."""
        largest = np.max([np.abs(segment.speed).max(axis=0) for segment in self.segments], axis=0)
        return np.geomspace(self.delta, np.maximum(largest, 2.0 * self.delta), _FIRST)

    @cached_property
    def stribeck(self) -> npt.NDArray[np.intp]:
        """Joints with a Stribeck velocity."""
        return np.array([j for j, names in enumerate(self.terms) if "stribeck" in names], dtype=np.intp)

    @cached_property
    def linear_names(self) -> tuple[str, ...]:
        """Names of the linear parameters: base parameters, then unknown coefficients of friction."""
        joints = zip(self.robot.joint_names, self.terms, self.rubbing, strict=True)
        friction = [f"{joint}.{names[k]}" for joint, names, c in joints for k in np.flatnonzero(np.isnan(c))]
        return (*self.base.names, *friction)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the nonlinear parameters: chosen ones of sensors, then Stribeck velocities."""
        known, joints = quantity_names(self.robot), self.robot.joint_names
        return (*(known[k] for k in self.chosen), *(f"{joints[j]}.stribeck_velocity" for j in self.stribeck))

    def theta(self, point: Point) -> Array:
        """Return the unknown nonlinear parameters; those of Stribeck velocities are logarithms."""
        return np.concatenate([point.sensors.vector()[self.chosen], np.log(point.velocity[self.stribeck])])

    def point(self, theta: Array) -> Point:
        """Return the values that belong to `theta`."""
        sensors, velocity = self.start.vector(), np.ones(self.robot.n)
        sensors[self.chosen] = theta[: self.chosen.size]
        velocity[self.stribeck] = np.exp(theta[self.chosen.size :])
        return Point(SensorCalibration.from_vector(sensors), velocity)

    def robot_of(self, x: Array) -> Robot:
        """Return the robot with the linear parameters x."""
        change = nearest_change(self.base, self.mask, x[: self.base.count])
        return self.robot.with_parameters(self.prior + change)

    def coefficients(self, x: Array) -> list[Array]:
        """Return all coefficients of friction of each joint, with the linear parameters x."""
        values, found = iter(x[self.base.count :]), [c.copy() for c in self.rubbing]
        for c in found:
            c[np.isnan(c)] = [next(values) for _ in range(int(np.isnan(c).sum()))]
        return found


@dataclass(frozen=True, kw_only=True)
class Solution:
    """Solution of a `NonlinearProblem`.

    Attributes
    ----------
    point : Point
        Nonlinear parameters.
    x : (b + c,) array
        Deviation of the base parameters from the prior, then coefficients of friction.
    standard_deviations : (b + c + m,) array
        Of x, then of the nonlinear parameters (Stribeck velocities themselves); infinite for those that the log does
        not determine.
    covariance : (b + c + m, b + c + m) array
        Zero in directions that the log does not determine.
    freedom : (b + c + m,) array
        Degrees of freedom of the variances.
    sources : tuple of str
        As those of `Identification`.
    noise, residual_rms : (n,) array
        Standard deviations that weighted the joints, and root mean squares of the residuals [N m or N].
    invisible : tuple of tuples of str
        Groups of parameters whose common change the torques do not show; the first is one that may be fixed.
    """

    point: Point
    x: Array
    standard_deviations: Array
    covariance: Array = field(repr=False)
    freedom: Array = field(repr=False)
    sources: tuple[str, ...]
    noise: Array
    residual_rms: Array
    invisible: tuple[tuple[str, ...], ...]


class _Rows(NamedTuple):
    """Rows of one segment at a point: ``W x = y``, with what their derivatives need.

    `known` is the torque of known parameters, (k, n). `motion` and `rates` hold q, dq, ddq and their time derivatives,
    (3, k, n).
    """

    W: Array
    y: Array
    known: Array
    motion: Array
    rates: Array
    torque_rates: Array
    friction: Sequence[FrictionParts]


def solve(problem: NonlinearProblem, *, robust: bool = False) -> Solution:
    """Minimize the weighted squares of the residuals over linear and nonlinear parameters.

    With `robust`, readings whose residuals exceed some robust standard deviations of their joint do not count.

    Raises
    ------
    ThunderError
        If it does not converge, or a delay reaches its bound.
    """
    best = _searched_from_start(problem)
    for _ in range(_REJECTIONS if robust else 0):
        changed = _without_outliers(problem, best.theta)
        if all(_same(a.used, b.used) for a, b in zip(changed.segments, problem.segments, strict=True)):
            break
        problem = changed
        best = _minimized(problem, best.theta, _bounds(problem))
    for name, value in zip(problem.names, best.theta, strict=True):
        if name.endswith("_delay") and abs(value) >= problem.longest_delay:
            raise ThunderError(
                f"longest_delay must be larger: {name} reaches {value:.3g} s. Check the time stamps of the log"
            )
    if best.decrease > _ROUNDING:
        raise ThunderError("the models of sensors and friction did not converge: estimate fewer, or start nearer")
    return _solution(problem, best.theta)


def _searched_from_start(problem: NonlinearProblem) -> _Minimum:
    """Return the best minimum from several Stribeck velocities."""
    bounds, sensors = _bounds(problem), problem.chosen.size
    theta = problem.theta(Point(problem.start, np.sqrt(problem.velocities[0] * problem.velocities[-1])))
    if problem.stribeck.size:
        fixed = np.hstack([bounds[:, :sensors], np.tile(theta[sensors:], (2, 1))])
        theta = _with_best_velocities(problem, _minimized(problem, theta, fixed).theta)
    best = _minimized(problem, theta, bounds)
    for _ in range(_RESTARTS if problem.stribeck.size else 0):
        theta = _with_best_velocities(problem, best.theta)
        if (theta == best.theta).all():
            break
        best = min(best, _minimized(problem, theta, bounds), key=lambda minimum: minimum.value)
    return best


def _without_outliers(problem: NonlinearProblem, theta: Array) -> NonlinearProblem:
    """Return the problem without the readings that do not fit the parameters."""
    rows = _all_rows(problem, theta)
    x = _fit(problem, _linear_data(problem, rows)).deviation
    left = [np.abs(part.y - part.W @ x) for part in rows]
    limit = _OUTLIER / NORMAL_MEDIAN * np.median(np.concatenate(left), axis=0)
    kept = zip(problem.segments, left, strict=True)
    return replace(problem, segments=[replace(segment, used=residual <= limit) for segment, residual in kept])


def _same(a: npt.NDArray[np.bool_] | None, b: npt.NDArray[np.bool_] | None) -> bool:
    return a is not None and b is not None and bool((a == b).all())


class _Minimum(NamedTuple):
    """Local minimum: theta, the decrease of the squares that a further step promises, and a measure of the misfit."""

    theta: Array
    decrease: float
    value: float


def _minimized(problem: NonlinearProblem, theta: Array, bounds: Array) -> _Minimum:
    """Take Gauss-Newton steps within the bounds."""
    for _ in range(_STEPS):
        rows = _all_rows(problem, theta)
        data = _linear_data(problem, rows)
        found = _fit(problem, data)
        step, decrease = _step(_reduced(problem, theta, rows, found), theta, bounds)
        if decrease <= _SETTLED:
            break
        moved = _searched(problem, theta, step, bounds, decrease, data, found)
        if moved is None:
            break
        theta = moved
    rms = residual_rms(data, found.deviation)
    value = np.sum(np.log(rms)) if problem.noise is None else np.sum((rms / problem.noise) ** 2)
    return _Minimum(theta, decrease, float(value))


def _bounds(problem: NonlinearProblem) -> Array:
    """Return the lower and upper bounds of theta, (2, m)."""
    found = []
    for name in problem.names[: problem.chosen.size]:
        reach = problem.longest_delay if name.endswith("_delay") else np.inf
        found.append((_SMALLEST_GAIN if name.endswith("_gain") else -reach, reach))
    found += [tuple(np.log(problem.velocities[[0, -1], j])) for j in problem.stribeck]
    return np.array(found).reshape(-1, 2).T


def _with_best_velocities(problem: NonlinearProblem, theta: Array) -> Array:
    """Return theta with the Stribeck velocity of some which leaves each joint the smallest residual."""
    point = problem.point(theta)
    rms, tried = [], [point.velocity, *problem.velocities[1:-1]]
    for velocity in tried:
        data = _linear_data(problem, _all_rows(problem, problem.theta(Point(point.sensors, velocity))))
        rms.append(residual_rms(data, _fit(problem, data).deviation))
    return problem.theta(Point(point.sensors, np.array(tried)[np.argmin(rms, axis=0), np.arange(problem.robot.n)]))


def _all_rows(problem: NonlinearProblem, theta: Array) -> list[_Rows]:
    point = problem.point(theta)
    return [_rows(problem, segment, point) for segment in problem.segments]


def _rows(problem: NonlinearProblem, segment: Segment, point: Point) -> _Rows:
    """Return the rows of one segment."""
    sensors = point.sensors
    delay, gain, bias = (np.asarray(getattr(sensors, f"position_{name}")) for name in ("delay", "gain", "bias"))
    motion, rates = segment.motion(delay)
    motion[0] -= bias
    motion, rates = motion / gain, rates / gain
    Y = problem.robot.regressor(*motion)
    friction = [
        segment.friction(j, delay[j], gain[j], partial(friction_terms, names, problem.delta, point.velocity[j]))
        for j, names in enumerate(problem.terms)
    ]
    blocks = _block(problem, [parts.values[:, np.isnan(c)] for parts, c in zip(friction, problem.rubbing, strict=True)])
    of_friction = [parts.values @ np.nan_to_num(c) for parts, c in zip(friction, problem.rubbing, strict=True)]
    known = Y @ problem.prior + np.column_stack(of_friction)
    torque_gain = np.asarray(sensors.torque_gain)
    W = torque_gain[:, None] * np.concatenate([Y[..., problem.base.independent], blocks], axis=-1)
    read, torque_rates = segment.torque(np.asarray(sensors.torque_delay))
    y = read - np.asarray(sensors.torque_bias) - torque_gain * known
    return _Rows(W, y, known, motion, rates, torque_rates, friction)


def _block(problem: NonlinearProblem, columns: Sequence[Array]) -> Array:
    """Return columns (k, c_j) of joints as columns (k, n, c) of all rows."""
    found = np.zeros((len(columns[0]), problem.robot.n, sum(part.shape[1] for part in columns)))
    start = 0
    for j, part in enumerate(columns):
        found[:, j, start : start + part.shape[1]] = part
        start += part.shape[1]
    return found


def _linear_data(problem: NonlinearProblem, rows: Sequence[_Rows], further: Sequence[Array] | None = None) -> Data:
    """Return triangular factors of the rows of all segments, with `further` columns (k, n, m) after those of x."""
    parts, counts, logs = [], [], []
    instants = sum(segment.at.size for segment in problem.segments)
    length = block_length(instants, problem.robot.n, len(problem.linear_names) + 1)
    for k, (part, segment) in enumerate(zip(rows, problem.segments, strict=True)):
        columns = [part.W, part.y[..., None]] if further is None else [part.W, further[k], part.y[..., None]]
        whole = np.concatenate(columns, axis=-1)
        if segment.used is not None:
            whole *= segment.used[..., None]
        for _, here in split(0, len(whole), length, segment.white):
            counts.append(len(whole[here]) if segment.used is None else float(segment.used[here].sum(axis=0).mean()))
            parts.append([r_factor(whole[here, j]) for j in range(problem.robot.n)])
            logs.append(k)
    blocks = Blocks(np.swapaxes(parts, 0, 1), np.array(counts), np.array(logs))
    n, u = problem.robot.n, blocks.factors.shape[-1] - 1
    factors = np.array([r_factor(joint.reshape(-1, u + 1)) for joint in blocks.factors])
    return Data(factors, float(sum(counts)), problem.scale, np.zeros((n, u, u)), np.zeros((n, u)), blocks)


def _fit(problem: NonlinearProblem, data: Data) -> Fit:
    return fit_reweighted(data) if problem.noise is None else fit(data, problem.noise)


def _sensitivities(problem: NonlinearProblem, point: Point, x: Array, rows: _Rows) -> Array:
    """Return the derivatives of the modelled readings by theta, (k, n, m)."""
    n, sensors = problem.robot.n, point.sensors
    gain, torque_gain = np.asarray(sensors.position_gain), np.asarray(sensors.torque_gain)
    by = problem.robot_of(x).inverse_dynamics_derivatives(*rows.motion)
    by_delay, by_scale = (
        sum(slope * part[:, None, :] for slope, part in zip(by, parts, strict=True))
        for parts in (rows.rates, rows.motion)
    )
    by_scale = -by_scale / gain
    stribeck = np.zeros((len(rows.y), n))
    for j, (parts, c) in enumerate(zip(rows.friction, problem.coefficients(x), strict=True)):
        by_delay[:, j, j] += parts.rates @ c
        by_scale[:, j, j] += parts.by_gain @ c
        stribeck[:, j] = parts.by_velocity @ c
    each = np.eye(n)
    torque = rows.known + rows.W @ x / torque_gain
    found = {
        "torque_delay": -(torque_gain * by_delay.sum(axis=-1))[..., None] * each,
        "torque_gain": torque[..., None] * each,
        "torque_bias": np.broadcast_to(each, by_delay.shape),
        "position_delay": torque_gain[:, None] * by_delay,
        "position_gain": torque_gain[:, None] * by_scale,
        "position_bias": -torque_gain[:, None] * by.dtau_dq / gain,
    }
    of_sensors = np.concatenate([found[name] for name in SensorCalibration.QUANTITIES], axis=-1)[..., problem.chosen]
    of_friction = ((torque_gain * stribeck)[..., None] * each)[..., problem.stribeck]
    return np.concatenate([of_sensors, of_friction], axis=-1)


def _factor(problem: NonlinearProblem, rows: Sequence[_Rows], slopes: Sequence[Array], found: Fit) -> Array:
    """Return the triangular factor of ``[W | J | y]`` over all rows, divided by their noise."""
    factors = _linear_data(problem, rows, slopes).factors / found.noise[:, None, None]
    return r_factor(factors.reshape(-1, factors.shape[-1]))


def _range(W: Array) -> Array:
    """Return an orthonormal basis of the columns."""
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    U, s, _ = np.linalg.svd(W / lengths, full_matrices=False)
    return np.asarray(U[:, s > _INVISIBLE * s[0]] if s.size and s[0] > 0.0 else U[:, :0])


class _Reduced(NamedTuple):
    """Influence of theta on the squares of the residuals, scaled to parameters of unit influence.

    Attributes
    ----------
    J : (r, m) array
        Derivatives of the modelled readings, without what x explains of them.
    gradient : (m,) array
        Half of the decrease of the squares by theta.
    lengths : (m,) array
        Influence that the scale divides by.
    """

    J: Array
    gradient: Array
    lengths: Array


def _reduced(problem: NonlinearProblem, theta: Array, rows: Sequence[_Rows], found: Fit) -> _Reduced:
    point, x = problem.point(theta), found.deviation
    slopes = [_sensitivities(problem, point, x, part) for part in rows]
    R = _factor(problem, rows, slopes, found)
    U, J = _range(R[:, : x.size]), R[:, x.size : -1]
    lengths = np.linalg.norm(J, axis=0)
    lengths[lengths == 0.0] = 1.0
    gradient = np.zeros(theta.size)
    delays = [(k, j) for k, j in enumerate(problem.chosen) if j < problem.robot.n]
    for part, exact, segment in zip(rows, slopes, problem.segments, strict=True):
        left = part.y - part.W @ x
        if segment.used is not None:
            left = left * segment.used
        for k, j in delays:  # a delay moves the readings, whose derivative differs from that of the model by noise
            exact[:, j, k] = -part.torque_rates[:, j]
        gradient += np.einsum("kjm,kj,j->m", exact, left, found.noise**-2.0)
    return _Reduced((J - U @ (U.T @ J)) / lengths, gradient / lengths, lengths)


def _step(reduced: _Reduced, theta: Array, bounds: Array) -> tuple[Array, float]:
    """Return the Gauss-Newton step of theta that leaves no bound, and the decrease of the squares that it promises."""
    free = np.ones(theta.size, dtype=bool)
    while True:
        _, s, Vt = np.linalg.svd(reduced.J * free, full_matrices=False)
        shown = s > _INVISIBLE
        right = Vt[shown] @ (reduced.gradient * free) / s[shown]
        step = Vt[shown].T @ (right / s[shown]) / reduced.lengths
        outward = free & (((theta <= bounds[0]) & (step < 0.0)) | ((theta >= bounds[1]) & (step > 0.0)))
        if not outward.any():
            return step * free, float(right @ right)
        free &= ~outward


def _invisible(reduced: _Reduced) -> Array:
    """Return directions of theta, scaled, that torques do not show, (m, i)."""
    _, s, Vt = np.linalg.svd(reduced.J, full_matrices=False)
    return np.asarray(Vt[s <= _INVISIBLE].T)


def _searched(
    problem: NonlinearProblem, theta: Array, step: Array, bounds: Array, decrease: float, data: Data, found: Fit
) -> Array | None:
    """Return theta after the longest part of the step that decreases the squares; None where rounding is reached."""
    size, before = 1.0, _squares(data, found)
    while size > _SHORTEST:
        trial = np.clip(theta + size * step, *bounds)
        data = _linear_data(problem, _all_rows(problem, trial))
        if _squares(data, fit(data, found.noise)) <= before - _DECREASE * size * decrease:
            return trial
        size *= 0.5
    return None


def _squares(data: Data, found: Fit) -> float:
    return float(data.count * np.sum((residual_rms(data, found.deviation) / found.noise) ** 2))


def _solution(problem: NonlinearProblem, theta: Array) -> Solution:
    rows = _all_rows(problem, theta)
    data = _linear_data(problem, rows)
    found = _fit(problem, data)
    point = problem.point(theta)
    slopes = [_sensitivities(problem, point, found.deviation, part) for part in rows]
    R = _factor(problem, rows, slopes, found)[:, :-1]
    every = _linear_data(problem, rows, slopes)
    resolved = fit(every, found.noise, visible=_INVISIBLE, part=_LEAST_PART)
    resolved = replace(resolved, deviation=np.append(found.deviation, np.zeros(theta.size)))
    covariance, freedom, sources = uncertainty(every, resolved, 1.0 / _white(problem))
    deviations = np.where(resolved.determined, np.sqrt(np.diag(covariance)), np.inf)
    velocities = np.ones(deviations.size)
    velocities[deviations.size - problem.stribeck.size :] = point.velocity[problem.stribeck]
    bounds = _bounds(problem)
    deviations[found.deviation.size :][(theta <= bounds[0]) | (theta >= bounds[1])] = np.inf
    return Solution(
        point=point,
        x=found.deviation,
        standard_deviations=deviations * velocities,
        covariance=covariance * np.outer(velocities, velocities),
        freedom=freedom,
        sources=sources,
        noise=found.noise,
        residual_rms=residual_rms(data, found.deviation),
        invisible=_groups(problem, R, _reduced(problem, theta, rows, found)),
    )


def _white(problem: NonlinearProblem) -> float:
    """Return the number of independent values of noise per instant: filtered noise is correlated."""
    counts = np.array([segment.at.size for segment in problem.segments], dtype=float)
    return float(counts @ [segment.white for segment in problem.segments] / counts.sum())


def _groups(problem: NonlinearProblem, R: Array, reduced: _Reduced) -> tuple[tuple[str, ...], ...]:
    """Return the names in each direction that torques do not show, one direction for each parameter to fix."""
    from scipy.linalg import qr

    directions = _invisible(reduced)
    if not directions.size:
        return ()
    pivots = qr(directions.T, mode="r", pivoting=True)[1][: directions.shape[1]]
    directions = directions @ np.linalg.inv(directions[pivots])
    count = len(problem.linear_names)
    W, J = R[:, :count], R[:, count:]
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    groups = []
    for pivot, direction in zip(pivots, directions.T, strict=True):
        influence = J @ (direction / reduced.lengths)
        linear = np.linalg.lstsq(W / lengths, -influence, rcond=_INVISIBLE)[0]
        with_pivot = [problem.names[k] for k in np.flatnonzero(np.abs(direction) > _LEAST_PART) if k != pivot]
        others = [problem.linear_names[k] for k in np.flatnonzero(np.abs(linear) > _LEAST_PART)]
        groups.append((problem.names[pivot], *with_pivot, *others))
    return tuple(groups)
