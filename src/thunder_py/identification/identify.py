"""Identification of parameters from logged motion and torque."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, above_zero, all_positive, array
from ..errors import ThunderError, ThunderWarning, outer_level
from ..result import SimulationResult
from ..robot import Robot, inertia
from ..robot.elastic import spring_slopes
from ..robot.robot import BaseParameters, UnknownParameters
from ..table import Table
from .equations import (
    Equations,
    all_names,
    all_parameters,
    equations,
    extended,
    selection,
    with_all_parameters,
)
from .least_squares import (
    Data,
    Fit,
    compress,
    consistent_problem,
    covariance,
    fit,
    fit_reweighted,
    residual_rms,
    solve_consistent,
    spread,
)
from .log import Log, read_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Identification", "identify"]

#: torque of a joint relative to the largest: lower bound for weights, and bound below which it counts as rounding
_SMALLEST_SCALE, _ROUNDING = 1e-3, 1e-9
#: relative standard deviation of a stiffness or motor inertia above which `identify` warns
_UNCERTAIN = 0.1
#: iterations of offsets of nonlinear springs, and their change, relative to x - q, at which these end
_ROUNDS, _EXACT = 30, 1e-9
#: correlation above which x follows q, and the factor from which on it does not resemble q
_ALIKE, _FACTOR = 0.9, 4.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """Result of an identification.

    Attributes
    ----------
    robot : Robot
        Robot with the identified parameters.
    unknown : UnknownParameters
        Parameters of the links that were identified.
    parameters : (P,) array
        All parameters: those of the links, then K, D, Dm and Mm of the elastic joints; directions that do not affect
        torques stay as near to the prior as possible.
    base : BaseParameters
        Identifiable combinations of the unknown parameters, and the unknown ones of elastic joints, such as
        ``joint2.K0``.
    base_parameters, standard_deviations : (b,) array
        Values of the base parameters, and standard deviations of the plain least-squares estimate for torque noise that
        is white before the filter (also with ``consistent=True``); infinite for parameters that the motion does not
        excite or noise of the positions hides.
    residual_rms : (r,) array
        Root mean square of the torque residuals [N m or N]: n joints, then e motors; with measured joint torques n
        joints, e springs, e motors.
    noise : (r,) array
        Standard deviations that weighted these rows [N m or N].
    offsets, offset_deviations : (e,) array
        Constant offsets of x - q, at which springs are relaxed [rad or m], and their standard deviations; zero where
        none were estimated.
    rank : int
        Number of base parameters that the motion excites.
    condition : float
        Condition number of the weighted base regressor, columns scaled to unit length.
    consistent : bool
        Whether the fit was restricted to physically consistent parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> robot, t = th.Robot.load("elbow"), np.linspace(0.0, 10.0, 501)
    >>> q, dq, ddq = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])(t)
    >>> estimate = th.identification.identify(robot, t, q, dq, ddq, robot.inverse_dynamics(q, dq, ddq))
    >>> estimate.rank, estimate.base.names[0], round(float(estimate.base_parameters[0]), 3)
    (6, 'link1.m', 2.53)
    >>> np.allclose(estimate.torque(q, dq, ddq), robot.inverse_dynamics(q, dq, ddq)), estimate.physical.shape
    (True, (2,))
    """

    robot: Robot
    unknown: UnknownParameters
    parameters: Array
    base: BaseParameters = field(repr=False)
    base_parameters: Array
    standard_deviations: Array
    residual_rms: Array
    noise: Array
    offsets: Array
    offset_deviations: Array
    rank: int
    condition: float
    consistent: bool

    @property
    def physical(self) -> npt.NDArray[np.bool_]:
        """True for each link with a positive definite pseudo-inertia, (n,)."""
        return inertia.is_physical(self.robot.inertial)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques on the links, (..., n)."""
        return self.robot.inverse_dynamics(q, dq, ddq)

    def table(self) -> Table:
        """Return a table of the base parameters: leading name, value, standard deviation in per cent."""
        columns = zip(self.base.names, self.base_parameters, self.standard_deviations, strict=True)
        rows = ((name, value, 100.0 * sigma / abs(value) if value else np.inf) for name, value, sigma in columns)
        return Table(["base parameter", "value", "standard deviation [%]"], rows)

    def plot(self, *, ax: Axes | None = None, truth: Robot | None = None) -> Axes:
        """Plot the base parameters with two standard deviations.

        Parameters
        ----------
        ax : Axes, optional
            Default a new figure.
        truth : Robot, optional
            Robot with the true parameters, plotted as well.

        Returns
        -------
        Axes
            The panel drawn.
        """
        from .plot import plot_identification

        return plot_identification(self, ax=ax, truth=truth)


