"""One grasp: world with contact, rendered pictures, detection, filter, interceptor, adaptive controller, hand."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...control import CartesianMACT, GradientAdaptation
from ...manipulation.grasping.verdict import GraspJudge
from ...manipulation.interception.conveyor import Belt
from ...manipulation.interception.filter import ConstantVelocityFilter
from ...manipulation.interception.interceptor import (
    InterceptionOptions,
    Interceptor,
    SingleShot,
    Strategy,
    TimeAugmentation,
    VariableStructure,
)
from ...manipulation.interception.outcome import InterceptionPhase
from ...manipulation.interception.runs import START, default_planner
from ...mujoco.camera import Picture, RenderedCamera
from ...mujoco.world.compliant_hand import CompliantHand
from ...mujoco.world.grasp_world import GraspWorld
from ...mujoco.world.hand import HandCommand
from ...mujoco.world.objects import WorldObject
from ...mujoco.world.parallel_gripper import ParallelGripper
from ...mujoco.world.surfaces import ConveyorBelt
from ...perception.clouds import CloudPipeline, CloudPoseSource, DepthCamera, Detection, Plane, find_plane
from ...reference import TaskReference
from ...robot import Robot
from ...robot.frames import arm_points
from ...spatial import pose_from_rpy
from ...values import Stateful
from ..belt_camera import belt_camera

SHAPES = ("box", "cylinder", "sphere")
STRATEGIES: dict[str, Strategy] = {
    "no replan": SingleShot(),
    "variable structure": VariableStructure(),
    "time augmentation": TimeAugmentation(),
}
#: height of the belt [m], and where objects start before the meeting point, in the camera's view [m]
SURFACE, ENTRY = 0.10, 0.65
PERIOD = 1e-3  # of the control loop [s]
_EYE, _LOOK = (1.2, -0.2, 0.85), (0.5, -0.2, 0.15)
#: errors of the camera's pose as calibrated, per axis: those of 20 poses of a marker (docs/perception.md)
_CALIBRATION = (1.2e-3, np.radians(0.15))
CAMERA_TIMES = {"rate": 30.0, "latency": 0.08, "jitter": 0.03, "dropout": 0.05}
#: hands hold an object at this depth below its upper face [m]
_DEPTH = 0.03
#: the hand on the flange, turned as on a Franka arm: its fingers close along the belt at the start
MOUNT = pose_from_rpy((0.0, 0.0, 0.0), (0.0, 0.0, -np.pi / 4.0))
#: height from which the hand descends [m], duration of the descent and its end after the arrival [s]
_ABOVE, _DESCENT, _LEVEL = 0.1, 0.35, 0.2
_OPTIONS = InterceptionOptions(threshold=0.003, lift=0.16, leave_time=0.6, longest_silence=np.inf)
#: longest time of a trial after the hand has left, and of all of it [s]
_AFTER, _LONGEST = 1.6, 12.0
#: radius of the arm's links, with a margin [m]
_ARM = 0.1
#: periods between two looks of the judge
_JUDGED = 5
#: faces whose sides differ by less may be held at either
_SQUARE = 1.15


class HandUse(NamedTuple):
    """A hand and its use.

    Attributes
    ----------
    hand : ParallelGripper or CompliantHand
        Hand at the arm's flange.
    effort : float
        Force of its motor while it closes [N].
    least : float
        Least height of the center of a grasp above the belt [m].
    close : float
        Time to close [s].
    empty : float
        Closure of the motor beyond which the closed hand holds nothing.
    is_own : callable
        Mask (k,) of points (k, 3) in the frame of the grasp that are on the hand [m], for a closure of the motor.
    """

    hand: ParallelGripper | CompliantHand
    effort: float
    least: float
    close: float
    empty: float
    is_own: Callable[[Array, float], npt.NDArray[np.bool_]]


def _on_gripper(points: Array, closure: float) -> npt.NDArray[np.bool_]:
    x, y, z = np.abs(points[:, 0]), np.abs(points[:, 1]), points[:, 2]
    finger = 0.5 * (1.0 - closure) * 0.08
    palm = (x < 0.06) & (y < 0.13) & (z < -0.03)
    return palm | ((x < 0.025) & (y > finger - 0.004) & (y < finger + 0.025) & (z < 0.025))


def _on_compliant_hand(points: Array, closure: float) -> npt.NDArray[np.bool_]:
    return (np.abs(points[:, 0]) < 0.07) & (np.abs(points[:, 1]) < 0.12) & (points[:, 2] < 0.035)


HANDS = {
    "gripper": HandUse(ParallelGripper(), 40.0, 0.02, 0.35, 0.95, _on_gripper),
    "compliant": HandUse(CompliantHand(speed=3.0), 150.0, 0.045, 0.45, 1.06, _on_compliant_hand),
}


class Case(NamedTuple):
    """Setting of a trial.

    Attributes
    ----------
    shape : str
        One of `SHAPES`.
    speed : float
        Nominal speed of the belt [m/s].
    strategy : str
        A key of `STRATEGIES`.
    seed : int
        Seed of object, belt, camera and noise, which are the same for all strategies and hands.
    hand : str
        A key of `HANDS`.
    """

    shape: str
    speed: float
    strategy: str
    seed: int
    hand: str = "gripper"


@dataclass(frozen=True, eq=False)
class Scene:
    """True quantities that are drawn, unknown to the loop.

    Attributes
    ----------
    thing : WorldObject
        Object.
    place : (4, 4) array
        Its pose at the start.
    speed : float
        Mean speed of the belt [m/s].
    camera : DepthCamera
        Camera with its true pose and errors.
    believed : DepthCamera
        The camera as calibrated.
    seed : int
        Seed of pictures and delays.
    """

    thing: WorldObject
    place: Array
    speed: float
    camera: DepthCamera
    believed: DepthCamera
    seed: int

    def speed_at(self, t: float) -> float:
        """Return the speed of the belt at a time [s]: it oscillates by 3 % at 1.5 Hz, as that of `Conveyor`."""
        return self.speed * (1.0 + 0.03 * math.sin(2.0 * math.pi * 1.5 * t + self.seed))


class GraspTrial(NamedTuple):
    """Result of a trial.

    Attributes
    ----------
    case : Case
        Object, strategy and seed of the trial.
    success : bool
        Whether the object was lifted by 10 cm and held for a second by the hand alone.
    outcome : str
        ``"lifted"``, or the reason of the failure.
    lift : float
        Largest height above the belt in the hand [m].
    along, across : float
        True distance of the object's center from the hand's when it begins to close, along the belt and across it [m];
        NaN if it did not.
    pictures, detections : int
        Number of pictures before, and of those with a measurement, which dropped ones have not.
    error : float
        Root mean square error of the horizontal positions that were measured before [m]; NaN without any.
    plans : int
        Number of plans.
    sag : float
        Distance of the hand below its reference at the end [m].
    duration, computing : float
        Simulated time and time that it took [s].
    """

    case: Case
    success: bool
    outcome: str
    lift: float
    along: float
    across: float
    pictures: int
    detections: int
    error: float
    plans: int
    sag: float
    duration: float
    computing: float


def draw_scene(shape: str, speed: float, seed: int) -> Scene:
    """Draw object, belt and camera of a trial.

    Sizes vary by 10 %, masses from 0.1 to 0.4 kg, the mean speed by 3 % (standard deviation); objects lie up to 3 cm
    beside the middle of the belt, boxes at any angle.
    """
    rng = np.random.default_rng([SHAPES.index(shape), round(1000 * speed), seed])
    thing = draw_thing(shape, rng)
    lateral, yaw = rng.uniform(-0.03, 0.03), rng.uniform(-np.pi / 2.0, np.pi / 2.0)
    place = pose_from_rpy((0.5 + lateral, -ENTRY, SURFACE + thing.rest_height), (0.0, 0.0, yaw))
    camera, believed = draw_cameras(_LOOK, rng)
    return Scene(thing, place, speed * (1.0 + 0.03 * rng.standard_normal()), camera, believed, int(rng.integers(2**31)))


def draw_thing(shape: str, rng: np.random.Generator) -> WorldObject:
    """Draw an object of one of `SHAPES`, called ``"object"``: its size, to 10 %, and its mass, 0.1 to 0.4 kg."""
    scale, mass = rng.uniform(0.9, 1.1), rng.uniform(0.1, 0.4)
    if shape == "box":
        return WorldObject.box("object", (0.075 * scale, 0.05 * scale, 0.06 * scale), mass)
    if shape == "cylinder":
        return WorldObject.cylinder("object", 0.025 * scale, 0.09 * scale, mass)
    return WorldObject.sphere("object", 0.03 * scale, mass)


def draw_cameras(lookat: npt.ArrayLike, rng: np.random.Generator) -> tuple[DepthCamera, DepthCamera]:
    """Return the camera on the other side of the surface, and the same as calibrated, with errors of its pose."""
    eye = np.subtract(_EYE, _LOOK) + np.asarray(lookat, dtype=np.float64)
    camera = belt_camera(eye, lookat, (0.2, 4.0))
    shift, turn = _CALIBRATION[0] * rng.standard_normal(3), _CALIBRATION[1] * rng.standard_normal(3)
    return camera, replace(camera, pose=np.asarray(camera.pose) @ pose_from_rpy(shift, turn))


#: number of measured yaws that are averaged
_YAWS = 9
#: spread of their mean direction beyond which it is not used
_AGREE = 0.7


class YawEstimate(Stateful):
    """Mean of the last measured directions of an object that is the same after a turn by `symmetry`."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=_YAWS)

    def add(self, yaw: float | None, symmetry: float) -> None:
        """Take a measured direction [rad]; None for objects that may be grasped at any angle."""
        self._seen.append((0.0 if yaw is None else yaw, symmetry))

    def near(self, angle: float) -> float:
        """Return the direction nearest to an angle [rad]; the angle itself if measurements disagree."""
        if not self._seen:
            return angle
        symmetry = min(s for _, s in self._seen)
        folds = 2.0 * math.pi / symmetry
        mean = np.mean([np.exp(1j * folds * yaw) for yaw, _ in self._seen])
        if abs(mean) < _AGREE:
            return angle
        direction = float(np.angle(mean)) / folds
        return direction + symmetry * round((angle - direction) / symmetry)


