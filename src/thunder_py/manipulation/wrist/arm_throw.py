"""Simulated throw of an arm with the elastic wrist, compared with the same arm motion and a fixed hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...checks import Array, of_kind, positive
from ...control import ComputedTorque
from ...errors import ThunderError
from ...robot import Robot
from ...simulation import simulate
from ...values import Value
from .base_motion import BaseMotion
from .carried import CarriedWrist, run_carried
from .model import ElasticWrist
from .motor import MotorMotion, WristRun
from .motor_plan import MotorPlan, plan_motor
from .robots import with_wrist
from .throw import WristThrow

#: stiffness of the controllers, natural frequency squared [1/s^2]
_STIFFNESS = 400.0


@dataclass(frozen=True, kw_only=True, eq=False)
class WristRelease(Value):
    """State of end effector and wrist at release.

    Attributes
    ----------
    speed : float
        Speed of the end effector along the throw [m/s].
    across : float
        Speed of the end effector across the throw [m/s].
    q, dq : float
        Angle and rate of the wrist [rad, rad/s]; zero for a fixed hand.
    arm_error : float
        Largest tracking error of a joint of the arm until release [rad].
    effort : float
        Largest torque of a joint of the arm until release as a fraction of its limit.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import WristRelease
    >>> release = WristRelease(speed=5.9, across=0.1, q=0.0, dq=22.0, arm_error=1e-3, effort=0.9)
    >>> release.speed, release.effort <= 1.0
    (5.9, True)
    """

    speed: float
    across: float
    q: float
    dq: float
    arm_error: float
    effort: float


def wrist_at_release(wrist: ElasticWrist, arm: Robot, q: npt.ArrayLike) -> ElasticWrist:
    """Return the wrist with the slope of the arm at q, and the component of gravity in the plane of the wrist.

    Parameters
    ----------
    wrist : ElasticWrist
        Wrist at the end of the arm.
    arm : Robot
        Arm with the fixed hand: the axes of its end effector are those of the wrist's base.
    q : (n,) array_like
        Joint positions [rad].
    """
    R = arm.forward_kinematics(q)[:3, :3]
    along, across = float(R[:, 0] @ arm.gravity), -float(R[:, 2] @ arm.gravity)
    return replace(wrist, alpha=math.atan2(along, across), g=math.hypot(along, across))


class ArmThrow:
    """Simulated throws with one arm motion and several motions of the wrist's motor.

    Parameters
    ----------
    arm : Robot
        Arm without hand.
    wrist : ElasticWrist
        Wrist at the end of the arm.
    base : BaseMotion
        Motion of the arm with the hand fixed.
    mount : (4, 4) array_like
        Pose of the wrist's base in the arm's end effector.
    tip : float
        Distance of the object from the wrist's axis [m].
    dt : float
        Time step of simulation and controllers [s].

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import ArmThrow, ElasticWrist, optimize_base_motion, with_rigid_hand
    >>> panda = th.Robot.load("panda")
    >>> mount = np.eye(4)
    >>> mount[:3, :3] = [[0, 0, 1], [0, -1, 0], [1, 0, 0]]  # the hand along the flange's z axis
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> base = optimize_base_motion(
    ...     with_rigid_hand(panda, wrist, mount=mount), [1, 0, 1], T=0.3, starts=1, seed=1,
    ...     acceleration_limits=[15, 7.5, 10, 12.5, 15, 20, 20], q_start=[0, -0.3, 0, -2.0, 0, 1.8, 0.8],
    ... )
    >>> arm_throw = ArmThrow(panda, wrist, base, mount, tip=0.15, dt=2e-3)
    >>> plan = arm_throw.plan(cells=40)
    >>> gain = arm_throw.release(arm_throw.run(plan.motor)).speed - arm_throw.rigid().speed
    >>> 5.0 < gain < 7.0  # m/s
    True
    """

    def __init__(
        self, arm: Robot, wrist: ElasticWrist, base: BaseMotion, mount: npt.ArrayLike, tip: float, dt: float = 5e-4
    ) -> None:
        of_kind(base, BaseMotion, "base")
        self.robot = with_wrist(arm, wrist, mount=mount, tip=tip)
        self.wrist, self.base, self.tip, self.dt = wrist, base, tip, positive(dt, "dt", "s")
        self.trajectory = base.trajectory
        self.carried = CarriedWrist(self.robot, self.trajectory)

    @property
    def begin(self) -> float:
        """Start of the throw, at the end of the run-up [s]."""
        return self.base.run_up

    def plan(self, rate: float = math.inf, cells: int = 200, theta_max: float | None = None) -> MotorPlan:
        """Return the optimal motion of the motor for this motion of the arm.

        Parameters
        ----------
        rate : float
            Bound of the motor's speed [rad/s].
        cells : int
            Number of cells of the plan.
        theta_max : float, optional
            Bound of the motor's angle [rad]; default that of the wrist.
        """
        held = self.carried.resting_motor(self.begin - 1e-9)
        bound = self.wrist.theta_max if theta_max is None else theta_max
        return plan_motor(
            self.carried.acceleration, self.base.T, bound, begin=self.begin, cells=cells, rate=rate,
            theta0=held if math.isfinite(rate) else None,
        )  # fmt: skip

    def plan_within_torques(self, cells: int = 200, tolerance: float = 0.01) -> MotorPlan:
        """Return the plan with the largest range of the motor for which the arm keeps its torque limits.

        Parameters
        ----------
        cells : int
            Number of cells of the plan.
        tolerance : float
            Tolerance of the range [rad], a bisection on simulated throws.

        Raises
        ------
        ThunderError
            If the arm exceeds its torque limits even for the smallest range.
        """
        tolerance = positive(tolerance, "tolerance", "rad")
        low, high, best = abs(self.carried.resting_motor(self.begin - 1e-9)), self.wrist.theta_max, None
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            plan = self._feasible(middle, cells)
            low, high, best = (middle, high, plan) if plan is not None else (low, middle, best)
        if best is None:
            raise ThunderError(
                "the arm must have torque left for the wrist's spring; use a base motion with a smaller torque_margin"
            )
        return best

    def _feasible(self, theta_max: float, cells: int) -> MotorPlan | None:
        try:
            plan = self.plan(cells=cells, theta_max=theta_max)
        except ThunderError:  # the range is too small for q(T) = 0
            return None
        return plan if self.release(self.run(plan.motor)).effort <= 1.0 else None

    def held(self) -> MotorMotion:
        """Return the constant motor angle that holds the hand at q = 0 before the throw."""
        return MotorMotion.still(self.carried.resting_motor(self.begin - 1e-9), self.begin, self.base.release_time)

    def of_throw(self, throw: WristThrow) -> MotorMotion:
        """Return the motion of the motor for a linear throw that ends at release, held constant until it begins."""
        motion = MotorMotion.of_throw(throw, from_time=self.base.release_time - throw.T)
        if throw.T >= self.base.T * (1.0 - 1e-12):
            return motion
        hold = MotorMotion.still(self.held().start[0], self.begin, self.base.release_time - throw.T)
        return hold.then(motion)

    def run(self, motor: MotorMotion, *, feedforward: bool = True, limited: bool = False) -> WristRun:
        """Simulate the arm's motion with a motion of the motor, over the time of the latter.

        Parameters
        ----------
        motor : MotorMotion
            Motion of the wrist's motor.
        feedforward, limited : bool
            Options of `CarrierControl`: feedforward of the wrist's spring, torques clipped at the limits.
        """
        return run_carried(
            self.robot,
            self.trajectory,
            motor,
            dt=self.dt,
            stiffness=_STIFFNESS,
            feedforward=feedforward,
            limited=limited,
        )

    def whole(self, motor: MotorMotion) -> WristRun:
        """Simulate run-up, throw and brake; the motor holds the hand at q = 0 in the run-up and rests in the brake."""
        up = np.linspace(0.0, self.begin, 80)
        theta = np.array([self.carried.resting_motor(t) for t in np.minimum(up, self.begin - 1e-9)])
        after = MotorMotion.still(
            float(motor(self.base.release_time)), self.base.release_time, self.trajectory.end_time
        )
        return self.run(MotorMotion.through(up, theta).then(motor).then(after))

    def rigid(self) -> WristRelease:
        """Simulate the same arm motion with the hand fixed."""
        robot = self.base.robot
        first = self.trajectory(self.begin)
        law = ComputedTorque(robot, _STIFFNESS, 2.0 * math.sqrt(_STIFFNESS))
        run = simulate(
            robot, law, lambda t: self.trajectory(t + self.begin), self.base.T, self.dt, q0=first.q, dq0=first.dq
        )
        along, across = self._velocity(robot, run.q[-1], run.dq[-1])
        return WristRelease(
            speed=along, across=across, q=0.0, dq=0.0, effort=float(np.abs(run.tau / robot.limits.effort).max()),
            arm_error=float(np.abs(run.q - self.trajectory(run.t + self.begin).q).max()),
        )  # fmt: skip

    def release(self, run: WristRun) -> WristRelease:
        """Return the state of a run at the time of release."""
        k = int(np.argmin(np.abs(run.t - self.base.release_time)))
        along, across = self._velocity(self.robot, run.q[k], run.dq[k])
        until = slice(0, k)
        arm = self.trajectory(run.t[until]).q
        return WristRelease(
            speed=along, across=across, q=float(run.q[k, -1]), dq=float(run.dq[k, -1]),
            arm_error=float(np.abs(run.q[until, :-1] - arm).max()),
            effort=float(np.abs(run.tau[until, :-1] / self.robot.limits.effort[:-1]).max()),
        )  # fmt: skip

    def _velocity(self, robot: Robot, q: Array, dq: Array) -> tuple[float, float]:
        v = robot.jacobian(q)[:3] @ dq
        along = float(self.base.direction @ v)
        return along, float(np.linalg.norm(v - along * self.base.direction))
