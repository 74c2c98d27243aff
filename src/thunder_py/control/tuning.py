"""Gains of controllers from a robot's inertia and limits, a motion and the control period."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, all_nonnegative, nonnegative, of_kind, one_of, per_joint, positive
from ..errors import ThunderError, outer_level
from ..kinematics.task_rows import resolve_rows
from ..reference import JointReference
from ..robot import Robot
from ..sampled_loop import Channel, stable_rate
from ..table import Table, Tabular
from ..values import Value
from .act import ACT
from .adaptation import AdaptiveController, GradientAdaptation, NaturalAdaptation, Unknown, select
from .adaptation_gains import Drive, gradient_adaptation, least_gain, natural_adaptation
from .adaptive_jacobian import AdaptiveJacobianBackstepping
from .backstepping import Backstepping
from .feedback_gains import FEEDBACK, Feedback, coupled_damping
from .length_adaptation import LengthAdaptation
from .length_gains import length_adaptation
from .lyapunov_functions import gain
from .motion_states import joint_inertias, states_along, task_inertia, typical_states
from .slotine_li import SlotineLi
from .stability import Loop, damping_rate, elastic_damping, loop_at, rest, velocity_feedback

_LOG = logging.getLogger(__name__)

#: damping of the joints as a share of the stable rate, and share of the damping along the reference
_DAMPING_SHARE, _LARGEST_SHARE = 0.2, 0.5
#: bandwidth as a share of the stable rate, larger ones where that is unstable; share of postures that may be so
_BANDWIDTH_SHARES, _RARE = (0.025, 0.05, 0.1, 0.2), 0.05
#: logarithm of the growth of an error on the way through postures with little inertia
_PASSAGE = 1.0
#: growth for which a larger bandwidth is tried, less than what `Loop.growth` neglects [1/s]
_TOLERATED = -0.015
#: damping of elastic joints as a share of the stable one
_ELASTIC_SHARE = 0.5
#: numbers of a gain in a table; of more the least and the largest
_MOST_NUMBERS = 20
#: steps of the reduction of the damping, and excess over its share
_STEPS, _ACCURACY = 10, 1.001
#: deflection [rad or m] at which the stiffness has the torque limit
_DEFLECTION = 0.2
#: every how many states are checked
_EVERY = 10
#: error [rad or m] whose correction stays within the torque and velocity limits
_ERROR = 0.05
#: effect of a parameter on the torques that is rounding, in units of the largest one
_ROUNDING = 1e-9
#: effect at rest that counts, in units of that in typical states
_AT_REST = 0.01
#: laws whose velocity feedback contains the estimated mass matrix
_DAMPED_BY_ESTIMATE = (SlotineLi, Backstepping, ACT)
_UNITS = {"Lambda": "1/s", "K_0": "1/s^2", "K_1": "1/s", "K_p": "N m/rad", "K_d": "N m s/rad", "gamma": "",
          "K": "N/m, N m/rad", "D": "N s/m, N m s/rad"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tuning(Value, Tabular):
    """Suggested arguments of a controller, with their origin; `tune` makes it.

    Attributes
    ----------
    robot : Robot
        The model.
    law : type
        Class of the controller.
    arguments : mapping
        Its arguments: ``law(robot, **arguments)``.
    bandwidth : (n,) array
        Pole of the tracking error of each joint [rad/s], with the computed gains.
    limit : str
        What limits the smallest bandwidth.
    time_constant : float or None
        Least one of a combination of parameters [s]; None for a fixed estimate.
    damping_share : float
        Largest velocity feedback along the reference, in units of the largest stable one.

    Examples
    --------
    >>> import thunder_py as th
    >>> suggestion = th.control.tune(th.Robot.load("elbow"), th.SlotineLi, period=1e-3)
    >>> sorted(suggestion.to_dict())
    ['K_d', 'Lambda', 'adaptation', 'name']
    """

    robot: Robot
    law: type[_core.Controller]
    arguments: Mapping[str, Any]
    bandwidth: Array
    limit: str
    time_constant: float | None
    damping_share: float

    def controller(self) -> Any:
        """Return a new controller with these gains and the torque limits of the robot."""
        law: Any = self.law
        controller = law(self.robot, **self.arguments)
        limits = _limits(self.robot.limits.effort)
        if np.isfinite(limits).any():
            controller.torque_limits = limits
        return controller

    def table(self) -> Table:
        """Return the gains with units."""
        rows: list[tuple[Any, ...]] = [("bandwidth", _numbers(self.bandwidth), "rad/s", f"limited by {self.limit}")]
        rows += [(name, _numbers(value), _UNITS.get(name, ""), "") for name, value in self._gains().items()]
        law = self.arguments.get("adaptation")
        note = f"at least {self.time_constant} s"
        if isinstance(law, GradientAdaptation):
            rows.append(("Gamma", _numbers(law.Gamma), "N m s per parameter^2", note))
        if isinstance(law, NaturalAdaptation):
            rows.append(("gamma of links", _numbers(law.gamma), "N m s", note))
        lengths = self.arguments.get("lengths")
        if lengths is not None:
            names = ", ".join(lengths.names(self.robot))
            rows.append(("Gamma of lengths", _numbers(lengths.Gamma), "N/m", names))
            rows.append(("gamma of lengths", _numbers(lengths.gamma), "N/(m s)", ""))
            if lengths.Gamma_torque is not None:
                rows.append(("Gamma_torque", _numbers(lengths.Gamma_torque), "J", ""))
        rows.append(("damping / stable", f"{self.damping_share:.2g}", "", "largest along the reference"))
        return Table(["gain", "value", "unit", "note"], rows)

    def to_columns(self) -> dict[str, Any]:
        """Return the columns of `table`."""
        return self.table().to_columns()

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return self.table().to_html()

    def _gains(self) -> dict[str, Any]:
        others = ("adaptation", "lengths", "measure")
        return {name: value for name, value in self.arguments.items() if name not in others}

    def __str__(self) -> str:
        """Return the table as text."""
        return str(self.table())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in the entry ``controller`` of a `thunder_py.realtime.ControlLoop`."""
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in self._gains().items()
        }
        if "adaptation" in self.arguments:
            plain["adaptation"] = _plain_adaptation(self.arguments["adaptation"])
        if self.arguments.get("lengths") is not None:
            fields = asdict(self.arguments["lengths"])
            plain["lengths"] = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()}
        return {"name": self.law.__name__, **plain}