class Approach(Stateful):
    """Descent and turn of the hand, as functions of the time to the arrival.

    An interceptor's path meets the object along a slant, on which the fingers would hit it. So the hand stays above
    the path by `height`, and descends when it moves with the object, nearly vertically as seen from it.

    Parameters
    ----------
    height : float
        Height above the path [m].
    time, after : float
        Duration of the descent, and its end after the arrival [s].
    rate : float
        Rate of the critically damped filter of the hand's turn [rad/s]. A quarter turn from rest has a peak of 0.58
        times it, with the default slower than the last joint of a Panda.
    fixed : float
        The target of the turn is kept from this long before the arrival [s].
    """

    def __init__(self, height: float, time: float, after: float, rate: float = 4.5, fixed: float = 0.2) -> None:
        self._height, self._time, self._after, self._rate, self._fixed = height, time, after, rate, fixed
        self._turn = np.zeros(3)  # angle, rate, acceleration
        self._goal, self._is_fixed = 0.0, False
        self._above = np.array([height, 0.0, 0.0])

    def aim(self, yaw: YawEstimate) -> None:
        """Turn the hand to the direction of the object; called with each measurement.

        Of the turns that grasp the object alike, the first target is the smallest, and later ones are the nearest to
        the one before: noise does not turn the hand from one to another.
        """
        if not self._is_fixed:
            self._goal = yaw.near(self._goal)

    def step(self, dt: float, to_go: float) -> None:
        """Advance by a period [s].

        Parameters
        ----------
        dt : float
            Period [s].
        to_go : float
            Time to the arrival [s]; infinite without one, negative after it.
        """
        self._is_fixed = to_go <= self._fixed
        self._turn = _damped(self._turn, self._goal, self._rate, dt)
        self._above = _descent((to_go + self._after) / self._time, self._time, self._height)

    def apply(self, plan: TaskReference) -> TaskReference:
        """Return the reference of the hand for an interceptor's."""
        angle, rate, acceleration = self._turn
        c, s = math.cos(angle), math.sin(angle)
        p, xi, xi_dot = (np.array(part) for part in (plan.p, plan.xi, plan.xi_dot))
        p[2] += self._above[0]
        xi[2] += self._above[1]
        xi_dot[2] += self._above[2]
        xi[5], xi_dot[5] = rate, acceleration
        return TaskReference(p, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ plan.R, xi, xi_dot)


