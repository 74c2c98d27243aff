"""``thunder demo``: the Thunder article's main experiment."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from ..checks import within
from ..files import whole_file
from ..table import Table
from .text import argument, check_picture, check_target, number

if TYPE_CHECKING:
    from ..papers import LissajousPanda

_SHORTEST, _LONGEST = 0.1, 3600.0  # [s]

HELP = "adaptive against fixed control of a Panda: the Thunder article's experiment"
DESCRIPTION = """\
A Franka Emika Panda follows a Lissajous curve at constant orientation. The controller's model of the last link is
a body of 2.5 kg with the center of mass 20 cm off in every direction; the true mass is 0.74 kg. Adaptive
backstepping in task space estimates the parameters while it tracks; the same law without adaptation runs for
comparison. Control and simulation at 1 kHz.
"""

EPILOG = """\
examples:
  thunder demo                           progress, tables, and the picture thunder_demo.png
  thunder demo --duration 20 --output curve.pdf
  thunder demo --json --no-plot > figures.json
  thunder demo --save run.npz            then, in Python:

    run = thunder_py.SimulationResult.load("run.npz")
    run.t, run.q, run.error, run.parameters           the run with adaptation
    run.signals["fixed_q"], run.signals["fixed_error"]   the run without
"""


_duration = argument(
    lambda text: within(float(text), "duration", _SHORTEST, _LONGEST),
    f"must be a time of {_SHORTEST:g} to {_LONGEST:g} seconds",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("--duration", type=_duration, default=40.0, metavar="S", help="simulated time, default 40 s")
    parser.add_argument("--save", type=Path, metavar="RUN.npz", help="write both runs to this file")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON instead of tables")
    parser.add_argument(
        "--output", type=Path, default=Path("thunder_demo.png"), metavar="FILE", help="the picture: .png, .pdf or .svg"
    )
    parser.add_argument("--no-plot", action="store_true", help="draw no picture")


def run(arguments: argparse.Namespace) -> None:
    """Run the experiment, write its files, print its figures."""
    picture: Path | None = None if arguments.no_plot else arguments.output
    if arguments.save is not None:
        check_target(arguments.save, "--save", (".npz",))
    if picture is not None:
        check_picture(picture, "--output")
    from ..papers import run_lissajous_panda

    experiment = run_lissajous_panda(arguments.duration, progress=True)
    if arguments.save is not None:
        experiment.save(arguments.save)
    if picture is not None:
        import matplotlib as mpl

        mpl.use("agg")  # no window, whatever the screen
        with whole_file(picture) as temporary:
            experiment.plot().savefig(temporary, dpi=130)
    files = {"picture": picture, "runs": arguments.save}
    if arguments.json:
        names = {kind: None if path is None else str(path) for kind, path in files.items()}
        print(json.dumps({**experiment.to_dict(), "files": names}, indent=2, allow_nan=False))
        return
    print(_report(experiment))
    for kind, path in files.items():
        if path is not None:
            print(f"{kind:8} {path}")


def _report(experiment: LissajousPanda) -> str:
    step = experiment.to_dict()["control_step_s"]
    speed = sum(run.steps_per_second for run in (experiment.adaptive, experiment.fixed)) / 2
    window = experiment.adaptive.window
    statuses = sorted({status for run in (experiment.adaptive, experiment.fixed) for status in run.statuses} - {"ok"})
    return "\n".join(
        [
            "",
            _errors(experiment),
            f"steady state: mean over the last {window:g} s; rise time: until |e| is down to it for good",
            "",
            _link_7(experiment),
            "c_z, along gravity, and the inertia hardly act on the torques of this curve: they need not converge",
            "",
            f"control step {1e6 * step['median']:.1f} us (called from Python; 99 % within {1e6 * step['p99']:.1f} us), "
            f"simulation {speed:,.0f} steps/s",
            *([f"the controllers report: {', '.join(statuses)}"] if statuses else []),
        ]
    )


def _errors(experiment: LissajousPanda) -> str:
    a, f, ratio = experiment.adaptive.steady_state, experiment.fixed.steady_state, experiment.improvement

    def rise(seconds: float | None) -> str:
        return "does not settle" if seconds is None else f"{seconds:.2f}"

    def line(title: str, scale: float, k: int) -> list[str]:
        return [title, number(scale * a[k], 3), number(scale * f[k], 3), f"{ratio[k]:.0f} x"]

    rows = [
        line("steady-state position error [mm]", 1e3, 0),
        line("steady-state orientation error [deg]", math.degrees(1.0), 1),
        line("steady-state norm |e|", 1.0, 2),
        ["rise time [s]", rise(experiment.adaptive.rise_time), rise(experiment.fixed.rise_time), ""],
    ]
    return str(Table(["tracking", "adaptive", "not adaptive", "better"], rows))


def _link_7(experiment: LissajousPanda) -> str:
    from ..papers.lissajous.run import LINK_7_NAMES

    link = experiment.link_7
    columns = (link["initial"], link["estimate"][-1], link["truth"])
    units = ["kg"] + 3 * ["m"] + 6 * ["kg m2"]
    rows = [
        [f"{name} [{unit}]", *(f"{column[k]:.4f}" for column in columns)]
        for k, (name, unit) in enumerate(zip(LINK_7_NAMES, units, strict=True))
    ]
    return str(Table(["link 7 (inertia about its frame)", "initial", "final estimate", "truth"], rows))