def _plain_adaptation(law: GradientAdaptation | NaturalAdaptation | None) -> dict[str, Any] | None:
    if law is None:
        return None
    unknown = list(law.unknown)  # type: ignore[arg-type]
    if isinstance(law, GradientAdaptation):
        return {"gradient": {"Gamma": np.asarray(law.Gamma).tolist(), "unknown": unknown}}
    rest = {} if law.rest is None else {"rest": np.asarray(law.rest).tolist()}
    return {"natural": {"gamma": np.asarray(law.gamma).tolist(), **rest, "unknown": unknown}}


def _numbers(value: Any) -> str:
    if isinstance(value, str):
        return value
    if np.size(value) > _MOST_NUMBERS:
        return f"{np.min(value):.3g} to {np.max(value):.3g}"
    texts = [str(x) if isinstance(x, str) else f"{x:.3g}" for x in np.ravel(value)]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _limits(values: Array) -> Array:
    """Return limits; 0, which many files have for missing ones, is infinity."""
    return np.where(values > 0.0, values, np.inf)


def tune(
    robot: Robot,
    law: type[_core.Controller],
    reference: Callable[[float], Any] | None = None,
    *,
    period: float,
    delay: float = 0.0,
    lag: npt.ArrayLike = 0.0,
    bandwidth: float | None = None,
    adaptation: Literal["gradient", "natural", "none"] | None = None,
    unknown: Unknown = None,
    time_constant: float = 0.5,
    duration: float = 10.0,
    q0: npt.ArrayLike | None = None,
    **arguments: Any,
) -> Tuning:
    """Suggest gains of a controller.

    Feedback gains follow from one bandwidth, the inertia over the joints' range and the torque limits, adaptation gains
    from a time constant and the torques of the unknown parameters along the reference.

    Parameters
    ----------
    robot : Robot
        The nominal model, with the armature (or rotors) of its motors.
    law : type
        `SlotineLi`, `ACT`, `MACT`, `Backstepping`, `AdaptiveJacobianBackstepping` with its `measure` and the names of
        the unknown ``lengths`` (or a `LengthAdaptation`), `CartesianMACT`; of the laws without adaptation `PDGravity`,
        `ComputedTorque`, `PassivityBased`, `OperationalSpace`, `CartesianComputedTorque`, `Impedance`.
    reference : callable, optional
        A typical motion, ``reference(t)`` as in `simulate`; default random states within the limits.
    period : float
        Control period [s].
    delay : float
        Further delay of the loop [s]: of velocity filters (1 / omega for first order, 1.4 / omega for
        `ButterworthDerivative`), of communication and of drives.
    lag : float or (n,) array_like
        Time constants of the drives' torques [s], see `Actuators`.
    bandwidth : float, optional
        [rad/s]; default the largest one within a share of the sampled-data bound and the limits of torque and velocity.
        The share is larger where the compensation of gravity, late by half a period, needs more damping.
    adaptation : {"gradient", "natural", "none"}, optional
        Default the natural law for `ACT`, whose estimated mass matrix must stay positive definite, else the gradient
        law. ``"none"`` keeps the initial estimate.
    unknown : str, sequence of str, (p,) bool array or UnknownParameters, optional
        See `Robot.unknown`; default all, since any of them may be wrong. A part of them, such as the link to which a
        load is fixed, also takes up the errors of all others: then tracking can become worse than without adaptation.
    time_constant : float
        Time constant of the fastest combination of unknown parameters along the reference [s]. It is longer where the
        correction of an error could otherwise make an estimate that takes the damping from the arm.
    duration : float
        Length of the reference, or of a motion through random states [s].
    q0 : (n,) array_like, optional
        Start of the arm, required for a reference of poses.
    **arguments
        Further arguments of the law, such as ``frame``, ``rows`` and ``posture``. They replace computed ones.

    Returns
    -------
    Tuning

    Raises
    ------
    ThunderError
        If the law is not one of these, the bandwidth exceeds the sampled-data bound, the mass matrix is not positive
        definite, the arm cannot follow the poses or move along the rows, no torque depends on the unknown parameters,
        or the natural law gets links that are not physically consistent.

    Notes
    -----
    Derivation: docs/theory/adaptive_control.md. The gains refer to the model: without the armature of the motors they
    are too small for the arm.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    >>> suggestion = th.control.tune(robot, th.SlotineLi, motion, period=1e-3)
    >>> run = th.simulate(robot, suggestion.controller(), motion, 6.0, payloads=[th.Payload(0.5, (0.3, 0, 0))])
    >>> bool(run.steady_state_error() < 2e-3), suggestion.limit
    (True, 'period and delay')
    """
    of_kind(robot, Robot, "robot")
    if isinstance(law, type) and issubclass(law, AdaptiveJacobianBackstepping):
        options = {"period": period, "delay": delay, "lag": lag, "bandwidth": bandwidth, "adaptation": adaptation,
                   "unknown": unknown, "time_constant": time_constant, "duration": duration, "q0": q0}  # fmt: skip
        return _tuned_lengths(robot, law, reference, options, **arguments)
    if law not in FEEDBACK:
        names = ", ".join(sorted(kind.__name__ for kind in [*FEEDBACK, AdaptiveJacobianBackstepping]))
        raise ThunderError(f"law must be one of {names}, got {getattr(law, '__name__', law)!r}")
    adaptive = issubclass(law, AdaptiveController)
    if not adaptive and not (adaptation is None and unknown is None):
        raise ThunderError(f"adaptation and unknown must be left out for {law.__name__}, which does not adapt")
    frame, rows = arguments.get("frame"), _rows(law, arguments)
    states = typical = typical_states(robot, 0.0)
    if reference is not None:
        states = states_along(robot, reference, positive(duration, "duration"), q0, frame, rows)
    lags = all_nonnegative(per_joint(lag, robot.n, "lag"), "lag")
    channel = Channel(positive(period, "period"), nonnegative(delay, "delay"), lags)
    stable = stable_rate(channel.period, channel.delay + lags.max())
    rows_inertia = task_inertia(robot, states.q, frame, rows) if rows else np.ones(0)
    best: tuple[int, Any] = (len(states.q), None)
    for bandwidth_share in _BANDWIDTH_SHARES if bandwidth is None else _BANDWIDTH_SHARES[:1]:
        feedback, limit = _feedback(robot, typical.q, stable, bandwidth, bandwidth_share, task=bool(rows))
        found = _damped(robot, law, feedback._replace(rows=rows_inertia), arguments, states, stable)
        unstable = _unstable(robot, law, found[1], states.q[::_EVERY], channel)
        if best[1] is None or len(unstable) < best[0]:
            best = len(unstable), (*found, limit, unstable)
        if not unstable:
            break
    feedback, gains, share, limit, unstable = best[1]
    unstable = [loop for loop in unstable if loop.growth() > 0.0]
    light = _unstable(robot, law, gains, _lightest(robot, states.q), channel)
    if len(unstable) > _RARE * len(states.q[::_EVERY]):
        warnings.warn(f"{unstable[-1].message(robot.joint_names)}", RuntimeWarning, stacklevel=outer_level())
    elif sum(loop.growth() for loop in light) * duration / len(states.q) > _PASSAGE:
        text = "there the arm has hardly any inertia, see Robot.replace(armature=)"
        warnings.warn(f"{light[-1].message(robot.joint_names)}; {text}", RuntimeWarning, stacklevel=outer_level())
    text = "%s of %s: bandwidth %s rad/s, limited by %s; damping is %.2g of the stable rate"
    _LOG.info(text, law.__name__, robot.name, feedback.w.round(3).tolist(), limit, share)
    if adaptive:
        gains["adaptation"] = _adaptation(robot, law, feedback, gains, states, adaptation, unknown, time_constant)
    return Tuning(robot, law, gains, feedback.w, limit, time_constant if adaptive else None, share)


