"""D4.2, Table 16, over quantities that the report does not print, and readings of its single plan."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...manipulation.interception.conveyor import Conveyor, GraspTolerance, MeasurementModel
from ...manipulation.interception.interceptor import InterceptionOptions
from ...manipulation.interception.runs import Scenario
from ...parallel import Workers, map_seeds
from ..drawing import drawing
from ..sweeps.several import chosen
from ..sweeps.sweep import FreeParameter, Sweep, sweep
from ..tables import markdown
from .run import SPEEDS, STRATEGIES, TABLE_16
from .single_plan import ENTRIES, SinglePlans, closes_on, plans_of, run_single_plans

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
    sweep : Sweep
        Table 16 over unprinted quantities.
    single : SinglePlans
        Readings of the single plan.
    together : tuple of dict of str to float
        Both rows of Table 16 [%] for each of `TOGETHER`.
    """

    sweep: Sweep
    single: SinglePlans
    together: tuple[dict[str, float], ...]

    def table(self) -> str:
        """Return the sweep, the readings of the single plan, and both rows with the same settings."""
        cells = list(self.sweep.printed)
        rows: list[list[object]] = [["report", *(f"{self.sweep.printed[cell]:.0f}" for cell in cells)]]
        for settings, found in zip(TOGETHER, self.together, strict=True):
            words = ", ".join(f"{_LABELS[name]} {value:g}" for name, value in settings.items())
            rows.append([words or "nominal", *(f"{found[cell]:.0f}" for cell in cells)])
        both = f"Table 16, both rows with the same settings\n\n{markdown(['', *cells], rows)}"
        return f"{self.sweep.table()}\n\n{self.single.table()}\n\n{both}"

    def to_dict(self) -> dict[str, Any]:
        """Return all shares."""
        together = [{"settings": s, "success": f} for s, f in zip(TOGETHER, self.together, strict=True)]
        return {"sweep": self.sweep.to_dict(), "single_plans": self.single.to_dict(), "together": together}

    plot = drawing("plot_moving_objects_sweeps")


def run_moving_objects_sweeps(
    runs: int = 40, names: Collection[str] = (), *, combined: int = 40, workers: Workers = 1, progress: bool = False
) -> MovingObjectsSweeps:
    """Sweep Table 16 and try the readings of its single plan.

    Parameters
    ----------
    runs : int
        Number of runs of each cell.
    names : collection of str
        Quantities of `UNPRINTED` to sweep; default all. With some, readings are tried at one distance of view only.
    combined : int
        Number of random combinations of the quantities.
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
    function = partial(table_16, runs=runs)
    title = "D4.2, Table 16: grasped objects"
    entries = ENTRIES[:1] if names else ENTRIES
    return MovingObjectsSweeps(
        sweep=sweep(title, function, swept, printed, combined=combined, workers=workers, progress=progress),
        together=tuple(map_seeds(partial(_both_rows, runs), len(TOGETHER), workers=workers, description="both rows")),
        single=run_single_plans(runs, entries, workers=workers, progress=progress),
    )


def run(quick: bool = False, *, seeds: int | None = None, workers: Workers = 1) -> MovingObjectsSweeps:
    """Run the experiment of the registry: `seeds` runs of each cell; the short form sweeps three quantities."""
    runs = (4 if quick else 40) if seeds is None else seeds
    few = ("entry", "noise", "wait") if quick else ()
    return run_moving_objects_sweeps(runs, few, combined=0 if quick else 40, workers=workers, progress=not quick)


def _both_rows(runs: int, number: int) -> dict[str, float]:
    return table_16(runs=runs, **TOGETHER[number])
