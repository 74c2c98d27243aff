"""D4.2, section 7.3, closed: picking by visual servoing on rendered pictures, with contact, in MuJoCo."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array, whole
from ...control import GradientAdaptation, SlotineLi
from ...manipulation.grasping.verdict import GraspJudge
from ...manipulation.servoing.law import VisualServo
from ...manipulation.servoing.pick_loop import PickingController, PickLoop, PickStep
from ...manipulation.servoing.pick_machine import PickMachine, PickSettings
from ...manipulation.servoing.pose_filter import PoseFilter
from ...manipulation.servoing.tracker import TargetTracker
from ...mujoco.camera import RenderedCamera
from ...mujoco.world.grasp_world import GraspWorld
from ...mujoco.world.hand import HandCommand
from ...mujoco.world.objects import WorldObject
from ...mujoco.world.surfaces import Table
from ...parallel import Workers, map_seeds
from ...perception.clouds import CloudPipeline, CloudPoseSource, DepthCamera
from ...spatial import pose_from_rpy
from ..grasping import trial
from ..grasping.film import film_world
from ..results import drawing, listed, wilson_interval
from ..tables import markdown
from .run import FIRST_SEED, REPORTED_RATE, panda

_SEEDS, _QUICK_SEEDS = 20, 1
#: where the arm waits, its hand 0.3 m above the table [rad]
_HOME = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, np.pi / 4.0])
_LOOK = (0.5, 0.0, 0.12)
#: time after which the hand has closed or holds something [s]
_CLOSED = 0.85
#: longest pick, and time for which it is held afterwards [s]
_LONGEST, _AFTER = 25.0, 1.3
#: closer to the hand the object is partly hidden; the descent goes on blindly there [m]
_HIDDEN = 0.1
_SETTINGS = PickSettings(standoff=0.16, blind_distance=0.11, blind_time=3.0)
_JUDGED = 5


class PickCase(NamedTuple):
    """Setting of a pick.

    Attributes
    ----------
    shape : str
        One of `SHAPES`.
    hand : str
        A key of `HANDS`.
    seed : int
        Seed of everything drawn.
    """

    shape: str
    hand: str
    seed: int


class PhysicalPick(NamedTuple):
    """Result of a pick.

    Attributes
    ----------
    case : PickCase
        Scene and strategy of the pick.
    success : bool
        Whether the object was lifted by 10 cm and held for a second by the hand alone.
    outcome : str
        ``"lifted"``, or the reason of the failure.
    pushed : bool
        Whether the object was moved during the approach.
    away : float
        True horizontal distance of hand and object when the hand began to close [m]; NaN if it did not.
    picking : float
        Time until the pick was over [s].
    duration, computing : float
        Simulated time and time that it took [s].
    """

    case: PickCase
    success: bool
    outcome: str
    pushed: bool
    away: float
    picking: float
    duration: float
    computing: float


class _Scene(NamedTuple):
    """Object, its place and its second place, to which it is pushed at a time; cameras; start of the arm."""

    thing: WorldObject
    place: Array
    pushed: Array | None
    push_time: float
    camera: DepthCamera
    believed: DepthCamera
    start: Array
    seed: int


def _draw(case: PickCase) -> _Scene:
    """Draw a scene: an object anywhere on the table; a third are pushed by 2 to 5 cm in the approach."""
    rng = np.random.default_rng([77, trial.SHAPES.index(case.shape), case.seed])
    thing = trial.draw_thing(case.shape, rng)
    x, y, yaw = rng.uniform((0.42, -0.18, -np.pi / 2.0), (0.58, 0.18, np.pi / 2.0))
    place = pose_from_rpy((x, y, trial.SURFACE + thing.rest_height), (0.0, 0.0, yaw))
    angle, length, pushed = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.02, 0.05), rng.random() < 1.0 / 3.0
    second = place.copy()
    second[:2, 3] += length * np.array([np.cos(angle), np.sin(angle)])
    camera, believed = trial.draw_cameras(_LOOK, rng)
    start = _HOME + rng.uniform(-0.1, 0.1, 7)
    return _Scene(
        thing, place, second if pushed else None, rng.uniform(0.8, 2.0), camera, believed, start,
        int(rng.integers(2**31)),
    )  # fmt: skip


class _GraspSource(CloudPoseSource):
    """Source of the pose that the hand shall have at contact: z down, y along the shorter side."""

    def __init__(self, world: GraspWorld, hand: str, *arguments: Any, **settings: Any) -> None:
        self._world, self._use, self._angle = world, trial.HANDS[hand], 0.0
        super().__init__(*arguments, own=trial.OwnPoints(world, self._use), **settings)

    def _see(self, picture: Any, taken: float) -> tuple[Array | None, float]:
        pose, quality = super()._see(picture, taken)
        found = self.detections.get(taken)
        if pose is None or found is None or found.center is None or found.size is None:
            return None, 0.0
        hand = self._world.robot.forward_kinematics(self._world.q)[:3, 3]
        if np.linalg.norm(pose[:3, 3] - hand) < _HIDDEN:
            return None, 0.0  # the hand hides parts of the object, and what is left has another middle
        if found.yaw is not None:  # of the turns after which the object is the same, the nearest one
            symmetry = trial.symmetry_of(found.size)
            self._angle = found.yaw + symmetry * round((self._angle - found.yaw) / symmetry)
        target: Array = pose_from_rpy(trial.grasp_point(found.center, found.size, self._use), (0.0, 0.0, self._angle))
        return target @ np.diag([1.0, -1.0, -1.0, 1.0]), quality


def _loop(world: GraspWorld, grab: Any, scene: _Scene, case: PickCase) -> PickLoop:
    """Return the loop of the pick; all it knows of the world are pictures and joints."""
    table = trial.find_surface(scene.believed.cloud(grab(0.0)))
    pipeline = CloudPipeline(table=table, fit_shapes=True, region=((0.3, -0.4, -1.0), (0.7, 0.4, trial.SURFACE + 0.25)))
    source = _GraspSource(world, case.hand, grab, scene.believed, pipeline, **trial.CAMERA_TIMES, seed=scene.seed)
    # objects lie still most of the time; pushed ones stop soon
    belief = PoseFilter(
        0.005, 0.05, acceleration=0.02, angular_acceleration=0.05, speed=0.01, angular_speed=0.02, persistence=0.5
    )
    servo = VisualServo(world.robot, 2.0, 2.0, speed=0.5)
    return PickLoop(servo, TargetTracker(source, belief), PickMachine(_SETTINGS))


class _Gripper:
    """What the hand's motor says about a grasp."""

    def __init__(self, world: GraspWorld, empty: float) -> None:
        self._world, self._empty = world, empty
        self.closing_since = math.inf

    def holding(self, t: float, q: Array, last: PickStep | None) -> bool | None:
        """Return whether the closed hand holds something; None while it closes."""
        if last is None or not last.decision.grip:
            self.closing_since = math.inf
            return None
        self.closing_since = min(self.closing_since, t)
        return self._world.hand_state.closure < self._empty if t - self.closing_since > _CLOSED else None


