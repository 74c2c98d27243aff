"""One grasp from a belt: world with contact, rendered pictures, and `GraspLoop` on the drive loop."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...checks import Array
from ...manipulation.grasping.loop import GraspLoop
from ...manipulation.grasping.verdict import GraspJudge
from ...manipulation.interception.conveyor import Belt
from ...manipulation.interception.filter import ConstantVelocityFilter
from ...manipulation.interception.interceptor import (
    InterceptionOptions,
    SingleShot,
    Strategy,
    TimeAugmentation,
    VariableStructure,
)
from ...manipulation.interception.runs import START, default_planner
from ...mujoco.camera import Picture
from ...mujoco.world.drive import Watcher, WorldCamera, run_hand_loop
from ...mujoco.world.grasp_world import GraspWorld
from ...mujoco.world.objects import WorldObject
from ...mujoco.world.surfaces import ConveyorBelt
from ...perception.clouds import DepthCamera
from ...robot import Robot
from ...spatial import pose_from_rpy
from .setup import CAMERA_TIMES, NOISE, SHAPES, SIZES, SURFACE, Station, draw_cameras, draw_thing, station

STRATEGIES: dict[str, Strategy] = {
    "no replan": SingleShot(),
    "variable structure": VariableStructure(),
    "time augmentation": TimeAugmentation(),
}
#: where objects start before the meeting point, in the camera's view [m], and the point at which it looks [m]
ENTRY, _LOOK = 0.65, (-0.2, 0.15)
#: where the hand may be before and after the meeting point [m], and the longest time of a trial [s]
_BEFORE, _AFTER, _LONGEST = 0.25, 0.35, 12.0
_OPTIONS = InterceptionOptions(threshold=0.003, lift=0.16, leave_time=0.6, longest_silence=np.inf)
#: half width of the belt in which others stand, and distance of those that stand against each other [m]
_BELT, _AGAINST = 0.15, 4e-4
#: hand over the belt: places relative to its middle [m] and turns [rad], which an arm must reach one after the other
_POSES = (
    (-0.06, 0.0, 0.34, 0.0), (0.0, -0.25, 0.13, 0.0), (-0.06, -0.25, 0.02, 0.0), (0.06, -0.25, 0.2, 0.0),
    (0.06, 0.35, 0.2, 0.0), (-0.06, 0.35, 0.2, 0.0), (-0.06, 0.35, 0.02, 0.0), (0.0, 0.0, 0.03, 0.0),
    *((0.0, 0.0, 0.08, turn * np.pi / 4.0) for turn in (1, 2, 1, 0, -1, -2)),
)  # fmt: skip


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
    others : int
        Number of other objects around the intended one, of other shapes; every other one touches an object.
    """

    shape: str
    speed: float
    strategy: str
    seed: int
    hand: str = "gripper"
    others: int = 0

    @property
    def scene(self) -> str:
        """Whether the object is alone."""
        return "among others" if self.others else "alone"


@dataclass(frozen=True, eq=False)
class Scene:
    """True quantities that are drawn, unknown to the loop.

    Attributes
    ----------
    things : list of WorldObject
        The intended object and others.
    places : dict of str to (4, 4) array
        Their poses at the start.
    speed : float
        Mean speed of the belt [m/s].
    camera : DepthCamera
        Camera with its true pose and errors.
    believed : DepthCamera
        The camera as calibrated.
    seed : int
        Seed of pictures and delays.
    """

    things: list[WorldObject]
    places: dict[str, Array]
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
    met : tuple of str
        Surfaces and objects that the arm's links touched.
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
    met: tuple[str, ...]
    duration: float
    computing: float


def belt_station(hand: str, arm: Robot | None = None) -> Station:
    """Return the place of an arm at the belt; default the report's."""
    return station(hand, START, _POSES, arm)


