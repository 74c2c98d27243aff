"""A replan inside the control loop, from measurement to reference: C++ and Python; and runs of the conveyor."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from time import perf_counter, perf_counter_ns
from typing import Any

import numpy as np
from _build import Program, build_all, compilers
from _measure import Record, check_same_numbers, quietest, run

from thunder_py.manipulation.interception import InterceptionOptions, Interceptor, MeasurementModel
from thunder_py.manipulation.interception.runs import Scenario, default_belt, default_planner, summary
from thunder_py.parallel import map_seeds

#: at most, warm [us]
GOALS = {"C++": 15.0, "Python": 100.0}
#: of 1000 runs, on two cores [s]
CONVEYOR_SECONDS = 60.0


def programs(quick: bool) -> list[Program]:
    """Return the programs to run: with the flags of a wheel, by every compiler; by the first one in a quick run."""
    return [Program("interception", compiler, "baseline") for compiler in compilers()[: 1 if quick else None]]


def results(arm: Path, quick: bool) -> dict[str, Any]:
    """Time everything about interception."""
    timed, counted = _programs(arm, quick)
    return {
        "interception": timed,
        "interception_replans": counted,
        "interception_python": python_replan(20 if quick else 400),
        "conveyor": [conveyor(20 if quick else 1000, arm=arm_follows) for arm_follows in (False, True)],
    }


def _programs(arm: Path, quick: bool) -> tuple[list[Record], list[dict[str, Any]]]:
    """Return the times, and how many calls made a new plan."""
    options = ["--passes", "2", "--ticks", "20"] if quick else ["--passes", "20", "--ticks", "400"]
    built = build_all(programs(quick))
    lines = [line for _ in range(1 if quick else 3) for program in built for line in run(program, arm, *options)]
    timed = quietest(line for line in lines if "replans" not in line)
    check_same_numbers([{**r, "quantity": f"{r['quantity']} {r['variant']}"} for r in timed])
    counted = {(r["quantity"], r["variant"]): r for r in lines if "replans" in r}
    return timed, list(counted.values())


def python_replan(rounds: int) -> dict[str, float]:
    """Time ``measure`` and ``reference`` of an `Interceptor` where the measurement calls for a new plan [us]."""
    scenario, times = Scenario(camera=MeasurementModel(outliers=0.0)), []
    options = InterceptionOptions(threshold=1e-9)
    hand = Interceptor(default_planner(), default_belt(), _start(), options=options)
    for seed in range(rounds):
        hand.reset()
        _, feed = scenario.world(seed)
        for taken, available, p in zip(*(part[np.argsort(feed.available)] for part in feed), strict=True):
            before = len(hand._plans)
            start = perf_counter_ns()
            hand.measure(available, taken, p)
            hand.reference(available)
            stop = perf_counter_ns()
            if len(hand._plans) > before > 0:
                times.append(1e-3 * (stop - start))
    median, p99, p999 = np.quantile(times, [0.5, 0.99, 0.999])
    return {"replans": len(times), "median_us": float(median), "p99_us": float(p99), "p999_us": float(p999)}


def conveyor(runs: int, *, arm: bool, jobs: int = 2) -> dict[str, Any]:
    """Time runs of the conveyor at 0.26 m/s in two processes, their start included [s]."""
    start = perf_counter()
    found = map_seeds(partial(summary, scenario=Scenario(arm=arm)), runs, workers=jobs)
    seconds = perf_counter() - start
    success = float(np.mean([run.success for run in found]))
    return {"runs": runs, "arm": arm, "jobs": jobs, "seconds": seconds, "success": success}


def _start() -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = np.diag([1.0, -1.0, -1.0])
    T[:3, 3] = [0.434, 0.0, 0.542]
    return T


if __name__ == "__main__":
    print(python_replan(200))
    for follows in (False, True):
        print(conveyor(1000, arm=follows))
