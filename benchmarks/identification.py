"""Time and memory of the identification of a Panda from logs on disk that are larger than the memory it uses.

Logs of positions with the noise of encoders, and of noisy torques, are written as NPZ files. A process of its own then
identifies all parameters from them, and prints its time, the most memory it had, and how many base parameters lie
within their 95 % confidence intervals of the truth:

    python benchmarks/identification.py --samples 10000000 --logs 20 --folder /tmp/logs
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.identification import identify

PERIOD, CUTOFF = 1e-3, 30.0
ENCODER = 1e-5
TORQUE = np.array([1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3])
CENTER = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.9, 0.0])


def truth() -> th.Robot:
    return th.Robot.load("panda")


def guess() -> th.Robot:
    factors = np.exp(np.random.default_rng(1).normal(scale=0.3, size=(7, 1)))
    return truth().replace(inertial=truth().inertial * factors)


def write_log(path: Path, samples: int, seed: int) -> None:
    """Write a log with five tones in each joint, from 0.05 to 1 Hz."""
    robot, rng = truth(), np.random.default_rng(seed)
    t = np.arange(samples) * PERIOD
    q, dq, ddq = np.tile(CENTER, (samples, 1)), np.zeros((samples, 7)), np.zeros((samples, 7))
    for _ in range(5):
        amplitude, w, phase = rng.uniform(0.05, 0.2, 7), 2 * np.pi * rng.uniform(0.05, 1.0, 7), rng.uniform(0, 6, 7)
        sine, cosine = np.sin(np.outer(t, w) + phase), np.cos(np.outer(t, w) + phase)
        q += amplitude * sine
        dq += amplitude * w * cosine
        ddq -= amplitude * w**2 * sine
    tau = robot.inverse_dynamics(q, dq, ddq) + TORQUE * rng.normal(size=q.shape)
    np.savez(path, t=t, q=q + ENCODER * rng.normal(size=q.shape), tau=tau)


def measure(paths: list[Path], threads: int) -> dict[str, float]:
    """Identify in this process."""
    start, before = time.perf_counter(), time.process_time()
    found = identify(guess(), paths, cutoff=CUTOFF, threads=threads)
    seconds, processor = time.perf_counter() - start, time.process_time() - before
    errors = found.base_parameters - found.base.mapping @ truth().parameters
    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    low, high = found.intervals().T - found.base_parameters
    inside = (-errors >= low) & (-errors <= high)
    return {
        "samples": found.count,
        "logs": len(paths),
        "seconds": seconds,
        "processor_seconds": processor,
        "memory_MB": peak / 1000.0,
        "inside_95": int(inside.sum()),
        "base_parameters": found.base.count,
        "largest_error_in_standard_deviations": float(np.abs(errors / found.standard_deviations).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000, help="of all logs together (default 10 000 000)")
    parser.add_argument("--logs", type=int, default=20, help="number of files (default 20)")
    parser.add_argument("--threads", type=int, default=2, help="default 2")
    parser.add_argument("--folder", type=Path, help="where to keep the logs (default a temporary folder)")
    parser.add_argument("--measure", type=Path, nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.threads)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"log{k:03d}.npz" for k in range(arguments.logs)]
        for k, path in enumerate(paths):
            if not path.exists():
                write_log(path, arguments.samples // arguments.logs, k)
        command = [sys.executable, __file__, "--threads", str(arguments.threads), "--measure", *map(str, paths)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
