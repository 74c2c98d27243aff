"""D4.2, section 3.3.3, with contacts: a hand holds the object by friction and releases it by opening, in MuJoCo."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array, whole
from ...errors import ReleaseError
from ...manipulation.arm import joint_gains
from ...manipulation.throwing import HandOpening, Palm, ThrowMotion, landing_sensitivity, plan_throw
from ...mujoco import CompliantHand, GraspWorld, ParallelGripper, WorldObject, learn_throw, throw_by_hand
from ...parallel import Workers, map_items
from ...recordings.statistics import bootstrap_interval
from ...robot import Robot
from ..results import drawing, rms, wilson_interval
from ..tables import markdown
from ..wrong_arms import with_friction, with_wrong_links
from .setup import FRACTION, NOISE, PLANE, ThrowArm, mact

HANDS: dict[str, ParallelGripper | CompliantHand] = {
    "gripper": ParallelGripper(speed=3.0),
    "compliant hand": CompliantHand(speed=3.0),
}
#: misses that count as a success [m]
WITHIN = {"gripper": 0.03, "compliant hand": 0.08}
#: acceleration of the hand at the release: it falls with the object for a while or for an instant, or no joint
#: accelerates
MOTIONS = ("coast", "free fall", "joints")
#: stiffness of the hand [N/m], and what adapts
CONTROLLERS = {"adaptive": (300.0, ("inertial", "friction")), "fixed": (300.0, ())}
#: masses of the report [kg], sizes that a gripper can hold, and their poses in the hand: the tube lies across
OBJECTS = {
    "wooden box": WorldObject.box("box", (0.06, 0.06, 0.06), 0.221),
    "heavy tennis ball": WorldObject.sphere("ball", 0.033, 0.427),
    "silicone tube": WorldObject.cylinder("tube", 0.025, 0.2, 0.445),
}
#: distance of an object's center from the palm that it lies on, and of the compliant hand's center from its palm [m]
THICKNESS = {"wooden box": 0.03, "heavy tennis ball": 0.033, "silicone tube": 0.025}
TO_PALM = 0.055
#: distances of the targets from the arm [m]; those without a throw within the arm's limits are left out
DISTANCES = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
COASTS = (0.08, 0.05, 0.03)  # the longest possible one is used, without any the motion "joints" [s]
ACCELERATION = 15.0  # of the joints of arms other than the report's: the largest of its first five joints [rad/s^2]
FARTHEST = 0.7  # of releases in front of other arms than the report's: nearer to a target objects are dropped [m]
EFFORT = 30.0  # force of the hand's motor in the first throw, raised where it does not hold the object [N]
PALM = Palm(angle=0.3)  # largest angle of the throw with the axis out of the palm [rad]
GRASP = 0.003  # standard deviation of the object in the hand, along the pads [m]
#: friction of every joint, viscous and Coulomb [N m s/rad, N m], and relative error of each link's parameters in the
#: model of plans and controllers
FRICTION, WRONG = 0.3, 0.1
#: changes of the sweep: motor, mount, grip
SWEEP: tuple[dict[str, Any], ...] = ({"speed": 1.0}, {"speed": 8.0}, {"turn": 0.5 * np.pi}, {"effort": 100.0})
#: first seed of the counted throws; hand, grip and motion were chosen with others
FIRST_SEED = 7000
_SEEDS, _STARTS, _LEARNING = 6, 16, 5


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
    name : str
        Key of `OBJECTS`.
    controller : str
        Key of `CONTROLLERS`.
    speed : float or None
        Speed of the hand's motor [1/s]; None for that of `HANDS`.
    turn : float
        Turn of the mount [rad]; with 0 the fingers open horizontally at the release.
    effort : float
        Force of the hand's motor in the first throw [N].
    """

    hand: str
    distance: float
    motion: str = "coast"
    name: str = "heavy tennis ball"
    controller: str = "adaptive"
    speed: float | None = None
    turn: float = 0.0
    effort: float = EFFORT

    @property
    def is_best(self) -> bool:
        """Whether hand, motion and controller are those that throw best."""
        return self == Case(self.hand, self.distance, name=self.name)

    @property
    def opening(self) -> ParallelGripper | CompliantHand:
        """The hand."""
        hand = HANDS[self.hand]
        return hand if self.speed is None else replace(hand, speed=self.speed)


