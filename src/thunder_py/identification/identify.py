"""Parameters from logged motion and torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import ThunderError
from ..result import Result
from ..robot import Robot, inertia
from ..robot.robot import BaseParameters, UnknownParameters
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

#: periods of the cutoff at either end in which filtered signals are not good
_EDGE = 2.0
#: torque of a joint, as part of that of the joint with most, below which weights do not follow it, and below which it
#: counts as rounding
_SMALLEST_SCALE, _ROUNDING = 1e-3, 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Identification:
    """What was identified.

    Attributes
    ----------
    robot : Robot
        With the identified parameters.
    unknown : UnknownParameters
        What was.
    parameters : (p,) array
        All parameters; along what torques cannot tell they stay as near to the prior as they can.
    base : BaseParameters
        Combinations of the unknown parameters that torques can tell apart, in general.
    base_parameters, standard_deviations : (b,) array
        Their values, and the standard deviations of the least-squares estimate for white noise (of the inconsistent
        one, which has no regulariser, in either case); infinite where the motion does not excite.
    residual_rms : (n,) array
        Root mean square of what is left of the torque [N m or N].
    noise : (n,) array
        Standard deviations that weighted the joints.
    rank : int
        Base parameters that the motion excites.
    condition : float
        Of the weighted base regressor, columns scaled to unit length.
    consistent : bool
        Whether only bodies that can exist were allowed.
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
        """Whether the pseudo-inertia of each link is positive definite, (n,)."""
        return inertia.is_physical(self.robot.inertial)

    def torque(self, q: npt.ArrayLike, dq: npt.ArrayLike, ddq: npt.ArrayLike) -> Array:
        """Predict torques, (..., n)."""
        return self.robot.inverse_dynamics(q, dq, ddq)

    def table(self) -> str:
        """Markdown of the base parameters: leading name, value, standard deviation in per cent."""
        lines = ["| base parameter | value | standard deviation [%] |", "|---|---|---|"]
        for name, value, sigma in zip(self.base.names, self.base_parameters, self.standard_deviations, strict=True):
            relative = 100.0 * sigma / abs(value) if value else np.inf
            lines.append(f"| {name} | {value:.5g} | {relative:.2g} |")
        return "\n".join(lines)

    def plot(self, *, axes: Axes | None = None, truth: Robot | None = None) -> Axes:
        """Draw the base parameters with their confidence, and those of `truth` beside them."""
        from .plot import plot_identification

        return plot_identification(self, axes=axes, truth=truth)