def _damped(state: Array, goal: float, rate: float, dt: float) -> Array:
    """Return the exact response of a critically damped second-order filter to a constant goal after dt."""
    away, speed = state[0] - goal, state[1]
    b, decay = speed + rate * away, math.exp(-rate * dt)
    x, v = (away + b * dt) * decay, (speed - rate * b * dt) * decay
    return np.array([goal + x, v, -(rate**2) * x - 2.0 * rate * v])


def _descent(s: float, time: float, height: float) -> Array:
    """Return height, velocity and acceleration of a quintic that ends at s = 0, from s = 1 on."""
    s = min(max(s, 0.0), 1.0)
    return height * np.array(
        [
            s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            -30.0 * s**2 * (1.0 - s) ** 2 / time,
            60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / time**2,
        ]
    )


class GraspLoop:
    """The loop around a world: everything that the robot knows comes from joint sensors, motor and pictures.

    Parameters
    ----------
    world : GraspWorld
        Only its joints, its hand's motor, the nominal robot and the pictures are used.
    grab : callable
        Returns the depths of a time, see `CloudPoseSource`.
    camera : DepthCamera
        The camera as calibrated.
    case : Case
        Its hand and strategy are used.
    seed : int
        Seed of delays and drop-outs.
    """

    def __init__(
        self, world: GraspWorld, grab: Callable[[float], Array], camera: DepthCamera, case: Case, seed: int
    ) -> None:
        self._world, self._use, robot = world, HANDS[case.hand], world.robot
        self._table = find_surface(camera.cloud(grab(0.0)))
        low, high = np.array([0.3, -1.2, -1.0]), np.array([0.7, 0.8, 0.25 + SURFACE])
        pipeline = CloudPipeline(table=self._table, fit_shapes=True, region=(low, high))
        self.source = CloudPoseSource(
            grab, camera, pipeline, own=OwnPoints(world, self._use), **CAMERA_TIMES, seed=seed
        )
        low, high = np.array([0.38, -0.25, SURFACE]), np.array([0.62, 0.35, SURFACE + 0.2])
        belt = Belt((0.5, 0.0, SURFACE + _DEPTH), low, high)
        start = np.array(robot.forward_kinematics(world.q))
        start[2, 3] -= _ABOVE  # the approach adds it
        self.options = replace(_OPTIONS, strategy=STRATEGIES[case.strategy], closing_time=_LEVEL + self._use.close)
        self.interceptor = Interceptor(
            default_planner(), belt, start, filter=ConstantVelocityFilter(0.004), options=self.options
        )
        self.law = _controller(robot)
        self.points: list[tuple[float, Array]] = []
        self._yaw, self._approach = YawEstimate(), Approach(_ABOVE, _DESCENT, _LEVEL)
        self._limits = robot.limits.effort

    @property
    def phase(self) -> InterceptionPhase:
        """Phase of the grasp."""
        return self.interceptor.phase

    def step(self) -> tuple[Array, HandCommand | None]:
        """Return torques (n,) and the command to the hand for the next period."""
        world, t = self._world, self._world.time
        for measurement in self.source.poll(t):
            found = self.source.detections[measurement.time]
            if measurement.pose is not None and found.center is not None:
                self._take(measurement.time, found, t)
        plan = self.interceptor.reference(t)
        to_go = self.interceptor.arrival - t
        self._approach.step(PERIOD, to_go)
        self.desired = self._approach.apply(plan)
        tau = self.law.step(t, world.q, world.dq, self.desired)
        closes = to_go < -_LEVEL and self.phase is not InterceptionPhase.aborted
        command = HandCommand(1.0, effort=self._use.effort) if closes else None
        return np.clip(tau, -self._limits, self._limits), command

    def _take(self, taken: float, found: Detection, now: float) -> None:
        """Pass the point of the grasp to the interceptor, and the object's direction to the wrist."""
        assert found.center is not None
        assert found.size is not None
        point = grasp_point(found.center, found.size, self._use)
        self.points.append((taken, point))
        self.interceptor.measure(now, taken, point)
        self._yaw.add(found.yaw, symmetry_of(found.size))
        self._approach.aim(self._yaw)


