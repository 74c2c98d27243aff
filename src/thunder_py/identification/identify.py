"""Identification of parameters from logged motion and torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, above_zero, all_positive, array, zero_or_above
from ..errors import ThunderError
from ..result import SimulationResult
from ..robot import Robot, inertia
from ..robot.robot import BaseParameters, UnknownParameters
from ..table import Table
from .least_squares import (
    Data,
    Fit,
    compress,
    consistent_problem,
    excited,
    fit,
    fit_reweighted,
    residual_rms,
    solve_consistent,
    spread,
)
from .signals import Motion, differentiate, instants, lowpass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Identification", "identify"]

#: periods of the cutoff at either end in which filtered signals are left out
_EDGE = 2.0
#: torque of a joint relative to the largest: lower bound for weights, and bound below which it counts as rounding
_SMALLEST_SCALE, _ROUNDING = 1e-3, 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """Result of an identification.

    Attributes
    ----------
    robot : Robot
        Robot with the identified parameters.
    unknown : UnknownParameters
        Parameters that were identified.
    parameters : (p,) array
        All parameters; directions that do not affect torques stay as near to the prior as possible.
    base : BaseParameters
        Identifiable combinations of the unknown parameters.
    base_parameters, standard_deviations : (b,) array
        Values of the base parameters, and standard deviations of the plain least-squares estimate for white noise (also
        with ``consistent=True``); infinite for parameters that the motion does not excite.
    residual_rms : (n,) array
        Root mean square of the torque residuals [N m or N].
    noise : (n,) array
        Standard deviations that weighted the joints [N m or N].
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
    rank: int
    condition: float
    consistent: bool

    @property
    def physical(self) -> npt.NDArray[np.bool_]:
        """True for each link with a positive definite pseudo-inertia, (n,)."""
        return inertia.is_physical(self.robot.inertial)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques, (..., n)."""
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
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool = False,
    regularization: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
) -> Identification:
    """Identify parameters by weighted least squares, optionally restricted to physically consistent values.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the default prior.
    t : (k,) array_like, or Result
        Instants [s], or a run of which only `t`, `q` and `tau` are used.
    q, dq, ddq : (k, n) array_like
        Motion. Without `ddq`, velocity and acceleration are computed from `q` by `differentiate`, and `tau` passes the
        same filter; samples within two periods of the cutoff from either end are left out.
    tau : (k, n) array_like
        Measured torque [N m or N].
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        Parameters to identify, see `Robot.unknown`; default all.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint. "auto" estimates them from the residuals by
        iterative reweighting.
    prior : Robot, optional
        Robot with the prior parameters; default `robot`.
    consistent : bool
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors and armature. A prior
        coefficient may be zero, which leaves it to the data.
    regularization : float
        Weight gamma of the entropic divergence from the prior in the consistent fit; for a prior with relative error s
        use gamma = 1 / s^2.
    cutoff : float, optional
        Cutoff frequency [Hz], required without `ddq`; see `differentiate`.
    hold : float
        Time that a torque is held from its instant on [s]: the control period of a sampled controller. The torque is
        shifted by half of it. Only without `ddq`.

    Returns
    -------
    Identification
        Estimate and its quality.

    Raises
    ------
    ThunderError
        If shapes do not match, the prior is not physically consistent, no torque depends on the unknown parameters, or
        a measured torque is zero throughout where that of the prior is not.

    Notes
    -----
    The consistent fit minimizes ``1/2 sum_j w_j^2 |tau_j - Y_j pi|^2 + gamma sum_i D(P_i||P0_i)`` over P_i > 0, a
    convex problem, solved by Newton's method. Coefficients c of friction, rotors and armature add D(c||c0) in the same
    way. For c0 = 0 the coefficient takes its place whose torque has the root mean square of the noise.

    References
    ----------
    Lee, Wensing, Park, Geometric robot dynamic identification, IEEE Trans. Robotics 36(2), 2020.

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
    """
    if isinstance(weights, str) and weights != "auto":
        raise ThunderError(f"weights must be 'auto' or one number for each joint, got {weights!r}")
    motion, torque = _data(robot, t, q, dq, ddq, tau, cutoff, hold)
    chosen = robot.unknown(unknown.mask if isinstance(unknown, UnknownParameters) else unknown)
    start = robot if prior is None else prior
    if start.parameter_names != robot.parameter_names:
        raise ThunderError(f"prior must have the parameters of {robot.name}, got {start!r}")
    pi0 = np.where(chosen.mask, start.parameters, robot.parameters)
    base = chosen.base_parameters()
    if base.count == 0:
        raise ThunderError("unknown must hold a parameter that torques depend on")
    Y = robot.regressor(*motion)
    scale = _scale(robot, torque, Y @ start.parameters)
    data = compress(Y[..., base.independent], torque - Y @ pi0, scale)
    solution = fit_reweighted(data) if isinstance(weights, str) else fit(data, _noise(weights, robot.n))
    if consistent:
        pi = _consistent(robot, pi0, chosen.mask, Y, torque, solution.noise, regularization)
    else:
        pi = pi0 + spread(base, chosen.mask, solution.deviation)
    return _identification(robot, chosen, base, pi, data, pi0, solution, consistent)


def _data(
    robot: Robot,
    t: npt.ArrayLike | SimulationResult,
    q: npt.ArrayLike | None,
    dq: npt.ArrayLike | None,
    ddq: npt.ArrayLike | None,
    tau: npt.ArrayLike | None,
    cutoff: float | None,
    hold: float,
) -> tuple[Motion, Array]:
    """Return motion and torque at the same instants, filtered unless accelerations are given."""
    if isinstance(t, SimulationResult):
        if not (q is None and dq is None and ddq is None and tau is None):
            raise ThunderError("q, dq, ddq and tau must be None where t is a SimulationResult")
        if t.x.shape[1]:
            raise ThunderError("t must be a run without elastic joints: their torques drive motors, not links")
        # the last row is always logged, off the grid of the log, and repeats the torque before
        t, q, tau = (values[:-1] for values in (t.t, t.q, t.tau))
    times = instants(t)
    for name, value in (("q", q), ("tau", tau)):
        if value is None:
            raise ThunderError(f"{name} must be given unless t is a SimulationResult")
    shape = (times.size, robot.n)
    positions, torque = array(q, shape, "q"), array(tau, shape, "tau")
    if ddq is not None:
        if dq is None:
            raise ThunderError("dq must be given together with ddq")
        return Motion(positions, array(dq, shape, "dq"), array(ddq, shape, "ddq")), torque
    if cutoff is None:
        raise ThunderError(
            "cutoff must be given without ddq, because accelerations are computed from filtered positions"
        )
    hold = zero_or_above(hold, "hold")
    if hold > 0.0:
        torque = np.column_stack([np.interp(times, times + 0.5 * hold, column) for column in torque.T])
    motion, smooth = differentiate(times, positions, cutoff), lowpass(times, torque, cutoff)
    cut = min(round(_EDGE / (cutoff * (times[1] - times[0]))), (times.size - 5) // 2)
    inner = slice(cut, times.size - cut)
    return Motion(*(x[inner] for x in motion)), smooth[inner]


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
    robot: Robot, pi0: Array, mask: npt.NDArray[np.bool_], Y: Array, tau: Array, noise: Array, regularization: float
) -> Array:
    gamma = above_zero(regularization, "regularization")
    absent = (np.arange(robot.p) >= 10 * robot.n) & (pi0 == 0.0) & ~Y.any(axis=(0, 1))
    mask = mask & ~absent  # a coefficient of zero whose joint does not move stays
    known = tau - Y[..., ~mask] @ pi0[~mask]
    W = (Y[..., mask] / noise[:, None]).reshape(-1, int(mask.sum()))
    return solve_consistent(consistent_problem(robot, pi0, mask, W, (known / noise).ravel()), gamma)


def _identification(
    robot: Robot,
    unknown: UnknownParameters,
    base: BaseParameters,
    pi: Array,
    data: Data,
    pi0: Array,
    solution: Fit,
    consistent: bool,
) -> Identification:
    deviations = np.sqrt(np.diag(solution.covariance))
    if solution.rank < base.count:
        deviations = np.where(excited(data), deviations, np.inf)
    return Identification(
        robot=robot.with_parameters(pi),
        unknown=unknown,
        parameters=pi,
        base=base,
        base_parameters=base.mapping @ pi,
        standard_deviations=deviations,
        residual_rms=residual_rms(data, base.mapping @ (pi - pi0)),
        noise=solution.noise,
        rank=solution.rank,
        condition=solution.condition,
        consistent=consistent,
    )