def identify(
    robot: Robot,
    t: npt.ArrayLike | SimulationResult,
    q: npt.ArrayLike | None = None,
    dq: npt.ArrayLike | None = None,
    ddq: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    x: npt.ArrayLike | None = None,
    dx: npt.ArrayLike | None = None,
    ddx: npt.ArrayLike | None = None,
    joint_torque: npt.ArrayLike | None = None,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool = False,
    regularization: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
    offsets: bool = True,
) -> Identification:
    """Identify parameters by weighted least squares, optionally restricted to physically consistent values.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the default prior.
    t : (k,) array_like, or Result
        Instants [s], or a run of which only `t`, `q`, `tau` and, for elastic joints, `x` are used.
    q, dq, ddq : (k, n) array_like
        Motion. Without `ddq`, velocity and acceleration are computed from `q` by `differentiate`, and `tau` passes the
        same filter; samples within two periods of the cutoff from either end are left out.
    tau : (k, n) array_like
        Measured torque [N m or N]; that of elastic joints drives their motors.
    x, dx, ddx : (k, e) array_like
        Motion of the motors of elastic joints, on the joint's side of the gear and in the units of `q`, required where
        `robot` has such joints; filtered like `q`.
    joint_torque : (k, e) array_like, optional
        Measured torque of springs and dampers on the links.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to identify, see `Robot.unknown`; default all. Names and groups of elastic parameters select these:
        ``"joint2.K0"``, ``"K"``, ``"D"``, ``"Dm"``, ``"Mm"``, or ``"elastic"`` for all. A mask selects none.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint. "auto" estimates them from the residuals by
        iterative reweighting, for each row of `Identification.noise`.
    prior : Robot, optional
        Robot with the prior parameters; default `robot`.
    consistent : bool
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors, armature and elastic
        joints. A prior coefficient may be zero, which leaves it to the data.
    regularization : float
        Weight gamma of the entropic divergence from the prior in the consistent fit; for a prior with relative error s
        use gamma = 1 / s^2.
    cutoff : float, optional
        Cutoff frequency [Hz], required without `ddq`; see `differentiate`.
    hold : float
        Time that a torque is held from its instant on [s]: the control period of a sampled controller. The torque is
        shifted by half of it. Only without `ddq`.
    offsets : bool
        Estimate a constant offset of x - q for each spring, which constant errors of torques add to. False trusts that
        springs are relaxed at x = q, and finds stiffnesses also from their mean torque.

    Returns
    -------
    Identification
        Estimate and its quality.

    Raises
    ------
    ThunderError
        If shapes do not match, the motion of the motors of elastic joints is missing, the prior is not physically
        consistent, no torque depends on the unknown parameters, or a measured torque is zero throughout where that of
        the prior is not.

    Warns
    -----
    ThunderWarning
        If the standard deviation of a linear stiffness or a motor inertia exceeds a tenth of its value; if a linear
        coefficient of an elastic joint is more than two standard deviations below zero; or if x follows q with a factor
        far from one.

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

    References
    ----------
    Lee, Wensing, Park, Geometric robot dynamic identification, IEEE Trans. Robotics 36(2), 2020.
    Fuller, Measurement error models, Wiley, 1987.

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
    """
    if isinstance(weights, str) and weights != "auto":
        raise ThunderError(f"weights must be 'auto' or one number for each joint, got {weights!r}")
    signals = {"q": q, "dq": dq, "ddq": ddq, "tau": tau, "x": x, "dx": dx, "ddx": ddx, "joint_torque": joint_torque}
    log = read_log(robot, t, signals, cutoff, hold)
    chosen, elastic = selection(robot, unknown)
    start = robot if prior is None else prior
    if all_names(start) != all_names(robot):
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {start!r}")
    mask = np.concatenate([chosen.mask, elastic])
    theta0 = np.where(mask, all_parameters(start), all_parameters(robot))
    base = extended(chosen.base_parameters(), elastic, all_names(robot))
    if base.count == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    task = _Task(
        robot=robot,
        log=log,
        prior=start,
        theta0=theta0,
        mask=mask,
        base=base,
        noise=None if isinstance(weights, str) else _noise(weights, robot.n),
        gamma=above_zero(regularization, "regularization") if consistent else None,
        offsets=offsets,
    )
    shift, step, found = _solve(task)
    covariances = covariance(found.solution, found.rows.W[..., base.independent], found.left, found.rows.joints)
    covariances /= log.gains[0]
    sigma = np.where(found.solution.determined, np.sqrt(np.maximum(np.diag(covariances), 0.0)), np.inf)
    values = base.mapping @ found.theta
    _warn_of_other_motors(robot, log)
    _warn_if_uncertain(base, values, sigma, int(elastic.sum()))
    _warn_if_negative(base, values, sigma, int(elastic.sum()))
    return Identification(
        robot=with_all_parameters(robot, found.theta),
        unknown=chosen,
        parameters=found.theta,
        base=base,
        base_parameters=values,
        standard_deviations=sigma,
        residual_rms=residual_rms(found.data, base.mapping @ (found.theta - theta0)),
        noise=found.solution.noise,
        offsets=shift,
        offset_deviations=_offset_deviations(task, found, shift, step, covariances),
        rank=found.solution.rank,
        condition=found.solution.condition,
        consistent=consistent,
    )