def _tuned_lengths(
    robot: Robot,
    law: type[AdaptiveJacobianBackstepping],
    reference: Callable[[float], Any] | None,
    options: Mapping[str, Any],
    *,
    lengths: Any,
    measure: Any,
    **arguments: Any,
) -> Tuning:
    """Return the gains of `Backstepping`, and those of the adaptation of the lengths."""
    known = tune(robot, Backstepping, reference, **options, **arguments)
    if not isinstance(lengths, LengthAdaptation | None):
        transient = states = typical_states(robot, known.bandwidth**2 * _ERROR)
        if reference is not None:
            states = states_along(
                robot, reference, options["duration"], options["q0"], None, _rows(Backstepping, arguments)
            )
        lengths = length_adaptation(robot, lengths, known.arguments, states, transient, options["time_constant"])
    found = replace(known, law=law, arguments={**known.arguments, "lengths": lengths, "measure": measure})
    found.controller()  # checks the arguments
    return found


def _rows(law: type[_core.Controller], arguments: Mapping[str, Any]) -> list[int]:
    """Return the rows of the task, none for laws of joints."""
    if not issubclass(law, _core.TaskController):
        return []
    if arguments.get("task") == "position":
        return [0, 1, 2]
    return resolve_rows(arguments.get("rows"))


