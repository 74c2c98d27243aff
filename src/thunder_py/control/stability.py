"""Largest velocity feedback of a sampled controller and of one for elastic joints, and the warnings beyond it."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any, cast

import numpy as np

from .. import _core
from .._core import Status
from ..checks import Array
from ..errors import ModelError
from ..reference import JointReference, SetPoint, SetPose, TaskReference
from ..robot import Elastic, Robot
from .motion_states import typical_states

__all__ = [
    "damping_rate",
    "driven_inertia",
    "elastic_damping",
    "rest",
    "stable_rate",
    "velocity_feedback",
    "warn_of_high_gains",
    "warn_over_range",
]

#: step of differences of velocities [rad/s or m/s]
_STEP = 1e-4
#: excess over the bound of an elastic joint alone that is named; the joints of an arm are coupled
_ELASTIC_MARGIN = 1.25
#: postures of a controller without a start
_POSTURES = 15
#: gains of velocities by law; K_d of all others
_GAINS = {
    _core.OperationalSpace: "K_1",
    _core.CartesianComputedTorque: "K_1",
    _core.RobustUnitVector: "K_1 or rho / epsilon",
    _core.ComputedTorque: "K_1 or K_d",
    _core.ACT: "K_1 or K_d",
    _core.Impedance: "D or K_d",
    _core.SlotineLi: "K_d or Lambda",
    _core.PassivityBased: "K_d or Lambda",
    _core.Backstepping: "K_d or Lambda",
    _core.CompositeControl: "K_v or a gain of slow",
    _core.ElasticSlotineLi: "K_x or Lambda",
}
#: laws that do not compensate friction at the actual velocity
_WITHOUT_FRICTION = (_core.PDGravity, _core.IndependentJoint)


def stable_rate(period: float, delay: float = 0.0) -> float:
    """Return the ratio of damping to inertia [1/s] beyond which a sampled loop oscillates with growing amplitude.

    Parameters
    ----------
    period : float
        Control period, over which the torque is constant [s].
    delay : float
        Further delay of the loop [s].

    Notes
    -----
    2 sin(pi / (4 N + 2)) / period for a delay of N periods, derived in docs/theory/adaptive_control.md.

    Examples
    --------
    >>> from thunder_py.control import stable_rate
    >>> round(stable_rate(1e-3)), round(stable_rate(1e-3, delay=1e-3)), round(stable_rate(1e-3, delay=4e-3))
    (2000, 1000, 347)
    """
    return 2.0 * math.sin(math.pi / (4.0 * delay / period + 2.0)) / period


def _model(law: _core.Controller) -> Robot | None:
    """Return the model of a controller of this package."""
    arguments: Any = getattr(law, "_core_arguments", ((None,), {}))
    first = arguments[0][0] if arguments[0] else None
    return first if isinstance(first, Robot) else None


def velocity_feedback(law: _core.Controller, q: Array, reference: Any) -> Array | None:
    """Return -d tau / d dq (n, n) at rest, without the compensation of friction; None where the law has none.

    Of a law that sees motors, the velocities of elastic joints are those of the motors.
    """
    twin: Any = copy.copy(law)
    twin.reset()
    twin.torque_limits = None
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
    except ModelError:
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


def driven_inertia(law: _core.Controller, robot: Robot, q: Array, rate: float) -> Array:
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


def warn_of_high_gains(
    law: object,
    plant: Robot | None,
    q: Array,
    reference: Any,
    period: float,
    delay: float = 0.0,
    *,
    stacklevel: int = 2,
) -> None:
    """Warn if the velocity feedback of a controller is unstable around a position, because of sampling or elasticity.

    Parameters
    ----------
    law : object
        Only controllers of the package are checked.
    plant : Robot, optional
        Default the controller's model.
    q : (n,) array
        Position.
    reference : JointReference or TaskReference
        Reference of the controller.
    period, delay : float
        See `stable_rate`.
    stacklevel : int
        Frame that the warning names, as in `warnings.warn`.
    """
    if not isinstance(law, _core.Controller):
        return
    robot = _model(law) if plant is None else plant
    if robot is None or law.n != robot.n:
        return
    if isinstance(law, _core.ElasticSlotineLi):
        cast("Any", law)._warn_at(q, stacklevel + 1)
    M = driven_inertia(law, robot, q, stable_rate(period, delay))
    D = velocity_feedback(law, q, reference) if np.linalg.eigvalsh(M)[0] > 0.0 else None
    if D is None:
        return
    gain = next((name for kind, name in _GAINS.items() if isinstance(law, kind)), "K_d")
    limits = elastic_damping(robot, q) if robot.elastic and not law.sees_motors else np.full(robot.n, np.inf)
    if (D.diagonal() > _ELASTIC_MARGIN * limits).any():
        j = int(np.argmax(D.diagonal() / np.maximum(limits, 1e-12)))
        bandwidth = limits[j] / (M[j, j] + next(drive.Mm for drive in robot.elastic if drive.joint == j + 1))
        reason = f"the elastic joint {robot.joint_names[j]!r}"
        remedy = f"{limits[j]:.3g}, a bandwidth of {bandwidth:.2g} rad/s; the controller assumes rigid joints"
    else:
        rate, j = damping_rate(D, M)
        share = rate / stable_rate(period, delay)
        if share <= 1.0:
            return
        reason = f"a control period of {period:g} s and a delay of {delay:g} s"
        remedy = f"{D[j, j] / share:.3g}; multiply the gain by {1.0 / share:.2g} at most"
    warnings.warn(
        f"{gain} of {type(law).__name__} is too high for {reason}: it damps {robot.joint_names[j]!r} by {D[j, j]:.3g}, "
        f"unstable beyond {remedy}",
        RuntimeWarning,
        stacklevel=stacklevel + 1,
    )


def warn_over_range(
    law: object, robot: Robot, period: float, frame: int | str | None = None, *, stacklevel: int = 2
) -> None:
    """Warn as `warn_of_high_gains` if the controller is unstable in half of the postures within the joints' range.

    Parameters
    ----------
    law : object
        Only controllers of the package are checked.
    robot : Robot
        Its model.
    period : float
        Control period [s].
    frame : int or str, optional
        Frame of a controller in task space.
    stacklevel : int
        See `warn_of_high_gains`.
    """
    if not isinstance(law, _core.Controller):
        return
    rates = {}
    for q in typical_states(robot, 0.0).q[:_POSTURES]:
        reference = rest(type(law), robot, q, frame)
        D, M = velocity_feedback(law, q, reference), driven_inertia(law, robot, q, stable_rate(period))
        if D is not None and np.linalg.eigvalsh(M)[0] > 0.0:
            rates[damping_rate(D, M)[0]] = (q, reference)
    if rates:
        q, reference = rates[sorted(rates)[len(rates) // 2]]
        warn_of_high_gains(law, robot, q, reference, period, stacklevel=stacklevel + 1)


def rest(
    law: type[_core.Controller], robot: Robot, q: Array, frame: int | str | None
) -> JointReference | TaskReference:
    """Return the reference of a controller at rest in a posture."""
    if issubclass(law, _core.TaskController):
        return SetPose(robot.forward_kinematics(q, frame))(0.0)
    return SetPoint(q)(0.0)