class Throws(NamedTuple):
    """Throws of one case.

    Attributes
    ----------
    motion : ThrowMotion
        The plan.
    opening : HandOpening
        Delay until the object is free, and its spread, learned in throws [s].
    effort : float
        Force of the hand's motor [N].
    first : float
        Miss of the first throw of the learning [m].
    misses : (k, 2) array
        Landing minus target of the throws after the learning; NaN where the object was lost before [m].
    late : (k,) array
        Time from the planned to the actual release [s].
    timing : (k, 2) array
        Miss of an object that leaves the planned motion at the time of the actual release: the hand's part [m].
    again : int
        Number of throws in which the hand touched the object after the release.
    """

    motion: ThrowMotion
    opening: HandOpening
    effort: float
    first: float
    misses: Array
    late: Array
    timing: Array
    again: int

    @property
    def spread(self) -> float:
        """Standard deviation of the release [s]."""
        late = self.late[np.isfinite(self.late)]
        return float(late.std(ddof=1)) if len(late) > 1 else 0.0

    @property
    def steady(self) -> float:
        """Miss due to the spread of the delay in a motion without acceleration at the release, to first order [m]."""
        release = self.motion.release
        slope = landing_sensitivity(release.p, release.v, PLANE).time
        return self.spread * float(np.linalg.norm(slope))


def wrong_model(robot: Robot) -> Robot:
    """Return a robot whose links have parameters that are 10 % too high or too low, and no friction."""
    return with_friction(with_wrong_links(robot, WRONG, np.random.default_rng(0)), 0.0, 0.0)


def plan(arm: ThrowArm, case: Case, starts: int = _STARTS) -> tuple[ThrowMotion, float]:
    """Plan the motion of a case, by a wrong model, and the turn of the hand at which its fingers open horizontally.

    A `ReleaseError` names the limit that a throw breaks.
    """
    held = wrong_model(GraspWorld(arm.robot, HANDS[case.hand]).robot)
    ladder: dict[str, list[float | None]] = {"coast": [*COASTS, None], "free fall": [0.0], "joints": [None]}
    tried = ladder[case.motion]  # None: no acceleration of the joints
    for coast in tried:
        try:
            motion = plan_throw(
                held, (case.distance, 0.0, PLANE), limits=arm.limits(held, FRACTION), objective="limits", palm=PALM,
                region=arm.space, acceleration="joints" if coast is None else "free fall", coast=coast or 0.0,
                starts=starts,
            )  # fmt: skip
            break
        except ReleaseError:
            if coast is tried[-1]:
                raise
    sideways = motion.release.R.T @ np.cross(motion.release.v, [0.0, 0.0, 1.0])
    return motion, float(np.arctan2(-sideways[0], sideways[1]))


def throw_cases(arm: ThrowArm, seeds: int, group: list[Case]) -> list[Throws | str]:
    """Throw cases of the same hand and motion, the nearest first; the reason where the arm or the hand cannot.

    Beyond a distance that the arm cannot reach none is tried.
    """
    found: list[Throws | str] = []
    for _, same in groupby(group, key=attrgetter("distance")):
        part = list(same)
        try:
            motion, angle = plan(arm, part[0])
        except ReleaseError as error:
            return found + [str(error)] * (len(group) - len(found))
        found += [_throws(arm, seeds, case, motion, angle + case.turn) for case in part]
    return found


