"""D4.2, Table 16, Figures 37 and 39: grasping objects on a conveyor, with and without planning anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...manipulation.interception.conveyor import Conveyor
from ...manipulation.interception.interceptor import (
    InterceptionOptions,
    SingleShot,
    TimeAugmentation,
    VariableStructure,
)
from ...manipulation.interception.runs import ConveyorRun, RunSummary, Scenario, run_conveyor, summary
from ...parallel import Workers, map_items
from ..results import drawing, titled, wilson_interval
from ..tables import markdown

SPEEDS = (0.16, 0.26, 0.38)  # of the belt [m/s]
#: success of the report, by what it calls them; its replanning does not say which of the two strategies it is
TABLE_16 = {"replan": (0.95, 0.91, 0.52), "no replan": (0.81, 0.31, 0.0)}
PRINTED_JERK = {"variable structure": 2.6e-3, "time augmentation": 0.4e-3}  # "m/s^3"

STRATEGIES = {
    "no replan": InterceptionOptions(strategy=SingleShot()),
    "variable structure": InterceptionOptions(strategy=VariableStructure()),
    "time augmentation": InterceptionOptions(strategy=TimeAugmentation()),
}
_AUGMENTED = STRATEGIES["time augmentation"]
_CERTAIN: dict[str, object] = {"velocity_deviation": 0.0}
_PRINTED: dict[str, object] = {"process": "paper", "intensity": 1e-3, **_CERTAIN, "gate": None}
#: what shows where the differences come from: options and arguments of the filter
VARIANTS: dict[str, tuple[InterceptionOptions, dict[str, object]]] = {
    "no replan, waits until 1 s before": (InterceptionOptions(strategy=SingleShot(), longest_reach=1.0), {}),
    "no replan, P_v = 0": (STRATEGIES["no replan"], {**_CERTAIN, "gate": None}),
    "replan, P_v = 0": (_AUGMENTED, {**_CERTAIN, "gate": None}),
    "replan, P_v = 0, with the gate": (_AUGMENTED, _CERTAIN),
    "replan, noise as printed, P_v = 0": (_AUGMENTED, _PRINTED),
    "variable structure, velocity continuous": (replace(STRATEGIES["variable structure"], continuity="velocity"), {}),
    "time augmentation, velocity continuous": (replace(_AUGMENTED, continuity="velocity"), {}),
}
FIGURE_SEED, FIGURE_SPEED = 3, 0.26


class Cell(NamedTuple):
    """Runs of one strategy at one speed.

    Attributes
    ----------
    runs : tuple of RunSummary
        By seed.
    """

    runs: tuple[RunSummary, ...]

    @property
    def rate(self) -> float:
        """Part of the runs that ended with a grasp."""
        return float(np.mean([run.success for run in self.runs]))

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of that part, at 95 %."""
        return wilson_interval([run.success for run in self.runs])

    @property
    def outcomes(self) -> dict[str, int]:
        """Return the outcomes of the runs with their counts, the most frequent first."""
        return dict(Counter(run.outcome for run in self.runs).most_common())

    def mean(self, name: str) -> float:
        """Mean of a field of the runs, without those that have none."""
        values = np.array([getattr(run, name) for run in self.runs], dtype=float)
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return rate, interval, outcomes and means."""
        names = ("plans", "fallbacks", "mean_jerk", "horizontal")
        means = {name: self.mean(name) for name in names} | {"relative_speed": self.mean("speed")}
        rates = {"runs": len(self.runs), "success": self.rate, "wilson_95": self.interval}
        return {**rates, **means, "outcomes": self.outcomes}


Key = tuple[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingObjects:
    """Results of the experiment.

    Attributes
    ----------
    arm, point, variants : dict of (str, float) to Cell
        By strategy and speed [m/s]: with the Panda following, with the planned point alone, and variants of that.
    examples : dict of str to ConveyorRun
        The run of Figure 37 with either strategy, of the planned point, and ``"arm"``, with the Panda.
    """

    arm: dict[Key, Cell]
    point: dict[Key, Cell]
    variants: dict[Key, Cell] = field(default_factory=dict)
    examples: dict[str, ConveyorRun] = field(default_factory=dict)

    def table(self) -> str:
        """Return Table 16 with the report's numbers beside ours, why runs fail, jerk and variants."""
        arm, jerk = [], []
        for (strategy, speed), cell in self.arm.items():
            ended = ", ".join(f"{n} {name}" for name, n in cell.outcomes.items())
            off, effort = (max(getattr(run, name) for run in cell.runs) for name in ("tracking", "effort"))
            arm.append([strategy, speed, ended, 1e3 * off, effort])
        for (strategy, speed), cell in self.point.items():
            means = (cell.mean(name) for name in ("plans", "fallbacks", "mean_jerk"))
            jerk.append([strategy, speed, *means, PRINTED_JERK.get(strategy)])
        ends = ["", "belt [m/s]", "ended", "off the plan, at most [mm]", "joint speed over its limit"]
        plans = ["", "belt [m/s]", "plans a run", "of them polynomials", "mean jerk [m/s^3]", 'report ["m/s^3"]']
        parts = [
            f"Table 16: success, Wilson's interval of 95 % in brackets\n\n{self._success()}",
            titled("How runs with the Panda ended", ends, arm),
            titled("Plans and jerk, with the planned point", plans, jerk),
            f"Variants, with the planned point\n\n{self._variants()}" if self.variants else "",
            "Differences from the report: docs/moving_objects.md, section 'Differences from the report'.",
        ]
        return "\n\n".join(filter(None, parts))

    plot = drawing("plot_moving_objects")

    def to_dict(self) -> dict[str, Any]:
        """Return all cells as numbers and texts."""
        parts = {"arm": self.arm, "point": self.point, "variants": self.variants}
        return {"table_16_printed": TABLE_16, "speeds": SPEEDS} | {
            name: [{"strategy": s, "speed": v, **cell.to_dict()} for (s, v), cell in cells.items()]
            for name, cells in parts.items()
        }

    def _success(self) -> str:
        rows = []
        for strategy in dict.fromkeys(key[0] for key in (*self.arm, *self.point)):
            printed = TABLE_16["no replan" if strategy == "no replan" else "replan"]
            for name, cells in (("Panda", self.arm), ("planned point", self.point)):
                found = [cells.get((strategy, speed)) for speed in SPEEDS]
                if not any(found):
                    continue
                runs = next(len(cell.runs) for cell in found if cell)
                texts = [text for cell, p in zip(found, printed, strict=True) for text in (f"{p:.0%}", _rate(cell))]
                rows.append([strategy, name, runs, *texts])
        header = [text for v in SPEEDS for text in (f"{v:g} m/s: report", "ours")]
        return markdown(["", "hand", "runs each", *header], rows)

    def _variants(self) -> str:
        rows = []
        for name in dict.fromkeys(key[0] for key in self.variants):
            cells = [self.variants.get((name, speed)) for speed in SPEEDS]
            jerk = [cell.mean("mean_jerk") for cell in cells if cell]
            rows.append([name, *map(_rate, cells), float(np.mean(jerk))])
        return markdown(["", *(f"{v:g} m/s" for v in SPEEDS), "mean jerk [m/s^3]"], rows)


