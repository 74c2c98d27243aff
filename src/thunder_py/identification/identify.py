"""Identification of parameters from logged motion and torque."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, nonnegative, positive, whole
from ..errors import ThunderError, ThunderWarning, outer_level
from ..model.description import Friction
from ..model.inertia import dyn_from_reg
from ..model.parameters import UnknownParameters
from ..robot import Payload, Robot
from ..simulation import SimulationResult
from .equations import (
    Columns,
    Filtering,
    FrictionColumns,
    all_names,
    all_parameters,
    extended,
    friction_kinds,
    friction_model,
    kind_terms,
    selection,
    with_all_parameters,
)
from .findings import diagnose
from .identification import Identification
from .least_squares import (
    SMALLEST_NOISE,
    ConsistentProblem,
    Data,
    Fit,
    Outliers,
    Spread,
    fit,
    fit_reweighted,
    given_noise,
    nearest_change,
    r_factor,
    residual_rms,
    spread_of,
    uncertainty,
)
from .log import Log, LogSource, Recorded, as_sources, check_signals
from .samples import SensorCalibration, chosen_quantities, quantity_names
from .sums import Guess, Layout, Nonlinear, Offsets, Problem, Sums, mean_slopes, velocities

#: iterations of offsets of nonlinear springs, and their change, relative to x - q, at which these end
_ROUNDS, _EXACT = 30, 1e-9
#: iterations of weights of outliers, and their change, in standard deviations, at which these end
_REWEIGHTED, _SETTLED = 20, 1e-3
#: Gauss-Newton steps for nonlinear parameters, the decrease of the squares, in independent samples, that ends those of
#: a search and the others, and that up to which they have converged
_STEPS, _ROUGH, _DECREASE, _CONVERGED = 60, 1e-2, 1e-6, 1.0
#: decrease up to which steps end that do not let it fall
_FLAT = 1e-2
#: part of its promise to which a step falls that does not decrease the misfit, and the shortest step
_FALLEN, _SHORTEST = 0.5, 1e-3
#: relative step of differences, and slope above which a parameter of a payload depends on one that is hidden
_STEP, _HIDDEN = 1e-6, 1e-6
#: density of the ball of water that is the prior of a payload [kg/m^3], and the weight of its divergence
_DENSITY, _BALL = 1000.0, 0.03
#: searches for better Stribeck velocities after the first minimum
_RESTARTS = 3
#: length of a direction of theta, all parameters scaled to unit influence, below which torques do not show it
_INVISIBLE = 1e-6
#: part of such a direction above which a parameter belongs to it
_LEAST_PART = 1e-3


@dataclass(frozen=True)
class _Step:
    """What one pass over the logs found, and what it was found from.

    `deviation` holds the unknowns of the layout, of which the solution is those that `directions` map to, and `still`
    those without a change of theta; `bounds` are those of theta, `promise` is the decrease of the squares by the step
    of theta, and `misfit` measures the squares before it.
    """

    plan: Layout
    sums: Sums
    gain: float
    data: Data
    offsets: Offsets | None
    spread: Spread | None
    directions: Array
    solution: Fit
    still: Array
    deviation: Array
    theta: Array
    bounds: Array
    promise: float
    misfit: float

    @property
    def guess(self) -> Guess:
        """What it was found from."""
        return self.plan.guess

    @property
    def nonlinear(self) -> slice:
        """Unknowns that change theta."""
        return slice(self.plan.ends[2], self.plan.ends[3])


def solve(problem: Problem) -> _Step:
    """Return the last pass over the logs, of as many as theta, offsets and outliers need.

    Raises
    ------
    ThunderError
        If it does not converge, or a delay reaches its bound.
    """
    robot, unknown = problem.robot, problem.unknown
    guess = Guess(
        known=with_all_parameters(robot, problem.theta0),
        offsets=np.zeros(robot.e),
        sensors=problem.sensors,
        columns=problem.columns,
        extra=np.zeros(sum(len(each.names) for each in problem.columns)),
        payload=np.zeros(10) if problem.payload is None else problem.payload,
        tried=np.zeros((0, robot.n)),
        thinned=unknown.size > 0,
    )
    step = _solve_with(problem, guess)
    problem = replace(problem, filtering=problem.filtering._replace(quiet=True))  # further passes read the same logs
    if unknown.size:
        step = _searched(problem, step)
        step = _minimized(
            problem, _solve_with(problem, _next(problem, step, tried=step.guess.tried[:0], thinned=False))
        )
    step = _settled(problem, step)
    if problem.filtering.robust:
        for redescending in (False, True):
            step = _until_weights_settle(problem, step, redescending)
    if step.promise * step.gain > _CONVERGED:
        raise ThunderError("the models of sensors and friction did not converge: estimate fewer, or start nearer")
    for name, value in zip(reversed(problem.names), reversed(step.guess.theta(unknown)), strict=False):
        if name.endswith("_delay") and abs(value) >= problem.filtering.longest:
            raise ThunderError(
                f"longest_delay must be larger: {name} reaches {value:.3g} s. Check the time stamps of the log"
            )
    return step


def _next(problem: Problem, step: _Step, size: float = 1.0, **changes: Any) -> Guess:
    """Return the guess at the solution of a step, with a part of the change of theta, for 0 with none."""
    plan, theta = step.plan, step.theta
    deviation = step.still + size * (step.deviation - step.still)
    if size < 1.0:
        theta = size * theta + (1.0 - size) * _nearest(problem, step.still)
    guess = replace(
        step.guess,
        known=with_all_parameters(problem.robot, theta),
        extra=deviation[plan.ends[0] : plan.ends[1]],
        **changes,
    )
    if problem.payload is None:
        guess = replace(guess, payload=deviation[plan.ends[1] : plan.ends[2]])
    change = deviation[step.nonlinear]
    if not change.size:
        return guess
    return guess.at(problem.unknown, np.clip(guess.theta(problem.unknown) + change, *step.bounds))


def _settled(problem: Problem, step: _Step) -> _Step:
    """Repeat the solution until the offsets of springs that are not linear, which shift x, do not change."""
    size = np.sqrt(step.sums.totals["deflection"] / step.data.count)
    curved = any(len(drive.K) != 1 for drive in problem.robot.elastic) and step.offsets is not None
    for _ in range(_ROUNDS - 1):
        further = _further_offsets(problem, step) if curved else np.zeros_like(size)
        if (np.abs(further) <= _EXACT * size).all():
            break
        step = _solve_with(problem, replace(_next(problem, step), offsets=step.guess.offsets + further))
    return step


# --- nonlinear parameters ---------------------------------------------------------------------------------------------


def _searched(problem: Problem, step: _Step) -> _Step:
    """Return the best minimum from several Stribeck velocities."""
    unknown = problem.unknown
    if not unknown.stribeck.size or step.guess.friction[0] is None:
        return _minimized(problem, _solve_with(problem, _next(problem, step, slopes=True)))
    grid = velocities(step.guess.friction[0].delta, step.sums.speed)
    guess = _next(problem, step, tried=grid[1:-1])
    middle = 0.5 * np.log(grid[0] * grid[-1])[unknown.stribeck]
    step = _solve_with(problem, guess.at(unknown, np.append(guess.theta(unknown)[: unknown.chosen.size], middle)))
    guess = replace(_with_best_velocities(problem, step), slopes=True)
    if unknown.chosen.size:
        step = _minimized(problem, _solve_with(problem, guess, still=True), still=True)
        guess = _with_best_velocities(problem, step)
    best = _minimized(problem, _solve_with(problem, guess))
    for _ in range(_RESTARTS):
        guess = _with_best_velocities(problem, best)
        if (guess.theta(unknown) == best.guess.theta(unknown)).all():
            break
        best = min(best, _minimized(problem, _solve_with(problem, guess)), key=lambda found: found.misfit)
    return best


def _minimized(problem: Problem, step: _Step, still: bool = False) -> _Step:
    """Take Gauss-Newton steps within the bounds; `still` leaves the Stribeck velocities.

    Where the squares are flat, as without a Stribeck effect, steps go astray: it ends when they promise little. The
    slopes of a trial are those at linear parameters that a long step may miss, even in sign; after it failed, they are
    taken again.
    """
    for _ in range(_STEPS):
        if step.promise * step.gain <= (_ROUGH if step.guess.thinned else _DECREASE):
            break
        size = 1.0
        while size > _SHORTEST:
            trial = _solve_with(problem, _next(problem, step, size), still=still)
            if step.promise * step.gain <= _FLAT and trial.promise > _FALLEN * step.promise:
                return step
            rise = trial.misfit - step.misfit
            if rise <= 0.0 or (rise <= step.promise and trial.promise <= _FALLEN * step.promise):
                break
            if size == 1.0:
                step = _solve_with(problem, _next(problem, step, 0.0), still=still)
            size *= 0.5
        else:
            break
        step = trial
    return step


def _with_best_velocities(problem: Problem, step: _Step) -> Guess:
    """Return the guess with the Stribeck velocity of those tried which leaves each joint the smallest residual."""
    columns, unknown, plan = step.guess.friction[0], problem.unknown, step.plan
    assert columns is not None
    linear = np.eye(plan.columns.size)[:, : plan.ends[2]]
    own = [k for k, name in enumerate(columns.names) if name.endswith(".stribeck")]
    count, chosen = unknown.stribeck.size, unknown.chosen.size

    def fitted(number: npt.NDArray[np.intp]) -> tuple[Data, Fit]:
        """Solve with these velocities, of which 0 is the present one."""
        T = linear.copy()
        for k, (column, tried) in enumerate(zip(own, number, strict=True)):
            if tried:
                T[:, plan.ends[0] + column] = np.eye(len(T))[plan.ends[3] + (tried - 1) * count + k]
        data = step.data.of(T)
        return data, _weighed(problem, step.plan, data, step.gain, None)

    rms = []
    for tried in range(len(step.guess.tried) + 1):
        data, found = fitted(np.full(count, tried))
        rms.append(np.maximum(residual_rms(data, found.deviation), SMALLEST_NOISE * data.scale)[unknown.stribeck])
    best = np.argmin(rms, axis=0)
    gained = step.gain * step.data.count * 2.0 * np.log(rms[0] / np.min(rms, axis=0))
    best[gained <= _CONVERGED] = 0
    x = fitted(best)[1].deviation
    speeds = np.vstack([columns.velocities, step.guess.tried])[best, unknown.stribeck]
    guess = replace(
        step.guess,
        known=with_all_parameters(problem.robot, _nearest(problem, x)),
        extra=x[plan.ends[0] : plan.ends[1]],
        payload=step.guess.payload if problem.payload is not None else x[plan.ends[1] : plan.ends[2]],
    )
    return guess.at(unknown, np.append(step.guess.theta(unknown)[:chosen], np.log(speeds)))


class _Reduced(NamedTuple):
    """Derivatives by theta without what the linear parameters explain of them, and the scales of unit influence."""

    J: Array
    lengths: Array
    R: Array


def _reduced(step_data: Data, plan: Layout, noise: Array) -> _Reduced:
    factors = step_data.factors / noise[:, None, None]
    R = r_factor(factors.reshape(-1, factors.shape[-1])[:, : plan.ends[3]])
    W, J = R[:, : plan.ends[2]], R[:, plan.ends[2] :]
    lengths = np.linalg.norm(J, axis=0)
    lengths[lengths == 0.0] = 1.0
    sizes = np.linalg.norm(W, axis=0)
    sizes[sizes == 0.0] = 1.0
    U, s, _ = np.linalg.svd(W / sizes, full_matrices=False)
    U = U[:, s > _INVISIBLE * s[0]] if s.size and s[0] > 0.0 else U[:, :0]
    return _Reduced((J - U @ (U.T @ J)) / lengths, lengths, R)


def _weighed(problem: Problem, plan: Layout, data: Data, gain: float, spread: Spread | None) -> Fit:
    if spread is not None:
        return fit(data, np.maximum(spread.noise, SMALLEST_NOISE * data.scale))
    if problem.noise is not None:
        return fit(data, np.sqrt(gain) * problem.noise[plan.joints])
    return fit_reweighted(data)


def _misfit(problem: Problem, data: Data, found: Fit) -> float:
    """Return half of the squares in units of the noise; for estimated noise, the likelihood that it belongs to."""
    rms = residual_rms(data, found.deviation)
    if problem.noise is not None:
        return float(0.5 * data.count * np.sum((rms / found.noise) ** 2))
    return float(data.count * np.sum(np.log(np.maximum(rms, SMALLEST_NOISE * data.scale))))


def _solve_with(problem: Problem, guess: Guess, still: bool = False) -> _Step:
    """Return the solution of one pass; `still` leaves the Stribeck velocities."""
    plan = Layout(problem, guess)
    sums, gain = plan.sums()
    totals, count = sums.totals, float(sums.totals["count"])
    spread = None if guess.outliers is None else spread_of(totals["outliers"], guess.outliers, count)
    slopes = mean_slopes(guess.known, totals["powers"] / count)
    weight = np.ones(plan.joints.size) if spread is None else spread.weight
    data, offsets = plan.data(sums, slopes, weight)
    T, promise, misfit = np.eye(plan.columns.size)[:, : plan.ends[2]], 0.0, 0.0
    bounds = guess.bounds(problem.unknown, problem.filtering.longest, sums.speed)
    solution = _weighed(problem, plan, data.of(T), gain, spread)
    unmoved = T @ solution.deviation
    if plan.ends[3] > plan.ends[2]:
        misfit = _misfit(problem, data.of(T), solution)
        reduced, theta = _reduced(data, plan, solution.noise), guess.theta(problem.unknown)
        free = np.arange(theta.size) < (problem.unknown.chosen.size if still else theta.size)
        while True:
            _, s, Vt = np.linalg.svd(reduced.J * free, full_matrices=False)
            V = np.zeros((plan.columns.size, int((s > _INVISIBLE).sum())))
            V[plan.ends[2] : plan.ends[3]] = Vt[s > _INVISIBLE].T / reduced.lengths[:, None]
            directions = np.hstack([T, V])
            solution = _weighed(problem, plan, data.of(directions), gain, spread)
            change = (directions @ solution.deviation)[plan.ends[2] : plan.ends[3]]
            outward = free & (((theta <= bounds[0]) & (change < 0.0)) | ((theta >= bounds[1]) & (change > 0.0)))
            if not outward.any():
                break
            free &= ~outward
        T = directions
    deviation = T @ solution.deviation
    if problem.consistent:
        theta0, deviation = _consistent(problem, plan, sums, data.of(T), solution, gain)
        deviation = T @ deviation
    else:
        theta0 = _nearest(problem, deviation)
    if plan.ends[3] > plan.ends[2]:
        promise = float(np.sum((reduced.J @ (reduced.lengths * deviation[plan.ends[2] : plan.ends[3]])) ** 2))
    return _Step(
        plan, sums, gain, data, offsets, spread, T, solution, unmoved, deviation, theta0, bounds, promise, misfit
    )


def _nearest(problem: Problem, deviation: Array) -> Array:
    """Return all parameters, as near to the prior as the base parameters allow."""
    return problem.theta0 + nearest_change(problem.base, problem.mask, deviation[: problem.base.count])


def _until_weights_settle(problem: Problem, step: _Step, redescending: bool) -> _Step:
    """Repeat the solution with weights from the residuals before it; Tukey's weights keep the scale of Huber's."""
    scale = step.solution.noise if step.spread is None else step.spread.scale
    for _ in range(_REWEIGHTED):
        if problem.noise is not None:
            scale = np.sqrt(step.gain) * problem.noise[step.plan.joints]
        outliers = Outliers(_coefficients(step), scale, redescending)
        before, step = step, _solve_with(problem, _next(problem, step, outliers=outliers))
        change = before.deviation - step.deviation
        change[step.nonlinear] = step.deviation[step.nonlinear]
        steady = np.linalg.norm((step.data.factors[..., :-1] @ change) / step.solution.noise[:, None]) <= _SETTLED
        if step.spread is not None and not redescending:
            steady &= bool((np.abs(step.spread.scale / scale - 1.0) < _SETTLED).all()) or problem.noise is not None
            scale = step.spread.scale
        if steady:
            break
    return step


def _coefficients(step: _Step) -> tuple[Array, ...]:
    """Return the coefficients of the columns of each row, at the theta that follows, and -1 for its torque."""
    plan, found = step.plan, []
    deviation = step.deviation.copy()
    deviation[step.nonlinear] = 0.0
    constants = np.zeros(0) if step.offsets is None else step.offsets.coefficients(deviation)
    for row, used in enumerate(plan.used):
        values = np.append(deviation[used], -1.0)
        found.append(np.append(constants[row - plan.robot.n], values) if row in plan.springs else values)
    return tuple(found)


def _consistent(
    problem: Problem, plan: Layout, sums: Sums, data: Data, solution: Fit, gain: float
) -> tuple[Array, Array]:
    """Return all parameters and the unknowns of a solution that is physically consistent.

    The columns of all restricted parameters are those of the unknowns times a mapping. Other unknowns are eliminated:
    their rows of the triangular factor, in which they come first, determine them afterwards. The noise is that before
    the filter: the squares then count independent samples, of which the filter leaves `gain` per instant.
    """
    theta0, b, P = problem.theta0, problem.base.count, problem.theta0.size
    noise, body = solution.noise / np.sqrt(gain), np.arange(plan.ends[1], plan.ends[2])
    mask = np.append(problem.mask, np.full(10, problem.payload is None))
    if problem.consistent == "payload":
        mask[:P] = False
    mask[plan.watched[sums.totals["moving"] == 0.0]] = False  # a coefficient of zero whose joint does not move stays
    change = np.zeros((data.factors.shape[-1] - 1, int(mask.sum())))
    change[:b, : int(mask[:P].sum())] = problem.base.mapping[:, mask[:P]]
    change[body, change.shape[1] - body.size + np.arange(body.size)] = 1.0
    free = np.setdiff1d(np.arange(len(change)), body if problem.consistent == "payload" else [*range(b), *body])
    prior, start, weight = np.append(theta0, np.zeros(10)), np.append(theta0, np.zeros(10))[mask], 1.0
    if body.size:
        weight = 1.0 if problem.ball is not None else _BALL / (problem.gamma or 1.0)
        prior[P:] = _ball(solution, body) if problem.ball is None else problem.ball
    rows = (data.factors / noise[:, None, None]).reshape(-1, data.factors.shape[-1])
    W = rows[:, :-1] @ change
    R = r_factor(np.column_stack([rows[:, free], W, rows[:, -1] + W @ start]))
    c = free.size
    errors = change.T @ np.einsum("jab,j->ab", data.errors, noise**-2.0) @ change
    pull = change.T @ (noise**-2.0 @ data.pull) - errors @ start
    inner = ConsistentProblem(
        problem.robot, prior, mask, R[c:, c:-1], R[c:, -1], count=gain * data.count, errors=errors, pull=pull,
        weight=weight,
    )  # fmt: skip
    pi = inner.solve(problem.gamma or 0.0)
    deviation = change @ (pi[mask] - start)
    left = R[:c, -1] - R[:c, c:-1] @ pi[mask]
    deviation[free] = np.linalg.lstsq(R[:c, :c], left, rcond=None)[0] if c else left
    return _nearest(problem, deviation) if problem.consistent == "payload" else pi[:P], deviation


def _ball(solution: Fit, body: npt.NDArray[np.intp]) -> Array:
    """Return the parameters of a ball of water with the mass and center of a payload by least squares."""
    parameters, determined = solution.deviation[body], solution.determined[body[0]]
    mass = float(parameters[0])
    if not determined or mass <= 0.0:
        found = f"found {mass:.3g} kg" if determined else "do not determine it"
        raise ThunderError(
            f"payload_prior must be given, because the logs must show a positive mass of the payload, and {found}"
        )
    radius = (3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    return Payload(mass, parameters[1:4] / mass, 0.4 * mass * radius**2 * np.eye(3)).parameters


def _further_offsets(problem: Problem, step: _Step) -> Array:
    """Return the offsets that cause the constant torques which the parameters leave, (e,), zero without stiffness."""
    if step.offsets is None:
        return np.zeros(problem.robot.e)
    stiffness, torques = _stiffness(problem, step), step.offsets.torques(step.deviation)
    return np.asarray(np.divide(-torques, stiffness, out=np.zeros_like(torques), where=stiffness != 0.0))


def _stiffness(problem: Problem, step: _Step) -> Array:
    known = with_all_parameters(problem.robot, step.theta)
    return mean_slopes(known, step.sums.totals["powers"] / step.data.count)


def _result(problem: Problem, step: _Step) -> Identification:
    plan, names, filtering, (_, _, linear, last, _) = step.plan, problem.names, problem.filtering, step.plan.ends
    theta, bounds, base = step.guess.theta(problem.unknown), step.bounds, problem.base
    invisible = _groups(_reduced(step.data, plan, step.solution.noise), plan, names)
    hidden = {name for group in invisible for name in group}
    determined = np.append(step.solution.determined[:linear], (theta > bounds[0]) & (theta < bounds[1]))
    determined &= np.array([name not in hidden for name in names], dtype=bool)
    further = _further_offsets(problem, step)
    values = step.deviation[:last].copy()
    values[linear:] += theta
    slopes = np.eye(last)
    speeds = slice(last - problem.unknown.stribeck.size, last)
    values[speeds] = np.exp(values[speeds])
    slopes[speeds, speeds] = np.diag(values[speeds])
    if problem.payload is None:
        body = slice(plan.ends[1], plan.ends[2])
        slopes[body, body] = _body_slopes(values[body])
        determined[body] = ~(np.abs(slopes[body, body][:, ~determined[body]]) > _HIDDEN).any(axis=1)
        values[body] = dyn_from_reg(values[body])
    influence = 1.0 if step.spread is None else step.spread.influence
    data, slopes = step.data.of(step.directions, parts=True), slopes @ step.directions[:last]
    covariance, freedom, sources = uncertainty(data, step.solution, 1.0 / step.gain, influence, slopes)
    determined[speeds] &= np.sqrt(np.diag(covariance)[speeds]) < values[speeds]  # it might be any
    sigma = np.where(determined, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    robot, guess = with_all_parameters(problem.robot, step.theta), _next(problem, step)
    return Identification(
        robot=robot,
        unknown=problem.chosen,
        parameters=step.theta,
        base=base,
        base_parameters=base.mapping @ step.theta,
        standard_deviations=sigma[: base.count],
        residual_rms=residual_rms(step.data, step.deviation) / plan.gains,
        noise=step.solution.noise / plan.gains,
        offsets=step.guess.offsets + further,
        offset_deviations=_offset_deviations(problem, step, further, covariance),
        rank=step.solution.rank,
        condition=step.solution.condition,
        consistent=bool(problem.consistent),
        covariance=covariance,
        freedom=freedom,
        sources=sources,
        extra=values[base.count :],
        extra_deviations=sigma[base.count :],
        extra_names=names[base.count :],
        columns=guess.columns,
        friction=friction_model(robot, *guess.friction) if problem.friction else None,
        sensors=guess.sensors,
        link=problem.body[0] // 10 + 1 if problem.loaded else None,
        payload_parameters=guess.payload,
        invisible=invisible,
        logs=tuple(log.name for log in problem.logs),
        count=round(step.data.count),
        cutoff=None if filtering.cutoff is None else float(filtering.cutoff),
        hold=filtering.hold,
        resample=filtering.resample,
        robust=filtering.robust,
    )


def _body_slopes(parameters: Array) -> Array:
    """Return the derivatives of mass, center of mass and inertia about it by REG parameters, (10, 10)."""
    steps = _STEP * np.maximum(np.abs(parameters), abs(parameters[0]))
    ahead, behind = (dyn_from_reg(parameters + sign * np.diag(steps)) for sign in (1.0, -1.0))
    return np.asarray(((ahead - behind) / (2.0 * steps[:, None])).T)


def _groups(reduced: _Reduced, plan: Layout, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names in each direction that torques do not show, one direction for each parameter to fix."""
    from scipy.linalg import qr

    linear = plan.ends[2]
    if reduced.J.shape[1] == 0:
        return ()
    _, s, Vt = np.linalg.svd(reduced.J)
    directions = Vt[np.append(s, np.zeros(len(Vt) - s.size)) <= _INVISIBLE].T
    if not directions.size:
        return ()
    pivots = qr(directions.T, mode="r", pivoting=True)[1][: directions.shape[1]]
    directions = directions @ np.linalg.inv(directions[pivots])
    W, J = reduced.R[:, :linear], reduced.R[:, linear:]
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    groups = []
    for pivot, direction in zip(pivots, directions.T, strict=True):
        influence = J @ (direction / reduced.lengths)
        others = np.linalg.lstsq(W / lengths, -influence, rcond=_INVISIBLE)[0]
        with_pivot = [names[linear + k] for k in np.flatnonzero(np.abs(direction) > _LEAST_PART) if k != pivot]
        named = [names[k] for k in np.flatnonzero(np.abs(others) > _LEAST_PART)]
        groups.append((names[linear + pivot], *with_pivot, *named))
    return tuple(groups)