def identify(
    robot: Robot,
    t: npt.ArrayLike | Result,
    q: npt.ArrayLike | None = None,
    dq: npt.ArrayLike | None = None,
    ddq: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    unknown: str | Sequence[str] | npt.ArrayLike | UnknownParameters | None = None,
    weights: Literal["auto"] | npt.ArrayLike = "auto",
    prior: Robot | None = None,
    consistent: bool = False,
    regularisation: float = 1.0,
    cutoff: float | None = None,
    hold: float = 0.0,
) -> Identification:
    """Identify parameters by weighted least squares, over all parameters or over physically consistent ones.

    Parameters
    ----------
    robot : Robot
        Geometry, known parameters, and the prior where none is given.
    t : (k,) array_like, or Result
        Instants [s], or a run, whose `t`, `q` and `tau` are taken and nothing else.
    q, dq, ddq : (k, n) array_like
        Motion. Without `ddq`, velocity and acceleration come from `q` by `differentiate`, and `tau` passes the same
        filter; what is within two periods of the cutoff from either end is left out.
    tau : (k, n) array_like
        Measured torque.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        What to identify, see `Robot.unknown`; default everything.
    weights : "auto" or (n,) array_like
        One over the standard deviation of the torque noise of each joint. "auto" takes those that agree with the
        residuals, by iterative reweighting.
    prior : Robot, optional
        Parameters to stay at where torques do not tell.
    consistent : bool
        Allow only positive definite pseudo-inertias and positive coefficients of friction, rotors and armature.
    regularisation : float
        Weight gamma of the entropic divergence from the prior in the consistent fit; a prior known to about a part s
        of its values has gamma = 1 / s^2.
    cutoff : float, optional
        [Hz], needed without `ddq`; see `differentiate`.
    hold : float
        Torques are held for this long from their instant on [s], so that their middle is half of it later: the
        control period, for a sampled controller. Only without `ddq`.

    Returns
    -------
    Identification
        Estimate and quality.

    Raises
    ------
    ThunderError
        For data that do not belong together, a prior that cannot exist, unknown parameters that no torque shows, or
        a joint whose torque is zero throughout where the prior's is not.

    Notes
    -----
    The consistent fit minimises ``1/2 sum_j w_j^2 |tau_j - Y_j pi|^2 + gamma sum_i D(P_i||P0_i)`` over P_i > 0, a
    convex problem, solved to the end by Newton's method. Lee, Wensing, Park, Geometric robot dynamic identification,
    IEEE Trans. Robotics 36(2), 2020.
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
    found = fit_reweighted(data) if isinstance(weights, str) else fit(data, _noise(weights, robot.n))
    if consistent:
        pi = _consistent(robot, pi0, chosen.mask, Y, torque, found.noise, regularisation)
    else:
        pi = pi0 + spread(base, chosen.mask, found.deviation)
    return _identification(robot, chosen, base, pi, data, pi0, found, consistent)


def _data(
    robot: Robot,
    t: npt.ArrayLike | Result,
    q: npt.ArrayLike | None,
    dq: npt.ArrayLike | None,
    ddq: npt.ArrayLike | None,
    tau: npt.ArrayLike | None,
    cutoff: float | None,
    hold: float,
) -> tuple[Motion, Array]:
    """Motion and torque at the same instants, filtered where accelerations are not given."""
    if isinstance(t, Result):
        if not (q is None and dq is None and ddq is None and tau is None):
            raise ThunderError("q, dq, ddq and tau must not be given beside a Result")
        if t.x.shape[1]:
            raise ThunderError("t must be a run without elastic joints: their torques drive motors, not links")
        # the last state is logged whatever the period of the log, and its torque is the one before
        t, q, tau = (values[:-1] for values in (t.t, t.q, t.tau))
    times = instants(t)
    for name, value in (("q", q), ("tau", tau)):
        if value is None:
            raise ThunderError(f"{name} must be given unless t is a Result")
    shape = (times.size, robot.n)
    positions, torque = array(q, shape, "q"), array(tau, shape, "tau")
    if ddq is not None:
        if dq is None:
            raise ThunderError("dq must be given beside ddq")
        return Motion(positions, array(dq, shape, "dq"), array(ddq, shape, "ddq")), torque
    if cutoff is None:
        raise ThunderError("cutoff must be given where ddq is not: accelerations come from filtered positions")
    hold = float(array(hold, (), "hold"))
    if hold < 0.0:
        raise ThunderError(f"hold must not be negative, got {hold:g}")
    if hold > 0.0:
        torque = np.column_stack([np.interp(times, times + 0.5 * hold, column) for column in torque.T])
    motion, smooth = differentiate(times, positions, cutoff), lowpass(times, torque, cutoff)
    cut = min(round(_EDGE / (cutoff * (times[1] - times[0]))), (times.size - 5) // 2)
    inner = slice(cut, times.size - cut)
    return Motion(*(x[inner] for x in motion)), smooth[inner]


def _scale(robot: Robot, torque: Array, expected: Array) -> Array:
    """Root mean square of each joint's torque, (n,), or little where there is none because none is expected."""
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
    given = array(weights, (n,), "weights")
    if not (given > 0.0).all():
        raise ThunderError(f"weights must be positive, got {given.tolist()}")
    return 1.0 / given


def _consistent(
    robot: Robot, pi0: Array, mask: npt.NDArray[np.bool_], Y: Array, tau: Array, noise: Array, regularisation: float
) -> Array:
    gamma = float(array(regularisation, (), "regularisation"))
    if gamma <= 0.0:
        raise ThunderError(f"regularisation must be positive, got {gamma:g}")
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
    found: Fit,
    consistent: bool,
) -> Identification:
    deviations = np.sqrt(np.diag(found.covariance))
    if found.rank < base.count:
        deviations = np.where(excited(data), deviations, np.inf)
    return Identification(
        robot=robot.with_parameters(pi),
        unknown=unknown,
        parameters=pi,
        base=base,
        base_parameters=base.mapping @ pi,
        standard_deviations=deviations,
        residual_rms=residual_rms(data, base.mapping @ (pi - pi0)),
        noise=found.noise,
        rank=found.rank,
        condition=found.condition,
        consistent=consistent,
    )