def _largest_dampings(robot: Robot, q: Array) -> Array:
    """Return the largest damping (n,) that elastic joints allow, infinite for rigid ones."""
    if not robot.elastic:
        return np.full(robot.n, np.inf)
    return np.asarray(0.5 * _ELASTIC_SHARE * np.min([elastic_damping(robot, row) for row in q[::_EVERY]], axis=0))


def _feedback(
    robot: Robot, q: Array, stable: float, bandwidth: float | None, share: float, *, task: bool
) -> tuple[Feedback, str]:
    """Return the feedback of the joints in these postures, and what limits its smallest bandwidth."""
    m: Array = np.median(joint_inertias(robot, q), axis=0)
    largest = _largest_dampings(robot, q)
    w, limit = _bandwidth(robot, m, largest, share * stable)
    if bandwidth is not None:
        w, limit = np.full(robot.n, positive(bandwidth, "bandwidth")), "the argument bandwidth"
        if bandwidth > 0.25 * stable:
            raise ThunderError(
                f"bandwidth must be at most {0.25 * stable:.4g} for this period and delay, got {bandwidth:g}"
            )
    if task:
        w = np.full(robot.n, w.min())  # the rows of a task move all joints
    k = _damping(robot, q, np.minimum(w * m, largest), largest, w, stable)
    return Feedback(w, np.minimum(m, k / w), k, np.ones(0)), limit


