"""Runs of the conveyor: the planned point alone, or with an arm that follows it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...control import CartesianMACT
from ...errors import ThunderError
from ...motion import FPCA, HumanLikePlanner, SplineBasis
from ...recordings.synthetic import sigma_lognormal_reaches
from ...robot import Robot
from ...simulation import Payload, simulate
from ..arm import find_place, follower
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
from .interceptor import FollowedInterception, InterceptionOptions, Interceptor, PlannedArrival
from .outcome import InterceptionPhase, InterceptionReason

#: joints of the report's Panda while it waits: the flange 0.3 m above p_ref, a little nearer, looking down [rad]
START = (0.0, -0.4, 0.0, -2.2, 0.0, 1.8, np.pi / 4)
#: K_d of its joints [N m s/rad]: at 1 kHz well below a joint's inertia divided by a millisecond
DAMPING = (30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0)
PERIOD = 1e-3  # of the control loop [s]
#: from an object's center to the end effector that grasps it [m], and half the width of another arm's strip
_OFFSET, _ACROSS = (0.0, 0.0, 0.15), 0.06
#: hand of which the controller knows nothing: mass [kg] and height of its center of mass above the flange [m]
_HAND = (0.5, 0.07)
#: end effector of another arm relative to p_ref [m], from where it waits on
_POSES = ((-0.06, 0.0, 0.29), (0.0, -0.25, 0.05), (-0.06, -0.25, -0.05), (0.06, -0.25, 0.1), (0.06, 0.3, 0.1),
          (-0.06, 0.3, -0.05))  # fmt: skip


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
    """Settings of a run, except its seed: an arm, a belt before it, a camera, and how they are used.

    Parameters
    ----------
    conveyor, camera, tolerance
        Models of objects, measurements and grasp.
    options : InterceptionOptions
        Strategy and limits.
    filter : tuple of (str, object)
        Arguments of `ConstantVelocityFilter` that differ from its defaults.
    arm : bool
        Whether the arm follows the plan with `thunder_py.manipulation.follower`, and carries half a kilogram unknown to
        it; otherwise the hand is at the planned point.
    robot, q, belt : Robot, (n,) array_like and Belt, optional
        The arm, its joint positions while it waits, and the belt; default those of the report, see `Scenario.of`.
    planner : HumanLikePlanner, optional
        Planner of the hand's path; default `default_planner`.

    Raises
    ------
    ThunderError
        If only some of `robot`, `q` and `belt` are given.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.interception import Scenario, run_conveyor
    >>> scenario = Scenario.of(th.Robot.load("ur5e"), arm=True)
    >>> run_conveyor(1, scenario).outcome.value
    'grasped'
    """

    conveyor: Conveyor = field(default_factory=Conveyor)
    camera: MeasurementModel = field(default_factory=MeasurementModel)
    options: InterceptionOptions = field(default_factory=InterceptionOptions)
    tolerance: GraspTolerance = field(default_factory=GraspTolerance)
    filter: tuple[tuple[str, object], ...] = ()
    arm: bool = False
    robot: Robot | None = None
    q: npt.ArrayLike | None = None
    belt: Belt | None = None
    planner: HumanLikePlanner | None = None

    def __post_init__(self) -> None:
        """Check that the arm has its place."""
        if len({self.robot is None, self.q is None, self.belt is None}) > 1:
            raise ThunderError("robot, q and belt must be given together; Scenario.of(robot) finds q and belt")

    @classmethod
    def of(cls, robot: Robot, **settings: Any) -> Scenario:
        """Return the scenario of an arm, with the belt where its end effector reaches it.

        Parameters
        ----------
        robot : Robot
            The arm.
        **settings
            Other arguments of the class.
        """
        poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(_POSES), 1, 1))
        poses[:, :3, 3] = _POSES
        place = find_place(robot, poses, 0.25)
        x, _, z = place.reference
        low, high = (x - _ACROSS, -0.25, z - 0.1), (x + _ACROSS, 0.3, z + 0.1)
        made = cls(**settings, robot=robot, q=place.q, belt=Belt(place.reference, low, high, offset=_OFFSET))
        return replace(made, options=replace(made.options, velocity_limit=min(1.0, place.speed)))

    @cached_property
    def _place(self) -> tuple[Robot, Array, Belt, CartesianMACT]:
        """Arm, its joint positions at the start, belt, and the controller."""
        robot = _panda() if self.robot is None else self.robot
        q = np.array(START if self.q is None else self.q)
        law = follower(robot, q, damping=DAMPING if self.robot is None else None)
        return robot, q, default_belt() if self.belt is None else self.belt, law

    def interceptor(self) -> Interceptor:
        """Return a new interceptor."""
        robot, q, belt, _ = self._place
        planner = default_planner() if self.planner is None else self.planner
        estimator = ConstantVelocityFilter(**dict(self.filter))  # type: ignore[arg-type]
        return Interceptor(planner, belt, robot.forward_kinematics(q), filter=estimator, options=self.options)

    def world(self, seed: int) -> tuple[BeltObject, Feed]:
        """Return object and measurements of a seed, independent of strategy, filter and arm."""
        rng = np.random.default_rng(seed)
        target = self.conveyor.draw(self._place[2], rng)
        return target, self.camera.watch(target, self.conveyor.duration, rng)

    def follow(self, source: FollowedInterception) -> tuple[Array, ...]:
        """Simulate the arm.

        Returns
        -------
        t, q, dq, reference, hand, velocity, acceleration : arrays
            Arrays of k samples. The last four have shape (k, 3): desired and actual position of the hand, its velocity,
            and its desired acceleration.
        """
        robot, q0, _, law = self._place
        mass, height = _HAND
        load = Payload(mass, com=(np.asarray(robot.description.tool) @ [0.0, 0.0, height, 1.0])[:3])
        result = simulate(
            robot, law, source, self.conveyor.duration, PERIOD, q0=q0, payloads=load, log=("error",),
            torque_limits=robot.limits.effort, integrator="semi_implicit_euler",
        )  # fmt: skip
        p = np.asarray(robot.forward_kinematics(result.q))[:, :3, 3]
        v = np.einsum("kij,kj->ki", np.asarray(robot.jacobian(result.q))[:, :3], result.dq)
        desired = p + result.signals["error"][:, :3]
        return result.t, result.q, result.dq, desired, p, v, _second(desired, PERIOD)

    def joint_effort(self, dq: Array) -> float:
        """Return the largest ratio of joint velocities (k, n) to their limits."""
        return float((np.abs(dq).max(axis=0) / self._place[0].limits.velocity).max())


def _second(p: Array, dt: float) -> Array:
    """Return second differences (k, 3), the first and last ones repeated."""
    middle = np.diff(p, 2, axis=0) / dt**2
    return np.concatenate([middle[:1], middle, middle[-1:]])


@lru_cache(maxsize=1)
def _panda() -> Robot:
    return Robot.load("panda")


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

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Scenario, run_conveyor, summary
    >>> run = run_conveyor(1, Scenario())
    >>> run.success, run.t.shape == run.reference.shape[:1], summary(1, Scenario()).success
    (True, True, True)
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

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Scenario, run_conveyor, summary
    >>> run = run_conveyor(1, Scenario())
    >>> run.success, run.t.shape == run.reference.shape[:1], summary(1, Scenario()).success
    (True, True, True)
    """
    target, feed = scenario.world(seed)
    interceptor = scenario.interceptor()
    source = interceptor.follow(feed)
    q = dq = None
    if scenario.arm:
        t, q, dq, reference, hand, velocity, acceleration = scenario.follow(source)
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

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Scenario, run_conveyor, summary
    >>> run = run_conveyor(1, Scenario())
    >>> run.success, run.t.shape == run.reference.shape[:1], summary(1, Scenario()).success
    (True, True, True)
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
    """Run the conveyor once and return its scalar results; for `map_seeds`.

    Parameters
    ----------
    seed, scenario
        As of `run_conveyor`.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Scenario, run_conveyor, summary
    >>> run = run_conveyor(1, Scenario())
    >>> run.success, run.t.shape == run.reference.shape[:1], summary(1, Scenario()).success
    (True, True, True)
    """
    run = run_conveyor(seed, scenario)
    nan = float("nan")
    numbers = (nan, nan, nan) if run.grasp is None else (run.grasp.along, run.grasp.horizontal, run.grasp.speed)
    jerk = float(run.jerk.mean()) if run.jerk.size else nan
    off = float(np.linalg.norm(run.hand - run.reference, axis=1).max())
    effort = nan if run.dq is None else scenario.joint_effort(run.dq)
    fallbacks = sum(plan.fallback for plan in run.plans)
    return RunSummary(run.success, run.outcome, len(run.plans), fallbacks, jerk, *numbers, off, effort)
