"""``thunder experiment``: the papers' experiments by name."""

from __future__ import annotations

import argparse
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ThunderError
from ..files import whole_file
from .text import check_picture, check_target

if TYPE_CHECKING:
    from ..papers.registry import ExperimentWithResults

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
  thunder experiment throwing --seeds 200 --jobs 2 --results throwing.json

In Python: thunder_py.papers.run_experiment("softhand").table()
"""


def add_parser(commands: Any) -> None:
    """Add the subcommand and its arguments."""
    parser = commands.add_parser(
        "experiment",
        help="the papers' experiments: tables and figures",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help message and exit")
    parser.add_argument("name", metavar="NAME", help="of the experiment, or 'list'")
    parser.add_argument("--quick", action="store_true", help="a short form that takes seconds")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help=f"recordings, for experiments that use them (default: the environment variable {DATA_VARIABLE}, if set)",
    )
    parser.add_argument("--seeds", type=_count, metavar="N", help="random cases, for experiments that draw some")
    parser.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="processes, for experiments that can use several (default: one for each processor; with --quick one)",
    )
    parser.add_argument("--results", type=Path, metavar="FILE.json", help="write every number that is reported")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the picture: .png, .pdf or .svg")
    parser.add_argument("--no-plot", action="store_true", help="draw no picture")
    parser.set_defaults(run=run)


class _Help(argparse.Action):
    """Names experiments only when help is asked for: they cost an import."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ..papers.registry import REGISTRY

        names = textwrap.fill(
            ", ".join(REGISTRY), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        parser.epilog = f"experiments:\n{names}\n\n{_EPILOG}"
        parser.print_help()
        parser.exit()


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return value


def run(arguments: argparse.Namespace) -> None:
    """Run an experiment, print its tables, write its results and its picture."""
    from ..papers import registry

    if arguments.name == "list":
        found = registry.summaries()
        width = max(map(len, found))
        for name, sentence in found.items():
            print(f"{name.ljust(width)}  {sentence}")
        return
    picture = _picture(arguments)
    _check_results(arguments)
    options = {"seeds": arguments.seeds, "jobs": _jobs(arguments)}
    experiment = registry.run_experiment(arguments.name, arguments.quick, _data(arguments), **options)
    if isinstance(experiment, registry.ExperimentWithResults) and arguments.results is not None:
        _write_results(arguments, experiment)
    print(experiment.table())
    if arguments.results is not None:
        print(f"\nresults  {arguments.results}")
    if picture is not None:
        import matplotlib as mpl

        mpl.use("agg")  # no window, whatever the screen
        with whole_file(picture) as temporary:
            experiment.plot().savefig(temporary, dpi=130)
        print(f"\npicture  {picture}")


def _jobs(arguments: argparse.Namespace) -> int | None:
    """Return how many processes: all that there is room for, as results do not depend on it."""
    from ..papers import registry

    given: int | None = arguments.jobs
    if given is not None or arguments.quick or not registry.takes(arguments.name, "jobs"):
        return given
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _picture(arguments: argparse.Namespace) -> Path | None:
    """Return where the picture goes, or refuse."""
    if arguments.no_plot:
        if arguments.output is not None:
            raise ThunderError("--output and --no-plot exclude each other")
        return None
    target = arguments.output or Path(f"thunder_{arguments.name}.png")
    check_picture(target, "--output")
    return target


def _check_results(arguments: argparse.Namespace) -> None:
    """Refuse now what could not be written after a long run."""
    from ..papers import registry

    if arguments.results is None:
        return
    if not registry.gives_results(arguments.name):
        those = ", ".join(filter(registry.gives_results, registry.REGISTRY)) or "none yet"
        raise ThunderError(f"--results must be left out for {arguments.name!r}, which has tables only, unlike {those}")
    check_target(arguments.results, "--results", (".json",))


def _write_results(arguments: argparse.Namespace, experiment: ExperimentWithResults) -> None:
    from .. import __version__
    from ..papers.tables import write_results

    write_results(
        arguments.results,
        {
            "experiment": arguments.name,
            "thunder_py": __version__,
            "quick": arguments.quick,
            "seeds": arguments.seeds,
            "results": experiment.to_dict(),
        },
    )


def _data(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of recordings; one that is only in the environment is nothing to the other experiments."""
    from ..papers import registry

    given: Path | None = arguments.data
    if given is None:
        named = os.environ.get(DATA_VARIABLE, "")
        given = Path(named) if named and registry.takes_data(arguments.name) else None
    if given is not None and not given.is_dir():
        raise ThunderError(f"--data (or {DATA_VARIABLE}) must be a folder, got {str(given)!r}")
    return given