class OwnPoints:
    """Mask of the points on the arm and the hand, from the joint sensors.

    Parameters
    ----------
    world : GraspWorld
        Only joints, the hand's motor and the nominal robot are used.
    hand : HandUse
        Hand.
    """

    def __init__(self, world: GraspWorld, hand: HandUse) -> None:
        self._world, self._hand = world, hand

    def __call__(self, points: Array, t: float) -> npt.NDArray[np.bool_]:
        """Return the mask (k,) of points (k, 3) in the world."""
        robot, q = self._world.robot, self._world.q
        frames = arm_points(robot, q)[:-1]
        own = np.zeros(len(points), dtype=np.bool_)
        for a, b in pairwise(frames):
            own |= _distance(points, a, b) < _ARM
        T = robot.forward_kinematics(q)
        local = (points - T[:3, 3]) @ T[:3, :3]
        return own | self._hand.is_own(local, self._world.hand_state.closure)


def grasp_point(center: Array, size: Array, use: HandUse) -> Array:
    """Return where the center of the hand's grasp shall be (3,), from a detected object's center and size [m]."""
    top = center[2] + size[2] / 2.0
    return np.array([center[0], center[1], top - min(_DEPTH, size[2] - use.least)])


def symmetry_of(size: Array) -> float:
    """Return the turn after which an object of this size can be grasped alike [rad]."""
    return math.pi / 2.0 if size[0] < _SQUARE * size[1] else math.pi