def _offset_deviations(problem: Problem, step: _Step, further: Array, covariances: Array) -> Array:
    """Return the standard deviations of the offsets, (e,), infinite where the stiffness is unknown."""
    robot, base, parts = problem.robot, problem.base, step.offsets
    if parts is None:
        return np.zeros(robot.e)
    place = {name: k for k, name in enumerate(base.names)}
    columns, hidden = parts.W.copy(), np.zeros(robot.e, dtype=bool)
    for i, drive in enumerate(robot.elastic):
        k = place.get(f"{robot.joint_names[drive.joint - 1]}.K0")
        if k is not None:
            columns[i, k] -= further[i]  # the mean of x - q without the offset
            hidden[i] = not step.solution.determined[k]
    noise = step.solution.noise[robot.n : robot.n + robot.e]
    variances = noise**2 / parts.squares / step.gain + np.einsum("ea,ab,eb->e", columns, covariances, columns)
    stiffness = np.abs(_stiffness(problem, step))
    hidden |= stiffness == 0.0
    return np.where(hidden, np.inf, np.sqrt(variances) / np.where(hidden, 1.0, stiffness))


_LOG = logging.getLogger(__name__)

#: relative standard deviation of a stiffness or motor inertia above which `identify` warns
_UNCERTAIN = 0.1
#: the same of a Stribeck velocity
_UNCERTAIN_VELOCITY = 0.2
#: names that a warning lists
_LISTED = 8
#: correlation above which x follows q, and the factor from which on it does not resemble q
_ALIKE, _FACTOR = 0.9, 4.0