def _bandwidth(robot: Robot, m: Array, largest: Array, sampled: float) -> tuple[Array, str]:
    """Return the largest bandwidth of each joint, and what limits the slowest one."""
    bounds = {
        "period and delay": np.full(robot.n, sampled),
        "the torque limit": np.sqrt(_limits(robot.limits.effort) / (_ERROR * m)),  # w^2 m times the error
        "the velocity limit": np.e * _limits(robot.limits.velocity) / _ERROR,  # a step of e moves with w e / exp(1)
        "the elasticity": largest / m,
    }
    w: Array = np.min(list(bounds.values()), axis=0)
    j = int(np.argmin(w))
    limit = min(bounds, key=lambda name: float(bounds[name][j]))
    return w, limit if w[j] == w.max() else f"{limit} of {robot.joint_names[j]}"


def _damping(robot: Robot, q: Array, least: Array, largest: Array, w: Array, stable: float) -> Array:
    """Return the damping k (n,): of the bandwidth, or of the stiffness w k that has the torque limit at 0.2 rad."""
    effort = _limits(robot.limits.effort)
    stiff = np.where(np.isfinite(effort), effort, 0.0) / (_DEFLECTION * w)
    wanted: Array = np.minimum(np.maximum(least, stiff), largest)
    mobility: Array = np.asarray(np.linalg.inv(robot.mass_matrix(q)), dtype=np.float64)
    return coupled_damping(mobility, wanted, _DAMPING_SHARE * stable)


def _damped(
    robot: Robot,
    law: type[_core.Controller],
    feedback: Feedback,
    arguments: Mapping[str, Any],
    states: JointReference,
    stable: float,
) -> tuple[Feedback, dict[str, Any], float]:
    """Return the feedback with less damping in postures along the reference that are rare, the arguments, the share."""
    for _ in range(_STEPS):
        computed = FEEDBACK[law](feedback)
        share = _damping_share(robot, law, {**arguments, **computed}, states, stable)
        if share <= _ACCURACY * _LARGEST_SHARE:
            break
        less = _LARGEST_SHARE / share
        feedback = feedback._replace(m=less * feedback.m, k=less * feedback.k, rows=less * feedback.rows)
    gains = {**computed, **arguments}
    if computed.keys() & arguments.keys():
        share = _damping_share(robot, law, gains, states, stable)
    return feedback, gains, share


def _unstable(
    robot: Robot, law: type[_core.Controller], gains: Mapping[str, Any], postures: Array, channel: Channel
) -> list[Loop]:
    """Return the loops of these postures that grow, or would with a little more, the fastest last."""
    controller = _fixed(law, robot, gains)
    loops = [loop_at(controller, robot, q, channel) for q in postures]
    growths = {loop.growth(): loop for loop in loops if loop is not None}
    return [growths[growth] for growth in sorted(growths) if growth > _TOLERATED]


