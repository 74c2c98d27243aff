"""D4.2, section 3.3.3, with contacts: a gripper holds the object by friction and releases it by opening, in MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from ...control import MACT
from ...errors import ReleaseError
from ...manipulation.arm import joint_gains
from ...manipulation.throwing import Palm, ThrowMotion, plan_throw, throw
from ...mujoco import GraspWorld, ParallelGripper, WorldObject
from ...mujoco.world.hand_throw import grip, opening_delay, throw_by_hand
from ...parallel import Workers, map_seeds
from ...recordings.statistics import bootstrap_interval
from ...robot import Payload, Robot
from ..results import drawing
from ..tables import markdown
from .setup import CONTROLLERS, FRACTION, NOISE, PLANE, REPETITIONS, ThrowArm, farthest_target, mact

#: acceleration that vanishes at the release: of the object relative to the hand, or of the joints
MOTIONS = ("free fall", "joints")
#: masses of the report [kg], sizes that a gripper can hold, and their poses in the hand: the tube lies across
OBJECTS = {
    "wooden box": WorldObject.box("box", (0.06, 0.06, 0.06), 0.221),
    "heavy tennis ball": WorldObject.sphere("ball", 0.033, 0.427),
    "silicone tube": WorldObject.cylinder("tube", 0.025, 0.2, 0.445),
}
TARGET = (1.2, 0.0, PLANE)  # [m]
HAND = ParallelGripper(speed=3.0)
EFFORT = 70.0  # force of the pads [N]
#: largest angle of the throw with the axis out of the palm: a wider one lets the object touch the pads again [rad]
PALM = Palm(angle=0.1)
GRASP = 0.003  # standard deviation of the object in the hand, along the pads [m]
_ADAPTIVE = "adaptive, low"
_SEEDS, _STARTS = 5, 12
_SHARE = 0.7  # of another arm's farthest target with the report's hand


class Case(NamedTuple):
    """One kind of throw.

    Attributes
    ----------
    motion : str
        Member of `MOTIONS`.
    controller : str
        Key of `setup.CONTROLLERS`.
    compensated : bool
        Whether the command anticipates the measured delay of the hand.
    name : str
        Key of `OBJECTS`.
    """

    motion: str
    controller: str
    compensated: bool
    name: str


class Throw(NamedTuple):
    """Result of one throw.

    Attributes
    ----------
    miss, ideal : (2,) array
        Landing minus target, by physics and with an ideal release [m]. The first one, `late` and `slip` are NaN where
        the object left the hand too early or not at all.
    late : float
        Time from the planned to the actual release [s].
    again : bool
        Whether the hand touched the object after the release.
    slip : float
        Distance that the object moved in the hand [m].
    """

    miss: Array
    ideal: Array
    late: float
    again: bool
    slip: float

    @property
    def lost(self) -> bool:
        """True if the object left the hand too early or not at all."""
        return bool(np.isnan(self.miss).any())


@dataclass(frozen=True, eq=False)
class Worlds:
    """Arm, mounted hand and a motion for each kind.

    Attributes
    ----------
    arm : ThrowArm
        The arm.
    motions : dict of str to ThrowMotion
        By members of `MOTIONS`.
    mounts : dict of str to (4, 4) array
        Mounting of the hand, whose pads are upright at the release so that the object does not fall on them.
    """

    arm: ThrowArm
    motions: dict[str, ThrowMotion]
    mounts: dict[str, Array]

    def world(self, motion: str) -> GraspWorld:
        """Return a new world with all objects."""
        return GraspWorld(self.arm.robot, HAND, list(OBJECTS.values()), mount=self.mounts[motion])


def make_worlds(robot: Robot | None = None, *, starts: int = _STARTS, seed: int = 0) -> Worlds:
    """Plan the motions.

    Parameters
    ----------
    robot : Robot, optional
        Another arm than the report's Panda; its target is at a share of the farthest one.
    starts, seed
        Number and seed of the starts in the search for a release.
    """
    arm, target = ThrowArm.of(robot), TARGET
    if robot is not None:
        target = (_SHARE * farthest_target(arm, 0.1, starts=starts, seed=seed), 0.0, PLANE)
    held = GraspWorld(arm.robot, HAND).robot
    motions = {
        kind: plan_throw(
            held, target, limits=arm.limits(held, FRACTION), objective="limits", palm=PALM, region=arm.space,
            acceleration=kind, starts=starts, seed=seed,
        )
        for kind in MOTIONS
    }  # fmt: skip
    return Worlds(arm, motions, {kind: _upright(motion) for kind, motion in motions.items()})


def _upright(motion: ThrowMotion) -> Array:
    """Return the mounting for which the fingers close horizontally at the release, a turn about the tool's z axis."""
    sideways = motion.release.R.T @ np.cross(motion.release.v, [0.0, 0.0, 1.0])
    angle = np.arctan2(-sideways[0], sideways[1])
    mount = np.eye(4)
    mount[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return mount


def cases() -> list[Case]:
    """Return all kinds of throws: all controllers where timing matters little, and the timing with the best one."""
    found = [Case(MOTIONS[0], controller, True, name) for controller in CONTROLLERS for name in OBJECTS]
    timing = [(MOTIONS[0], False), (MOTIONS[1], True), (MOTIONS[1], False)]
    return found + [Case(motion, _ADAPTIVE, compensated, name) for motion, compensated in timing for name in OBJECTS]


def throws_of_seed(
    worlds: Worlds, seed: int, repetitions: int = REPETITIONS, only: str | None = None
) -> dict[Case, Throw]:
    """Throw once in every case, with the same grasp of an object.

    Parameters
    ----------
    worlds : Worlds
        Motions and mountings.
    seed : int
        Seed of grasps and noise.
    repetitions : int
        Number of repetitions before the throw.
    only : str, optional
        Key of `OBJECTS`; default all.
    """
    rng = np.random.default_rng(seed)
    grasps = {name: _grasp(name, rng) for name in OBJECTS}
    places = {motion: worlds.world(motion) for motion in MOTIONS}
    delays = {motion: _delay(worlds.arm, worlds.motions[motion], place) for motion, place in places.items()}
    found = {}
    for case in cases():
        if only not in (None, case.name):
            continue
        motion, world, grasp = worlds.motions[case.motion], places[case.motion], grasps[case.name]
        ideal = _ideal(worlds.arm, world, motion, case, grasp, repetitions)
        try:
            thrown = throw_by_hand(
                motion, _controller(worlds.arm, world.robot, motion, case.controller), world, OBJECTS[case.name].name,
                delay=delays[case.motion] if case.compensated else 0.0, repetitions=repetitions, effort=EFFORT,
                grasp=grasp, noise=NOISE, seed=seed,
            )  # fmt: skip
        except ReleaseError:
            found[case] = Throw(np.full(2, np.nan), ideal, np.nan, False, np.nan)
            continue
        found[case] = Throw(thrown.miss, ideal, thrown.release - thrown.planned, thrown.again, thrown.slip)
    return found


def _grasp(name: str, rng: np.random.Generator) -> Array:
    grasp = np.eye(4)
    if name == "silicone tube":
        grasp[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    grasp[[0, 2], 3] = GRASP * rng.standard_normal(2)
    return grasp


def _controller(arm: ThrowArm, robot: Robot, motion: ThrowMotion, name: str) -> MACT:
    stiffness, adaptive = CONTROLLERS[name]
    return mact(robot, joint_gains(robot, motion.release.q, stiffness, shape=arm.shape), adaptive, arm.torques)


def _delay(arm: ThrowArm, motion: ThrowMotion, world: GraspWorld) -> float:
    """Measure the opening of the hand at rest, on the ball."""
    controller, start = _controller(arm, world.robot, motion, "fixed, high"), motion.reference()(0.0)

    def law(t: float, q: Array, dq: Array) -> Array:
        return np.asarray(controller.step(t, q, dq, start))

    grip(world, "ball", motion.q_start, law, effort=EFFORT)
    return opening_delay(world, law)


def _ideal(arm: ThrowArm, world: GraspWorld, motion: ThrowMotion, case: Case, grasp: Array, repetitions: int) -> Array:
    """Return the miss of the same throw of a load fixed to the hand, released at the planned time."""
    robot, thing = world.robot, OBJECTS[case.name]
    tool = np.asarray(robot.description.tool)
    return throw(
        motion, _controller(arm, robot, motion, case.controller), plant=robot, repetitions=repetitions, log=(),
        payload=Payload(thing.mass, (tool @ grasp)[:3, 3], link=robot.link_names[-1]), offset=grasp[:3, 3],
        torque_limits=robot.limits.effort,
    ).miss  # fmt: skip


@dataclass(frozen=True, eq=False)
class ThrowsByHand:
    """Results.

    Attributes
    ----------
    worlds : Worlds
        Motions and mountings.
    seeds : int
        Number of throws in every case.
    delays : dict of str to float
        Measured delays of the hand by motion [s].
    throws : dict of Case to list of Throw
        Throws of every case.
    """

    worlds: Worlds
    seeds: int
    delays: dict[str, float]
    throws: dict[Case, list[Throw]]

    def table(self) -> str:
        """Return landings by physics and with an ideal release, as Markdown."""
        header = [
            "motion", "controller", "command", "object", "lost", "RMS miss [cm] with the BCa bootstrap's 95 %",
            "ideal release [cm]", "between both [cm]", "release, late by [ms]",
            "touched again", "slip in the hand [mm]",
        ]  # fmt: skip
        rows = [_row(case, [t for t in throws if not t.lost], len(throws)) for case, throws in self.throws.items()]
        delays = ", ".join(f"{1e3 * delay:.0f} ms ({motion})" for motion, delay in self.delays.items())
        releases = "; ".join(f"{kind}: {motion.release!r}" for kind, motion in self.worlds.motions.items())
        text = f"{self.seeds} throws in each row; measured delay of the hand {delays}; {releases}"
        return f"{text}\n\n{markdown(header, rows)}"

    plot = drawing("plot_throws_by_hand")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers."""
        return {
            "seeds": self.seeds,
            "delays": self.delays,
            "throws": [
                {
                    **case._asdict(),
                    **{key: [np.asarray(getattr(t, key)).tolist() for t in throws] for key in (*Throw._fields, "lost")},
                }
                for case, throws in self.throws.items()
            ],
        }


def _rms(misses: list[Array]) -> float:
    return float(np.sqrt(np.mean(np.sum(np.square(misses), axis=1))))


def _centimeters(value: float) -> str:
    return f"{100.0 * value:.2f}"


def _row(case: Case, landed: list[Throw], number: int) -> list[object]:
    timing = "early by the measured delay" if case.compensated else "at the release"
    first = [case.motion, case.controller, timing, case.name, number - len(landed)]
    if not landed:
        return [*first, *[""] * 6]
    return [
        *first, _interval([t.miss for t in landed]), _centimeters(_rms([t.ideal for t in landed])),
        _centimeters(_rms([t.miss - t.ideal for t in landed])),
        f"{1e3 * np.mean([t.late for t in landed]):.0f}", sum(t.again for t in landed),
        f"{1e3 * np.mean([t.slip for t in landed]):.1f}",
    ]  # fmt: skip


def _interval(misses: list[Array]) -> str:
    if len(misses) < 2:
        return _centimeters(_rms(misses))
    mean = bootstrap_interval(np.sum(np.square(misses), axis=1), confidence_level=0.95, n_resamples=2000)
    return f"{_centimeters(_rms(misses))} ({_centimeters(mean.low**0.5)} to {_centimeters(mean.high**0.5)})"


def run(
    quick: bool = False, *, seeds: int | None = None, workers: Workers = 1, robot: Robot | None = None
) -> ThrowsByHand:
    """Run the experiment of the registry; `seeds` throws in every case, by default 5.

    The quick form throws the ball once in every case, after one repetition.
    """
    worlds = make_worlds(robot)
    count = seeds if seeds is not None else 1 if quick else _SEEDS
    options: dict[str, Any] = {"repetitions": 1, "only": "heavy tennis ball"} if quick else {}
    rows = map_seeds(
        partial(throws_of_seed, worlds, **options), count, workers=workers, progress=not quick, description="throws"
    )
    delays = {kind: _delay(worlds.arm, motion, worlds.world(kind)) for kind, motion in worlds.motions.items()}
    return ThrowsByHand(worlds, len(rows), delays, {case: [row[case] for row in rows] for case in rows[0]})