def identify(
    robot: Robot,
    t: npt.ArrayLike | Recorded | Sequence[Recorded] = (),
    q: npt.ArrayLike | None = None,
    dq: npt.ArrayLike | None = None,
    ddq: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    x: npt.ArrayLike | None = None,
    dx: npt.ArrayLike | None = None,
    ddx: npt.ArrayLike | None = None,
    joint_torque: npt.ArrayLike | None = None,
    friction: str | Sequence[str] | None = None,
    delta: float | None = None,
    sensors: str | Iterable[str] = (),
    calibration: SensorCalibration | None = None,
    longest_delay: float = 0.05,
    loaded: Recorded | Sequence[Recorded] = (),
    payload: Payload | None = None,
    payload_prior: Payload | None = None,
    link: int | str | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool | Literal["payload"] = False,
    regularization: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
    offsets: bool = True,
    robust: bool = False,
    columns: Sequence[Columns] = (),
    resample: float | None = None,
    threads: int = 0,
) -> Identification:
    """Identify links, friction, elastic joints, sensors and a payload by weighted least squares.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the default prior.
    t : (k,) array_like, SimulationResult, Log, path, LogFile, or sequence of these
        Instants [s], or one or several logs without a payload; may be left out with `loaded`. Of a run only `t`, `q`,
        `tau` and, for elastic joints, `x` are used. A path is that of a `LogFile`. Files are read in parts, so that
        they may be larger than the memory.
    q, dq, ddq : (k, n) array_like
        Motion. Without `ddq`, velocity and acceleration are computed from `q` by `differentiate`, and `tau` passes the
        same filter; samples within two periods of the cutoff from either end are left out, and some more where the
        cutoff is near half the sampling frequency. With `cutoff` this holds
        although `dq` and `ddq` are given, with a warning.
    tau : (k, n) array_like
        Measured torque [N m or N]; that of elastic joints drives their motors.
    x, dx, ddx : (k, e) array_like
        Motion of the motors of elastic joints, on the joint's side of the gear and in the units of `q`, required where
        `robot` has such joints; filtered like `q`.
    joint_torque : (k, e) array_like, optional
        Measured torque of springs and dampers on the links.
    friction : str or sequence of str, optional
        Kind of friction of all joints, or of each, which replaces that of `robot` and is unknown: ``"none"``,
        ``"viscous"``, ``"coulomb"`` (viscous and Coulomb), ``"asymmetric"`` (both, different for each direction) or
        ``"stribeck"`` (viscous, Coulomb and Stribeck effect), see `FrictionModel`; or terms of a robot's friction such
        as ``"viscous+quadratic"``. None keeps that of `robot`, with coefficients that are parameters like others.
    delta : float, optional
        Width of the smooth sign of `friction` [rad/s or m/s]; default that of the robot's friction, or 0.01.
    sensors : str or sequence of str
        Unknown values of sensors: a quantity of `SensorCalibration` such as ``"torque_gain"`` for all joints, or
        ``"joint2.torque_gain"`` for one.
    calibration : SensorCalibration, optional
        Known values of the others, and initial values of the unknown ones; default exact sensors.
    longest_delay : float
        Bound of estimated delays [s]; filtered logs lose this time at either end.
    loaded : SimulationResult, Log, path, LogFile, or sequence of these
        Logs with a payload. Without others the parameters of `robot` are trusted, unless `unknown` names some.
    payload : Payload, optional
        The payload of these, if it is known; it then tells the scale of torques, such as gains of motor currents.
    payload_prior : Payload, optional
        Body from which the consistent fit measures the divergence of an unknown payload; default a ball of water with
        the mass and center found by least squares, with the weight 0.03.
    link : int or str, optional
        Number or name of the link that carries the payload; default the last.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to identify, see `Robot.unknown`; default all, and none for ``"none"``. Names and groups of elastic
        parameters select these: ``"joint2.K0"``, ``"K"``, ``"D"``, ``"Dm"``, ``"Mm"``, or ``"elastic"`` for all. A mask
        selects none.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint, as it was measured. "auto" estimates it
        behind the filter from the residuals by iterative reweighting, for each row of `Identification.noise`.
    prior : Robot, optional
        Robot with the prior parameters; default `robot`.
    consistent : bool or "payload"
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors, armature and elastic
        joints. A prior coefficient may be zero, which leaves it to the data. "payload" restricts the payload alone.
        Friction with directions or a Stribeck effect is not restricted.
    regularization : float
        Weight gamma of the entropic divergence from the prior in the consistent fit; for a prior with relative error s
        use gamma = 1 / s^2.
    cutoff : float, optional
        Cutoff frequency [Hz], required without `ddq`; see `differentiate`. Leave it out to use measured accelerations.
    hold : float
        Time that a torque is held from its instant on [s]: the control period of a sampled controller. The torque is
        shifted by half of it. Only with `cutoff`.
    offsets : bool
        Estimate a constant offset of x - q for each spring, which constant errors of torques add to. False trusts that
        springs are relaxed at x = q, and finds stiffnesses also from their mean torque.
    robust : bool
        Give residuals that are outliers less weight: with Huber's weights until these settle, then with Tukey's, which
        ignore large outliers. Each step reads the logs once. Where the filter of `cutoff` would spread them, spikes of
        up to three samples are replaced by interpolation before.
    columns : sequence of Columns
        Further columns of the equations, whose coefficients are found as well; see `Identification.extra`.
    resample : float, optional
        Sampling frequency [Hz] to which logs are interpolated before the filter, by cubic polynomials, with a warning:
        for logs whose instants are not evenly spaced. Gaps longer than half a period of the cutoff are refused.
    threads : int
        Threads for windows of long logs; 0 is one per core, and one in worker processes. The result does not depend on
        their number.

    Returns
    -------
    Identification
        Estimate and its quality.

    Raises
    ------
    ThunderError
        If shapes do not match, the motion of the motors of elastic joints is missing, the prior is not physically
        consistent, no torque depends on the unknown parameters, a measured torque is zero throughout where that of
        the prior is not, a delay reaches its bound, or the iteration of nonlinear parameters does not converge.

    Warns
    -----
    ThunderWarning
        If the standard deviation of a linear stiffness or a motor inertia exceeds a tenth of its value; if a linear
        coefficient of an elastic joint is more than two standard deviations below zero; or if x follows q with a factor
        far from one. If the logs do not distinguish some parameters, of which a common change leaves all predicted
        readings as they are: fix one of each group. If the standard deviation of a Stribeck velocity exceeds a fifth of
        its value, infinite from its value on and at its bounds, `delta` and the largest speed of the joint. If an
        inertia or friction is certainly negative, the fit leaves more than half of the torque of every joint, or the
        motion determines less than half of the base parameters. If `cutoff` leaves measured accelerations unused, or
        `resample` changes instants.

    Notes
    -----
    The consistent fit minimizes ``1/2 sum_j w_j^2 |tau_j - Y_j pi|^2 + gamma sum_i D(P_i||P0_i)`` over P_i > 0, a
    convex problem, solved by Newton's method. Coefficients c of friction, rotors, armature and elastic joints add
    D(c||c0) in the same way. For c0 = 0 the coefficient takes its place whose torque has the root mean square of the
    noise.

    Where positions are filtered, the white noise that their higher differences show is followed through the filter into
    the accelerations of Y, and into x - q and the motion of motors, and its part of the normal matrix is subtracted
    (Fuller 1987). Directions that it hides keep the prior.

    For elastic joints the rows are the motors' equations, and their sums with those of the links, which are free of
    x - q: noise of x - q does not enter the parameters of the links. Residuals of both rows of a joint are correlated,
    which standard deviations include.

    Readings of sensors are ``tau_j(t + d_j) = g_j (W(q, dq, ddq) x)_j + b_j`` and ``q_i(t) = (read_i(t + e_i) - c_i) /
    a_i``, linear in x and not in delays, gains, biases and the Stribeck velocities of W. Derivatives of the readings by
    these are further columns, whose coefficients are Gauss-Newton steps (Golub and Pereyra 1973). Columns of friction
    and springs are formed of motion behind a filter of four times the cutoff and then filtered like the torques. Not
    distinguishable are: the gains of all torque sensors from the scale of all parameters, unless part of the robot or a
    payload is known; equal delays of all sensors; the position biases of a first joint about a vertical axis, of
    sliding joints at the end that no torque depends on, and of a last joint whose link is unknown.

    A payload adds the columns of its link in the logs with it: ``tau = Y pi + Y_link pi_payload``.

    References
    ----------
    Golub, Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
    separate, SIAM J. Numerical Analysis 10(2), 1973.
    Lee, Wensing, Park, Geometric robot dynamic identification, IEEE Trans. Robotics 36(2), 2020.
    Fuller, Measurement error models, Wiley, 1987.
    Demmel, Grigori, Hoemmen, Langou, Communication-optimal parallel and sequential QR and LU factorizations, SIAM J.
    Sci. Comput. 34(1), 2012.
    Huber, Ronchetti, Robust statistics, Wiley, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + np.random.default_rng(0).normal(scale=0.1, size=q.shape)
    >>> guess = robot.with_parameters(0.7 * robot.parameters)
    >>> estimate = th.identification.identify(guess, t, q, dq, ddq, tau)
    >>> estimate.rank, estimate.noise.round(1).tolist()
    (6, [0.1, 0.1])

    Links, spring and motor of an elastic joint from positions and torques of a run:

    >>> drive = th.robot.Elastic(joint=2, K=(300.0,), D=(1.0,), Dm=(0.2,), Mm=0.1)
    >>> elastic, motion = robot.replace(elastic=(drive,)), th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> run = th.simulate(elastic, th.PassivityBased(robot, 4.0, [2.0, 1.0]), motion, 4.0)
    >>> guess = elastic.with_elastic_parameters(K=[100.0], D=[0.5], Dm=[0.5], Mm=[0.2])
    >>> estimate = th.identification.identify(guess, run, cutoff=40.0, hold=1e-3)
    >>> estimate.base.names[-4:]
    ('joint2.K0', 'joint2.D0', 'joint2.Dm0', 'joint2.Mm')
    >>> estimate.base_parameters[-4:].round(1).tolist()
    [300.0, 1.0, 0.2, 0.1]

    Stribeck friction and wrong torque sensors:

    >>> from thunder_py.simulation import FrictionModel
    >>> from thunder_py.identification import Log, SensorCalibration, identify
    >>> t = np.arange(0.0, 10.0, 2e-3)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> truth = FrictionModel(viscous=[[0.5], [0.3]], coulomb=[[1.0], [0.5]], stribeck=[0.4, 0.3], velocity=[0.1, 0.2])
    >>> tau = robot.inverse_dynamics(q, dq, ddq) + truth.torque(dq)
    >>> t, q, tau = SensorCalibration(2, torque_delay=0.004, torque_bias=[0.5, -0.2]).read(t, q, tau)
    >>> tau += np.random.default_rng(0).normal(scale=0.01, size=tau.shape)
    >>> log = Log(t=t, q=q, tau=tau)
    >>> found = identify(robot, log, friction="stribeck", sensors=["torque_delay", "torque_bias"], cutoff=15.0)
    >>> found.sensors.torque_bias.round(1).tolist(), found.sensors.torque_delay.round(3).tolist()
    ([0.5, -0.2], [0.004, 0.004])
    >>> found.friction.velocity.round(1).tolist()
    [0.1, 0.2]

    A payload:

    >>> t = np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> tau = th.Payload(1.0, com=(0.2, 0.0, 0.0)).added_to(robot).inverse_dynamics(q, dq, ddq)
    >>> found = identify(robot, loaded=Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau))
    >>> dict(zip(found.extra_names[:3], found.extra[:3].round(2).tolist(), strict=True))
    {'payload.m': 1.0, 'payload.cx': 0.2, 'payload.cy': 0.0}
    >>> int(np.isfinite(found.extra_deviations).sum())  # a planar arm shows 4 of 10 parameters
    4

    Several logs:

    >>> tau = robot.inverse_dynamics(q, dq, ddq)
    >>> log = Log(t=t, q=q, dq=dq, ddq=ddq, tau=tau)
    >>> logs = [log[:250], log[250:]]
    >>> th.identification.identify(robot.with_parameters(0.7 * robot.parameters), logs).count
    501
    """
    noise = given_noise(weights, robot.n)
    signals = {"q": q, "dq": dq, "ddq": ddq, "tau": tau, "x": x, "dx": dx, "ddx": ddx, "joint_torque": joint_torque}
    with_payload = as_sources(robot, loaded, called="loaded log")
    logs = () if with_payload and isinstance(t, (list, tuple)) and not t else _logs(robot, t, signals)
    body = Payload(0.0, link=link).link_index(robot)
    known: Array | None = np.zeros(10)
    if with_payload:
        unknown = () if unknown is None and not logs else unknown
        known = None if payload is None else payload.parameters
    elif consistent == "payload" or any(given is not None for given in (payload, payload_prior, link)):
        raise ThunderError("loaded must hold logs with the payload, for payload, payload_prior, link and 'payload'")
    if consistent not in (False, True, "payload"):
        raise ThunderError(f"consistent must be False, True or 'payload', got {consistent!r}")
    kinds = None if friction is None else friction_kinds(friction, robot.n)
    own = robot.description.friction
    if delta is None or kinds is None:
        delta = 1e-2 if own is None else own.delta
    start = robot if prior is None else prior
    if all_names(start) != all_names(robot):
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {start!r}")
    if kinds is None:
        chosen, elastic = selection(robot, unknown)
    else:
        robot, start, chosen, elastic = _with_friction(robot, start, unknown, kinds, delta)
        if robot.description.friction is None:
            columns = [FrictionColumns(kinds, robot.joint_names, delta), *columns]
    mask = np.concatenate([chosen.mask, elastic])
    base = extended(chosen.base_parameters(), elastic, all_names(robot))
    if base.count == 0 and not with_payload:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    calibration = SensorCalibration(robot.n) if calibration is None else calibration
    if calibration.n != robot.n:
        raise ThunderError(f"calibration must have {robot.n} joints, got {calibration.n}")
    quantities = chosen_quantities(robot, sensors)
    stribeck = [each.stribeck for each in columns if isinstance(each, FrictionColumns) and kinds is not None][:1]
    delays = np.array([name.endswith("_delay") for name in quantity_names(robot)])
    longest = float(np.abs(calibration.vector()[delays]).max())
    if delays[quantities].any():
        longest = max(longest, positive(longest_delay, "longest_delay"))
    problem = Problem(
        robot=robot,
        logs=(*logs, *with_payload),
        loaded=len(with_payload),
        theta0=np.where(mask, all_parameters(start), all_parameters(robot)),
        chosen=chosen,
        mask=mask,
        base=base,
        columns=tuple(columns),
        friction=kinds is not None,
        body=10 * (body - 1) + np.arange(10),
        payload=known,
        sensors=calibration,
        unknown=Nonlinear(quantities, *(stribeck or [np.zeros(0, dtype=np.intp)])),
        noise=noise,
        consistent=consistent,
        gamma=positive(regularization, "regularization"),
        ball=None if payload_prior is None else payload_prior.parameters,
        offsets=offsets,
        filtering=Filtering(cutoff, nonnegative(hold, "hold"), resample, robust, longest=longest),
        threads=whole(threads, "threads", 0),
    )
    _LOG.info("%s: %d base parameters of %d unknown ones, from %d logs", robot.name, base.count, mask.sum(), len(logs))
    step = solve(problem)
    result = _result(problem, step)
    _LOG.info("%s: rank %d, %d rows, noise %s", robot.name, result.rank, result.count, result.noise.round(4).tolist())
    for message in (
        *_strange_motors(robot, step.sums.totals["motors"] / step.data.count),
        *_invisible(result.invisible),
        *diagnose(result, start, step.data.scale / step.plan.gains, problem.logs, problem.filtering),
        *_uncertain(result, int(elastic.sum())),
    ):
        warnings.warn(message, ThunderWarning, stacklevel=outer_level())
    return result


