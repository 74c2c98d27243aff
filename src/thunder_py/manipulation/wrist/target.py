"""Throws of an arm with the elastic wrist at a target: postures, plan within the limits of the joints, execution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from ...checks import Array, array, nonnegative, of_kind, positive, whole, within
from ...errors import ReleaseError, ThunderError
from ...robot import Robot
from ...simulation.divergence import outcome_recorded
from ...values import Value
from ..arm import find_place
from ..throwing.flight import Landing, landing
from .base_motion import BaseMotion
from .carried import CarriedWrist, run_carried
from .identify import swing_motion
from .model import ElasticWrist
from .motor import MotorMotion, WristRun
from .motor_plan import plan_motor
from .robots import with_rigid_hand, with_wrist

#: pose of the wrist's base: the hand points along the flange's z axis, its palm along the flange's x axis
MOUNT = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
#: time at rest before the throw [s]
_REST = 0.2
_CONTROL: dict[str, Any] = {"dt": 1e-3, "stiffness": 3600.0, "limited": True}
#: part of the velocity limits that a base motion may use
_MARGIN = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class LandedThrow(Value):
    """Executed throw.

    Attributes
    ----------
    run : WristRun
        Motion of arm and wrist; the brake is simulated with the object still in the hand.
    p, v : (3,) array
        Position [m] and velocity [m/s] of the object at its release.
    landing : Landing
        Landing on the horizontal plane of the target.
    miss : float
        Horizontal distance of the landing from the target [m].
    effort, velocity : float
        Largest torque and speed of a joint of the arm in the whole run as fractions of their limits; torques are
        clipped at the limits, so an effort below 1 needed no clipping.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import ElasticWrist, plan_target_throw, throwing_bases, with_wrist, MOUNT
    >>> arm, wrist = th.Robot.load("ur5e"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> bases = throwing_bases(arm, wrist, elevations=[45], speeds=[0.3])
    >>> throw = plan_target_throw(arm, wrist, [1.5, -0.5, 0.1], bases, cells=40)
    >>> softer = ElasticWrist(I=0.012, k=4.5, m=0.7, r_c=0.09, c=0.03)
    >>> landed = throw.execute(with_wrist(arm, softer, mount=MOUNT))
    >>> landed.miss > 0.05, landed.effort < 1.0  # the plan was for another spring
    (True, True)
    """

    run: WristRun
    p: Array
    v: Array
    landing: Landing
    miss: float
    effort: float
    velocity: float


@dataclass(frozen=True, kw_only=True, eq=False)
class TargetThrow(Value):
    """Throw at a target, planned by `plan_target_throw`.

    Attributes
    ----------
    robot : Robot
        Arm with the wrist, the model of plan and controller.
    base : BaseMotion
        Motion of the arm: rest, throw, brake.
    motor : MotorMotion
        Motion of the wrist's motor over the same time, relative to the relaxed spring.
    target : (3,) array
        Landing point [m].
    p, v : (3,) array
        Position [m] and velocity [m/s] of the object at release, with the model.
    spread : float
        Distance of the landing from the target for a release one standard deviation early or late, the larger [m].
    effort, velocity : float
        Largest torque and speed of a joint of the arm as fractions of their limits, with the model.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import ElasticWrist, plan_target_throw, throwing_bases
    >>> arm, wrist = th.Robot.load("panda"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> bases = throwing_bases(arm, wrist, elevations=[45], speeds=[0.5])
    >>> throw = plan_target_throw(arm, wrist, [1.6, 0.4, 0.0], bases)
    >>> throw.execute().miss < 0.003, throw.effort < 0.9
    (True, True)
    """

    robot: Robot
    base: BaseMotion
    motor: MotorMotion
    target: Array
    p: Array
    v: Array
    spread: float
    effort: float
    velocity: float

    def execute(
        self, plant: Robot | None = None, *, late: float = 0.0, spring_error: float = 0.0, **options: Any
    ) -> LandedThrow:
        """Simulate the throw and the flight.

        Parameters
        ----------
        plant : Robot, optional
            Arm with wrist and object as they are; default the model.
        late : float
            Delay of the release beyond the compensated one [s].
        spring_error : float
            True minus assumed angle of the relaxed spring at motor angle zero [rad].
        **options
            Options of `simulate` such as sensors and friction.
        """
        end = self.base.release_time
        run = run_carried(
            self.robot, self.base.trajectory, self.motor, plant=plant, spring_error=spring_error, **_CONTROL, **options
        )
        p, v = _object(self.robot, run, end + late)
        down = landing(p, v, float(self.target[2]))
        limits = self.robot.limits
        return LandedThrow(
            run=run, p=p, v=v, landing=down, miss=float(np.linalg.norm((down.p - self.target)[:2])),
            effort=float(np.abs(run.tau / limits.effort)[:, :-1].max()),
            velocity=float(np.abs(run.dq / limits.velocity)[:, :-1].max()),
        )  # fmt: skip


def swing_run(throw: TargetThrow, plant: Robot, *, spring_error: float = 0.0, **options: Any) -> WristRun:
    """Simulate swings for `identify_wrist`: the arm stays where a throw begins, the motor follows `swing_motion`.

    Parameters
    ----------
    throw : TargetThrow
        Throw, which gives posture and model.
    plant : Robot
        Arm with wrist as they are, and with the object or without.
    spring_error : float
        True minus assumed angle of the relaxed spring at motor angle zero [rad].
    **options
        Options of `simulate` such as sensors and friction.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import ElasticWrist, plan_target_throw, swing_run, throwing_bases
    >>> arm, wrist = th.Robot.load("ur5e"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> bases = throwing_bases(arm, wrist, elevations=[45], speeds=[0.3])
    >>> throw = plan_target_throw(arm, wrist, [1.5, -0.5, 0.1], bases, cells=40)
    >>> run = swing_run(throw, throw.robot)
    >>> bool(0.5 < abs(run.q[:, -1]).max() < 1.5), bool(abs(run.q[:, :-1] - run.q[0, :-1]).max() < 0.01)
    (True, True)
    """
    commanded = swing_motion(float(throw.motor(0.0)))
    q, still = throw.base.q_intermediate, np.zeros_like(throw.base.dq_release)
    base = replace(throw.base, q_start=q, q_release=q, dq_release=still, run_up=float(commanded.breaks[-1]))
    return run_carried(
        throw.robot, base.trajectory, commanded, plant=plant, spring_error=spring_error, **_CONTROL, **options
    )


def _object(robot: Robot, run: WristRun, t: float) -> tuple[Array, Array]:
    """Return position and velocity of the end effector at t, by linear interpolation of the joints."""
    q, dq = (np.array([np.interp(t, run.t, column) for column in state.T]) for state in (run.q, run.dq))
    return robot.forward_kinematics(q)[:3, 3], robot.jacobian(q)[:3] @ dq


def throwing_bases(
    arm: Robot,
    wrist: ElasticWrist,
    *,
    mount: npt.ArrayLike = MOUNT,
    tip: float = 0.15,
    elevations: Sequence[float] = (35.0, 45.0, 55.0),
    speeds: Sequence[float] = (0.0, 0.3, 0.6),
    height: float = 0.5,
    T: float = 0.3,
) -> list[BaseMotion]:
    """Return motions of an arm that carry the wrist along a direction in front of it, without rotation of the hand.

    Parameters
    ----------
    arm : Robot
        Arm without hand.
    wrist : ElasticWrist
        Wrist at its end.
    mount, tip
        As in `with_wrist`.
    elevations : sequence of float
        Angles of the release above the horizontal [deg].
    speeds : sequence of float
        Speeds of the hand at release [m/s]; those beyond the limits of the joints are left out.
    height : float
        Height of the release [m].
    T : float
        Duration of the throw, and of the brake [s].

    Raises
    ------
    ThunderError
        If the arm has no such posture.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import ElasticWrist, throwing_bases
    >>> arm, wrist = th.Robot.load("ur5e"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09)
    >>> base, = throwing_bases(arm, wrist, elevations=[45], speeds=[0.4])
    >>> twist = base.robot.jacobian(base.q_release) @ base.dq_release
    >>> bool(abs(twist - [0.283, 0.0, 0.283, 0.0, 0.0, 0.0]).max() < 1e-3)
    True
    """
    rigid, T = with_rigid_hand(arm, wrist, mount=mount, tip=tip), positive(T, "T", "s")
    limits, found = rigid.limits, []
    fastest = max(nonnegative(speed, "speeds") for speed in speeds)
    for degrees in elevations:
        angle = math.radians(degrees)
        c, s = math.cos(angle), math.sin(angle)
        direction = np.array([c, 0.0, s])
        poses = np.tile(np.eye(4), (3, 1, 1))
        poses[:, :3, :3] = np.array([[s, 0.0, c], [0.0, 1.0, 0.0], [-c, 0.0, s]])  # the hand points down and forward
        poses[:, :3, 3] = 0.5 * T * fastest * np.outer([0.0, -1.0, 1.0], direction)
        q = find_place(rigid, poses, height).q
        for speed in speeds:
            dq = np.linalg.pinv(rigid.jacobian(q))[:, :3] @ direction * speed
            reach = np.stack([q - 0.5 * T * dq, q + 0.5 * T * dq])
            if (np.abs(dq) > _MARGIN * limits.velocity).any() or (
                (reach < limits.lower) | (reach > limits.upper)
            ).any():
                continue
            found.append(
                BaseMotion(
                    robot=rigid, direction=direction, T=T, q_start=reach[0], q_intermediate=reach[0], q_release=q,
                    dq_release=dq, speed=float(speed), run_up=_REST, brake=T,
                )
            )  # fmt: skip
    return found


def plan_target_throw(
    arm: Robot,
    wrist: ElasticWrist,
    target: npt.ArrayLike,
    bases: Sequence[BaseMotion],
    *,
    mount: npt.ArrayLike = MOUNT,
    tip: float = 0.15,
    torque_share: float = 0.9,
    rate: float = 20.0,
    jitter: float = 0.002,
    cells: int = 60,
) -> TargetThrow:
    """Plan a throw with the elastic wrist that lands on a target, within the limits of the arm's joints.

    Parameters
    ----------
    arm : Robot
        Arm without hand, its first joint about a vertical axis.
    wrist : ElasticWrist
        Wrist with the object, as known or identified.
    target : (3,) array_like
        Landing point [m].
    bases : sequence of BaseMotion
        Motions of the arm to choose from, see `throwing_bases`; the first joint turns them to the target.
    mount, tip
        As in `with_wrist`.
    torque_share : float
        Fraction of the torque limits that the throw may use with the model, at most 1; the rest is for errors of the
        model.
    rate : float
        Bound of the motor's speed [rad/s].
    jitter : float
        Standard deviation of the time of release [s].
    cells : int
        Number of cells of the motor's plans.

    Returns
    -------
    TargetThrow
        Of the motions that stay within the limits, the one with the smallest spread of the landing.

    Raises
    ------
    ThunderError
        If there is no motion, or one of another arm; if none reaches the target, or none does within the limits, where
        the message gives the least excess.

    Notes
    -----
    For each motion of the arm the range of the motor is the root of the landing's distance, with the motor planned for
    this range by `plan_motor`: q(T) = 0, dq(T) is largest. The first joint gives the azimuth. A simulation with the
    model checks torques and speeds, and its landing error corrects the aim for the sampled torques.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import landing
    >>> from thunder_py.manipulation.wrist import ElasticWrist, plan_target_throw, throwing_bases
    >>> arm, wrist = th.Robot.load("ur5e"), ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> bases = throwing_bases(arm, wrist, elevations=[45], speeds=[0.3])
    >>> throw = plan_target_throw(arm, wrist, [1.5, -0.5, 0.1], bases)
    >>> landing(throw.p, throw.v, 0.1).p.round(2).tolist()
    [1.5, -0.5, 0.1]
    """
    point, share = array(target, (3,), "target"), within(torque_share, "torque_share", 0.0, 1.0, ends="(]")
    planner = _Planner(with_wrist(arm, wrist, mount=mount, tip=tip), wrist.theta_max, rate, jitter, cells)
    motions = [of_kind(base, BaseMotion, "each of bases") for base in bases] if isinstance(bases, Sequence) else []
    if not motions or not all(_same_joints(motion.robot, arm) for motion in motions):
        raise ThunderError(f"bases must be at least one motion of {arm.name}, see `throwing_bases`")
    with outcome_recorded():  # motions that pass the limits are not chosen
        aimed = [planner.aimed(base, point) for base in motions]
    throws = [throw for throw in aimed if throw is not None]
    if not throws:
        raise ThunderError(f"target must be within reach of the throws of {arm.name}, got {point.tolist()}")

    def usage(throw: TargetThrow) -> float:
        return max(throw.effort / share, throw.velocity)

    kept = [throw for throw in throws if usage(throw) <= 1.0]
    if not kept:
        least = min(map(usage, throws))
        raise ThunderError(
            f"target must be within the limits of {arm.name}, {point.tolist()} needs {least:.2f} times the permitted "
            f"torques or speeds; permitted are {share:g} of the torques"
        )
    return min(kept, key=lambda throw: throw.spread)


def _same_joints(robot: Robot, other: Robot) -> bool:
    a, b = robot.description, other.description
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("base", "placements", "axes"))


class _Planner:
    """Aims base motions of one arm with one wrist."""

    def __init__(self, robot: Robot, theta_max: float, rate: float, jitter: float, cells: int) -> None:
        self._robot, self._theta_max, self._jitter = robot, theta_max, nonnegative(jitter, "jitter", "s")
        self._rate, self._cells = positive(rate, "rate", "rad/s", finite=False), whole(cells, "cells", 2)
        d = robot.description
        first = d.base @ d.placements[0]
        axis = first[:3, :3] @ d.axes[0]
        if abs(axis[2]) < 1.0 - 1e-9:
            raise ThunderError(f"the first joint of {robot.name} must have a vertical axis, got {axis.tolist()}")
        self._pivot, self._sign = first[:2, 3], math.copysign(1.0, axis[2])

    def aimed(self, base: BaseMotion, target: Array) -> TargetThrow | None:
        """Return the throw with this motion, turned by the first joint, or None if it does not land on the target."""
        first = self._at(base, target, target)
        throw = None if first is None else self._at(base, 2.0 * target - first.execute().landing.p, target)
        if throw is None:
            return None
        executed = throw.execute()
        t, sigma = throw.base.release_time, self._jitter
        off = [landing(*_object(self._robot, executed.run, t + s), target[2]).p - target for s in (-sigma, sigma)]
        spread = max(float(np.linalg.norm(one[:2])) for one in off)
        return replace(
            throw, p=executed.p, v=executed.v, spread=spread, effort=executed.effort, velocity=executed.velocity
        )

    def _at(self, base: BaseMotion, aim: Array, target: Array) -> TargetThrow | None:
        distance = float(np.linalg.norm(aim[:2] - self._pivot))
        carried = CarriedWrist(self._robot, base.trajectory)
        held = carried.resting_motor(0.0)
        q = np.append(base.q_release, 0.0)
        p, J = self._robot.forward_kinematics(q)[:3, 3], self._robot.jacobian(q)[:3]

        @lru_cache
        def motor(bound: float) -> tuple[MotorMotion, Array] | None:
            """Return the motion of the motor and the object's velocity; None if it falls short of the plane."""
            try:
                plan = plan_motor(
                    carried.acceleration, base.T, bound, begin=base.run_up, rate=self._rate, theta0=held,
                    cells=self._cells,
                )  # fmt: skip
                v = J @ np.append(base.dq_release, plan.speed)
                landing(p, v, aim[2])
            except ReleaseError:
                return None
            return plan.motor, v

        def beyond(bound: float) -> float:
            plan = motor(bound)
            return -distance if plan is None else self._radius(landing(p, plan[1], aim[2]).p) - distance

        least = abs(held) + 1e-3
        if least >= self._theta_max or beyond(self._theta_max) < 0.0 or beyond(least) > 0.0:
            return None
        plan = motor(float(brentq(beyond, least, self._theta_max, xtol=1e-5)))
        if plan is None:
            return None
        down = landing(p, plan[1], aim[2]).p
        if abs(self._radius(down) - distance) > 1e-3:
            return None
        angles = [math.atan2(*(point[:2] - self._pivot)[::-1]) for point in (aim, down)]
        turn = np.zeros(base.q_release.size)
        turn[0] = self._sign * math.remainder(angles[0] - angles[1], 2.0 * math.pi)
        turned = self._turned(base, turn)
        if turned is None:
            return None
        before = MotorMotion.still(held, 0.0, base.run_up)
        end = turned.trajectory.end_time
        last = float(plan[0](base.release_time))
        rest = CarriedWrist(self._robot, turned.trajectory).resting_motor(end)
        after = MotorMotion.through([base.release_time, end], [last, rest])
        return TargetThrow(
            robot=self._robot, base=turned, motor=before.then(plan[0]).then(after), target=target,
            p=p, v=plan[1], spread=math.nan, effort=math.nan, velocity=math.nan,
        )  # fmt: skip

    def _radius(self, p: Array) -> float:
        return float(np.linalg.norm(p[:2] - self._pivot))

    def _turned(self, base: BaseMotion, turn: Array) -> BaseMotion | None:
        lower, upper = self._robot.limits.lower[:-1], self._robot.limits.upper[:-1]
        for revolution in (0.0, 2.0 * math.pi, -2.0 * math.pi):
            by = turn + revolution * np.eye(turn.size)[0]
            ends = base.trajectory([0.0, base.release_time, base.trajectory.end_time]).q + by
            if ((ends > lower) & (ends < upper)).all():
                c, s = math.cos(by[0]), self._sign * math.sin(by[0])
                x, y, z = base.direction
                return replace(
                    base, q_start=base.q_start + by, q_intermediate=base.q_intermediate + by,
                    q_release=base.q_release + by, direction=np.array([c * x - s * y, s * x + c * y, z]),
                )  # fmt: skip
        return None