def _lightest(robot: Robot, q: Array) -> Array:
    """Return the tenth of the postures in which the mass matrix is nearest to a singular one."""
    return q[np.argsort(np.linalg.eigvalsh(robot.mass_matrix(q))[:, 0])[: len(q) // _EVERY]]


def _damping_share(
    robot: Robot, law: type[_core.Controller], gains: Mapping[str, Any], states: JointReference, stable: float
) -> float:
    """Return the largest `damping_rate` along the states in units of the stable one."""
    controller = _fixed(law, robot, gains)
    q = states.q[::_EVERY]
    found = [velocity_feedback(controller, row, rest(law, robot, row, gains.get("frame"))) for row in q]
    M = robot.mass_matrix(q)
    rates = [damping_rate(D, inertia)[0] for D, inertia in zip(found, M, strict=True) if D is not None]
    if not rates:
        raise ThunderError(f"reference must leave the postures in which {law.__name__} is singular")
    return max(rates) / stable


def _fixed(law: type[_core.Controller], robot: Robot, gains: Mapping[str, Any]) -> Any:
    """Return a controller that does not adapt."""
    made: Any = law
    fixed: dict[str, Any] = {"adaptation": None} if issubclass(law, AdaptiveController) else {}
    return made(robot, **{**gains, **fixed})


def _adaptation(
    robot: Robot,
    law: type[_core.Controller],
    feedback: Feedback,
    gains: Mapping[str, Any],
    states: JointReference,
    kind: str | None,
    unknown: Unknown,
    time_constant: float,
) -> GradientAdaptation | NaturalAdaptation | None:
    """Return the adaptation law for these feedback gains."""
    kind = ("natural" if law is ACT else "gradient") if kind is None else kind
    if one_of(kind, ("gradient", "natural", "none"), "adaptation") == "none":
        return None
    chosen = select(robot, unknown)
    if kind == "natural":
        NaturalAdaptation(1.0, rest=1.0).build(chosen)  # it checks the links
    transient = typical_states(robot, feedback.w**2 * _ERROR)  # an error of this size accelerates the joints so
    rest = JointReference(transient.q, 0.0 * transient.q, 0.0 * transient.q)
    along, typical, still = (_drive(robot, law, feedback, gains, some) for some in (states, transient, rest))
    sizes, weights = (np.abs(Z).max(axis=(0, 1)) for Z in (typical, still))
    effective = sizes > _ROUNDING * sizes.max()
    if not effective[chosen.mask].any():
        raise ThunderError(f"unknown must select parameters on which torques depend, got {', '.join(chosen.names)}")
    along, typical = ((Z * effective)[..., chosen.mask] for Z in (along, typical))
    at_rest = chosen.mask & (weights > _AT_REST * sizes)
    links = at_rest[: 10 * robot.n].reshape(robot.n, 10).any(axis=1).repeat(10)
    drive = Drive(along, typical, ~np.concatenate([links, at_rest[10 * robot.n :]])[chosen.mask])
    make = gradient_adaptation if kind == "gradient" else natural_adaptation
    least = np.zeros(len(chosen.names))
    if law in _DAMPED_BY_ESTIMATE:
        damping = gain(gains["K_d"], robot.n) if "K_d" in gains else np.zeros((robot.n, robot.n))
        least = least_gain(chosen, transient.q[::_EVERY], damping, feedback.w, _ERROR)
    return make(chosen, drive, positive(time_constant, "time_constant"), float(feedback.w.min()), least)


def _drive(
    robot: Robot,
    law: type[_core.Controller],
    feedback: Feedback,
    gains: Mapping[str, Any],
    states: JointReference,
) -> Array:
    """Return Z = L' Y (k, n, p): the error of the estimate decays as Gamma^-1 Z' Z.

    A torque d that the model misses drives the estimate by Y' L L' d. L L' = K_d^-1 for laws with s, because K_d s =
    d, and for the prediction error with its default weight. For `ACT`, K_0 e = M^-1 d and B' P x = w m e give
    M^-1 (m^2 / k) M^-1.
    """
    if law is ACT:
        L = np.linalg.inv(robot.mass_matrix(states.q)) * feedback.m / np.sqrt(feedback.k)
    else:
        L = np.linalg.inv(np.linalg.cholesky(gain(gains["K_d"], robot.n))).T
    Y = robot.slotine_li_regressor(states.q, states.dq, states.dq, states.ddq)
    return np.asarray(np.swapaxes(L, -1, -2) @ Y)
