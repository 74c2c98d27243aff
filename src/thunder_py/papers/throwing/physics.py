"""D4.2, section 3.3.3, with contacts: a hand holds the object by friction and releases it by opening, in MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array, whole
from ...control import MACT
from ...errors import ReleaseError
from ...manipulation.arm import joint_gains
from ...manipulation.throwing import HandOpening, Palm, ThrowMotion, plan_throw, throw
from ...mujoco import CompliantHand, GraspWorld, Hand, ParallelGripper, WorldObject, learn_throw, throw_by_hand
from ...parallel import Workers, map_items
from ...recordings.statistics import bootstrap_interval
from ...robot import Payload, Robot
from ..results import drawing
from ..tables import markdown
from .setup import CONTROLLERS, FRACTION, NOISE, PLANE, ThrowArm, mact

HANDS: dict[str, Hand] = {"gripper": ParallelGripper(speed=3.0), "compliant hand": CompliantHand()}
#: acceleration of the hand at the release: it falls with the object for a while or for an instant, or no joint
#: accelerates
MOTIONS = ("coast", "free fall", "joints")
#: masses of the report [kg], sizes that a gripper can hold, and their poses in the hand: the tube lies across
OBJECTS = {
    "wooden box": WorldObject.box("box", (0.06, 0.06, 0.06), 0.221),
    "heavy tennis ball": WorldObject.sphere("ball", 0.033, 0.427),
    "silicone tube": WorldObject.cylinder("tube", 0.025, 0.2, 0.445),
}
#: distances of the targets from the arm [m]; those without a throw within the arm's limits are left out
DISTANCES = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
COASTS = (0.08, 0.05, 0.03, 0.0)  # the longest possible one is used [s]
ACCELERATION = 20.0  # of the joints of arms other than the report's, so that a closed hand holds the object [rad/s^2]
EFFORT = 70.0  # force of the hand's motor [N]
PALM = Palm(angle=0.3)  # largest angle of the throw with the axis out of the palm [rad]
GRASP = 0.003  # standard deviation of the object in the hand, along the pads [m]
REPETITIONS = 1  # before a throw; with more of them the ball creeps out of the compliant hand
_ADAPTIVE = "adaptive, low"
_SEEDS, _STARTS, _LEARNING = 8, 16, 5


class Case(NamedTuple):
    """One kind of throw.

    Attributes
    ----------
    hand : str
        Key of `HANDS`.
    distance : float
        Distance of the target from the arm [m].
    motion : str
        Member of `MOTIONS`.
    controller : str
        Key of `setup.CONTROLLERS`.
    name : str
        Key of `OBJECTS`.
    """

    hand: str
    distance: float
    motion: str
    controller: str
    name: str


@dataclass(frozen=True, eq=False)
class Station:
    """Arm with a mounted hand and a throw.

    Attributes
    ----------
    arm : ThrowArm
        The arm.
    hand : Hand
        The hand.
    motion : ThrowMotion
        Motion planned for the arm with the hand.
    mount : (4, 4) array
        Mounting of the hand, whose fingers open horizontally at the release so that the object does not fall on them.
    """

    arm: ThrowArm
    hand: Hand
    motion: ThrowMotion
    mount: Array

    def world(self) -> GraspWorld:
        """Return a new world with all objects."""
        return GraspWorld(self.arm.robot, self.hand, list(OBJECTS.values()), mount=self.mount)

    def controller(self, robot: Robot, name: str) -> MACT:
        """Return a new controller of `setup.CONTROLLERS`."""
        stiffness, adaptive = CONTROLLERS[name]
        gains = joint_gains(robot, self.motion.release.q, stiffness, shape=self.arm.shape)
        return mact(robot, gains, adaptive, self.arm.torques)


class Throws(NamedTuple):
    """Throws of one case.

    Attributes
    ----------
    opening : HandOpening
        Delay until the object is free, learned in throws, and its spread [s].
    first : float
        Miss of the first throw of the learning, which anticipates no delay [m].
    misses : (k, 2) array
        Landing minus target of the throws after the learning; NaN where the object was lost before [m].
    late : (k,) array
        Time from the planned to the actual release [s].
    again : int
        Number of throws in which the hand touched the object after the release.
    ideal : (2,) array
        Miss of a load that is fixed to the hand and released at the planned instant of the first motion [m].
    """

    opening: HandOpening
    first: float
    misses: Array
    late: Array
    again: int
    ideal: Array


def make_station(arm: ThrowArm, case: Case, starts: int = _STARTS) -> Station:
    """Plan the motion of a case; a `ReleaseError` names the limit that a throw breaks."""
    hand, target = HANDS[case.hand], (case.distance, 0.0, PLANE)
    held = GraspWorld(arm.robot, hand).robot
    limits = arm.limits(held, FRACTION)
    coasts = COASTS if case.motion == "coast" else COASTS[-1:]
    for coast in coasts:
        try:
            motion = plan_throw(
                held, target, limits=limits, objective="limits", palm=PALM, region=arm.space,
                acceleration="joints" if case.motion == "joints" else "free fall", coast=coast, starts=starts,
            )  # fmt: skip
            break
        except ReleaseError:
            if coast == coasts[-1]:
                raise
    sideways = motion.release.R.T @ np.cross(motion.release.v, [0.0, 0.0, 1.0])
    angle, mount = np.arctan2(-sideways[0], sideways[1]), np.eye(4)
    mount[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return Station(arm, hand, motion, mount)


def throw_case(arm: ThrowArm, seeds: int, case: Case) -> tuple[Station, Throws] | str:
    """Learn a throw and repeat it with different grasps and noise; the reason where the arm or the hand cannot."""
    try:
        station = make_station(arm, case)
        world, thing = station.world(), OBJECTS[case.name].name
        options: dict[str, Any] = {"repetitions": REPETITIONS, "effort": EFFORT, "noise": NOISE}
        fresh = partial(station.controller, world.robot, case.controller)
        learned = learn_throw(
            station.motion,
            fresh,
            world,
            thing,
            throws=_LEARNING,
            limits=arm.limits(world.robot, 1.0),
            grasp=_grasp(case.name),
            **options,
        )
    except ReleaseError as error:
        return str(error)
    misses, late, again = [], [], 0
    for seed in range(whole(seeds, "seeds", 1)):
        grasp = _grasp(case.name, np.random.default_rng(seed))
        try:
            thrown = throw_by_hand(
                learned.motion, fresh(), world, thing, delay=learned.opening.delay, grasp=grasp, seed=seed + 1,
                **options,
            )  # fmt: skip
        except ReleaseError:
            misses.append(np.full(2, np.nan))
            continue
        misses.append(thrown.miss)
        late.append(thrown.release - thrown.planned)
        again += thrown.again
    tool = np.asarray(world.robot.description.tool)
    load = Payload(OBJECTS[case.name].mass, tool[:3, 3], link=world.robot.link_names[-1])
    ideal = throw(station.motion, fresh(), plant=world.robot, repetitions=REPETITIONS, log=(), payload=load,
                  torque_limits=world.robot.limits.effort)  # fmt: skip
    first = float(np.linalg.norm(learned.throws[0].miss))
    return station, Throws(learned.opening, first, np.array(misses), np.array(late), again, ideal.miss)


def _grasp(name: str, rng: np.random.Generator | None = None) -> Array:
    """Return the pose of an object in the hand."""
    grasp = np.eye(4)
    if name == "silicone tube":
        grasp[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    if rng is not None:
        grasp[[0, 2], 3] = GRASP * rng.standard_normal(2)
    return grasp


def cases(distances: tuple[float, ...] = DISTANCES) -> list[Case]:
    """Return hands, distances and objects with the best controller, then other controllers and motions."""
    found = [Case(hand, x, "coast", _ADAPTIVE, name) for hand in HANDS for x in distances for name in OBJECTS]
    others = [("coast", controller) for controller in CONTROLLERS if controller != _ADAPTIVE]
    others += [(motion, _ADAPTIVE) for motion in MOTIONS[1:]]
    return found + [Case("gripper", distances[0], *other, name) for other in others for name in OBJECTS]


@dataclass(frozen=True, eq=False)
class ThrowsByHand:
    """Results.

    Attributes
    ----------
    arm : ThrowArm
        The arm.
    throws : dict of Case to (Station, Throws) or str
        Plans and throws of every case; the reason where there is none.
    """

    arm: ThrowArm
    throws: dict[Case, tuple[Station, Throws] | str]

    def table(self) -> str:
        """Return landings by physics and with an ideal release, as Markdown."""
        header = [
            "hand", "target [m]", "motion", "controller", "object", "coast [ms]", "delay [ms]",
            "RMS miss [cm] with the BCa bootstrap's 95 %", "largest [cm]", "lost", "touched again",
            "first throw [cm]", "ideal release [cm]",
        ]  # fmt: skip
        rows = [_row(case, *found) for case, found in self.throws.items() if not isinstance(found, str)]
        missing: dict[str, str] = {}
        for case, found in self.throws.items():
            if isinstance(found, str):
                missing.setdefault(f"{case.hand}, {case.distance:g} m, {case.motion}, {case.controller}", found)
        reasons = "\n".join(f"- none, {what}: {why}" for what, why in missing.items())
        return f"{self.arm.robot.name}\n\n{markdown(header, rows)}\n\n{reasons}"

    plot = drawing("plot_throws_by_hand")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers."""
        return {
            "robot": self.arm.robot.name,
            "throws": [
                {**case._asdict(), "reason": found} if isinstance(found, str) else
                {**case._asdict(), "delay": found[1].opening.delay, "spread": found[1].opening.jitter,
                 "coast": found[0].motion.coast_duration, **found[1]._replace(opening=None)._asdict()}  # type: ignore[arg-type]
                for case, found in self.throws.items()
            ],
        }  # fmt: skip