def _with_friction(
    robot: Robot,
    start: Robot,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None,
    kinds: Sequence[str],
    delta: float,
) -> tuple[Robot, Robot, UnknownParameters, npt.NDArray[np.bool_]]:
    """Return robot and prior with friction of zero in place of theirs, and what is then unknown.

    The robots have no friction where they cannot hold these kinds.
    """
    n, plain = robot.n, robot.replace(friction=None)
    if isinstance(unknown, (str, list, tuple)):  # friction is unknown anyway
        unknown = [name for name in ([unknown] if isinstance(unknown, str) else unknown) if name != "friction"]
    chosen, elastic = selection(plain, unknown)
    used = {name for kind in kinds for name in kind_terms(kind)}
    terms, friction = tuple(name for name in Friction.TERMS if name in used), None
    if used and used == set(terms):
        friction = Friction(terms=terms, coefficients=np.zeros((n, len(terms))), delta=delta)
    elif used & set(Friction.TERMS[2:]):
        raise ThunderError(f"friction must be terms of a robot alone with {', '.join(used & set(Friction.TERMS[2:]))}")
    mask = chosen.mask
    robot, start = plain.replace(friction=friction), start.replace(friction=friction)
    if friction is not None:
        here = [name in kind_terms(kind) for kind in kinds for name in terms]
        mask = np.concatenate([mask[: 10 * n], here, mask[10 * n :]])
    return robot, start, robot.unknown(mask), elastic


