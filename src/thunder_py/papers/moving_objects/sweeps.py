"""D4.2, Table 16, over quantities that the report does not print, and readings of its single plan.

The report does not print when the single plan of "the same framework without the replanning strategy" is made, from
which estimate, or how the hand ends. A reading here is a time of the plan and one departure from the framework. Its
runs are those of `run_conveyor` with the planned point, except that only the plan is made: where the hand is while it
closes follows from the plan.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
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
from ...parallel import Workers, map_items, map_seeds
from ..judgment.judge import FreeParameter, Judgment, chosen, judge
from ..results import drawing
from ..tables import markdown
from .run import SPEEDS, STRATEGIES, TABLE_16

PRINTED = TABLE_16["no replan"]
#: 117 trials over five of the six cells of Table 16; the sixth, without a success, was "not tested extensively"
TRIALS, FEW_TRIALS = 23, 5

#: time of the plan -> values tried
TIMES: dict[str, tuple[float, ...]] = {
    "after a number of pictures [-]": (3.0, 5.0, 8.0, 12.0, 16.0, 20.0),
    "at a distance before p_ref [m]": (0.5, 0.4, 0.3, 0.25, 0.2, 0.15),
    "at a time before the arrival [s]": (0.5, 0.75, 1.0, 1.25, 1.5, 2.0),
}
_PICTURES, _DISTANCE, _TIME = TIMES


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
#: distances before p_ref at which objects come into view: nominal, and that at which replanning is as in the report [m]
ENTRIES = (0.55, 0.36)
#: of a hand at rest [m/s]
_ANY_SPEED = 10.0
_SAMPLES = 26  # of the closing


class Reading(NamedTuple):
    """A reading of "without the replanning strategy".

    Attributes
    ----------
    time : str
        Key of `TIMES`.
    value : float
        Number of pictures, distance [m] or time [s].
    departure : str
        One of `DEPARTURES`.
    """

    time: str
    value: float
    departure: str


def grasped(reading: Reading, scenario: Scenario, seed: int) -> bool:
    """Return True if the object of a seed is grasped with a single plan.

    Parameters
    ----------
    reading : Reading
        Reading of what the report leaves open.
    scenario : Scenario
        Conveyor, camera and tolerance; its strategy is replaced.
    seed : int
        Seed of the object's motion and of the noise.
    """
    target, feed = scenario.world(seed)
    departure = DEPARTURES[reading.departure]
    options = replace(scenario.options, strategy=SingleShot())
    if reading.time == _TIME:
        options = replace(options, longest_reach=reading.value)
    else:
        options = replace(options, least_updates=_pictures(reading, target, feed))
    filter = (*scenario.filter, ("velocity_deviation", 0.0), ("gate", None)) if departure.certain else scenario.filter
    if not departure.latency_known:
        feed = Feed(feed.available, feed.available, feed.positions)
    chosen = replace(scenario, options=options, filter=filter)
    plans = plans_of(chosen, feed)
    return bool(plans) and closes_on(plans[0], chosen, target, departure)


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


def _pictures(reading: Reading, target: BeltObject, feed: Feed) -> int:
    """Return the number of measurements before the plan: given, or until one is past the distance; at least two."""
    if reading.time == _PICTURES:
        return int(reading.value)
    seen = feed.positions[np.argsort(feed.available, kind="stable")] + np.asarray(target.belt.offset)
    past = np.flatnonzero(target.belt.along(seen) >= -reading.value)
    return max(2, int(past[0]) + 1 if len(past) else len(seen) + 2)


@dataclass(frozen=True, eq=False)
class SinglePlans:
    """Shares of grasped objects for all readings.

    Attributes
    ----------
    runs : int
        Number of runs of a reading at a speed.
    rates : dict of (float, Reading) to (3,) array
        By distance at which objects come into view [m] and reading, at `SPEEDS`.
    """

    runs: int
    rates: dict[tuple[float, Reading], Array]

    @property
    def entries(self) -> tuple[float, ...]:
        """Distances before p_ref at which objects come into view [m]."""
        return tuple(dict.fromkeys(entry for entry, _ in self.rates))

    @cached_property
    def falling(self) -> list[tuple[float, Reading]]:
        """Readings with which fewer objects are grasped on each faster belt, as in the report."""
        return [key for key, rate in self.rates.items() if (np.diff(rate) < 0.0).all()]

    @cached_property
    def compatible(self) -> list[tuple[float, Reading]]:
        """Readings of which none of the report's three shares differs significantly (Fisher's exact test, 5 %)."""
        return [key for key, rate in self.rates.items() if min(self._p_values(rate)) > 0.05]

    def _p_values(self, rates: Array) -> list[float]:
        from scipy.stats import fisher_exact

        found = []
        for rate, printed, n in zip(rates, PRINTED, (TRIALS, TRIALS, FEW_TRIALS), strict=True):
            ours, theirs = round(rate * self.runs), round(printed * n)
            found.append(float(fisher_exact(np.array([[ours, self.runs - ours], [theirs, n - theirs]])).pvalue))
        return found

    def nearest(self, entry: float, time: str, departure: str) -> Reading:
        """Return the reading whose shares are nearest to the report's, in the mean square."""
        keys = [key for key in self.rates if key[0] == entry and key[1][::2] == (time, departure)]
        return min(keys, key=lambda key: float(np.square(self.rates[key] - PRINTED).sum()))[1]

    def table(self) -> str:
        """Return the value with the nearest shares, for each departure, time of the plan and distance of view."""
        rows: list[list[object]] = [["", "", "report", "", *(f"{100 * p:.0f}" for p in PRINTED), "", ""]]
        rows += [self._row(*key) for key in product(self.entries, DEPARTURES, TIMES)]
        speeds = (f"{v:g} m/s [%]" for v in SPEEDS)
        header = ["in view from [m]", "departure", "the plan is made", "nearest at", *speeds]
        title = (
            f"Table 16, no replan: readings of it, {self.runs} runs each with the planned point. A row has the value "
            "with the shares nearest to the report's, the values at which the share falls from each speed to the next, "
            f"and those compatible with the report's shares of about {TRIALS} trials (Fisher's exact test, 5 %)."
        )
        return f"{title}\n\n{markdown([*header, 'falls at', 'compatible at'], rows)}"

    def _row(self, entry: float, departure: str, time: str) -> list[object]:
        best = self.nearest(entry, time, departure)
        shares = [f"{100 * rate:.0f}" for rate in self.rates[entry, best]]
        ours = [(entry, Reading(time, value, departure)) for value in TIMES[time]]
        lists = [
            ", ".join(f"{key[1].value:g}" for key in ours if key in those) for those in (self.falling, self.compatible)
        ]
        return [entry, departure, time, f"{best.value:g}", *shares, *lists]

    def to_dict(self) -> dict[str, object]:
        """Return all shares."""
        readings = [
            {"entry_m": key[0], **key[1]._asdict(), "success": rate}
            | {"falls": key in self.falling, "compatible": key in self.compatible}
            for key, rate in self.rates.items()
        ]
        return {"runs": self.runs, "speeds": SPEEDS, "printed": PRINTED, "readings": readings}