def _row(case: Case, station: Station, found: Throws) -> list[object]:
    squares = np.sum(found.misses**2, axis=1)
    lost = np.isnan(squares)
    squares, cells = squares[~lost], ["", ""]
    if len(squares):
        ends = [float(squares.mean())]
        if len(squares) > 1:
            mean = bootstrap_interval(squares, confidence_level=0.95, n_resamples=2000)
            ends += [mean.low, mean.high]
        rms, *interval = (f"{100.0 * value**0.5:.2f}" for value in ends)
        cells = [f"{rms} ({' to '.join(interval)})" if interval else rms, f"{100.0 * squares.max() ** 0.5:.2f}"]
    return [
        case.hand, f"{case.distance:g}", case.motion, case.controller, case.name,
        f"{1e3 * station.motion.coast_duration:.0f}",
        f"{1e3 * found.opening.delay:.0f} ± {1e3 * np.std(found.late):.1f}" if len(found.late) else "", *cells,
        int(lost.sum()), found.again, f"{100.0 * found.first:.1f}", f"{100.0 * np.linalg.norm(found.ideal):.2f}",
    ]  # fmt: skip


def run(
    quick: bool = False, *, seeds: int | None = None, workers: Workers = 1, robot: Robot | None = None
) -> ThrowsByHand:
    """Run the experiment of the registry; `seeds` throws in every case after the learning, by default 8.

    The quick form throws the ball at one target.
    """
    arm = ThrowArm.of(robot)
    if robot is not None:
        arm = replace(arm, acceleration=np.full(robot.n, ACCELERATION))
    every = cases() if not quick else [case for case in cases((1.0,)) if case.name == "heavy tennis ball"]
    count = seeds if seeds is not None else 1 if quick else _SEEDS
    found = map_items(partial(throw_case, arm, count), every, workers=workers, progress=not quick, description="throws")
    return ThrowsByHand(arm, dict(zip(every, found, strict=True)))
