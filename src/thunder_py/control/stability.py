"""Linear feedback of controllers, its stability in a sampled loop and with elastic joints, and the warnings beyond."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from .. import _core
from .._core import Status
from ..checks import Array
from ..errors import ThunderError, outer_level
from ..reference import JointReference, SetPoint, SetPose, TaskReference
from ..robot import Elastic, Robot
from ..sampled_loop import Arm, Channel, Excess, allowed, excess, growth, sampled_loop, stable_rate
from .motion_states import typical_states

#: step of differences of positions and velocities [rad or m, and per second]
_STEP = 1e-4
#: excess over the bound of an elastic joint alone that is named; the joints of an arm are coupled
_ELASTIC_MARGIN = 1.25
#: postures of a controller without a start
_POSTURES = 15
#: gains of positions and of velocities by law; K_p and K_d of all others
_GAINS = {
    _core.OperationalSpace: ("K_0 or K_posture", "K_1 or K_d"),
    _core.CartesianComputedTorque: ("K_0 or K_posture", "K_1 or K_d"),
    _core.RobustUnitVector: ("K_0 or rho / epsilon", "K_1 or rho / epsilon"),
    _core.ComputedTorque: ("K_0 or K_p", "K_1 or K_d"),
    _core.ACT: ("K_0 or K_p", "K_1 or K_d"),
    _core.Impedance: ("K", "D or K_d"),
    _core.SlotineLi: ("Lambda", "K_d or Lambda"),
    _core.PassivityBased: ("Lambda", "K_d or Lambda"),
    _core.CartesianMACT: ("K_p or Lambda_posture", "K_d or Lambda_posture"),
    _core.Backstepping: ("Lambda, K_p or Lambda_posture", "K_d, Lambda or Lambda_posture"),
    _core.CompositeControl: ("a gain of slow", "K_v or a gain of slow"),
    _core.ElasticSlotineLi: ("Lambda", "K_x or Lambda"),
}
#: gains of the safe torque, and of the hold of a law
_SAFE_TORQUE = ("rate", "rate")
_HOLD = ("the stiffness", "the damping")
#: over the rate of a hold: stiffness over inertia and rate, damping over inertia
_STIFFNESS, _DAMPING = 2.0, 3.0
#: ratio and number of longer periods that are tried for a hold
_LONGER, _TRIES = 1.25, 25
#: laws that do not compensate friction at the actual velocity
_WITHOUT_FRICTION = (_core.PDGravity, _core.IndependentJoint)


def _model(law: _core.Controller) -> Robot | None:
    """Return the model of a controller of this package."""
    arguments: Any = getattr(law, "_core_arguments", ((None,), {}))
    first = arguments[0][0] if arguments[0] else None
    return first if isinstance(first, Robot) else None


def _twin(law: _core.Controller) -> Any:
    """Return a copy of a controller at its start, without torque limits."""
    twin: Any = copy.copy(law)
    twin.reset()
    twin.torque_limits = None
    return twin


def position_feedback(law: _core.Controller, q: Array, reference: Any) -> Array | None:
    """Return -d tau / d q (n, n) at rest; None where the law has none."""
    twin, K = _twin(law), np.empty((len(q), len(q)))
    for j, step in enumerate(_STEP * np.eye(len(q))):
        ends = [twin.step(0.0, q + sign * step, np.zeros(len(q)), reference) for sign in (-1.0, 1.0)]
        if twin.status != Status.ok:
            return None
        K[:, j] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return K


def velocity_feedback(law: _core.Controller, q: Array, reference: Any) -> Array | None:
    """Return -d tau / d dq (n, n) at rest, without the compensation of friction; None where the law has none.

    Of a law that sees motors, the velocities of elastic joints are those of the motors.
    """
    twin = _twin(law)
    model, n = _model(law), len(q)
    if law.sees_motors:
        return None if model is None else _motor_feedback(twin, model, q, reference)
    D = np.empty((n, n))
    for j, step in enumerate(_STEP * np.eye(n)):
        difference = np.subtract(twin.step(0.0, q, step, reference), twin.step(0.0, q, -step, reference))
        if twin.status != Status.ok:
            return None
        if model is not None and not isinstance(law, _WITHOUT_FRICTION):
            difference -= model.friction_torque(step) - model.friction_torque(-step)
        D[:, j] = -difference / (2.0 * _STEP)
    return D


def _motor_feedback(law: Any, model: Robot, q: Array, reference: Any) -> Array | None:
    joints = list(model.motor_joints)
    try:
        x = model.elastic_equilibrium(q)
    except ThunderError:
        return None
    D = np.empty((model.n, model.n))
    for j, step in enumerate(_STEP * np.eye(model.n)):
        dq, dx = step.copy(), step[joints]
        dq[joints] = 0.0
        ends = [law.step(0.0, q, sign * dq, reference, x, sign * dx) for sign in (1.0, -1.0)]
        if law.status != Status.ok:
            return None
        D[:, j] = (ends[1] - ends[0]) / (2.0 * _STEP)
    return D


def effective_inertia(law: _core.Controller, robot: Robot, q: Array, rate: float) -> Array:
    """Return the inertia (n, n) of what torques drive: M, or, of a law that sees motors, these and the rigid joints.

    A motor that vibrates with w on its spring counts as Mm x cot(x), x = w / rate, with the `stable_rate`: its sampled
    damping is bounded by Mm w cot(x).
    """
    M = robot.mass_matrix(q)
    if not law.sees_motors:
        return M
    inertia = 1.0 / np.linalg.inv(M).diagonal()
    motors = {drive.joint - 1: _sampled_motor(drive, inertia[drive.joint - 1], rate) for drive in robot.elastic}
    rigid = [j for j in range(robot.n) if j not in motors]
    W = np.diag([motors.get(j, 0.0) for j in range(robot.n)])
    W[np.ix_(rigid, rigid)] = np.linalg.inv(np.linalg.inv(M)[np.ix_(rigid, rigid)])  # links behind springs are free
    return W


def _sampled_motor(drive: Elastic, link: float, rate: float) -> float:
    x = math.sqrt(max(drive.K[0], 0.0) * (1.0 / drive.Mm + 1.0 / link)) / rate
    if x < 1e-6:
        return drive.Mm
    return max(drive.Mm * x / math.tan(x), 1e-9 * drive.Mm) if x < 0.5 * math.pi else 1e-9 * drive.Mm


def damping_rate(D: Array, M: Array) -> tuple[float, int]:
    """Return the largest eigenvalue of M^-1 D [1/s], and the joint with the largest share in its mode."""
    rates, modes = np.linalg.eig(np.linalg.solve(M, D))
    k = int(np.argmax(rates.real))
    return float(rates[k].real), int(np.argmax(np.abs(modes[:, k] * (D @ modes[:, k]))))


def elastic_damping(robot: Robot, q: Array) -> Array:
    """Return the largest damping (n,) of the link's velocity that keeps each elastic joint stable; infinite for others.

    Parameters
    ----------
    robot : Robot
        Robot with elastic joints.
    q : (n,) array
        Position; every joint moves alone with the inertia 1 / (M^-1)_jj.

    Notes
    -----
    Routh's criterion for link and motor under the torque -K_d dq, derived in docs/theory/adaptive_control.md.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.control.stability import elastic_damping
    >>> drive = th.robot.Elastic(joint=1, K=(500.0,), D=(1.0,), Mm=0.1)
    >>> elastic_damping(th.Robot.load("elbow").replace(elastic=(drive,)), [0.0, 0.5]).round(2).tolist()
    [7.64, inf]
    """
    return _core.elastic_damping(robot, q)


class Loop(NamedTuple):
    """A controller, or the safe torque, in a sampled loop around a posture.

    Attributes
    ----------
    owner : str
        What the gains belong to.
    gains : (str, str)
        Names of the gains of positions and of velocities.
    arm : Arm
        Linear arm and feedback.
    channel : Channel
        Sampling, delay and lag.
    remedy : callable, optional
        What to do in words, where the gain cannot be set.
    """

    owner: str
    gains: tuple[str, str]
    arm: Arm
    channel: Channel
    remedy: Callable[[], str] | None = None

    def growth(self) -> float:
        """Return the growth that is due to sampling, delay and lag [1/s], at most zero for a stable loop."""
        transition, period = sampled_loop(self.arm, self.channel)
        return growth(transition(1.0, 1.0), period) - allowed(self.arm.growth())

    def excess(self) -> Excess | None:
        """Return what makes the loop unstable, None for a stable one."""
        transition, period = sampled_loop(self.arm, self.channel)
        return excess(transition, period, self.arm.growth())

    def message(self, names: Sequence[str]) -> str | None:
        """Return a warning for joints with these names, None for a stable loop."""
        found = self.excess()
        if found is None:
            return None
        position, velocity = self.gains
        if found.gain == "neither":
            return (
                f"{velocity} of {self.owner} is too low, or the period too long, for {self.channel}: gravity is "
                "compensated too late, which takes more damping than it has"
            )
        name, what, matrix = (position, "holds", self.arm.K) if found.gain == "position" else \
            (velocity, "damps", self.arm.D)  # fmt: skip
        j = damping_rate(matrix, self.arm.M)[1]
        remedy = f"multiply the gain by {found.share:.2g} at most" if self.remedy is None else self.remedy()
        return (
            f"{name} of {self.owner} is too high for {self.channel}: it {what} {names[j]!r} by {matrix[j, j]:.3g}, "
            f"unstable beyond {found.share * matrix[j, j]:.3g}; {remedy}"
        )


def linear_arm(law: _core.Controller | _core.SafeTorque, robot: Robot, q: Array, channel: Channel) -> Arm | None:
    """Return an arm near rest and the feedback of a controller or of the safe torque; None without a feedback there.

    Elastic joints: velocities only, of the links or, if the law sees them, of the motors.
    """
    M, n = robot.mass_matrix(q), robot.n
    if isinstance(law, _core.SafeTorque):
        if robot.elastic:
            return None
        law.leave()
        K, D = (np.empty((n, n)) for _ in range(2))
        law.step(0.0, q, np.zeros(n))  # the spring is set here
        for j, step in enumerate(_STEP * np.eye(n)):
            K[:, j] = (law.step(0.0, q - step, np.zeros(n)) - law.step(0.0, q + step, np.zeros(n))) / (2.0 * _STEP)
            D[:, j] = (law.step(0.0, q, -step) - law.step(0.0, q, step)) / (2.0 * _STEP)
        law.leave()
    else:
        M = effective_inertia(law, robot, q, stable_rate(channel.period, channel.delay + float(np.max(channel.lag))))
        reference = rest(type(law), robot, q, getattr(law, "_frame", None))
        found = velocity_feedback(law, q, reference)
        stiffness = np.zeros((n, n)) if robot.elastic or law.sees_motors else position_feedback(law, q, reference)
        if found is None or stiffness is None:
            return None
        K, D = stiffness, found
    if not np.linalg.eigvalsh(M)[0] > 0.0:
        return None
    compensated = isinstance(law, _core.Controller) and not isinstance(law, _WITHOUT_FRICTION)
    G = _gravity_slope(robot, q)
    return Arm(M, G, K + G, D, 0.0 if compensated else _viscous(robot))


def _viscous(robot: Robot) -> Array:
    """Return the friction (n,) of joints at any speed [N m s/rad]; 0 where other terms may be negative."""
    friction = robot.description.friction
    if friction is None or "viscous" not in friction.terms or robot.elastic:
        return np.zeros(robot.n)
    return np.asarray(np.where((friction.coefficients >= 0.0).all(axis=1), friction.coefficients[:, 0], 0.0))


def _gravity_slope(robot: Robot, q: Array) -> Array:
    """Return the derivative of the gravity torques (n, n); zero with elastic joints."""
    if robot.elastic:
        return np.zeros((robot.n, robot.n))
    steps = _STEP * np.eye(robot.n)
    return np.asarray((robot.gravity_vector(q + steps) - robot.gravity_vector(q - steps)).T / (2.0 * _STEP))


def loop_at(law: object, robot: Robot, q: Array, channel: Channel, owner: str = "hold") -> Loop | None:
    """Return the loop of a controller, or of the safe torque, around a posture; None without feedback there."""
    if not isinstance(law, (_core.Controller, _core.SafeTorque)):
        return None
    if isinstance(law, _core.Controller) and law.n != robot.n:
        return None
    arm = linear_arm(law, robot, q, channel)
    if arm is None:
        return None
    if isinstance(law, _core.SafeTorque):
        return Loop(owner, _SAFE_TORQUE, arm, channel)
    names = next((names for kind, names in _GAINS.items() if isinstance(law, kind)), ("K_p", "K_d"))
    return Loop(type(law).__name__, names, arm, channel)


def hold_at(law: object, robot: Robot, q: Array, channel: Channel) -> Loop | None:
    """Return the loop of the hold of a task-space law where that is singular, around a posture; None for other laws.

    Its gains follow from the period alone: K = 2 rate^2 M, D = 3 rate M. M is the mass matrix of the law's model,
    and so is that of the arm here: errors of the model are not the subject.
    """
    controller = cast("Any", law)
    model = _model(controller) if isinstance(law, _core.TaskController) else None
    if model is None or model.n != robot.n:
        return None
    M, G = model.mass_matrix(q), _gravity_slope(model, q)
    if not np.linalg.eigvalsh(M)[0] > 0.0:
        return None

    def loop(channel: Channel, remedy: Callable[[], str] | None = None) -> Loop:
        rate = controller._hold_rate(channel.period, q)
        K = np.zeros_like(M) if robot.elastic else _STIFFNESS * rate**2 * M
        arm = Arm(M, G, K, _DAMPING * rate * M)
        return Loop(f"the hold of {type(law).__name__}", _HOLD, arm, channel, remedy)

    def remedy() -> str:
        periods = channel.period * _LONGER ** np.arange(1, _TRIES)
        stable = (T for T in periods if loop(replace(channel, period=T)).growth() <= 0.0)
        period = next(stable, None)
        lower = "" if period is None else f"a control period of {period:.2g} s at least, with which it is softer, or "
        return f"where the law is singular the arm is not held: {lower}less delay and lag is needed"

    return loop(channel, remedy)


def _elastic_message(law: _core.Controller, robot: Robot, q: Array, loop: Loop) -> str | None:
    """Return a warning of a law for rigid joints that is too stiff for elastic ones."""
    limits, D, M = elastic_damping(robot, q), loop.arm.D, loop.arm.M
    if law.sees_motors or not (D.diagonal() > _ELASTIC_MARGIN * limits).any():
        return None
    j = int(np.argmax(D.diagonal() / np.maximum(limits, 1e-12)))
    bandwidth = limits[j] / (M[j, j] + next(drive.Mm for drive in robot.elastic if drive.joint == j + 1))
    return (
        f"{loop.gains[1]} of {loop.owner} is too high for the elastic joint {robot.joint_names[j]!r}: it damps "
        f"{robot.joint_names[j]!r} by {D[j, j]:.3g}, unstable beyond {limits[j]:.3g}, a bandwidth of {bandwidth:.2g} "
        "rad/s; the controller assumes rigid joints"
    )


def warn_of_high_gains(
    law: object,
    plant: Robot | None,
    q: Array,
    channel: Channel,
    *,
    owner: str = "hold",
) -> None:
    """Warn if linear feedback, of a law or of its hold, is unstable around a position.

    The causes are sampling, delay, lag and elasticity.

    Parameters
    ----------
    law : object
        Only controllers of the package, and the safe torque, are checked.
    plant : Robot, optional
        Default the controller's model.
    q : (n,) array
        Position, at which the arm is at rest with the reference.
    channel : Channel
        Sampling, delay and lag.
    owner : str
        Name of the safe torque.
    """
    robot = _model(cast("_core.Controller", law)) if plant is None else plant
    if robot is None:
        return
    messages, loop = [], loop_at(law, robot, q, channel, owner)
    if loop is not None:
        if isinstance(law, _core.ElasticSlotineLi):
            cast("Any", law)._warn_at(q)
        elastic = robot.elastic and isinstance(law, _core.Controller)
        message = _elastic_message(cast("_core.Controller", law), robot, q, loop) if elastic else None
        messages.append(loop.message(robot.joint_names) if message is None else message)
    hold = hold_at(law, robot, q, channel)
    if hold is not None:
        messages.append(hold.message(robot.joint_names))
    for message in messages:
        if message is not None:
            warnings.warn(message, RuntimeWarning, stacklevel=outer_level())


def warn_over_range(
    law: object,
    robot: Robot,
    channel: Channel,
    *,
    owner: str = "hold",
) -> None:
    """Warn as `warn_of_high_gains` if the feedback is unstable in half of the postures within the joints' range.

    Parameters
    ----------
    law, robot, channel, owner
        See `warn_of_high_gains`.
    """
    postures = typical_states(robot, 0.0).q[:_POSTURES]
    loops = [(k, loop_at(law, robot, q, channel, owner)) for k, q in enumerate(postures)]
    growths = sorted((loop.growth(), k) for k, loop in loops if loop is not None)
    middle = growths[len(growths) // 2][1] if growths else 0
    warn_of_high_gains(law, robot, postures[middle], channel, owner=owner)


def rest(
    law: type[_core.Controller], robot: Robot, q: Array, frame: int | str | None
) -> JointReference | TaskReference:
    """Return the reference of a controller at rest in a posture."""
    if issubclass(law, _core.TaskController):
        return SetPose(robot.forward_kinematics(q, frame))(0.0)
    smooth: Any = SetPoint(q).smooth if issubclass(law, _core.ElasticFeedbackLinearization) else SetPoint(q)
    return cast("JointReference", smooth(0.0))
