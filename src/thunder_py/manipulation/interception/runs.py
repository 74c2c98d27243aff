"""Runs of the conveyor: the planned point alone, or with an arm that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, nonnegative, positive
from ...control import CartesianMACT, GradientAdaptation
from ...errors import ThunderError
from ...motion import FPCA, HumanLikePlanner, SplineBasis
from ...recordings.synthetic import sigma_lognormal_reaches
from ...robot import Robot
from ...simulation import Payload, simulate
from .conveyor import (
    Belt,
    BeltObject,
    Conveyor,
    Feed,
    Grasp,
    GraspOutcome,
    GraspTolerance,
    MeasurementModel,
    evaluate_grasp,
)
from .filter import ConstantVelocityFilter
from .interceptor import (
    FollowedInterception,
    InterceptionOptions,
    Interceptor,
    PlannedArrival,
)
from .outcome import InterceptionPhase, InterceptionReason


@dataclass(frozen=True)
class Follower:
    """`CartesianMACT` on the Panda, which carries a hand unknown to the controller.

    Parameters
    ----------
    stiffness, turning : float
        K_p of positions [N/m] and of orientation [N m].
    damping : tuple of 7 floats
        K_d [N m s/rad]. Sampled at 1 kHz it must stay well below a joint's inertia divided by a millisecond; the last
        joint has 0.005 kg m².
    eta : float
        Adaptation gain of link 7, Gamma_i = eta / |pi_i|: larger is slower. 0 for no adaptation.
    hand_mass : float
        Mass of the hand on the flange [kg]; a SoftHand weighs about half a kilogram.
    hand_height : float
        Height of its center of mass above the flange [m].
    """

    stiffness: float = 3000.0
    turning: float = 100.0
    damping: tuple[float, ...] = (30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0)
    eta: float = 0.03
    hand_mass: float = 0.5
    hand_height: float = 0.07

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("stiffness", "turning"):
            positive(getattr(self, name), name)
        if array(self.damping, (7,), "damping").min() <= 0.0:
            raise ThunderError(f"damping must be positive, got {self.damping}")
        for name in ("eta", "hand_mass"):
            nonnegative(getattr(self, name), name)
        finite(self.hand_height, "hand_height")

    @property
    def velocity_limits(self) -> Array:
        """Velocity limits of the joints [rad/s]."""
        return np.asarray(_panda().limits.velocity)

    def controller(self) -> CartesianMACT:
        """Return the controller, cached for each set of gains."""
        return _controller(self)

    def follow(
        self, source: FollowedInterception, duration: float, q0: npt.ArrayLike | Sequence[float], dt: float
    ) -> tuple[Array, ...]:
        """Simulate the arm.

        Returns
        -------
        t, q, dq, reference, hand, velocity, acceleration : arrays
            Arrays of k samples. The last four have shape (k, 3): desired and actual position of the hand, its velocity,
            and its desired acceleration.
        """
        robot = _panda()
        load = Payload(self.hand_mass, com=(0.0, 0.0, self.hand_height))
        result = simulate(
            robot, self.controller(), source, duration, dt, q0=q0, payloads=load, log=("error",),
            torque_limits=robot.limits.effort, integrator="semi_implicit_euler",
        )  # fmt: skip
        p = np.asarray(robot.forward_kinematics(result.q))[:, :3, 3]
        v = np.einsum("kij,kj->ki", np.asarray(robot.jacobian(result.q))[:, :3], result.dq)
        desired = p + result.signals["error"][:, :3]
        return result.t, result.q, result.dq, desired, p, v, _second(desired, dt)


def _second(p: Array, dt: float) -> Array:
    """Return second differences (k, 3), the first and last ones repeated."""
    middle = np.diff(p, 2, axis=0) / dt**2
    return np.concatenate([middle[:1], middle, middle[-1:]])


@lru_cache(maxsize=1)
def _panda() -> Robot:
    return Robot.load("panda")


@lru_cache(maxsize=8)
def _controller(follower: Follower) -> CartesianMACT:
    robot = _panda()
    K_p = [follower.stiffness] * 3 + [follower.turning] * 3
    law = None
    if follower.eta > 0.0:
        law = GradientAdaptation.proportional(robot, follower.eta, unknown="link7", floor=1e-2)
    return CartesianMACT(robot, K_p, follower.damping, adaptation=law, gamma=0.0, posture=None)


FOLLOWER = Follower()


#: joints of the Panda while it waits: the flange 0.3 m above p_ref, a little nearer, looking down [rad]
START = (0.0, -0.4, 0.0, -2.2, 0.0, 1.8, np.pi / 4)
PERIOD = 1e-3  # of the control loop [s]


def default_belt() -> Belt:
    """Return a belt across the front of a Panda; the flange grasps 0.15 m above an object's center."""
    return Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35), offset=(0.0, 0.0, 0.15))


