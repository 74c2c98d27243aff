"""Visual servoing: joint velocities that bring a tool to a measured pose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, nonnegative, one_of, pose, positive
from ...errors import ThunderError
from ...kinematics.clik import CLIK, pose_gain
from ...kinematics.objectives import Objective
from ...reference import TaskReference
from ...robot import Robot
from ...spatial.single import angle_of
from ...values import Stateful, StrEnum

#: orientation errors: D4.2 (121), and the logarithm of the rotation
ERRORS = ("axis_angle", "rotation_vector")
#: angles [rad] at which the domain of each ends: L is singular at a right angle, and the core stops 1.1 degrees before
#: it; the axis of half a turn has two directions
DOMAIN = {"axis_angle": math.acos(0.02), "rotation_vector": math.radians(179.0)}
_NO_TWIST, _LAST_ROW = np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0])
#: squares of larger entries might overflow
_LARGEST = 1e100


class ServoState(StrEnum):
    """State of a step of the law.

    Examples
    --------
    >>> from thunder_py.manipulation import ServoState
    >>> [state.name for state in ServoState if state.moves]
    ['ok', 'scaled', 'joint_limit']
    >>> ServoState.singular.value
    'the arm is singular'
    """

    ok = "ok"
    scaled = "scaled into the joint velocity limits"
    joint_limit = "held back by a joint position limit"
    outside_domain = "outside the domain"
    singular = "the arm is singular"
    invalid_input = "invalid input"

    @property
    def moves(self) -> bool:
        """True if the law returned a solution."""
        return self in (ServoState.ok, ServoState.scaled, ServoState.joint_limit)


@dataclass(frozen=True, slots=True, eq=False)
class ServoStep:
    """Result of a step of the law.

    Attributes
    ----------
    dq : (n,) array
        Joint velocities [rad/s or m/s]; zero without a solution.
    state : ServoState
        State of the law after the step.
    distance : float
        Distance from tool to target [m], NaN for invalid input.
    angle : float
        Angle between their orientations [rad].
    joint : int
        Index of the limiting joint, -1 for none.
    """

    dq: Array
    state: ServoState
    distance: float
    angle: float
    joint: int = -1


class VisualServo(Stateful):
    """Visual servoing law of D4.2, eq. 124, or its form with the logarithm of the rotation, within the joint limits.

    ::

        axis_angle        dq = J^+ [x'_d + Lambda_p e_p; L^-1 (L' w_d + Lambda_o r sin(theta))]
        rotation_vector   dq = J^+ [x'_d + Lambda_p e_p; w_d + Lambda_o r theta]

    where R_d R' is a rotation by theta about r. With the first, r sin(theta) decays as exp(-Lambda_o t), so theta' =
    -Lambda_o tan(theta): the speed is unbounded at a right angle, and beyond it the error would converge to half a
    turn, where it is zero too. With the second, theta decays as exp(-Lambda_o t) from any angle below half a turn.

    Parameters
    ----------
    robot : Robot
        Arm with its limits.
    Lambda_p, Lambda_o : float, (3,) or (3, 3) array_like
        Gains of position and orientation [1/s].
    frame : int or str, optional
        Frame that carries the tool, default the end effector.
    error : {"rotation_vector", "axis_angle"}
        Orientation error; ``axis_angle`` is the paper's.
    damping, threshold : float
        Where the manipulability w = sqrt(det(J J')) is below the threshold, the pseudo-inverse is damped by
        lambda^2 = damping^2 (1 - (w / threshold)^2). With threshold 0 there is no damping, and a singular arm gives
        `ServoState.singular`.
    speed : float
        Usable fraction of the joint velocity limits, above 0 and at most 1.
    limit_gain : float
        A joint moves towards its position limit at most at this gain [1/s] times its distance to it.
    margin : float
        Distance kept from position limits [rad or m].
    null_space : Objective, optional
        Objective of `thunder_py.kinematics` in the null space of redundant arms.

    Raises
    ------
    ThunderError
        If a gain, limit or threshold is out of range.
    UnknownNameError
        If `error` is unknown.

    Notes
    -----
    Errors are desired minus actual. If one joint velocity exceeds its limit, all are scaled down, so the tool keeps its
    path and only slows down. A joint at its position limit that would pass it stops the arm
    (`ServoState.joint_limit`). The step runs in the compiled core (`CLIK`), which neither allocates nor throws; invalid
    numbers give `ServoState.invalid_input` and zero velocities.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import VisualServo
    >>> panda = th.Robot.load("panda")
    >>> q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    >>> servo, target = VisualServo(panda, Lambda_p=2.0, Lambda_o=2.0), panda.forward_kinematics(q + 0.1)
    >>> for _ in range(300):
    ...     q = q + 0.01 * servo.step(q, target).dq
    >>> step = servo.step(q, target)
    >>> step.state.value, step.distance < 2e-3, step.angle < 2e-3
    ('ok', True, True)
    """

    def __init__(
        self,
        robot: Robot,
        Lambda_p: npt.ArrayLike = 2.0,
        Lambda_o: npt.ArrayLike = 2.0,
        frame: int | str | None = None,
        *,
        error: str = "rotation_vector",
        damping: float = 0.05,
        threshold: float = 0.02,
        speed: float = 1.0,
        limit_gain: float = 5.0,
        margin: float = 0.02,
        null_space: Objective | None = None,
    ) -> None:
        one_of(error, ERRORS, "error")
        if positive(speed, "speed") > 1.0:
            raise ThunderError(f"speed must be above 0 and at most 1, got {speed!r}")
        self.robot, self.error, self.frame = robot, error, frame
        inverse: dict[str, Any] = {"method": "pseudoinverse"}
        if nonnegative(threshold, "threshold") > 0.0:
            inverse = {"method": "damped", "damping": damping, "threshold": threshold, "measure": "manipulability"}
        Lambda = pose_gain(Lambda_p, Lambda_o)
        self._clik = CLIK(  # limits are those of this law
            robot, Lambda, frame=frame, orientation=error, null_space=null_space, limits=False, **inverse
        )
        limits = robot.limits
        self._velocity = float(speed) * limits.velocity
        self._lower = limits.lower + nonnegative(margin, "margin")
        self._upper = limits.upper - margin
        if not (self._lower < self._upper).all():
            raise ThunderError(f"margin must be less than half of every joint's range, got {margin!r}")
        self._gain = positive(limit_gain, "limit_gain", "1/s")
        self._tool = np.eye(4)

    @property
    def tool(self) -> Array:
        """Pose (4, 4) of the tool in the frame that carries it; assign a whole array."""
        return self._tool

    @tool.setter
    def tool(self, tool: npt.ArrayLike) -> None:
        self._tool = pose(tool, "tool").copy()
        self._tool.setflags(write=False)
        self._clik.set_tool(self._tool)

    def tool_pose(self, q: npt.ArrayLike) -> Array:
        """Pose (4, 4) of the tool at joint positions (n,)."""
        carrier: Array = self.robot.forward_kinematics(q, frame=self.frame)
        return carrier @ self._tool

    def step(self, q: npt.ArrayLike, target: Array, twist: Array | None = None, speed: float = 1.0) -> ServoStep:
        """Return the joint velocities at joint positions `q` (n,).

        Parameters
        ----------
        q : (n,) array_like
            Joint positions [rad or m]. NaN is reported in the state instead of raising.
        target : (4, 4) array
            Desired pose of the tool; NaN, or a matrix that is not a pose, is reported in the state too.
        twist : (6,) array, optional
            Twist of the target, linear part first, world axes [m/s, rad/s].
        speed : float
            Factor from 0 to 1 that scales the joint velocities.

        Returns
        -------
        ServoStep

        Raises
        ------
        ThunderError
            If `target` has another shape.
        """
        joints = np.asarray(q, dtype=np.float64)
        T = np.asarray(target, dtype=np.float64)
        xi = _NO_TWIST if twist is None else np.asarray(twist, dtype=np.float64)
        if T.shape != (4, 4):
            raise ThunderError(f"target must have shape (4, 4), got {T.shape}")
        sensible = np.abs(T).max() < _LARGEST and np.array_equal(T[3], _LAST_ROW)  # False for NaN
        if not (sensible and np.isfinite(xi).all() and 0.0 <= speed <= 1.0):
            return self._invalid()
        dq = self._clik.step(0.0, joints, TaskReference(T[:3, 3], T[:3, :3], xi, _NO_TWIST))
        status = self._clik.status
        if status is _core.Status.invalid_input:
            return self._invalid()
        now = self.tool_pose(joints)
        away = T[:3, 3] - now[:3, 3]
        distance, angle = math.sqrt(float(away @ away)), angle_of(T[:3, :3] @ now[:3, :3].T)
        if angle >= DOMAIN[self.error]:
            return ServoStep(np.zeros(self.robot.n), ServoState.outside_domain, distance, angle)
        if status is _core.Status.singular:
            return ServoStep(np.zeros(self.robot.n), ServoState.singular, distance, angle)
        dq, state, joint = self._limit(joints, dq)
        return ServoStep(speed * dq, state, distance, angle, joint)

    def _invalid(self) -> ServoStep:
        return ServoStep(np.zeros(self.robot.n), ServoState.invalid_input, math.nan, math.nan)

    def _limit(self, q: Array, dq: Array) -> tuple[Array, ServoState, int]:
        """Scale velocities into the limits of the joints."""
        room = np.where(dq > 0.0, self._upper - q, q - self._lower)
        allowed = np.minimum(self._velocity, self._gain * np.maximum(room, 0.0))
        size = np.abs(dq)
        if (size <= allowed).all():
            return dq, ServoState.ok, -1
        ratio = np.divide(allowed, size, out=np.ones_like(dq), where=size > allowed)
        joint = int(np.argmin(ratio))
        near = allowed[joint] < self._velocity[joint]
        return ratio[joint] * dq, ServoState.joint_limit if near else ServoState.scaled, joint