def pick(case: PickCase, watch: trial.Watcher | None = None) -> PhysicalPick:
    """Run one pick.

    Parameters
    ----------
    case : PickCase
        Setting.
    watch : callable, optional
        Called with world and picture whenever one is taken, for films.
    """
    began, scene = time.perf_counter(), _draw(case)
    use = trial.HANDS[case.hand]
    world = GraspWorld(
        panda(), use.hand, [scene.thing], [Table.at((0.5, 0.0, trial.SURFACE))], mount=trial.MOUNT, period=trial.PERIOD
    )
    world.reset(scene.start, {"object": scene.place})
    with RenderedCamera(world.model, scene.camera, seed=scene.seed) as camera:

        def grab(t: float) -> Array:
            picture = camera.see(world.data)
            if watch is not None:
                watch(world, picture)
            return picture.depth

        law = GradientAdaptation.proportional(world.robot, 0.1, unknown="link7", floor=1e-2)
        inner = SlotineLi(world.robot, 15.0, [30.0, 30.0, 30.0, 30.0, 5.0, 5.0, 1.0], adaptation=law)
        gripper = _Gripper(world, use.empty)
        arm = PickingController(_loop(world, grab, scene, case), inner, holding=gripper.holding)
        judge, away, over = _simulate(world, arm, scene, use.effort)
    verdict, machine = judge.verdict, arm.loop.machine
    reason = machine.reason.value if machine.reason is not None else str(verdict.failure)
    outcome = "lifted" if verdict.success else "the arm became unstable" if world.diverged else reason
    return PhysicalPick(
        case, verdict.success, outcome, scene.pushed is not None, away, over, world.time, time.perf_counter() - began
    )