@lru_cache(maxsize=1)
def default_planner() -> HumanLikePlanner:
    """Return a planner whose components come from synthetic reaches of hands with lognormal strokes."""
    motions = sigma_lognormal_reaches(60, seed=1)
    settings: dict[str, Any] = {"basis": SplineBasis(15, degree=5), "smoothing": "gcv", "joint": False, "demean": True}
    return HumanLikePlanner(FPCA(**settings, alignment="path", shrinkage=0.2).fit(motions), "map")


@dataclass(frozen=True)
class Scenario:
    """Settings of a run, except its seed.

    Parameters
    ----------
    conveyor, camera, tolerance
        Models of objects, measurements and grasp.
    options : InterceptionOptions
        Strategy and limits.
    filter : dict
        Arguments of `ConstantVelocityFilter` that differ from its defaults.
    arm : bool
        Whether the Panda follows the plan with `follower`; otherwise the hand is at the planned point.
    follower : Follower
        Controller of the arm.
    """

    conveyor: Conveyor = field(default_factory=Conveyor)
    camera: MeasurementModel = field(default_factory=MeasurementModel)
    options: InterceptionOptions = field(default_factory=InterceptionOptions)
    tolerance: GraspTolerance = field(default_factory=GraspTolerance)
    filter: tuple[tuple[str, object], ...] = ()
    arm: bool = False
    follower: Follower = FOLLOWER

    def interceptor(self) -> Interceptor:
        """Return a new interceptor."""
        return Interceptor(
            default_planner(),
            default_belt(),
            _start(),
            filter=ConstantVelocityFilter(**dict(self.filter)),  # type: ignore[arg-type]
            options=self.options,
        )

    def world(self, seed: int) -> tuple[BeltObject, Feed]:
        """Return object and measurements of a seed, independent of strategy, filter and follower."""
        rng = np.random.default_rng(seed)
        target = self.conveyor.draw(default_belt(), rng)
        return target, self.camera.watch(target, self.conveyor.duration, rng)


@dataclass(frozen=True, eq=False)
class ConveyorRun:
    """Result of one run.

    Attributes
    ----------
    grasp : Grasp or None
        None if the hand never closed.
    phase : InterceptionPhase
        Final phase of the interceptor.
    reason : InterceptionReason
        Its reason.
    t : (k,) array
        Times [s].
    reference, hand : (k, 3) array
        Desired and actual position of the hand [m].
    hand_velocity, acceleration : (k, 3) array
        Velocity of the hand [m/s], and acceleration of the reference [m/s²].
    plans : list of PlannedArrival
        All plans, including the first one.
    target : BeltObject
        Object to grasp.
    feed : Feed
        Measurements.
    q, dq : (k, n) array or None
        Joint positions and velocities of the arm.
    arrival : float
        t_f of the last plan [s]; infinite without one.
    """

    grasp: Grasp | None
    phase: InterceptionPhase
    reason: InterceptionReason
    t: Array
    reference: Array
    hand: Array
    hand_velocity: Array
    acceleration: Array
    plans: list[PlannedArrival]
    target: BeltObject
    feed: Feed
    arrival: float
    q: Array | None = None
    dq: Array | None = None

    @property
    def success(self) -> bool:
        """True if the object was grasped."""
        return self.grasp is not None and self.grasp.success

    @property
    def outcome(self) -> GraspOutcome | InterceptionReason:
        """Outcome of the grasp, or the reason for a missing one."""
        if self.grasp is not None:
            return self.grasp.reason
        return GraspOutcome.pending if self.reason is InterceptionReason.none else self.reason

    @property
    def jerk(self) -> Array:
        """Norm of the reference's jerk during the reach, by differences of the acceleration [m/s³]."""
        if not self.plans:
            return np.zeros(0)
        inside = (self.t >= self.plans[0].time) & (self.t <= self.arrival)
        return np.asarray(np.linalg.norm(np.diff(self.acceleration[inside], axis=0), axis=1) / PERIOD)