def _distance(points: Array, a: Array, b: Array) -> Array:
    """Return distances (k,) of points (k, 3) from a segment."""
    way = b - a
    s = np.clip((points - a) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - a - s[:, None] * way, axis=1))


def find_surface(cloud: Array) -> Plane:
    """Return the horizontal surface in front of the arm, from the cloud of a picture."""
    points = cloud.reshape(-1, 3)
    near = np.isfinite(points[:, 2]) & (np.abs(points[:, 0] - 0.5) < 0.2) & (np.abs(points[:, 1] + 0.2) < 0.5)
    found = find_plane(points[near], normal=(0.0, 0.0, 1.0), angle=0.2)
    assert found is not None
    return found[0]


@lru_cache(maxsize=1)
def _arm() -> Robot:
    return Robot.load("panda")


def _controller(robot: Robot) -> CartesianMACT:
    """Return the controller of the arm, whose last link's parameters adapt: the object is unknown to it."""
    law = GradientAdaptation.proportional(robot, 0.03, unknown="link7", floor=1e-2)
    K_p, K_d = [3000.0] * 3 + [100.0] * 3, [30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0]
    return CartesianMACT(robot, K_p, K_d, adaptation=law, gamma=0.0, posture=None)


def make_world(scene: Scene, hand: str = "gripper") -> GraspWorld:
    """Return the world of a scene with one of `HANDS`, at its start."""
    belt = ConveyorBelt.at((0.5, 0.0, SURFACE), heading=np.pi / 2.0, speed=scene.speed)
    world = GraspWorld(_arm(), HANDS[hand].hand, [scene.thing], [belt], mount=MOUNT, period=PERIOD)
    world.reset(START, {"object": scene.place})
    world.place("object", scene.place, (0.0, scene.speed, 0.0))
    return world