def draw_scene(shape: str, speed: float, seed: int, x: float = 0.5, others: int = 0) -> Scene:
    """Draw objects, belt and camera of a trial.

    Sizes vary by 10 %, masses from 0.1 to 0.4 kg, the mean speed by 3 % (standard deviation); objects lie up to 3 cm
    beside the middle of the belt, boxes at any angle.
    """
    rng = np.random.default_rng([SHAPES.index(shape), round(1000 * speed), seed])
    thing = draw_thing(shape, rng)
    lateral, yaw = rng.uniform(-0.03, 0.03), rng.uniform(-np.pi / 2.0, np.pi / 2.0)
    place = pose_from_rpy((x + lateral, -ENTRY, SURFACE + thing.rest_height), (0.0, 0.0, yaw))
    camera, believed = draw_cameras((x, *_LOOK), rng)
    mean, noise = speed * (1.0 + 0.03 * rng.standard_normal()), int(rng.integers(2**31))
    things, places = [thing], {thing.name: place}
    while len(things) <= others:
        kind = str(rng.choice([each for each in SHAPES if each != shape]))
        more = [*things, draw_thing(kind, rng, f"other{len(things)}")]
        beside = _beside(more, places, x, rng)
        if has_room(more, {**places, more[-1].name: beside}):
            things, places = more, {**places, more[-1].name: beside}
    return Scene(things, places, mean, camera, believed, noise)


def _beside(things: Sequence[WorldObject], places: Mapping[str, Array], x: float, rng: np.random.Generator) -> Array:
    """Draw the place of the last object: it stands against another one, or every second one is 3 to 6 cm away."""
    from scipy.spatial import cKDTree

    taken = np.concatenate([_outline(thing, places[thing.name]) for thing in things[:-1]])
    gap, tree = _AGAINST if len(things) % 2 == 0 else rng.uniform(0.03, 0.06), cKDTree(taken)
    while True:
        angle, turn = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-np.pi / 2.0, np.pi / 2.0)
        middle = places[things[int(rng.integers(len(places)))].name][:2, 3]
        way = np.array([math.cos(angle), math.sin(angle)])
        T = pose_from_rpy((0.0, 0.0, SURFACE + things[-1].rest_height), (0.0, 0.0, turn))
        own, far, free = middle + _outline(things[-1], T), 0.3, 1.0
        while free > 1e-5:  # by the distance that is free, from outside to the first object that it meets
            free = float(np.min(tree.query(own + far * way)[0])) - gap
            far -= free
        T[:2, 3] = middle + far * way
        if abs(T[0, 3] - x) < _BELT:
            return T


def has_room(things: Sequence[WorldObject], places: Mapping[str, Array]) -> bool:
    """Return whether an open gripper fits around the first of upright objects at one turn at least, with 5 mm.

    Parameters
    ----------
    things : sequence of WorldObject
        Objects.
    places : mapping of str to (4, 4) array
        Their poses.
    """
    thing, T = things[0], places[things[0].name]
    box = thing.parts[0].shape == "box"
    turns = np.arange(0.0, np.pi, np.pi / (2.0 if box else 24.0)) + math.atan2(T[1, 0], T[0, 0])
    others = [(_outline(other, places[other.name]), other.height - thing.height) for other in things[1:]]
    for k, turn in enumerate(turns):
        if box and thing.parts[0].size[k] > 0.07:  # the side along which it closes
            continue
        axes = np.array(
            [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]
        )  # it closes along the first
        local = [(np.abs((xy - T[:2, 3]) @ axes.T), above) for xy, above in others]
        fingers = [(xy[:, 0] < 0.055) & (xy[:, 1] < 0.015) for xy, above in local if above > -0.045]
        palm = [(xy[:, 0] < 0.107) & (xy[:, 1] < 0.037) for xy, above in local if above > 0.007]
        if not np.any(np.concatenate([*fingers, *palm, np.zeros(1)])):
            return True
    return False


def _outline(thing: WorldObject, T: Array) -> Array:
    """Return points (k, 2) of an upright object's outline from above, 0.5 mm apart."""
    part = thing.parts[0]
    if part.shape == "box":
        half, s = 0.5 * np.array(part.size[:2]), np.linspace(-1.0, 1.0, 160)
        xy = np.concatenate([sign * half * np.stack(p, axis=1) for sign in (-1.0, 1.0) for p in ((s, s**0), (s**0, s))])
    else:
        angle = np.linspace(-np.pi, np.pi, 400)
        xy = part.size[0] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.asarray(T[:2, 3] + xy @ T[:2, :2].T)