def _throws(arm: ThrowArm, seeds: int, case: Case, motion: ThrowMotion, angle: float) -> Throws | str:
    """Learn a throw, and repeat it with other grasps and noise."""
    mount, thing = np.eye(4), OBJECTS[case.name]
    mount[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    world = GraspWorld(with_friction(arm.robot, FRICTION, FRICTION), case.opening, [thing], mount=mount)
    model, (stiffness, adapting) = wrong_model(world.robot), CONTROLLERS[case.controller]
    law = mact(model, joint_gains(model, motion.release.q, stiffness, shape=arm.shape), adapting, arm.torques)
    drawn = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(1,)))  # none of the seeds below
    grasps = [_grasp(case, drawn) for _ in range(_LEARNING)]
    try:
        learned = learn_throw(
            motion, law, world, thing.name, throws=_LEARNING, effort=case.effort, grasps=grasps,
            limits=arm.limits(model, 1.0), noise=NOISE,
        )  # fmt: skip
    except ReleaseError as error:
        return str(error)
    misses, late = np.full((whole(seeds, "seeds", 1), 2), np.nan), np.full(seeds, np.nan)
    again = 0
    for seed in range(seeds):
        try:
            thrown = throw_by_hand(
                learned.motion, deepcopy(law), world, thing.name, delay=learned.delay,
                effort=learned.effort, grasp=_grasp(case, np.random.default_rng(FIRST_SEED + seed)),
                noise=NOISE, seed=FIRST_SEED + seed,
            )  # fmt: skip
        except ReleaseError:
            continue
        misses[seed], late[seed] = thrown.miss, thrown.release - thrown.planned
        again += thrown.again
    timing = np.full_like(misses, np.nan)
    free = np.isfinite(late)
    timing[free] = (motion.landings(late[free]) - motion.landings([0.0]))[:, :2]
    first = float(np.linalg.norm(learned.throws[0].miss))
    return Throws(motion, learned.opening, learned.effort, first, misses, late, timing, again)


def _grasp(case: Case, rng: np.random.Generator) -> Array:
    """Draw the pose of an object in the hand: between the pads, or on the palm and up to some millimeters from it."""
    grasp = np.eye(4)
    if case.name == "silicone tube":
        grasp[:3, :3] = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    grasp[[0, 2], 3] = GRASP * rng.standard_normal(2)
    if case.hand == "compliant hand":
        grasp[2, 3] = THICKNESS[case.name] - TO_PALM + abs(grasp[2, 3])
    return grasp


def cases(quick: bool = False) -> list[Case]:
    """Return the throws of both hands, those with other controllers and motions, and the sweep, in this order."""
    near, names = DISTANCES[0], list(OBJECTS)
    if quick:
        return [*(Case(hand, near) for hand in HANDS), Case("compliant hand", near, "joints")]
    found = [Case(hand, x, name=name) for hand in HANDS for x in DISTANCES for name in names]
    found += [Case("gripper", near, controller="fixed"), *(Case("gripper", near, motion) for motion in MOTIONS[1:])]
    found += [Case("compliant hand", near, **each) for each in SWEEP]
    return found + [Case("compliant hand", near, "joints", **each) for each in ({}, *SWEEP[:2])]


