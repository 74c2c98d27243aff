"""D4.2, Table 16 and Figure 39, jointly over quantities that the report does not print and readings of its single plan.

The report does not print when the single plan of "the same framework without the replanning strategy" is made, from
which estimate, or how the hand ends. A reading here is a distance at which it is made and one departure from the
framework. Its runs are those of `run_conveyor` with the planned point, except that only the plan is made: where the
hand is while it closes follows from the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...manipulation.interception.conveyor import (
    BeltObject,
    Conveyor,
    Feed,
    GraspTolerance,
    MeasurementModel,
    evaluate_grasp,
)
from ...manipulation.interception.interceptor import InterceptionOptions, PlannedArrival, SingleShot
from ...manipulation.interception.outcome import InterceptionPhase
from ...manipulation.interception.runs import Scenario
from ...parallel import Workers
from ..judgment.judge import FreeParameter, Judgments, chosen, judge
from .run import SPEEDS, STRATEGIES, TABLE_16


@dataclass(frozen=True, kw_only=True)
class Departure:
    """A departure of the single plan from the framework with replanning.

    Attributes
    ----------
    latency_known : bool
        If False, a measurement counts at the time at which it is available instead of that of its picture.
    certain : bool
        Whether the filter starts certain of v = 0, as printed; without a gate, which would reject every moving object.
    at_rest : bool
        Whether the hand ends at rest: it waits at the goal, where the object is half way through the closing; no
        relative speed is required.
    late : float
        Delay of the arm behind its reference [s].
    predicted : bool
        Whether the goal is the object's place on arrival; otherwise its true place at the time of the plan.
    horizontal : float or None
        Horizontal tolerance of the grasp [m]; None for that of the scenario.
    """

    latency_known: bool = True
    certain: bool = False
    at_rest: bool = False
    late: float = 0.0
    predicted: bool = True
    horizontal: float | None = None


FRAMEWORK = Departure()
DEPARTURES: dict[str, Departure] = {
    "none": FRAMEWORK,
    "latency not compensated": Departure(latency_known=False),
    "filter certain of v = 0": Departure(certain=True),
    "arm late by 0.1 s": Departure(late=0.1),
    "hand waits at rest": Departure(at_rest=True),
    "hand waits at rest, tolerance 40 mm": Departure(at_rest=True, horizontal=0.04),
    "goal where the object is seen": Departure(at_rest=True, predicted=False),
}
#: of a hand at rest [m/s]
_ANY_SPEED = 10.0
_SAMPLES = 26  # of the closing


def grasped_once(scenario: Scenario, seed: int, near: float = np.inf, departure: str = "none") -> bool:
    """Return True if the object of a seed is grasped with a single plan.

    Parameters
    ----------
    scenario : Scenario
        Conveyor, camera, tolerance and options.
    seed : int
        Seed of the object's motion and of the noise.
    near : float
        Largest distance of the object from p_ref at which the plan is made [m].
    departure : str
        One of `DEPARTURES`.
    """
    target, feed = scenario.world(seed)
    departs = DEPARTURES[departure]
    seen = feed.positions[np.argsort(feed.available, kind="stable")] + np.asarray(target.belt.offset)
    past = np.flatnonzero(target.belt.along(seen) >= -near)
    pictures = int(past[0]) + 1 if len(past) else len(seen) + 2
    options = replace(scenario.options, least_updates=max(scenario.options.least_updates, pictures))
    filter = (*scenario.filter, ("velocity_deviation", 0.0), ("gate", None)) if departs.certain else scenario.filter
    if not departs.latency_known:
        feed = Feed(feed.available, feed.available, feed.positions)
    plans = plans_of(replace(scenario, options=options, filter=filter), feed)
    return bool(plans) and closes_on(plans[0], scenario, target, departs)


def plans_of(scenario: Scenario, feed: Feed) -> list[PlannedArrival]:
    """Return the plans of a run; none if the hand is still waiting or has given up."""
    interceptor = scenario.interceptor()
    interceptor.follow(feed)(np.sort(feed.available) + 1e-6)  # plans are made when a measurement becomes available
    return [] if interceptor.phase in (InterceptionPhase.waiting, InterceptionPhase.aborted) else interceptor.plans


def closes_on(plan: PlannedArrival, scenario: Scenario, target: BeltObject, departure: Departure = FRAMEWORK) -> bool:
    """Return True if a hand that follows a plan to its end grasps the object: it then moves with the planned velocity.

    Equal to `run_conveyor` with the planned point, without the motion up to the arrival.
    """
    closing, tolerance = scenario.options.closing_time, scenario.tolerance
    since, velocity, goal = np.linspace(0.0, closing, _SAMPLES), plan.velocity, plan.goal
    if departure.horizontal is not None:
        tolerance = replace(tolerance, horizontal=departure.horizontal)
    if departure.at_rest:
        since, velocity = since - 0.5 * closing, np.zeros(3)
        tolerance = replace(tolerance, speed=_ANY_SPEED)
    if not departure.predicted:
        goal = target.position(plan.time) + np.asarray(target.belt.offset)
    hand = goal + np.multiply.outer(since - departure.late, velocity)
    moving = np.tile(velocity, (_SAMPLES, 1))
    return evaluate_grasp(plan.arrival + since, hand, moving, target, tolerance).success


#: of a first plan that is made at once [s]
_AT_ONCE = 10.0

UNPRINTED = (
    FreeParameter("strategy", "time augmentation", ("variable structure",), reason="Table 16 does not name it"),
    FreeParameter(
        "entry", 0.55, (0.3, 0.36, 0.45, 0.7), "in view from [m]", "length of belt before p_ref in the picture"
    ),
    FreeParameter("rate", 15.0, (7.5, 30.0), "pictures [1/s]", "camera of 30 Hz, every one to every fourth processed"),
    FreeParameter("latency", 0.08, (0.04, 0.15, 0.25), "latency [s]", "clustering of a cloud takes 40 to 250 ms"),
    FreeParameter("noise", 0.004, (0.001, 0.002, 0.008), "noise [m]", "centroid of a partly seen object"),
    FreeParameter("bias", 0.003, (0.0, 0.006, 0.01), "calibration error [m]", "markers on a camera at 1 m"),
    FreeParameter(
        "tolerance", 0.025, (0.015, 0.035, 0.045), "tolerance [m]", "a hand open by 10 cm, objects of 1 to 7 cm"
    ),
    FreeParameter("sliding", 0.08, (0.04, 0.15), "tolerated speed [m/s]", "sliding by 1 to 4 cm while closing"),
    FreeParameter("closing", 0.25, (0.1, 0.5), "closing time [s]", "SoftHand, slow to fast"),
    FreeParameter("ripple", 0.03, (0.0, 0.1), "ripple of the belt's speed", "none to a worn drive"),
    FreeParameter("threshold", 0.01, (0.005, 0.02, 0.05), "p_th [m]", "from the noise to twice the tolerance"),
    FreeParameter("pictures", 5, (3, 8, 12), "pictures before a plan", "the least for a velocity to almost a second"),
    FreeParameter(
        "wait", _AT_ONCE, (1.0, 1.25, 2.0), "plan from [s] before arrival", "at once (10) to the time of a reach"
    ),
    FreeParameter(
        "near", 0.7, (0.15, 0.3, 0.5), "single plan made within [m] of p_ref", "when it is made is unprinted"
    ),
    FreeParameter(
        "departure", "none", tuple(DEPARTURES), "single plan departs by", '"the same framework without ... replanning"'
    ),
)


def table_16(*, runs: int, **given: Any) -> dict[str, float]:
    """Return the share of grasped objects with and without replanning at every speed [%].

    Parameters
    ----------
    runs : int
        Number of runs of each cell.
    strategy : str
        Strategy of replanning.
    entry, rate, latency, noise, bias, ripple
        As in `Conveyor` and `MeasurementModel`.
    tolerance, sliding : float
        Largest horizontal distance [m] and relative speed [m/s] of a grasp.
    closing : float
        Time in which the hand closes [s].
    threshold, pictures, wait
        `threshold`, `least_updates` and `longest_reach` of `InterceptionOptions`.
    near, departure
        Of the single plan, see `grasped_once`.
    """
    s = chosen(UNPRINTED, given)
    camera = MeasurementModel(rate=s.rate, latency=s.latency, noise=s.noise, bias=s.bias)
    allowed = GraspTolerance(horizontal=s.tolerance, speed=s.sliding)
    options = InterceptionOptions(
        strategy=STRATEGIES[s.strategy].strategy,
        threshold=s.threshold,
        least_updates=s.pictures,
        longest_reach=s.wait,
        closing_time=s.closing,
    )
    found = {}
    for speed in SPEEDS:
        conveyor = Conveyor(speed, entry=s.entry, ripple=s.ripple)
        scenario = Scenario(conveyor=conveyor, camera=camera, tolerance=allowed, options=options)
        single = replace(scenario, options=replace(options, strategy=SingleShot()))
        rows = [(_grasped(scenario, k), grasped_once(single, k, s.near, s.departure)) for k in range(runs)]
        found[speed] = 100.0 * np.mean(rows, axis=0)
    return {_cell(name, v): float(found[v][k]) for k, name in enumerate(TABLE_16) for v in SPEEDS}


def _cell(name: str, speed: float) -> str:
    return f"{name}, {speed:g} m/s [%]"


def _grasped(scenario: Scenario, seed: int) -> bool:
    target, feed = scenario.world(seed)
    plans = plans_of(scenario, feed)
    return bool(plans) and closes_on(plans[-1], scenario, target)


_PRINTED = {_cell(name, v): 100.0 * x for name, row in TABLE_16.items() for v, x in zip(SPEEDS, row, strict=True)}
_ORDERS = [[_cell(name, v) for v in SPEEDS] for name in TABLE_16] + [[_cell(n, v) for n in TABLE_16] for v in SPEEDS]
_SHOWN = (
    ("table 16", "replan, 0.38 m/s [%]", "entry"),
    ("table 16", "no replan, 0.16 m/s [%]", "wait"),
    ("table 16", "no replan, 0.16 m/s [%]", "noise"),
)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1, search: bool = True) -> Judgments:
    """Run the experiment of the registry: `seeds` runs of each cell; the short form varies three quantities."""
    runs = (4 if quick else 40) if seeds is None else seeds
    varied = [each for each in UNPRINTED if not quick or each.name in ("entry", "wait", "noise")]
    options: dict[str, Any] = {"budget": 80 if search and not quick else 0, "workers": workers, "progress": not quick}
    title = "D4.2, Table 16: grasped objects"
    judgment = judge(title, partial(table_16, runs=runs), varied, _PRINTED, orders=_ORDERS, **options)
    return Judgments({"table 16": judgment}, _SHOWN)
