"""``thunder experiment``: the papers' experiments by name."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..errors import ThunderError
from .text import check_picture

__all__ = ["DATA_VARIABLE", "add_parser", "run"]

#: environment variable with a folder of recordings
DATA_VARIABLE = "THUNDER_MOTION_DATA"

_DESCRIPTION = """\
Set up an experiment of one of the papers with this package's simulator, print its tables, the paper's numbers beside
ours, and draw its figures. The notebooks explain them.
"""

_EPILOG = """\
examples:
  thunder experiment list
  thunder experiment softhand
  thunder experiment gains --quick --output gains.pdf
  thunder experiment human-like-real --data recordings

In Python: thunder_py.experiments.run_experiment("softhand").table()
"""


def add_parser(commands: Any) -> None:
    """Add the subcommand and its arguments."""
    parser = commands.add_parser(
        "experiment",
        help="the papers' experiments: tables and figures",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="of the experiment, or 'list'")
    parser.add_argument("--quick", action="store_true", help="a short form that takes seconds")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help=f"recordings, for experiments that use them (default: the environment variable {DATA_VARIABLE}, if set)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="the picture: .png, .pdf or .svg")
    parser.add_argument("--no-plot", action="store_true", help="draw no picture")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run an experiment, print its tables, write its picture."""
    from ..experiments import registry

    if arguments.name == "list":
        found = registry.summaries()
        width = max(map(len, found))
        for name, sentence in found.items():
            print(f"{name.ljust(width)}  {sentence}")
        return
    if arguments.no_plot and arguments.output is not None:
        raise ThunderError("--output and --no-plot exclude each other")
    target: Path | None = None if arguments.no_plot else arguments.output or Path(f"thunder_{arguments.name}.png")
    if target is not None:
        check_picture(target, "--output")
    experiment = registry.run_experiment(arguments.name, arguments.quick, _data(arguments))
    print(experiment.table())
    if target is not None:
        import matplotlib as mpl

        mpl.use("agg")  # no window, whatever the screen
        experiment.plot().savefig(target, dpi=130)
        print(f"\npicture  {target}")


def _data(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of recordings; one that is only in the environment is nothing to the other experiments."""
    from ..experiments import registry

    given: Path | None = arguments.data
    if given is None:
        named = os.environ.get(DATA_VARIABLE, "")
        given = Path(named) if named and registry.takes_data(arguments.name) else None
    if given is not None and not given.is_dir():
        raise ThunderError(f"--data (or {DATA_VARIABLE}) must be a folder, got {str(given)!r}")
    return given