def _logs(robot: Robot, t: Any, signals: dict[str, npt.ArrayLike | None]) -> tuple[LogSource, ...]:
    """Return the logs of the arguments of `identify`."""
    kinds = (SimulationResult, LogSource, str, Path)
    t = list(t) if isinstance(t, Iterator) else t
    several = isinstance(t, (list, tuple)) and any(isinstance(each, kinds) for each in t)
    if not several and not isinstance(t, kinds):
        if all(value is None for value in signals.values()):
            raise ThunderError(
                f"t must be a run, a log, a path, or several of these, or instants of q and tau, got {t!r:.80}"
            )
        return (check_signals(robot, t, signals),)
    sensed = signals.pop("joint_torque") if isinstance(t, SimulationResult) else None
    given = [name for name, value in signals.items() if value is not None]
    if given:
        kind = type(t).__name__ if isinstance(t, (SimulationResult, Log)) else "log or a sequence of logs"
        raise ThunderError(f"{', '.join(given)} must be None where t is a {kind}")
    return as_sources(robot, t, sensed)


def _uncertain(result: Identification, elastic: int) -> Iterator[str]:
    """Yield what to tell of stiffnesses, motors and Stribeck velocities that the log does not determine."""
    values = list(zip(result.names, result.estimates, result.deviations, strict=True))
    b = result.base.count
    of_springs, further = values[b - elastic : b], values[b:]

    def listed(chosen: Sequence[tuple[str, float, float]], endings: tuple[str, ...], bound: float) -> str:
        shares = [
            (name, 100.0 * sigma / abs(value) if value else np.inf)
            for name, value, sigma in chosen
            if name.endswith(endings) and sigma > bound * abs(value)
        ]
        return ", ".join(f"{name} ({f'{share:.3g} %' if share < 1e4 else 'not at all'})" for name, share in shares)

    if names := listed(further, (".stribeck_velocity",), _UNCERTAIN_VELOCITY):
        yield f"the logs hardly determine {names}: intervals of these and of the Stribeck coefficients are too narrow"
    if names := listed(of_springs, (".K0", ".Mm"), _UNCERTAIN):
        yield (
            f"the log hardly determines {names}, given with their standard deviations: excite the vibration of these "
            "joints, or lower the noise"
        )
    negative = [
        f"{name} ({value:.3g})"
        for name, value, sigma in of_springs
        if name.endswith((".K0", ".D0", ".Dm0", ".Mm")) and value < -2.0 * sigma
    ]
    if negative:
        yield (
            f"the log asks for negative values of {', '.join(negative)}: are x and q exchanged, the sign of tau, or "
            "the units wrong?"
        )


