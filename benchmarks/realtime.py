"""Measure `RealtimeLoop` at 1 kHz: an adaptive controller, an observer and limits on the Panda's simulated drive.

The thread asks for SCHED_FIFO on the last core, and for locked memory; the outcome is part of the result, because not
every system allows them. A library that counts the allocations of that thread is loaded before the C library, if there
is a C compiler:

    python benchmarks/realtime.py --minutes 60 --json hour.json
    python benchmarks/run.py --realtime --realtime-results hour.json --markdown docs/benchmarks.md

The second command writes the table from the file; without one it measures for ten minutes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py.realtime import DriveFacts, LoopStatistics, RealtimeLoop, SafetyLimits, SimulatedRobot

#: a pause of the machine is counted instead of ending the run; `SafetyLimits` stops an arm after 10 unless told
MOST_MISSED = 1000
START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
PRIORITY = 80
#: time between two looks at the log, and at the system's load [s]
LOOK = 5.0
TIMES = ("period", "latency", "computing")


def make_loop(seconds: float, priority: int, core: int, lock: bool) -> RealtimeLoop:
    """Return a loop of the Panda, of whose last link and 1.2 kg payload the controller knows nothing."""
    robot = th.Robot.load("panda")
    facts = DriveFacts(robot.joint_names, 1e-3, 1e-3, robot.limits.effort, 1000.0)
    drive = SimulatedRobot(robot, START, facts, payloads=th.Payload(1.2, (0.0, 0.0, 0.1)))
    inertial = robot.inertial.copy()
    inertial[6] *= 0.5
    law = th.SlotineLi(
        robot.replace(inertial=inertial),
        Lambda=20.0,
        K_d=[4.0, 50.0, 5.5, 14.0, 1.2, 0.9, 0.23],
        adaptation=th.control.GradientAdaptation(0.05, unknown="link7"),
    )
    amplitude, frequency = np.full(7, 0.2), np.linspace(0.11, 0.23, 7)
    reference = th.reference.Sinusoid(amplitude, frequency, center=START)
    detector = th.control.ContactDetector(np.array([60.0, 60.0, 60.0, 60.0, 15.0, 15.0, 15.0]))
    return RealtimeLoop(
        drive,
        robot,
        law,
        reference,
        limits=SafetyLimits.of(
            robot, obstacles=[th.geometry.HalfSpace([0.0, 0.0, -0.5], [0.0, 0.0, 1.0])], most_missed=MOST_MISSED
        ),
        observer=th.control.MomentumObserver(robot, 20.0, detector=detector),
        duration=seconds,
        priority=priority,
        core=core,
        lock_memory=lock,
        log=("error", "parameters"),
        log_time=10.0 * LOOK,
        log_every=10,
    )


def measure(seconds: float, priority: int, core: int, lock: bool) -> dict[str, Any]:
    """Run a loop in this process, and read its log meanwhile, as a program would."""
    loop = make_loop(seconds, priority, core, lock)
    counter = ctypes.CDLL(None) if "THUNDER_COUNTED" in os.environ else None
    loads, errors = [], []
    stolen = stolen_time(core)
    with loop:
        while not loop.join(LOOK):
            if counter is not None and not loads:
                counter.watch_thread(loop.statistics().thread)
            loads.append(os.getloadavg()[0])
            errors.append(float(np.abs(loop.log().signals["error"]).max()))
            if sys.stderr.isatty():
                print(f"\r{loop.statistics().t:6.0f} s", end="", file=sys.stderr, flush=True)
        allocations = None if counter is None else int(counter.watched_allocations())
    assert loop.reason is not None
    found = loop.statistics()
    return {
        **timings(found),
        "reason": loop.reason.value,
        "minutes": found.t / 60.0,
        "allocations": allocations,
        "stolen": stolen_time(core) - stolen,
        "load": [float(np.mean(loads)), float(np.max(loads))] if loads else [0.0, 0.0],
        "largest_error_after_a_minute": max(errors[int(60.0 / LOOK) :], default=0.0),
        "core": core,
        "priority": priority,
        "date": time.strftime("%Y-%m-%d"),
    }


def stolen_time(core: int) -> float:
    """Return the time that a hypervisor has taken from a core [s], which Linux knows on virtual machines."""
    lines = Path("/proc/stat").read_text().splitlines()
    fields = next((line.split() for line in lines if line.startswith(f"cpu{core} ")), ["", *["0"] * 8])
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def timings(found: LoopStatistics) -> dict[str, Any]:
    """Return the quantiles in microseconds, and the counts."""
    counts = ("cycles", "missed", "worst_missed", "overruns", "minor_faults", "major_faults", "waits", "preemptions")
    quantiles = {}
    for name in TIMES:
        q = getattr(found, name)
        quantiles[name] = [1e6 * q.quantile(part) for part in (0.5, 0.99, 0.999)] + [1e6 * q.worst]
    return {
        **{name: getattr(found, name) for name in counts},
        "log_dropped": found.log_dropped,
        "settings": found.settings,
        "processor_percent": 100.0 * found.processor_time / max(found.t, 1e-9),
        "microseconds": quantiles,
    }


def counting_library(folder: Path) -> dict[str, str]:
    """Return the environment that counts allocations; empty without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return {}
    library, source = folder / "allocations.so", Path(__file__).with_name("_allocations.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return {"LD_PRELOAD": str(library), "THUNDER_COUNTED": "1"}


def results(minutes: float, priority: int = PRIORITY, core: int | None = None, lock: bool = True) -> dict[str, Any]:
    """Measure in a process of its own."""
    chosen = (os.cpu_count() or 1) - 1 if core is None else core
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | counting_library(Path(folder))
        command = [sys.executable, __file__, "--measure", "--minutes", str(minutes), "--core", str(chosen)]
        command += ["--priority", str(priority), *([] if lock else ["--no-lock"])]
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(output)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="default 10")
    parser.add_argument(
        "--priority", type=int, default=PRIORITY, help=f"of SCHED_FIFO, 0 for none (default {PRIORITY})"
    )
    parser.add_argument("--core", type=int, help="default the last one")
    parser.add_argument("--no-lock", action="store_true", help="leave memory unlocked")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the result")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(60.0 * arguments.minutes, arguments.priority, arguments.core, not arguments.no_lock)))
        return
    found = results(arguments.minutes, arguments.priority, arguments.core, not arguments.no_lock)
    text = json.dumps(found, indent=1)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
