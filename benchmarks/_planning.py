"""Planning: human-like plans, searches for via points, movement primitives, time-optimal motions; C++ and Python."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Any

import _time_optimal
import numpy as np
from _build import Program, build_all, compilers
from _measure import Record, check_same_numbers, quietest, run
from _python import time_calls

from thunder_py.errors import NoPathError
from thunder_py.motion import DMP, FPCA, HumanLikePlanner, SplineBasis, ViaSearch
from thunder_py.motion.planning.obstacles import obstacle_set
from thunder_py.papers.human_like.scenarios import FAMILIES, Scenario, scenarios
from thunder_py.recordings import MotionSet, Trial
from thunder_py.recordings.synthetic import sigma_lognormal_reaches

COUNTS = (1000, 10000)
#: fPCA of the issue's size
TRIALS, SAMPLES = 3000, 150


def programs(quick: bool) -> list[Program]:
    """Return the programs to run: with the flags of a wheel, by every compiler; by the first one in a quick run."""
    return [Program("planning", compiler, "baseline") for compiler in compilers()[: 1 if quick else None]]


def results(arm: Path, quick: bool) -> dict[str, Any]:
    """Time everything about planning."""
    timed, failures = _programs(arm, quick)
    planner = HumanLikePlanner(FPCA(alignment="none", shrinkage=0.0).fit(sigma_lognormal_reaches(60, seed=1)))
    return {
        "planning": timed,
        "failures": failures,
        "planning_python": _python(planner, 20 if quick else 400),
        "scenarios": [_family(planner, k, n, 100 if quick else 2000) for k in FAMILIES for n in COUNTS],
        "time_optimal": _time_optimal.results(quick),
        "fpca": _fpca(300 if quick else TRIALS, 1 if quick else 3),
    }


def _programs(arm: Path, quick: bool) -> tuple[list[Record], list[dict[str, Any]]]:
    """Return the times, and how many searches of a kind found nothing."""
    built = build_all(programs(quick))
    counts = [2] if quick else [20, 5, 5]  # passes; with 20 and more, searches that fail are counted among many
    lines = [
        line
        for passes in counts
        for program in built[: 1 if passes == 20 else None]
        for line in run(program, arm, "--passes", str(passes), "--ticks", "20" if quick else "200")
    ]
    timed = quietest(line for line in lines if "failures" not in line)
    check_same_numbers([{**r, "quantity": f"{r['quantity']} {r['variant']}"} for r in timed])
    lost = sorted((r for r in lines if "failures" in r), key=lambda r: r["searches"])
    counted = {(r["quantity"], r["variant"]): r for r in lost}
    return timed, list(counted.values())


def _python(planner: HumanLikePlanner, rounds: int) -> list[dict[str, Any]]:
    """Time calls from Python: a plan, the rest of one, a search among three spheres, a step of a DMP."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    problems = scenarios(3, 64, 7)
    plans = [planner.plan(p.start, p.goal, p.duration) for p in problems]
    dmp = DMP().fit(sigma_lognormal_reaches(1, seed=2)[0])
    dmp.reset(np.zeros(3), np.ones(3), 1e6)
    calls = {
        "plan, 3 DoF": lambda k: planner.plan(problems[k].start, problems[k].goal, problems[k].duration),
        "replan": lambda k: planner.replan(plans[k], 0.4 * plans[k].duration, problems[k].goal + 0.02),
        "plan around 3 spheres, 1000 candidates": lambda k: _attempt(planner, problems[k], None),
        "DMP step, 3 DoF": lambda k: dmp.step(1e-3),
    }
    core, rest = planner._searches.of(planner._via), (None, None, None, None)
    sets = [obstacle_set(p.spheres) for p in problems]

    def search(k: int) -> Any:
        p = problems[k]
        return core.plan(p.start, p.goal, p.duration, sets[k], p.margin, 0.0, *rest)

    # how long a search takes depends on the problem: its core is timed on the same ones
    cores = {"plan around 3 spheres, 1000 candidates": time_calls(search, rounds)["median_ns"]}
    return [{"quantity": name, "core_ns": cores.get(name), **time_calls(call, rounds)} for name, call in calls.items()]


def _attempt(planner: HumanLikePlanner, p: Scenario, via: ViaSearch | None) -> bool:
    try:
        planner.plan(p.start, p.goal, p.duration, obstacles=p.spheres, margin=p.margin, via=via)
    except NoPathError:
        return False
    return True


def _family(planner: HumanLikePlanner, family: int, candidates: int, count: int) -> dict[str, Any]:
    """Plan in many settings of a family, from Python: times, and where nothing was found."""
    search, times, failures = ViaSearch(count=candidates), [], 0
    for problem in scenarios(family, count, 11):
        start = perf_counter()
        failures += not _attempt(planner, problem, search)
        times.append(perf_counter() - start)
    median, p99 = 1e6 * np.quantile(times, [0.5, 0.99])
    return {
        "family": family,
        "candidates": candidates,
        "settings": count,
        "failures": failures,
        "median_us": float(median),
        "p99_us": float(p99),
    }


def _fpca(trials: int, rounds: int) -> dict[str, float]:
    """Seconds that fits of many trials of six coordinates take, the best of some rounds."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    reaches = sigma_lognormal_reaches(30, seed=3).to_array(SAMPLES)
    rng = np.random.default_rng(4)
    progress = np.linalg.norm(reaches - reaches[:, :1], axis=2, keepdims=True)
    few = np.concatenate([reaches, progress * rng.normal(scale=0.8, size=(30, 1, 3))], axis=2)  # turning on the way
    many = few[rng.integers(0, len(few), trials)]
    t = np.linspace(0.0, 1.0, SAMPLES)
    dofs = ("x", "y", "z", "rx", "ry", "rz")
    motions = MotionSet([Trial(t, x + 1e-3 * rng.normal(size=x.shape), dofs) for x in many])
    ways = {
        "per coordinate": FPCA(basis=SplineBasis(15), alignment="none", shrinkage=0.0),
        "joint, aligned": FPCA(basis=SplineBasis(15), joint=True, alignment="path", shrinkage=0.01),
        "joint, aligned, share of minimum jerk chosen": FPCA(
            basis=SplineBasis(15), joint=True, alignment="path", shrinkage="auto"
        ),
    }
    found = {"trials": float(trials)}
    for name, fpca in ways.items():
        seconds = []
        for _ in range(rounds):
            start = perf_counter()
            fpca.fit(motions)
            seconds.append(perf_counter() - start)
        found[name] = min(seconds)
    return found