def run_conveyor(seed: int, scenario: Scenario) -> ConveyorRun:
    """Run the conveyor once.

    Parameters
    ----------
    seed : int
        Seed of object and camera.
    scenario : Scenario
        All other settings.
    """
    target, feed = scenario.world(seed)
    interceptor = scenario.interceptor()
    source = interceptor.follow(feed)
    q = dq = None
    if scenario.arm:
        t, q, dq, reference, hand, velocity, acceleration = scenario.follower.follow(
            source, scenario.conveyor.duration, START, PERIOD
        )
    else:
        t = np.asarray(PERIOD * np.arange(int(np.ceil(scenario.conveyor.duration / PERIOD)) + 1), dtype=np.float64)
        desired = source(t)
        reference, velocity, acceleration = desired.p, desired.xi[:, :3], desired.xi_dot[:, :3]
        hand = reference
    grasp = None
    if interceptor.phase in (InterceptionPhase.leaving, InterceptionPhase.finished, InterceptionPhase.missed):
        end = interceptor.arrival + scenario.options.closing_time
        closing = (t >= interceptor.arrival) & (t < end)
        grasp = evaluate_grasp(t[closing], hand[closing], velocity[closing], target, scenario.tolerance)
    arrival = interceptor.arrival
    return ConveyorRun(
        grasp, interceptor.phase, interceptor.reason, t, reference, hand, velocity, acceleration,
        interceptor.plans, target, feed, arrival, q, dq,
    )  # fmt: skip


class RunSummary(NamedTuple):
    """Scalar results of one run.

    Attributes
    ----------
    success : bool
        Whether the object was grasped.
    outcome : GraspOutcome or InterceptionReason
        As `ConveyorRun.outcome`.
    plans, fallbacks : int
        Number of plans, including the first one, and of those that were polynomials.
    mean_jerk : float
        Mean jerk of the reference during the reach [m/s³]; NaN without one.
    along, horizontal, speed : float
        As in `Grasp`; NaN without one.
    tracking : float
        Largest distance between reference and hand [m].
    effort : float
        Largest ratio of a joint velocity to its limit; NaN without the arm.
    """

    success: bool
    outcome: GraspOutcome | InterceptionReason
    plans: int
    fallbacks: int
    mean_jerk: float
    along: float
    horizontal: float
    speed: float
    tracking: float
    effort: float


def summary(seed: int, scenario: Scenario) -> RunSummary:
    """Run the conveyor once and return its scalar results; for `map_seeds`."""
    run = run_conveyor(seed, scenario)
    nan = float("nan")
    numbers = (nan, nan, nan) if run.grasp is None else (run.grasp.along, run.grasp.horizontal, run.grasp.speed)
    jerk = float(run.jerk.mean()) if run.jerk.size else nan
    off = float(np.linalg.norm(run.hand - run.reference, axis=1).max())
    effort = nan if run.dq is None else float((np.abs(run.dq).max(axis=0) / scenario.follower.velocity_limits).max())
    fallbacks = sum(plan.fallback for plan in run.plans)
    return RunSummary(run.success, run.outcome, len(run.plans), fallbacks, jerk, *numbers, off, effort)


@lru_cache(maxsize=1)
def _start() -> Array:
    return np.asarray(Robot.load("panda").forward_kinematics(START))