def make_world(scene: Scene, at: Station) -> GraspWorld:
    """Return the world of a scene, at its start."""
    belt = ConveyorBelt.at((at.x, 0.0, SURFACE), heading=np.pi / 2.0, speed=scene.speed)
    world = at.world(scene.things, [belt], scene.seed)
    world.reset(at.q, scene.places)
    for name, place in scene.places.items():
        world.place(name, place, (0.0, scene.speed, 0.0))
    return world


def make_loop(robot: Robot, at: Station, believed: DepthCamera, case: Case, clock: float = 0.0) -> GraspLoop:
    """Return the loop of a trial, from what it may know: among others the usual size of the object."""
    low, high = np.array([at.x - at.across, -_BEFORE, SURFACE]), np.array([at.x + at.across, _AFTER, SURFACE + 0.2])
    belt = Belt((at.x, 0.0, SURFACE + at.use.depth), low, high)
    options = replace(_OPTIONS, strategy=STRATEGIES[case.strategy], velocity_limit=at.speed)
    return GraspLoop(
        robot, at.use, believed, belt, at.q, default_planner(), options=options, law=at.law(robot),
        filter=ConstantVelocityFilter(0.004), clock=clock, size=SIZES[case.shape] if case.others else None,
    )  # fmt: skip


def measure_clock(case: Case, at: Station, clock: float) -> float:
    """Return the offset of the camera's clock of a scene, as the waving arm measures it [s]."""
    scene = draw_scene(case.shape, case.speed, case.seed, at.x)
    return at.measure_clock(make_world(scene, at), scene, clock)


def run_trial(
    case: Case, watch: Watcher | None = None, at: Station | None = None, clock: float | None = None
) -> GraspTrial:
    """Run one trial.

    Parameters
    ----------
    case : Case
        Setting.
    watch : callable, optional
        Called with world and picture whenever one is taken, for films.
    at : Station, optional
        The arm at the belt; default the report's.
    clock : float, optional
        The camera's clock less that of the arm [s], which the loop measures before; default 0, which it knows.
    """
    began, at = time.perf_counter(), belt_station(case.hand) if at is None else at
    scene = draw_scene(case.shape, case.speed, case.seed, at.x, case.others)
    world, truth = make_world(scene, at), {}

    def note(world: GraspWorld, picture: Picture) -> None:
        truth[world.time] = world.pose("object")[:2, 3]
        if watch is not None:
            watch(world, picture)

    offset = 0.0 if clock is None else measure_clock(case, at, clock)
    loop = make_loop(world.carrying(at.arm), at, scene.believed, case, offset)
    with WorldCamera(world, scene.camera, clock=clock or 0.0, seed=scene.seed, watch=note, **CAMERA_TIMES) as camera:
        found = run_hand_loop(
            loop, world, camera, GraspJudge(SURFACE), effort=at.use.effort, longest=_LONGEST,
            before=lambda t: world.set_belt_speed(scene.speed_at(t)), noise=NOISE, seed=scene.seed,
        )  # fmt: skip
    times = np.array(list(truth))
    before = [(taken, point) for taken, point in loop.points if taken < found.closed]
    errors = np.array([point[:2] - truth[times[np.argmin(np.abs(times - taken))]] for taken, point in before])
    rms = float(np.sqrt((errors**2).sum(axis=1).mean())) if len(errors) else math.nan
    hand = math.nan if world.diverged else world.robot.forward_kinematics(world.q)[2, 3]
    return GraspTrial(
        case, found.verdict.success, found.outcome, found.verdict.lift, float(found.away[1]), float(found.away[0]),
        int((times < found.closed).sum()), len(errors), rms, len(loop.interceptor.plans),
        float(loop.desired.p[2] - hand), tuple(sorted(found.met)), world.time, time.perf_counter() - began,
    )  # fmt: skip
