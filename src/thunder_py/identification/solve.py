"""Solution of an identification problem from sums over its logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..model.inertia import dyn_from_reg
from ..robot import Payload
from .equations import with_all_parameters
from .intervals import Uncertainty, uncertainty
from .least_squares import (
    SMALLEST_NOISE,
    Data,
    Fit,
    consistent_problem,
    fit,
    fit_reweighted,
    nearest_change,
    residual_rms,
    solve_consistent,
)
from .nonlinear import Guess, velocities
from .offsets import Offsets
from .problem import Problem
from .robust import Outliers, Spread, spread_of
from .sums import Layout, Sums, mean_slopes
from .triangle import r_factor

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


class Estimate(NamedTuple):
    """Solution with its quality.

    `values` are the further coefficients, mass, center of mass and inertia of an unknown payload, values of sensors and
    Stribeck velocities; `determined` and `uncertainty` are those of base parameters and `values`; `motors` are the
    means of q, x, q^2, q x and x^2 of elastic joints, (5, e); `gains` are those of the rows' torque sensors.
    """

    theta: Array
    values: Array
    guess: Guess
    solution: Fit
    determined: npt.NDArray[np.bool_]
    uncertainty: Uncertainty
    residual_rms: Array
    offsets: Array
    offset_deviations: Array
    motors: Array
    instants: int
    torque_rms: Array
    gains: Array
    invisible: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Step:
    """What one pass over the logs found, and what it was found from.

    `deviation` holds the unknowns of the layout, of which the solution is those that `directions` map to, and `still`
    those without a change of theta; `bounds` are those of theta, `promise` is the decrease of the squares by the step
    of theta, and `misfit` measures the squares before it.
    """

    guess: Guess
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
    def nonlinear(self) -> slice:
        """Unknowns that change theta."""
        return slice(self.plan.ends[2], self.plan.ends[3])


def solve(problem: Problem, names: tuple[str, ...]) -> Estimate:
    """Return the parameters, from as many passes over the logs as theta, offsets and outliers need.

    `names` are those of base parameters and `Estimate.values`.

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
    return _found(problem, step, names)


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
    plan = problem.layout(guess)
    sums, gain = problem.sums(plan, guess)
    totals, count = sums.totals, float(sums.totals["count"])
    spread = None if guess.outliers is None else spread_of(totals["outliers"], guess.outliers, count)
    slopes = mean_slopes(guess.known, totals["powers"] / count)
    weight = np.ones(plan.joints.size) if spread is None else spread.weight
    data, offsets = problem.data(plan, sums, slopes, weight)
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
        guess, plan, sums, gain, data, offsets, spread, T, solution, unmoved, deviation, theta0, bounds, promise, misfit
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
    inner = consistent_problem(
        problem.robot, prior, mask, R[c:, c:-1], R[c:, -1], count=gain * data.count, errors=errors, pull=pull,
        weight=weight,
    )  # fmt: skip
    pi = solve_consistent(inner, problem.gamma or 0.0)
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


def _found(problem: Problem, step: _Step, names: tuple[str, ...]) -> Estimate:
    plan, (_, _, linear, last, _) = step.plan, step.plan.ends
    theta, bounds = step.guess.theta(problem.unknown), step.bounds
    for name, value in zip(names[linear:], theta, strict=False):
        if name.endswith("_delay") and abs(value) >= problem.filtering.longest:
            raise ThunderError(
                f"longest_delay must be larger: {name} reaches {value:.3g} s. Check the time stamps of the log"
            )
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
    found = uncertainty(data, step.solution, 1.0 / step.gain, influence, slopes)
    determined[speeds] &= np.sqrt(np.diag(found.covariance)[speeds]) < values[speeds]  # it might be any
    return Estimate(
        theta=step.theta,
        values=values[problem.base.count :],
        guess=_next(problem, step),
        solution=step.solution,
        determined=determined,
        uncertainty=found,
        residual_rms=residual_rms(step.data, step.deviation),
        offsets=step.guess.offsets + further,
        offset_deviations=_offset_deviations(problem, step, further, found.covariance),
        motors=step.sums.totals["motors"] / step.data.count,
        instants=round(step.data.count),
        torque_rms=step.data.scale,
        gains=plan.gains(step.guess),
        invisible=invisible,
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