def _invisible(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    for first, *others in groups:
        listed = ", ".join(others[:_LISTED]) + (f" and {len(others) - _LISTED} more" if len(others) > _LISTED else "")
        change = f"from a change of {listed}" if others else "at all"
        if first.endswith(".stribeck_velocity"):
            advice = "choose another friction for this joint, or move it slowly in both directions"
        else:
            advice = "leave it out of sensors, or give its value by calibration"
        yield f"the logs do not distinguish {first} {change}: {advice}"


def _strange_motors(robot: Robot, means: Array) -> Iterator[str]:
    """Yield joints whose x follows q with a factor far from one, by the means of q, x, q^2, q x and x^2, (5, e)."""
    q, x, qq, qx, xx = means
    squares, product, motors = qq - q**2, qx - q * x, xx - x**2
    factor = np.divide(product, squares, out=np.ones(robot.e), where=squares > 0.0)
    follows = product**2 > _ALIKE**2 * squares * motors
    strange = np.flatnonzero(follows & ((factor > _FACTOR) | (factor < 1.0 / _FACTOR)))
    if strange.size:
        named = ", ".join(f"{robot.joint_names[robot.elastic[i].joint - 1]} (x = {factor[i]:.3g} q)" for i in strange)
        yield f"x must be on the joint's side of the gear, in rad or m like q, but does not resemble q at {named}"
