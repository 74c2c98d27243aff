"""Check that a sweep on a Dask cluster equals the serial one bit for bit, with a killed worker and a killed scheduler.

Runs of adaptive control are simulated in this process; on a local cluster of two processes, one of which is killed in
the middle; on one whose scheduler is killed in the middle, after which the same call goes on with another cluster; and
on one that loses both.

    python tools/sweep_check.py [--runs 10000]
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

import thunder_py as th
from thunder_py import samples
from thunder_py.simulation import Runs

WORKERS = 2


def make(K_d: float, mass: float, seed: int) -> th.RunSpec:
    """Return a run of Slotine-Li's law with noisy sensors and a payload unknown to it."""
    robot = th.Robot.load("elbow")
    law = th.SlotineLi(robot, Lambda=5.0, K_d=K_d, adaptation=2.0)
    motion = th.reference.Sinusoid([0.8, 0.6], [0.5, 0.8])
    sensors = th.Sensors(position_noise=1e-4, velocity_noise=1e-3, seed=seed)
    return th.RunSpec(
        robot, law, motion, 0.5, sensors=sensors, payloads=th.Payload(mass, (0.1, 0.0, 0.0)), log_every=10
    )


def parameters(count: int) -> list[dict[str, Any]]:
    """Return random gains and payloads, with a seed for each."""
    ranges = samples.random(count, 0, K_d=(4.0, 12.0), mass=(0.0, 0.5))
    return [{**values, "seed": k} for k, values in enumerate(ranges)]


def digest(result: th.SimulationResult) -> str:
    """Return a digest of every bit of a result."""
    arrays = (value for name, value in result.to_dict().items() if name != "names")
    return hashlib.sha256(b"".join(value.tobytes() for value in arrays)).hexdigest()


METRICS = {"rmse": th.SimulationResult.rmse, "estimate": lambda result: result.parameters[-1], "digest": digest}


class LocalCluster:
    """Scheduler and workers in processes of their own, on this machine."""

    def __init__(self, folder: Path) -> None:
        from distributed import Client

        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # of the loss of its scheduler
        file = folder / "scheduler.json"
        file.unlink(missing_ok=True)
        options = [f"--scheduler-file={file}", "--no-dashboard"]
        local = [f"--nworkers={WORKERS}", "--nthreads=1", f"--local-directory={folder}"]
        with open(folder / "dask.log", "ab") as log:
            self.scheduler = _start(log, "distributed.cli.dask_scheduler", "--host=127.0.0.1", "--port=0", *options)
            self._nanny = _start(log, "distributed.cli.dask_worker", *local, *options)
        self.client = Client(scheduler_file=str(file), timeout=60)
        self.client.wait_for_workers(WORKERS, timeout=60)

    def kill_worker(self) -> str:
        """Kill one of the workers."""
        pid = min(self.client.run(os.getpid).values())
        os.kill(pid, signal.SIGKILL)
        return f"killed worker process {pid}"

    def kill_scheduler(self) -> str:
        """Kill the scheduler."""
        self.scheduler.kill()
        return f"killed the scheduler, process {self.scheduler.pid}"

    def __enter__(self) -> LocalCluster:
        """Return the cluster."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.client.close(timeout=2)
        for process in (self._nanny, self.scheduler):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the workers
            process.wait()


def _start(log: IO[bytes], module: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def once_at(*actions: tuple[float, Callable[[], str]]) -> Callable[[float], None]:
    """Return a progress callback that acts once at each fraction."""
    waiting = sorted(actions, key=lambda action: action[0])

    def report(done: float) -> None:
        while waiting and done >= waiting[0][0]:
            print(f"at {100.0 * done:.0f} %: {waiting.pop(0)[1]()}", flush=True)

    return report


def sweep(sets: Sequence[dict[str, Any]], **options: Any) -> Runs:
    """Simulate, and print what it took."""
    start = time.perf_counter()
    runs = th.simulate_many(make, sets, metrics=METRICS, **options)
    print(f"{runs!r} in {time.perf_counter() - start:.1f} s", flush=True)
    return runs


def on_cluster(
    sets: Sequence[dict[str, Any]], folder: Path, worker: float | None = None, scheduler: float | None = None
) -> Runs | None:
    """Simulate on a cluster whose worker and scheduler are killed at fractions of the runs; None if that ends it."""
    store = folder / "sweep"
    with LocalCluster(folder) as cluster:
        actions = [(worker, cluster.kill_worker), (scheduler, cluster.kill_scheduler)]
        killers = once_at(*((part, action) for part, action in actions if part is not None))
        try:
            return sweep(sets, workers=cluster.client, store=store, progress=killers)
        except RuntimeError as error:
            print(f"{error}; in the store: {Runs.load(store)!r}", flush=True)
            return None


def contents(runs: Runs) -> list[list[bytes]]:
    """Return the bytes of all metrics of each run."""
    return [[np.asarray(value).tobytes() for value in row] for row in zip(*runs.columns().values(), strict=True)]


def report(runs: Runs | None, expected: Runs) -> bool:
    """Print and return whether all runs are equal to the last bit."""
    if runs is None:
        return False
    equal = sum(a == b for a, b in zip(contents(runs), contents(expected), strict=True))
    again = sum(attempts > 1 for attempts in runs.to_pandas()["attempts"])
    print(
        f"equal to the last bit: {equal} of {len(runs)} runs; {len(runs.provenance)} sessions, {again} runs tried "
        "again (without the batches of a killed worker, which Dask itself gives to another one)"
    )
    return equal == len(runs) and not runs.failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the sweeps; return 0 if they are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, metavar="N", help="runs of each sweep (default 10000)")
    options = parser.parse_args(arguments)
    sets = parameters(options.runs)
    print("serial:", flush=True)
    expected = sweep(sets, workers=1)
    good = True
    for worker, scheduler in ((0.5, None), (None, 0.5), (0.3, 0.6)):
        names = [name for name, part in (("worker", worker), ("scheduler", scheduler)) if part is not None]
        print(f"cluster of {WORKERS} processes, {' and '.join(names)} killed:", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            runs = on_cluster(sets, Path(folder), worker, scheduler)
            good = report(runs or on_cluster(sets, Path(folder)), expected) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