@dataclass(frozen=True, eq=False)
class ThrowsByHand:
    """Results.

    Attributes
    ----------
    arm : ThrowArm
        The arm.
    throws : dict of Case to Throws or str
        Throws of every case; the reason where there is none.
    """

    arm: ThrowArm
    throws: dict[Case, Throws | str]

    @property
    def made(self) -> dict[Case, Throws]:
        """Throws of the cases that the arm can do."""
        return {case: found for case, found in self.throws.items() if not isinstance(found, str)}

    def successes(self, hand: str, coasts: bool) -> list[bool]:
        """Return for each throw of a hand with or without a coast whether it lands within `WITHIN`."""
        best = [found for case, found in self.made.items() if case.is_best and case.hand == hand]
        misses = [found.misses for found in best if bool(found.motion.coast) == coasts]
        return [bool(np.linalg.norm(miss) <= WITHIN[hand]) for part in misses for miss in part]  # lost: NaN, no success

    def table(self) -> str:
        """Return rates, and landings of all cases, as Markdown."""
        header = [
            "hand", "target [m]", "motion, controller", "object", "motor [1/s]", "turn [deg]", "release [m/s]",
            "coast [ms]", "grip [N]", "delay [ms]", "RMS miss [cm] with the BCa bootstrap's 95 %", "due to delay [cm]",
            "steady motion [cm]", "largest [cm]", "lost", "touched again", "first throw [cm]",
        ]  # fmt: skip
        missing: dict[str, str] = {}
        for case, found in self.throws.items():
            if isinstance(found, str):
                missing.setdefault(f"{case.hand}, {case.distance:g} m, {case.motion}", found)
        rows = [_row(case, found) for case, found in self.made.items()]
        reasons = "\n".join(f"- none, {what}: {why}" for what, why in missing.items())
        return f"{self.arm.robot.name}\n\n{self.rate_table()}\n\n{markdown(header, rows)}\n\n{reasons}"

    def rate_table(self) -> str:
        """Return the shares of throws near the target, with Wilson's intervals, as Markdown."""
        rows: list[list[object]] = []
        for hand, coasts in product(WITHIN, (True, False)):
            if found := self.successes(hand, coasts):
                share, low, high = (100.0 * x for x in (np.mean(found), *wilson_interval(found)))
                cells = [f"{100.0 * WITHIN[hand]:g} cm", len(found), f"{share:.1f} ({low:.1f} to {high:.1f})"]
                rows.append([hand, "yes" if coasts else "no", *cells])
        return markdown(["hand", "coast", "within", "throws", "share [%], Wilson's 95 %"], rows)

    plot = drawing("plot_throws_by_hand")

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers."""
        rows: list[dict[str, Any]] = []
        for case, found in self.throws.items():
            if isinstance(found, str):
                rows.append({**case._asdict(), "reason": found})
                continue
            numbers = found._asdict()
            motion, opening = numbers.pop("motion"), numbers.pop("opening")
            rows.append(
                {**numbers, "delay": opening.delay, "spread": found.spread, "anticipated": opening.assumed,
                 "coast": motion.coast_duration, "release speed": motion.release.speed, "grip": found.effort,
                 "steady": found.steady, **case._asdict()}
            )  # fmt: skip
        return {"robot": self.arm.robot.name, "throws": rows}


def _row(case: Case, found: Throws) -> list[object]:
    squares = np.sum(found.misses**2, axis=1)
    lost = np.isnan(squares)
    squares, cells = squares[~lost], [""] * 5
    if len(squares):
        cell = f"{100.0 * squares.mean() ** 0.5:.2f}"
        if len(squares) > 1:
            mean = bootstrap_interval(squares, confidence_level=0.95, n_resamples=2000)
            cell += f" ({100.0 * mean.low**0.5:.2f} to {100.0 * mean.high**0.5:.2f})"
        timing = rms(np.linalg.norm(found.timing[~lost], axis=1))
        delay = f"{1e3 * found.opening.delay:.0f} ± {1e3 * found.spread:.1f}"
        others = (timing, found.steady, float(squares.max()) ** 0.5)
        cells = [delay, cell, *(f"{100.0 * value:.2f}" for value in others)]
    motion = found.motion
    return [
        case.hand, f"{case.distance:g}", f"{case.motion}, {case.controller}",
        case.name, f"{case.opening.motor.speed:g}", f"{np.degrees(case.turn):.0f}", f"{motion.release.speed:.2f}",
        f"{1e3 * motion.coast_duration:.0f}", f"{found.effort:.0f}", *cells,
        int(lost.sum()), found.again, f"{100.0 * found.first:.1f}",
    ]  # fmt: skip


def run(
    quick: bool = False, *, seeds: int | None = None, workers: Workers = 1, robot: Robot | None = None
) -> ThrowsByHand:
    """Run the experiment of the registry; `seeds` throws in every case after the learning, by default 6.

    The quick form throws the ball at one target, with two motions of the compliant hand.
    """
    arm = ThrowArm.of(robot)
    if robot is not None:
        space = np.minimum(arm.space, (FARTHEST, np.inf, np.inf)).tolist()
        arm = replace(arm, acceleration=np.full(robot.n, ACCELERATION), space=space)
    every = cases(quick)
    count = seeds if seeds is not None else 1 if quick else _SEEDS

    key = attrgetter("hand", "motion")
    groups = [list(group) for _, group in groupby(sorted(every, key=attrgetter("hand", "motion", "distance")), key=key)]
    work = partial(throw_cases, arm, count)
    parts = map_items(work, groups, workers=workers, progress=not quick, description="throws")
    found = dict(
        zip((case for group in groups for case in group), (part for row in parts for part in row), strict=True)
    )
    return ThrowsByHand(arm, {case: found[case] for case in every})
