"""Many runs: beside MuJoCo's rollout, and what sending runs to workers costs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from _loop import LAWS, START

import thunder_py as th
from thunder_py.parallel import run_tasks, shared_workers

#: free motions: number, duration [s], step [s]
MOTIONS, SECONDS, STEP = 256, 1.0, 1e-3
#: durations of a run [s], and how many runs of it
LENGTHS = {0.01: 1000, 0.1: 200, 1.0: 20}
WORKERS = 2
SHORT = 100_000


def results(quick: bool) -> dict[str, Any]:
    """Measure free motions beside MuJoCo, overhead of workers and memory of many short runs."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    found = {"free": free_motions(MOTIONS // (8 if quick else 1), 1 if quick else 5)}
    from distributed import Client, LocalCluster

    with (
        shared_workers(),
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        kinds: dict[str, Any] = {"worker processes": WORKERS, "Dask": client}
        for workers in kinds.values():
            th.simulate_many(_run, [{"duration": 0.01}] * 8, workers=workers)  # imports
        found["overhead"] = []
        for length, count in LENGTHS.items():
            sets = [{"duration": _duration(length)}] * (count // (10 if quick else 1))
            alone = by_themselves(sets)
            found["overhead"] += [overhead(name, workers, length, sets, alone) for name, workers in kinds.items()]
        found["memory"] = [memory(name, workers, SHORT // (20 if quick else 1)) for name, workers in kinds.items()]
    return {"sweeps": found}


def free_motions(count: int, rounds: int) -> dict[str, Any]:
    """Return runs per second of the Panda without gravity, gains of 1e-9, RK4, beside `mujoco.rollout`."""
    import mujoco
    from mujoco import rollout

    from thunder_py.mujoco import MujocoPlant

    cores, rng = os.cpu_count() or 1, np.random.default_rng(0)
    robot = th.Robot.load("panda").replace(gravity=np.zeros(3))
    q0, dq0 = START + rng.uniform(-0.5, 0.5, (count, 7)), rng.uniform(-0.5, 0.5, (count, 7))
    model = MujocoPlant(robot, timestep=STEP, integrator="rk4").model
    model.opt.timestep = STEP
    states = np.column_stack([np.zeros(count), q0, dq0])
    data = [mujoco.MjData(model) for _ in range(cores)]
    steps = round(SECONDS / STEP)

    def theirs() -> Any:
        return rollout.rollout(model, data, states, nstep=steps)[0][:, -1, 1:8]

    def ours() -> Any:
        specs = [
            th.RunSpec(
                robot,
                th.PDGravity(robot, 1e-9, 1e-9),
                th.reference.SetPoint(START),
                SECONDS,
                STEP,
                q0=q,
                dq0=dq,
                log=[],
            )
            for q, dq in zip(q0, dq0, strict=True)
        ]
        return np.array([run.q[-1] for run in th.simulate_many(specs)])

    (our_seconds, our_ends), (their_seconds, their_ends) = _best(ours, rounds), _best(theirs, rounds)
    difference = float(np.abs(our_ends - their_ends).max())
    assert difference < 1e-6, f"the same motions, to {difference:g} rad"
    return {
        "cores": cores,
        "steps": steps,
        "ours": count / our_seconds,
        "theirs": count / their_seconds,
        "version": mujoco.__version__,
        "difference": difference,
    }


def _best(function: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    times = []
    for _ in range(rounds):
        start = perf_counter()
        result = function()
        times.append(perf_counter() - start)
    return min(times), result


def _run(duration: float) -> th.RunSpec:
    return LAWS["SlotineLi"](duration)


def by_themselves(sets: list[dict[str, float]]) -> float:
    """Return how long processes take that each simulate their share of the runs, and share nothing [s]."""
    context = get_context("spawn")
    together, times = context.Barrier(WORKERS), context.SimpleQueue()
    share = len(sets) // WORKERS
    processes = [context.Process(target=_simulate, args=(sets[:share], together, times)) for _ in range(WORKERS)]
    for process in processes:
        process.start()
    spent = max(times.get() for _ in processes)
    for process in processes:
        process.join()
    return float(spent)


def _simulate(sets: list[dict[str, float]], together: Any, times: Any) -> None:
    th.simulate_many(_run, sets[:2], metrics=["rmse"], workers=1)  # imports
    together.wait()
    start = perf_counter()
    th.simulate_many(_run, sets, metrics=["rmse"], workers=1)
    times.put(perf_counter() - start)


def overhead(name: str, workers: Any, length: float, sets: list[dict[str, float]], alone: float) -> dict[str, Any]:
    """Return the share of the workers' time that is no run, and the speed beside processes that share nothing."""

    def wall(**options: Any) -> tuple[float, float]:
        start = perf_counter()
        runs = th.simulate_many(_run, sets, metrics=["rmse"], **options)
        spent = perf_counter() - start
        assert not runs.failures
        return spent, float(np.sum(runs.to_pandas()["seconds"]))

    spent, busy = wall(workers=workers)
    with tempfile.TemporaryDirectory() as folder:
        stored, stored_busy = wall(workers=workers, store=Path(folder, "sweep"))
    return {
        "workers": name,
        "length": length,
        "count": len(sets),
        "overhead": 1.0 - busy / (WORKERS * spent),
        "with_store": 1.0 - stored_busy / (WORKERS * stored),
        "efficiency": alone / spent,
    }


def _duration(length: float) -> float:
    """Return the simulated time that takes so long [s]."""
    start = perf_counter()
    LAWS["SlotineLi"](10.0)()
    return max(0.01, round(10.0 * length / (perf_counter() - start), 3))


def memory(name: str, workers: Any, count: int) -> dict[str, Any]:
    """Return what this process, with the scheduler of a local cluster in it, grows by after a tenth of short runs."""
    start, first = perf_counter(), 0.0
    for done, _ in enumerate(run_tasks(_short, range(count), workers=workers), start=1):
        if done == count // 10:
            first = _resident()
    return {
        "workers": name,
        "count": count,
        "growth_mb": _resident() - first,
        "resident_mb": _resident(),
        "us": 1e6 * (perf_counter() - start) / count,
    }


def _short(seed: int) -> float:
    return float(np.sin(seed))


def _resident() -> float:
    """Return the resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return 1e-6 * pages * os.sysconf("SC_PAGE_SIZE")
