"""An arm with the elastic wrist throws in simulation, beside the same arm motion with the hand fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...checks import Array, of_kind, positive
from ...control import ComputedTorque
from ...errors import ThunderError
from ...reference import JointReference
from ...robot import Robot
from ...simulation import simulate
from ...values import Value
from .base_motion import BaseMotion
from .carried import CarriedWrist, CarrierControl
from .model import ElasticWrist
from .motor import MotorMotion, WristRun, run_with_motor
from .motor_plan import MotorPlan, plan_motor
from .robots import with_wrist
from .throw import WristThrow

__all__ = ["ArmThrow", "WristRelease", "wrist_at_release"]

#: of the controllers, natural frequency squared [1/s^2]
_STIFFNESS = 400.0


@dataclass(frozen=True, kw_only=True, eq=False)
class WristRelease(Value):
    """The end effector at release.

    Attributes
    ----------
    speed : float
        Of the end effector along the throw [m/s].
    across : float
        Of the end effector across it [m/s].
    q, dq : float
        Of the wrist [rad, rad/s]; zero for a fixed hand.
    arm_error : float
        Largest distance of a joint of the arm from its reference until release [rad].
    effort : float
        Largest share of its torque limit that a joint of the arm uses until release.
    """

    speed: float
    across: float
    q: float
    dq: float
    arm_error: float
    effort: float


def wrist_at_release(wrist: ElasticWrist, arm: Robot, q: npt.ArrayLike) -> ElasticWrist:
    """Return the wrist on the slope that the arm has at q, gravity being its part in the plane of the wrist.

    Parameters
    ----------
    wrist : ElasticWrist
    arm : Robot
        With the fixed hand: axes of its end effector are those of the wrist's base.
    q : (n,) array_like
    """
    R = arm.forward_kinematics(q)[:3, :3]
    along, across = float(R[:, 0] @ arm.gravity), -float(R[:, 2] @ arm.gravity)
    return replace(wrist, alpha=math.atan2(along, across), g=math.hypot(along, across))


class ArmThrow:
    """The throw of one arm motion, with several motions of the wrist's motor.

    Parameters
    ----------
    arm : Robot
        Without hand.
    wrist : ElasticWrist
    base : BaseMotion
        Of the arm with the hand fixed.
    mount : (4, 4) array_like
        Of the wrist's base in the arm's end effector.
    tip : float
        From the wrist's axis to what is thrown [m].
    dt : float
        Of simulation and controllers [s].
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
        """When the throw begins, at the end of the run-up [s]."""
        return self.base.run_up

    def plan(self, rate: float = math.inf, cells: int = 200, theta_max: float | None = None) -> MotorPlan:
        """Return the motor's best motion for this motion of the arm.

        Parameters
        ----------
        rate : float
            Bound of the motor's speed [rad/s].
        cells : int
            Of the plan.
        theta_max : float, optional
            Bound of the motor's angle [rad]; default the wrist's.
        """
        held = self.carried.resting_motor(self.begin - 1e-9)
        bound = self.wrist.theta_max if theta_max is None else theta_max
        return plan_motor(
            self.carried.acceleration, self.base.T, bound, begin=self.begin, cells=cells, rate=rate,
            theta0=held if math.isfinite(rate) else None,
        )  # fmt: skip

    def plan_within_torques(self, cells: int = 200, tolerance: float = 0.01) -> MotorPlan:
        """Return the plan with the largest range of the motor for which the arm keeps within its torques.

        Parameters
        ----------
        cells : int
            Of the plan.
        tolerance : float
            Of the range [rad], which is found by bisection on simulated throws.

        Raises
        ------
        ThunderError
            If the arm needs more torque than it has even where the motor hardly moves.
        """
        tolerance = positive(tolerance, "tolerance", "rad")
        low, high, best = abs(self.carried.resting_motor(self.begin - 1e-9)), self.wrist.theta_max, None
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            tried = self._feasible(middle, cells)
            low, high, best = (middle, high, tried) if tried is not None else (low, middle, best)
        if best is None:
            raise ThunderError(
                "the arm has no torque left for the wrist's spring; take a base motion with a smaller margin"
            )
        return best

    def _feasible(self, theta_max: float, cells: int) -> MotorPlan | None:
        try:
            plan = self.plan(cells=cells, theta_max=theta_max)
        except ThunderError:  # too small a range to come back to q = 0
            return None
        return plan if self.release(self.run(plan.motor)).effort <= 1.0 else None

    def held(self) -> MotorMotion:
        """Return a motor that stands where it holds the hand at q = 0 before the throw."""
        return MotorMotion.still(self.carried.resting_motor(self.begin - 1e-9), self.begin, self.base.release_time)

    def of_throw(self, throw: WristThrow) -> MotorMotion:
        """Return the motor's motion of a linear throw that ends at release; it is held until that begins."""
        late = MotorMotion.of_throw(throw, from_time=self.base.release_time - throw.T)
        if throw.T >= self.base.T * (1.0 - 1e-12):
            return late
        before = MotorMotion.still(self.held().start[0], self.begin, self.base.release_time - throw.T)
        return before.then(late)

    def run(self, motor: MotorMotion, *, feedforward: bool = True, limited: bool = False) -> WristRun:
        """Simulate the throw with a motion of the motor, from the end of the run-up to release.

        Parameters
        ----------
        motor : MotorMotion
        feedforward, limited : bool
            Of `CarrierControl`: whether it knows of the wrist's spring, whether its torques are clipped.
        """
        first = self.trajectory(self.begin)
        control = CarrierControl(self.robot, motor, stiffness=_STIFFNESS, feedforward=feedforward, limited=limited)
        return run_with_motor(
            self.robot, motor, q0=np.append(first.q, 0.0), dq0=np.append(first.dq, 0.0), dt=self.dt,
            controller=control,
            reference=self._at,
        )  # fmt: skip

    def whole(self, motor: MotorMotion) -> WristRun:
        """Simulate run-up, throw and brake; during the first the motor holds the hand at q = 0, then it stands."""
        up = np.linspace(0.0, self.begin, 80)
        theta = np.array([self.carried.resting_motor(t) for t in np.minimum(up, self.begin - 1e-9)])
        after = MotorMotion.still(
            float(motor(self.base.release_time)), self.base.release_time, self.trajectory.end_time
        )
        everything = MotorMotion.through(up, theta).then(motor).then(after)
        first = self.trajectory(0.0)
        control = CarrierControl(self.robot, everything, stiffness=_STIFFNESS)
        return run_with_motor(
            self.robot, everything, q0=np.append(first.q, 0.0), controller=control, reference=self._at, dt=1e-3
        )

    def rigid(self) -> WristRelease:
        """Simulate the same arm motion with the hand fixed."""
        robot = self.base.robot
        first = self.trajectory(self.begin)
        law = ComputedTorque(robot, _STIFFNESS, 2.0 * math.sqrt(_STIFFNESS))
        run = simulate(robot, law, lambda t: self._at(t + self.begin), self.base.T, self.dt, q0=first.q, dq0=first.dq)
        along, across = self._velocity(robot, run.q[-1], run.dq[-1])
        return WristRelease(
            speed=along, across=across, q=0.0, dq=0.0, effort=float(np.abs(run.tau / robot.limits.effort).max()),
            arm_error=float(np.abs(run.q - self.trajectory(run.t + self.begin).q).max()),
        )  # fmt: skip

    def release(self, run: WristRun) -> WristRelease:
        """Return what a run reaches at the time of release."""
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

    def _at(self, t: float) -> JointReference:
        found: JointReference = self.trajectory(t)
        return found
