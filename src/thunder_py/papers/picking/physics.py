"""D4.2, section 7.3, closed: picking by visual servoing on rendered pictures, with contact, in MuJoCo."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...checks import Array, whole
from ...control import GradientAdaptation, SlotineLi
from ...errors import ThunderError
from ...manipulation.arm import joint_damping
from ...manipulation.grasping.loop import HandPick
from ...manipulation.grasping.verdict import GraspJudge
from ...mujoco.world.drive import Watcher, WorldCamera, run_hand_loop
from ...mujoco.world.objects import WorldObject
from ...parallel import Workers, map_seeds
from ...perception.clouds import DepthCamera
from ...robot import Robot
from ...spatial import pose_from_rpy
from ..grasping.film import film_world
from ..grasping.setup import (
    CAMERA_TIMES,
    HANDS,
    NOISE,
    SHAPES,
    HandTrials,
    Station,
    draw_cameras,
    draw_thing,
)
from ..results import drawing, listed, wilson_interval
from ..tables import markdown
from .run import REPORTED_RATE
from .shelf import BoxJudge, pick_place, table_station

_SEEDS, _QUICK_SEEDS = 20, 1
#: scenes of lower seeds were looked at while the loop was made
FIRST_SEED = 9000
#: objects on which the cup seals: the mouth of a bottle is narrower
SEALED = tuple(shape for shape in SHAPES if shape != "bottle")
#: longest pick, and time for which it is held afterwards, or may roll in the box [s]
_LONGEST, _AFTER, _ROLLS = 25.0, 1.3, 4.0


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
        Whether the object was lifted by 10 cm and held for a second by the hand alone; with the suction tool, whether
        it came to rest in the box.
    outcome : str
        ``"lifted"``, ``"in the box"``, or the reason of the failure.
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


def _draw(case: PickCase, at: Station) -> _Scene:
    """Draw a scene: an object anywhere on table or shelf; a third are pushed by 2 to 5 cm in the approach."""
    rng = np.random.default_rng([77, SHAPES.index(case.shape), case.seed])
    where, thing = pick_place(case.hand, at.x), draw_thing(case.shape, rng)
    spread = np.array([*where.spread, np.pi / 2.0])
    ahead, aside, yaw = rng.uniform(-spread, spread)
    place = pose_from_rpy(where.middle + np.array([ahead, aside, thing.rest_height]), (0.0, 0.0, yaw))
    angle, length, pushed = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.02, 0.05), rng.random() < 1.0 / 3.0
    second = place.copy()
    second[:2, 3] += length * np.array([np.cos(angle), np.sin(angle)])
    camera, believed = draw_cameras(where.look, rng)
    start = at.q + rng.uniform(-0.1, 0.1, len(at.q))
    return _Scene(
        thing, place, second if pushed else None, rng.uniform(0.8, 2.0), camera, believed, start,
        int(rng.integers(2**31)),
    )  # fmt: skip


def make_loop(robot: Robot, at: Station, believed: DepthCamera, clock: float = 0.0) -> HandPick:
    """Return the loop of a pick, from what it may know."""
    law = GradientAdaptation.proportional(robot, 0.1, unknown=robot.link_names[-1], floor=1e-2)
    damping = joint_damping(robot, at.q) if at.damping is None else at.damping
    where = pick_place(at.hand, at.x)
    region = np.array([*where.region, 0.25])
    low, high = where.middle - region, where.middle + region
    inner = SlotineLi(robot, 15.0, damping, adaptation=law)
    return HandPick(robot, at.use, believed, low, high, inner, place=where.goal, clock=clock)


def pick(
    case: PickCase, watch: Watcher | None = None, at: Station | None = None, clock: float | None = None
) -> PhysicalPick:
    """Run one pick.

    Parameters
    ----------
    case : PickCase
        Setting.
    watch : callable, optional
        Called with world and picture whenever one is taken, for films.
    at : Station, optional
        The arm at table or shelf; default the report's.
    clock : float, optional
        The camera's clock less that of the arm [s], which the loop measures before; default 0, which it knows.
    """
    began, at = time.perf_counter(), table_station(case.hand) if at is None else at
    scene, where = _draw(case, at), pick_place(case.hand, at.x)
    world = at.world([scene.thing], where.surfaces, scene.seed)
    offset = 0.0
    if clock is not None:
        world.reset(at.q, {"object": scene.place})
        offset = at.measure_clock(world, scene, clock)
    world.reset(scene.start, {"object": scene.place})
    pushes = scene.pushed is not None

    def push(t: float) -> None:
        nonlocal pushes
        if pushes and t >= scene.push_time:
            assert scene.pushed is not None
            world.place("object", scene.pushed)
            pushes = False

    loop, height = make_loop(world.carrying(at.arm), at, scene.believed, offset), float(where.middle[2])
    judge = GraspJudge(height) if where.goal is None else BoxJudge(world, height)
    with WorldCamera(world, scene.camera, clock=clock or 0.0, seed=scene.seed, watch=watch, **CAMERA_TIMES) as camera:
        found = run_hand_loop(
            loop, world, camera, judge, effort=at.use.effort, longest=_LONGEST, before=push,
            after=_AFTER if where.goal is None else _ROLLS, noise=NOISE, seed=scene.seed,
        )  # fmt: skip
    outcome = "in the box" if found.verdict.success and where.goal is not None else found.outcome
    return PhysicalPick(
        case, found.verdict.success, outcome, scene.pushed is not None, float(np.linalg.norm(found.away[:2])),
        found.over, world.time, time.perf_counter() - began,
    )  # fmt: skip


class PhysicalPicking(HandTrials):
    """Results of the experiment."""

    def table(self) -> str:
        """Return success by hand and object, and reasons of failures, as Markdown."""
        rows: list[list[object]] = []
        for hand in dict.fromkeys(p.case.hand for p in self.trials):
            for shape in (*SHAPES, "all"):
                chosen = self.of(hand=hand) if shape == "all" else self.of(hand=hand, shape=shape)
                if not chosen:
                    continue
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
        header = ["hand", "object", "picks", "success [%]", "95 % interval", "RMS of hand to object [mm]"]
        away_from = "" if "suction" in self.stations else "The shelf is out of this arm's reach.\n\n"
        text = away_from + markdown([*header, "time [s]", "failures"], rows)
        factor = sum(p.duration for p in self.trials) / max(sum(p.computing for p in self.trials), 1e-9)
        return (
            f"{self.arm}; report: {100 * REPORTED_RATE:g} %, trials not printed\n\n{text}\n\n"
            f"Simulated over computing time: {factor:.2f}"
        )

    plot = drawing("plot_physical_picking")

    def film(self, path: str | Path) -> int:
        """Write a film of one pick of each object and return its number of pictures."""
        return film_world(path, self.shown(pick))


def _reached(hand: str, robot: Robot | None) -> Station | None:
    """Return the place of an arm, or None where the shelf is out of its reach."""
    try:
        return table_station(hand, robot)
    except ThunderError:
        if hand != "suction":
            raise
        return None


def _picks_of(stations: Mapping[str, Station], clock: float | None, quick: bool, seed: int) -> list[PhysicalPick]:
    shapes = {hand: SEALED if hand == "suction" else SHAPES for hand in stations}
    cases = [PickCase(shape, hand, seed) for hand in stations for shape in shapes[hand][: 1 if quick else None]]
    return [pick(case, at=stations[case.hand], clock=clock) for case in cases]


def run(
    quick: bool = False,
    *,
    seeds: int | None = None,
    workers: Workers = 1,
    robot: Robot | None = None,
    clock: float | None = None,
) -> PhysicalPicking:
    """Run the experiment: gripper and compliant hand at a table, and the suction tool between a shelf and a box.

    Parameters
    ----------
    quick : bool
        One box for each hand.
    seeds : int, optional
        Number of scenes of each object and hand, of the seeds from `FIRST_SEED` on.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    robot : Robot, optional
        Another arm than the report's Panda.
    clock : float, optional
        The camera's clock less that of the arm [s]: unknown to the loop, which measures it by moving the hand before
        each pick. Default 0, which it knows.
    """
    count = whole((_QUICK_SEEDS if quick else _SEEDS) if seeds is None else seeds, "seeds", 1)
    scenes = range(FIRST_SEED, FIRST_SEED + count)
    stations = {hand: at for hand in HANDS if (at := _reached(hand, robot)) is not None}
    picks = partial(_picks_of, stations, clock, quick)
    found = map_seeds(picks, scenes, workers=workers, progress=not quick, description="picking")
    return PhysicalPicking(stations=stations, trials=tuple(one for some in found for one in some))