@dataclass(frozen=True, kw_only=True)
class _Task:
    """Log, prior, and what is unknown; `noise` and `gamma` are None where noise is estimated, and without bounds."""

    robot: Robot
    log: Log
    prior: Robot
    theta0: Array
    mask: npt.NDArray[np.bool_]
    base: BaseParameters
    noise: Array | None
    gamma: float | None
    offsets: bool


class _Found(NamedTuple):
    """Parameters found with one guess of the offsets, and what they were found from."""

    theta: Array
    rows: Equations
    left: Array
    data: Data
    solution: Fit


def _solve(task: _Task) -> tuple[Array, Array, _Found]:
    """Return the offsets of springs, (e,), the last change of them, and the parameters found before it.

    Those of linear springs do not depend on the offset that is taken out of their rows. Nonlinear ones do: the offset
    shifts x until no further one is found.
    """
    robot, known, offsets = task.robot, with_all_parameters(task.robot, task.theta0), np.zeros(task.robot.e)
    linear = all(len(drive.K) == 1 for drive in robot.elastic)
    size = np.sqrt(np.mean(task.log.deflection(robot) ** 2, axis=0))
    step = np.zeros(robot.e)
    for _ in range(_ROUNDS):
        offsets = offsets + step
        found = _solve_with(task, known, offsets)
        known = with_all_parameters(robot, found.theta)
        step = _offset_step(task, found.rows, known, offsets)
        if linear or (np.abs(step) <= _EXACT * size).all():
            break
    return offsets + step, step, found


def _solve_with(task: _Task, known: Robot, offsets: Array) -> _Found:
    robot, log, base, theta0 = task.robot, task.log, task.base, task.theta0
    rows = equations(robot, log, known if task.offsets else None, offsets)
    scale = _scale(robot, log.torque, rows.W[:, : robot.n, : robot.p] @ task.prior.parameters)[rows.joints]
    errors = len(rows.y) * rows.errors[:, base.independent]
    left = rows.y - rows.W @ theta0
    data = compress(rows.W[..., base.independent], left, scale, errors[..., base.independent], errors @ theta0)
    solution = fit_reweighted(data) if task.noise is None else fit(data, task.noise[rows.joints])
    if task.gamma is None:
        theta = theta0 + spread(base, task.mask, solution.deviation)
    else:
        theta = _consistent(robot, theta0, task.mask, rows, solution.noise, task.gamma)
    return _Found(theta, rows, left, data, solution)


def _offset_step(task: _Task, rows: Equations, known: Robot, offsets: Array) -> Array:
    """Return the offsets that cause the constant torques which the parameters leave, (e,), zero without stiffness."""
    if rows.offsets is None:
        return np.zeros(task.robot.e)
    stiffness = spring_slopes(known.elastic, task.log.deflection(task.robot) - offsets).mean(axis=0)
    torques = rows.offsets.torques(all_parameters(known))
    return np.asarray(np.divide(-torques, stiffness, out=np.zeros_like(torques), where=stiffness != 0.0))


def _offset_deviations(task: _Task, found: _Found, offsets: Array, step: Array, covariances: Array) -> Array:
    """Return the standard deviations of the offsets, (e,), infinite where the stiffness is unknown."""
    robot, base, parts = task.robot, task.base, found.rows.offsets
    if parts is None:
        return np.zeros(robot.e)
    known, place = with_all_parameters(robot, found.theta), {name: k for k, name in enumerate(base.names)}
    columns, hidden = parts.W[:, base.independent], np.zeros(robot.e, dtype=bool)
    for i, drive in enumerate(robot.elastic):
        k = place.get(f"{robot.joint_names[drive.joint - 1]}.K0")
        if k is not None:
            columns[i, k] -= step[i]  # the mean of x - q without the offset
            hidden[i] = not found.solution.determined[k]
    noise = found.solution.noise[robot.n : robot.n + robot.e]
    variances = noise**2 / parts.squares / task.log.gains[0] + np.einsum("ea,ab,eb->e", columns, covariances, columns)
    stiffness = np.abs(spring_slopes(known.elastic, task.log.deflection(robot) - offsets).mean(axis=0))
    hidden |= stiffness == 0.0
    return np.where(hidden, np.inf, np.sqrt(variances) / np.where(hidden, 1.0, stiffness))


