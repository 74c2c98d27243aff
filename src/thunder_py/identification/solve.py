"""Solution of an identification problem from sums over its logs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..checks import Array
from .equations import with_all_parameters
from .intervals import Uncertainty, uncertainty
from .layout import RegressorColumns
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
from .offsets import Offsets
from .problem import Problem
from .robust import Outliers, Spread, spread_of
from .sums import Linearization, Sums, mean_slopes
from .triangle import r_factor

#: iterations of offsets of nonlinear springs, and their change, relative to x - q, at which these end
_ROUNDS, _EXACT = 30, 1e-9
#: iterations of weights of outliers, and their change, in standard deviations, at which these end
_REWEIGHTED, _SETTLED = 20, 1e-3


class Estimate(NamedTuple):
    """Solution with its quality; `motors` are the means of q, x, q^2, q x and x^2 of elastic joints, (5, e)."""

    theta: Array
    extra: Array
    solution: Fit
    uncertainty: Uncertainty
    residual_rms: Array
    offsets: Array
    offset_deviations: Array
    motors: Array
    instants: int
    torque_rms: Array


@dataclass(frozen=True)
class _Step:
    """Parameters found with one guess, and what they were found from."""

    guess: Linearization
    sums: Sums
    gain: float
    data: Data
    offsets: Offsets | None
    solution: Fit
    deviation: Array
    theta: Array
    spread: Spread | None


def solve(problem: Problem) -> Estimate:
    """Return the parameters, from as many passes over the logs as offsets and outliers need."""
    plan, robot = problem.layout(), problem.robot
    step = _solve_with(problem, plan, Linearization(np.zeros(robot.e), with_all_parameters(robot, problem.theta0)))
    problem = replace(problem, filtering=problem.filtering._replace(quiet=True))  # further passes read the same logs
    step = _until_offsets_settle(problem, plan, step)
    if problem.filtering.robust:
        for redescending in (False, True):
            step = _until_weights_settle(problem, plan, step, redescending)
    return _found(problem, plan, step)


def _until_offsets_settle(problem: Problem, plan: RegressorColumns, step: _Step) -> _Step:
    """Repeat the solution with springs that are not linear, whose offset shifts x until no further one is found."""
    if all(len(drive.K) == 1 for drive in problem.robot.elastic) or step.offsets is None:
        return step
    size = np.sqrt(step.sums.totals["deflection"] / step.data.count)
    for _ in range(_ROUNDS - 1):
        further = _further_offsets(problem, step)
        if (np.abs(further) <= _EXACT * size).all():
            break
        known = with_all_parameters(problem.robot, step.theta)
        step = _solve_with(problem, plan, Linearization(step.guess.offsets + further, known))
    return step


def _until_weights_settle(problem: Problem, plan: RegressorColumns, step: _Step, redescending: bool) -> _Step:
    """Repeat the solution with weights from the residuals before it; Tukey's weights keep the scale of Huber's."""
    scale = step.solution.noise if step.spread is None else step.spread.scale
    for _ in range(_REWEIGHTED):
        if problem.noise is not None:
            scale = np.sqrt(step.gain) * problem.noise[plan.joints]
        outliers = Outliers(_coefficients(plan, step), scale, redescending)
        known = with_all_parameters(problem.robot, step.theta)
        before, step = step, _solve_with(problem, plan, Linearization(step.guess.offsets, known, outliers))
        change = before.deviation - step.deviation
        steady = np.linalg.norm((step.data.factors[..., :-1] @ change) / step.solution.noise[:, None]) <= _SETTLED
        if step.spread is not None and not redescending:
            steady &= bool((np.abs(step.spread.scale / scale - 1.0) < _SETTLED).all()) or problem.noise is not None
            scale = step.spread.scale
        if steady:
            break
    return step


def _coefficients(plan: RegressorColumns, step: _Step) -> tuple[Array, ...]:
    """Return the coefficients of the columns of each row, and -1 for its torque."""
    found = []
    constants = np.zeros(0) if step.offsets is None else step.offsets.coefficients(step.deviation)
    for row, used in enumerate(plan.used):
        values = np.append(step.deviation[used], -1.0)
        found.append(np.append(constants[row - plan.robot.n], values) if row in plan.springs else values)
    return tuple(found)


def _solve_with(problem: Problem, plan: RegressorColumns, guess: Linearization) -> _Step:
    sums, gain = problem.sums(plan, guess)
    totals, count = sums.totals, float(sums.totals["count"])
    spread = None if guess.outliers is None else spread_of(totals["outliers"], guess.outliers, count)
    slopes = mean_slopes(guess.known, totals["powers"] / count)
    weight = np.ones(plan.joints.size) if spread is None else spread.weight
    data, offsets = problem.data(plan, sums, slopes, weight)
    if spread is not None:
        solution = fit(data, np.maximum(spread.noise, SMALLEST_NOISE * data.scale))
    elif problem.noise is not None:
        solution = fit(data, np.sqrt(gain) * problem.noise[plan.joints])
    else:
        solution = fit_reweighted(data)
    deviation, theta = solution.deviation, problem.theta0
    b = problem.base.count
    if problem.gamma is None:
        theta = theta + nearest_change(problem.base, problem.mask, deviation[:b])
    else:
        theta, extra = _consistent(problem, plan, sums, data, solution.noise / np.sqrt(gain), gain)
        deviation = np.append(problem.base.mapping @ (theta - problem.theta0), extra)
    return _Step(guess, sums, gain, data, offsets, solution, deviation, theta, spread)


def _consistent(
    problem: Problem, plan: RegressorColumns, sums: Sums, data: Data, noise: Array, gain: float
) -> tuple[Array, Array]:
    """Return all parameters and the coefficients of further columns.

    The columns of all unknown parameters are those of the base parameters times their mapping. Further columns are
    eliminated: their rows of the triangular factor, in which they come first, determine them afterwards. The noise is
    that before the filter: the squares then count independent samples, of which the filter leaves `gain` per instant.
    """
    theta0, b = problem.theta0, problem.base.count
    still = np.zeros(theta0.size, dtype=bool)
    still[plan.watched[sums.totals["moving"] == 0.0]] = True
    mask = problem.mask & ~still  # a coefficient of zero whose joint does not move stays
    change = np.zeros((data.factors.shape[-1] - 1, int(mask.sum())))
    change[:b] = problem.base.mapping[:, mask]
    rows = (data.factors / noise[:, None, None]).reshape(-1, data.factors.shape[-1])
    W = rows[:, :-1] @ change
    R = r_factor(np.column_stack([rows[:, b:-1], W, rows[:, -1] + W @ theta0[mask]]))
    c = len(change) - b
    errors = change.T @ np.einsum("jab,j->ab", data.errors, noise**-2.0) @ change
    pull = change.T @ (noise**-2.0 @ data.pull) - errors @ theta0[mask]
    inner = consistent_problem(
        problem.robot, theta0, mask, R[c:, c:-1], R[c:, -1], count=gain * data.count, errors=errors, pull=pull
    )
    theta = solve_consistent(inner, problem.gamma or 0.0)
    left = R[:c, -1] - R[:c, c:-1] @ theta[mask]
    return theta, np.asarray(np.linalg.lstsq(R[:c, :c], left, rcond=None)[0] if c else left)


def _further_offsets(problem: Problem, step: _Step) -> Array:
    """Return the offsets that cause the constant torques which the parameters leave, (e,), zero without stiffness."""
    if step.offsets is None:
        return np.zeros(problem.robot.e)
    stiffness, torques = _stiffness(problem, step), step.offsets.torques(step.deviation)
    return np.asarray(np.divide(-torques, stiffness, out=np.zeros_like(torques), where=stiffness != 0.0))


def _stiffness(problem: Problem, step: _Step) -> Array:
    known = with_all_parameters(problem.robot, step.theta)
    return mean_slopes(known, step.sums.totals["powers"] / step.data.count)


def _found(problem: Problem, plan: RegressorColumns, step: _Step) -> Estimate:
    further = _further_offsets(problem, step)
    influence = 1.0 if step.spread is None else step.spread.influence
    found = uncertainty(step.data, step.solution, 1.0 / step.gain, influence)
    return Estimate(
        theta=step.theta,
        extra=step.deviation[problem.base.count :],
        solution=step.solution,
        uncertainty=found,
        residual_rms=residual_rms(step.data, step.deviation),
        offsets=step.guess.offsets + further,
        offset_deviations=_offset_deviations(problem, step, further, found.covariance),
        motors=step.sums.totals["motors"] / step.data.count,
        instants=round(step.data.count),
        torque_rms=step.data.scale,
    )


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