def _simulate(
    world: GraspWorld, arm: PickingController, scene: _Scene, effort: float
) -> tuple[GraspJudge, float, float]:
    """Run the pick; return the judge, the distance when the hand began to close, and the time at the end."""
    judge, away, over, pushes = GraspJudge(trial.SURFACE), math.nan, math.inf, scene.pushed is not None
    limits, closes = world.robot.limits.effort, False
    while world.time < min(_LONGEST, over + _AFTER) and not judge.verdict.success:
        t = world.time
        tau = arm.step(t, world.q, world.dq)
        over = min(over, t) if arm.over else math.inf
        grips = arm.steps[-1][2].decision.grip
        if grips and not closes:
            hand = world.robot.forward_kinematics(world.q)
            away = float(np.linalg.norm((world.pose("object") - hand)[:2, 3]))
        command = None if grips == closes else HandCommand(float(grips), effort=effort)
        closes = grips
        if pushes and t >= scene.push_time:
            assert scene.pushed is not None
            world.place("object", scene.pushed)
            pushes = False
        world.step(np.clip(tau, -limits, limits), command)
        if world.diverged:
            break
        if round(world.time / trial.PERIOD) % _JUDGED == 0:
            judge.update(world.time, world.lowest_point("object"), world.touching("object"))
    return judge, away, min(over, world.time)


@dataclass(frozen=True, kw_only=True, eq=False)
class PhysicalPicking:
    """Results of the experiment.

    Attributes
    ----------
    picks : tuple of PhysicalPick
        All picks.
    """

    picks: tuple[PhysicalPick, ...]

    def of(self, **settings: Any) -> list[PhysicalPick]:
        """Return the picks whose cases have these settings, such as ``shape="box"``."""
        return [p for p in self.picks if all(getattr(p.case, k) == v for k, v in settings.items())]

    def table(self) -> str:
        """Return success by hand and object, and reasons of failures, as Markdown."""
        rows: list[list[object]] = []
        for hand in dict.fromkeys(p.case.hand for p in self.picks):
            for shape in (*trial.SHAPES, "all"):
                chosen = self.of(hand=hand) if shape == "all" else self.of(hand=hand, shape=shape)
                low, high = wilson_interval([p.success for p in chosen])
                rate = 100.0 * sum(p.success for p in chosen) / len(chosen)
                away = np.array([p.away for p in chosen if math.isfinite(p.away)])
                seconds = [p.picking for p in chosen if p.success]
                rows.append(
                    [
                        hand, shape, len(chosen), f"{rate:.0f}", f"{100 * low:.0f} to {100 * high:.0f}",
                        1e3 * float(np.sqrt(np.mean(away**2))) if len(away) else None,
                        float(np.median(seconds)) if seconds else None,
                        listed(p.outcome for p in chosen if not p.success),
                    ]
                )  # fmt: skip
        header = ["hand", "object", "picks", "lifted and held [%]", "95 % interval", "RMS of hand to object [mm]"]
        text = markdown([*header, "time [s]", "failures"], rows)
        factor = sum(p.duration for p in self.picks) / max(sum(p.computing for p in self.picks), 1e-9)
        return (
            f"Report: {100 * REPORTED_RATE:g} %, trials not printed\n\n{text}\n\n"
            f"Simulated over computing time: {factor:.2f}"
        )

    plot = drawing("plot_physical_picking")

    def film(self, path: str | Path) -> int:
        """Write a film of one pick of each object and return its number of pictures."""
        cases = [next(p.case for p in self.picks if p.case.shape == shape) for shape in trial.SHAPES]
        return film_world(path, [lambda watch, case=case: pick(case, watch) for case in cases])  # type: ignore[misc]

    def to_dict(self) -> dict[str, Any]:
        """Return all picks."""
        return {"first_seed": FIRST_SEED, "picks": [{**p._asdict(), "case": p.case._asdict()} for p in self.picks]}


def _picks_of(seed: int) -> list[PhysicalPick]:
    return [pick(PickCase(shape, hand, seed)) for hand in trial.HANDS for shape in trial.SHAPES]


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> PhysicalPicking:
    """Run the experiment.

    Parameters
    ----------
    quick : bool
        One scene of each object and hand.
    seeds : int, optional
        Number of scenes of each object and hand, of the seeds from `FIRST_SEED` on.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    count = whole((_QUICK_SEEDS if quick else _SEEDS) if seeds is None else seeds, "seeds", 1)
    scenes = range(FIRST_SEED, FIRST_SEED + count)
    found = map_seeds(_picks_of, scenes, workers=workers, progress=not quick, description="picking")
    return PhysicalPicking(picks=tuple(one for some in found for one in some))
