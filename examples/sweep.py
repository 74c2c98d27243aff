"""Find a gain of an adaptive law by a sweep over gains, payloads and seeds of the sensors' noise.

The Panda picks up a payload that its controller does not know. Every result is written as it comes: after Ctrl-C, a
crash or a power cut the same command goes on where it was.

    python examples/sweep.py sweep --picture sweep.png                             two worker processes
    python examples/sweep.py --jobs -1                                             one for each core, no folder
    python examples/sweep.py sweep --cluster tcp://host:8786                       the workers of a Dask cluster
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack

import thunder_py as th
from thunder_py import samples
from thunder_py.parallel import connect
from thunder_py.simulation import Runs

START = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
GAINS, MASSES = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0), (0.0, 0.5, 1.0, 2.0)
METRICS = ("steady_state_error", "torque_rms", "status")


def make(gain: float, mass: float, seed: int, duration: float) -> th.RunSpec:
    """Return the run of one set of parameters; workers call it, wherever they are."""
    robot = th.Robot.load("panda")
    K_d = [gain] * 4 + [0.1 * gain] * 3
    adaptation = th.control.GradientAdaptation(Gamma=1.0, unknown="link7")
    law = th.SlotineLi(robot, Lambda=5.0, K_d=K_d, adaptation=adaptation)
    motion = th.reference.Sinusoid([0.3] * 7, [0.3] * 7, center=START)
    sensors = th.Sensors(position_noise=1e-4, velocity_noise=2e-2, seed=seed)
    payload = th.Payload(mass, (0.0, 0.0, 0.1), time=0.25 * duration)
    return th.RunSpec(robot, law, motion, duration, sensors=sensors, payloads=payload, log_every=10)


def main(arguments: Sequence[str] | None = None) -> Runs:
    """Sweep, print the best gain for each payload, and draw the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?", help="folder of the results, which are otherwise kept in memory only")
    parser.add_argument("--seeds", type=int, default=5, help="seeds for each gain and payload (default 5)")
    parser.add_argument("--duration", type=float, default=8.0, help="simulated time of a run [s] (default 8)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes; 1 for this one, -1 for one per core")
    parser.add_argument("--cluster", metavar="ADDRESS", help="scheduler of a Dask cluster")
    parser.add_argument("--picture", metavar="FILE", help="file of the figure")
    options = parser.parse_args(arguments)
    sets = samples.grid(gain=GAINS, mass=MASSES, seed=range(options.seeds), duration=options.duration)
    with ExitStack() as stack:
        workers = stack.enter_context(connect(options.cluster)) if options.cluster else options.jobs
        runs = th.simulate_many(make, sets, workers=workers, store=options.store, metrics=METRICS, progress=True)
    errors = runs.to_pandas().groupby(["mass", "gain"])["steady_state_error [rad]"].median()
    for mass in MASSES:
        gain, error = errors[mass].idxmin(), errors[mass].min()
        print(f"payload {mass:g} kg: least error {1e3 * error:.2f} mrad with the gain {gain:g}")
    print(f"{len(runs)} runs, {len(runs.failures)} failed; {len(runs.provenance)} sessions")
    if options.picture:
        draw(runs, options.picture)
    return runs


def draw(runs: Runs, path: str) -> None:
    """Draw the error over gains, and over gains and payloads."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    runs.plot_metric("steady_state_error", "gain", log=True, ax=left).set_xscale("log")
    runs.plot_metric("steady_state_error", "gain", "mass", log=True, ax=right)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