def _scale(robot: Robot, torque: Array, expected: Array) -> Array:
    """Return the root mean square of each joint's torque, (n,), with a lower bound for joints without torque."""
    measured, prior = (np.sqrt(np.mean(tau**2, axis=0)) for tau in (torque, expected))
    dead = (measured == 0.0) & (prior > _ROUNDING * prior.max())
    if dead.any():
        j = int(np.argmax(dead))
        raise ThunderError(
            f"tau must not be zero throughout at {robot.joint_names[j]}, where the prior's torque has a root mean "
            f"square of {prior[j]:.3g}: was it measured?"
        )
    scale: Array = np.maximum(measured, (_SMALLEST_SCALE * measured.max()) or 1.0)
    return scale


def _noise(weights: npt.ArrayLike, n: int) -> Array:
    values = array(weights, (n,), "weights")
    all_positive(values, "weights")
    return 1.0 / values


def _consistent(
    robot: Robot,
    theta0: Array,
    mask: npt.NDArray[np.bool_],
    rows: Equations,
    noise: Array,
    gamma: float,
) -> Array:
    absent = (np.arange(theta0.size) >= 10 * robot.n) & (theta0 == 0.0) & ~rows.W.any(axis=(0, 1))
    mask = mask & ~absent  # a coefficient of zero whose joint does not move stays
    known = rows.y - rows.W[..., ~mask] @ theta0[~mask]
    W = (rows.W[..., mask] / noise[:, None]).reshape(-1, int(mask.sum()))
    errors = len(rows.y) * np.einsum("jab,j->ab", rows.errors, noise**-2.0)
    return solve_consistent(consistent_problem(robot, theta0, mask, W, (known / noise).ravel(), errors), gamma)


def _warn_if_uncertain(base: BaseParameters, values: Array, sigma: Array, elastic: int) -> None:
    """Warn of stiffnesses and motor inertias, among the last parameters, that the log does not determine."""
    uncertain = [
        f"{name} ({100.0 * deviation / abs(value) if value else np.inf:.0f} %)"
        for name, value, deviation in list(zip(base.names, values, sigma, strict=True))[base.count - elastic :]
        if name.endswith((".K0", ".Mm")) and deviation > _UNCERTAIN * abs(value)
    ]
    if uncertain:
        _warn(
            f"the log hardly determines {', '.join(uncertain)}, given with their standard deviations: excite the "
            "vibration of these joints, or lower the noise"
        )


def _warn_if_negative(base: BaseParameters, values: Array, sigma: Array, elastic: int) -> None:
    """Warn of linear coefficients, among the last parameters, that are certainly below zero."""
    negative = [
        f"{name} ({value:.3g})"
        for name, value, deviation in list(zip(base.names, values, sigma, strict=True))[base.count - elastic :]
        if name.endswith((".K0", ".D0", ".Dm0", ".Mm")) and value < -2.0 * deviation
    ]
    if negative:
        _warn(
            f"the log asks for negative values of {', '.join(negative)}: are x and q exchanged, the sign of tau, or "
            "the units wrong?"
        )


def _warn_of_other_motors(robot: Robot, log: Log) -> None:
    """Warn of joints whose x follows q, but not with a factor near one."""
    if log.motors is None:
        return
    q = log.motion.q[:, [drive.joint - 1 for drive in robot.elastic]]
    q, x = q - q.mean(axis=0), log.motors.q - log.motors.q.mean(axis=0)
    squares, product = np.sum(q**2, axis=0), np.sum(q * x, axis=0)
    factor = np.divide(product, squares, out=np.ones(robot.e), where=squares > 0.0)
    follows = product**2 > _ALIKE**2 * squares * np.sum(x**2, axis=0)
    strange = np.flatnonzero(follows & ((factor > _FACTOR) | (factor < 1.0 / _FACTOR)))
    if strange.size:
        named = ", ".join(f"{robot.joint_names[robot.elastic[i].joint - 1]} (x = {factor[i]:.3g} q)" for i in strange)
        _warn(f"x must be on the joint's side of the gear, in rad or m like q, but does not resemble q at {named}")


def _warn(message: str) -> None:
    warnings.warn(message, ThunderWarning, stacklevel=outer_level())