def _rate(cell: Cell | None) -> str:
    if cell is None:
        return ""
    low, high = cell.interval
    return f"{cell.rate:.1%} [{low:.1%}, {high:.1%}]"


def _summary(job: tuple[int, Scenario]) -> RunSummary:
    return summary(*job)


def run_moving_objects(
    arm_seeds: int = 100,
    point_seeds: int = 200,
    variant_seeds: int = 60,
    *,
    workers: Workers = 1,
    progress: bool = False,
) -> MovingObjects:
    """Run the conveyor with each strategy at each speed.

    Parameters
    ----------
    arm_seeds, point_seeds, variant_seeds : int
        Runs of each with the Panda, with the planned point, and of the variants; 0 leaves them out.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show bars.
    """
    chosen = {name: Scenario(options=options) for name, options in STRATEGIES.items()}
    moved = {name: replace(scenario, arm=True) for name, scenario in chosen.items()}
    others = {
        name: Scenario(options=options, filter=tuple(given.items())) for name, (options, given) in VARIANTS.items()
    }
    parts = (("arm", moved, arm_seeds), ("point", chosen, point_seeds), ("variants", others, variant_seeds))
    jobs, places = [], []
    for part, named, seeds in parts:
        for name, speed in product(named, SPEEDS):
            scenario = replace(named[name], conveyor=named[name].conveyor.at(speed))
            jobs += [(seed, scenario) for seed in range(seeds)]
            places += [(part, (name, speed))] * seeds
    runs: dict[str, dict[Key, list[RunSummary]]] = {part: {} for part, _, _ in parts}
    found = map_items(_summary, jobs, workers=workers, progress=progress, description="conveyor")
    for (part, key), run in zip(places, found, strict=True):
        runs[part].setdefault(key, []).append(run)
    cells = {part: {key: Cell(tuple(some)) for key, some in each.items()} for part, each in runs.items()}
    base = Scenario(conveyor=Conveyor(FIGURE_SPEED))
    shown = {name: replace(base, options=STRATEGIES[name]) for name in ("variable structure", "time augmentation")}
    shown["arm"] = replace(base, options=STRATEGIES["time augmentation"], arm=True)
    examples = {name: run_conveyor(FIGURE_SEED, scenario) for name, scenario in shown.items()}
    return MovingObjects(**cells, examples=examples)


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> MovingObjects:
    """Run the experiment.

    Parameters
    ----------
    quick : bool
        Few runs and no variants.
    seeds : int, optional
        Runs with the Panda and with the planned point of each strategy at each speed.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    """
    few = (6, 20, 0) if quick else (100, 200, 60)
    arm, point, variants = few if seeds is None else (seeds, seeds, 0 if quick else min(seeds, 100))
    return run_moving_objects(arm, point, variants, workers=workers, progress=not quick)