def run_single_plans(
    runs: int = 40, entries: tuple[float, ...] = ENTRIES, *, workers: Workers = 1, progress: bool = False
) -> SinglePlans:
    """Try all readings.

    Parameters
    ----------
    runs : int
        Number of runs of each reading at each speed.
    entries : tuple of float
        Distances before p_ref at which objects come into view [m].
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show a progress bar.
    """
    cases = product(entries, DEPARTURES, TIMES)
    readings = [(entry, Reading(time, value, departure)) for entry, departure, time in cases for value in TIMES[time]]
    work = partial(_rates, runs)
    found = map_items(work, readings, workers=workers, progress=progress, description="single plans")
    return SinglePlans(runs, dict(zip(readings, found, strict=True)))


def _rates(runs: int, key: tuple[float, Reading]) -> Array:
    """Return the success rates of one reading with all speeds."""
    entry, reading = key
    base = InterceptionOptions(strategy=SingleShot())
    scenarios = [Scenario(conveyor=Conveyor(speed, entry=entry), options=base) for speed in SPEEDS]
    return np.array([np.mean([grasped(reading, each, seed) for seed in range(runs)]) for each in scenarios])


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
)
_STRATEGIES = {"replan": "", "no replan": "no replan"}
_LABELS = {each.name: each.label for each in UNPRINTED}
#: settings with which one reading of the single plan is compatible with the report: are both rows with the same?
TOGETHER: tuple[dict[str, float], ...] = (
    {},
    {"entry": 0.36},
    {"entry": 0.36, "pictures": 12},
    {"entry": 0.36, "wait": 1.25},
    {"entry": 0.36, "wait": 1.0},
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
    """
    s = chosen(UNPRINTED, given)
    camera = MeasurementModel(rate=s.rate, latency=s.latency, noise=s.noise, bias=s.bias)
    allowed = GraspTolerance(horizontal=s.tolerance, speed=s.sliding)
    found = {}
    for name, other in _STRATEGIES.items():
        options = InterceptionOptions(
            strategy=STRATEGIES[other or s.strategy].strategy,
            threshold=s.threshold,
            least_updates=s.pictures,
            longest_reach=s.wait,
            closing_time=s.closing,
        )
        for speed in SPEEDS:
            conveyor = Conveyor(speed, entry=s.entry, ripple=s.ripple)
            scenario = Scenario(conveyor=conveyor, camera=camera, tolerance=allowed, options=options)
            found[_cell(name, speed)] = 100.0 * float(np.mean([_grasped(scenario, seed) for seed in range(runs)]))
    return found


def _cell(name: str, speed: float) -> str:
    return f"{name}, {speed:g} m/s [%]"


def _grasped(scenario: Scenario, seed: int) -> bool:
    target, feed = scenario.world(seed)
    plans = plans_of(scenario, feed)
    return bool(plans) and closes_on(plans[-1], scenario, target)


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingObjectsSweeps:
    """Results of the experiment.

    Attributes
    ----------
    judgment : Judgment
        Table 16 with one choice of the unprinted quantities.
    single : SinglePlans
        Readings of the single plan.
    together : tuple of dict of str to float
        Both rows of Table 16 [%] for each of `TOGETHER`.
    """

    judgment: Judgment
    single: SinglePlans
    together: tuple[dict[str, float], ...]

    def table(self) -> str:
        """Return the judgment, the readings of the single plan, and both rows with the same settings."""
        cells = list(self.judgment.printed)
        rows: list[list[object]] = [["report", *(f"{self.judgment.printed[cell]:.0f}" for cell in cells)]]
        for settings, found in zip(TOGETHER, self.together, strict=True):
            words = ", ".join(f"{_LABELS[name]} {value:g}" for name, value in settings.items())
            rows.append([words or "nominal", *(f"{found[cell]:.0f}" for cell in cells)])
        both = f"Table 16, both rows with the same settings\n\n{markdown(['', *cells], rows)}"
        return f"{self.judgment.table()}\n\n{self.single.table()}\n\n{both}"

    def to_dict(self) -> dict[str, Any]:
        """Return all shares."""
        together = [{"settings": s, "success": f} for s, f in zip(TOGETHER, self.together, strict=True)]
        return {"judgment": self.judgment.to_dict(), "single_plans": self.single.to_dict(), "together": together}

    plot = drawing("plot_moving_objects_sweeps")


def run_moving_objects_sweeps(
    runs: int = 40, names: Collection[str] = (), *, budget: int = 100, workers: Workers = 1, progress: bool = False
) -> MovingObjectsSweeps:
    """Sweep Table 16 and try the readings of its single plan.

    Parameters
    ----------
    runs : int
        Number of runs of each cell.
    names : collection of str
        Quantities of `UNPRINTED` to sweep; default all. With some, readings are tried at one distance of view only.
    budget : int
        Number of choices of the search.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show bars.
    """
    swept = [each for each in UNPRINTED if not names or each.name in names]
    printed = {
        _cell(name, speed): 100.0 * share
        for name, shares in TABLE_16.items()
        for speed, share in zip(SPEEDS, shares, strict=True)
    }
    orders: list[list[str]] = [[_cell(name, speed) for speed in SPEEDS] for name in TABLE_16]
    orders += [[_cell(name, speed) for name in TABLE_16] for speed in SPEEDS]
    function = partial(table_16, runs=runs)
    title = "D4.2, Table 16: grasped objects"
    entries = ENTRIES[:1] if names else ENTRIES
    return MovingObjectsSweeps(
        judgment=judge(
            title, function, swept, printed, orders=orders, budget=budget, workers=workers, progress=progress
        ),
        together=tuple(map_seeds(partial(_both_rows, runs), len(TOGETHER), workers=workers, description="both rows")),
        single=run_single_plans(runs, entries, workers=workers, progress=progress),
    )


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> MovingObjectsSweeps:
    """Run the experiment of the registry: `seeds` runs of each cell; the short form sweeps three quantities."""
    runs = (4 if quick else 40) if seeds is None else seeds
    few = ("entry", "noise", "wait") if quick else ()
    return run_moving_objects_sweeps(runs, few, budget=0 if quick else 100, workers=workers, progress=not quick)


def _both_rows(runs: int, number: int) -> dict[str, float]:
    return table_16(runs=runs, **TOGETHER[number])