class Contact(NamedTuple):
    """Time at which the hand begins to close [s], and the object's center as seen from the hand (3,) [m]."""

    time: float
    away: Array


_NO_CONTACT = Contact(math.inf, np.full(3, np.nan))
#: called with the world and the last picture at the rate of pictures
Watcher = Callable[[GraspWorld, Picture], None]


def run_trial(case: Case, watch: Watcher | None = None) -> GraspTrial:
    """Run one trial.

    Parameters
    ----------
    case : Case
        Setting.
    watch : callable, optional
        Called with world and picture whenever one is taken, for films.
    """
    began = time.perf_counter()
    scene = draw_scene(case.shape, case.speed, case.seed)
    world = make_world(scene, case.hand)
    truth: list[tuple[float, Array]] = []
    with RenderedCamera(world.model, scene.camera, seed=scene.seed) as camera:

        def grab(t: float) -> Array:
            picture = camera.see(world.data)
            truth.append((t, world.pose("object")[:3, 3]))
            if watch is not None:
                watch(world, picture)
            return picture.depth

        loop = GraspLoop(world, grab, scene.believed, case, scene.seed)
        judge, contact, sag = _simulate(world, loop, scene)
    verdict = judge.verdict
    known = dict(truth)
    errors = np.array([point[:2] - known[taken][:2] for taken, point in loop.points if taken < contact.time])
    rms = float(np.sqrt((errors**2).sum(axis=1).mean())) if len(errors) else math.nan
    return GraspTrial(
        case, verdict.success, _outcome(world, loop, verdict.failure, verdict.success), verdict.lift,
        float(contact.away[1]), float(contact.away[0]), sum(t < contact.time for t, _ in truth), len(errors),
        rms, len(loop.interceptor.plans), sag, world.time, time.perf_counter() - began,
    )  # fmt: skip


def _simulate(world: GraspWorld, loop: GraspLoop, scene: Scene) -> tuple[GraspJudge, Contact, float]:
    """Run the loop; return the judge, the state when the hand begins to close, and the hand's sag at the end."""
    judge, contact, end = GraspJudge(SURFACE), None, _LONGEST
    while world.time < end and not judge.verdict.success:
        tau, command = loop.step()
        phase = loop.phase
        if phase is InterceptionPhase.aborted:
            break
        if contact is None and command is not None:
            hand = world.robot.forward_kinematics(world.q)
            contact = Contact(world.time, world.pose("object")[:3, 3] - hand[:3, 3])
            end = world.time + loop.options.closing_time + loop.options.leave_time + _AFTER
        world.set_belt_speed(scene.speed_at(world.time))
        world.step(tau, command)
        if world.diverged:
            return judge, contact or _NO_CONTACT, math.nan
        if round(world.time / PERIOD) % _JUDGED == 0:
            judge.update(world.time, world.lowest_point("object"), world.touching("object"))
    sag = float(loop.desired.p[2] - world.robot.forward_kinematics(world.q)[2, 3])
    return judge, contact or _NO_CONTACT, sag


def _outcome(world: GraspWorld, loop: GraspLoop, failure: str | None, success: bool) -> str:
    if success:
        return "lifted"
    if world.diverged:
        return "the arm became unstable"
    phase = loop.phase
    if phase in (InterceptionPhase.waiting, InterceptionPhase.reaching, InterceptionPhase.aborted):
        return f"no grasp: {loop.interceptor.reason}"
    return str(failure)
