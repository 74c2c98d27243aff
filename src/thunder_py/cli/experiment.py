"""``thunder experiment``: run the papers' experiments by name."""

from __future__ import annotations

import argparse
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import ThunderError
from ..files import whole_file
from .text import check_picture, check_target
from .worker_options import add_worker_options, chosen_workers, count

if TYPE_CHECKING:
    from ..papers.registry import Experiment

#: environment variable with a folder of recordings
DATA_VARIABLE = "THUNDER_MOTION_DATA"
_FILMS = (".mp4", ".gif")

HELP = "experiments of the papers: tables and figures"
DESCRIPTION = """\
Run an experiment of one of the papers in simulation, print its tables with the paper's numbers next to ours, and draw
its figures. The notebooks explain the experiments. All experiments take the same options.
"""

EPILOG = """\
examples:
  thunder experiment list                               name and subject of every experiment
  thunder experiment softhand                           tables, and the picture thunder_softhand.png
  thunder experiment gains --quick --output gains.pdf
  thunder experiment throwing --seeds 200 --jobs 2 --results throwing.json
  thunder experiment throwing --seeds 20000 --cluster tcp://host:8786
  thunder experiment human-like-real --data recordings
  thunder experiment grasping --quick --output grasps.mp4
  thunder experiment picking --robot iiwa14

seeds: draws of what the papers leave open or what is random: initial models, payloads, sensor noise, scenes, synthetic
recordings. Tables name the draws and give their spread; where a paper prints a setting, the first draw is that setting.
results: a JSON file with all reported numbers, in SI units and radians; keys end in the unit where it is not plain.

In Python: thunder_py.papers.run_experiment("softhand").table()
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("-h", "--help", action=_Help, nargs=0, help="show this help message and exit")
    parser.add_argument("name", metavar="NAME", help="name of the experiment, or 'list'")
    parser.add_argument("--quick", action="store_true", help="a short form, of seconds")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help=f"recordings, for experiments that use them (default: the environment variable {DATA_VARIABLE}, if set)",
    )
    parser.add_argument(
        "--seeds", type=count, metavar="N", help="number of random draws; default that of the experiment"
    )
    parser.add_argument(
        "--physics", action="store_true", help="with contact in MuJoCo, and rendered pictures: for picking and throwing"
    )
    parser.add_argument(
        "--robot",
        metavar="ROBOT",
        help="another arm than the paper's, name or file: for grasping, picking and throwing",
    )
    parser.add_argument(
        "--clock",
        type=float,
        metavar="S",
        help="camera's clock, unknown to the loop, which measures it first: for grasping, and picking with --physics",
    )
    add_worker_options(parser, "one per processor; with --quick 1")
    parser.add_argument("--results", type=Path, metavar="FILE.json", help="write all reported numbers as JSON")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the picture: .png, .pdf or .svg; where there is one, a film: .mp4"
    )
    parser.add_argument("--no-plot", action="store_true", help="draw no picture")


class _Help(argparse.Action):
    """Show the names of the experiments, imported only for the help."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ..papers.registry import REGISTRY

        names = textwrap.fill(
            ", ".join(REGISTRY), 100, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        parser.epilog = f"experiments:\n{names}\n\n{EPILOG}"
        parser.print_help()
        parser.exit()


def run(arguments: argparse.Namespace) -> None:
    """Run an experiment, print its tables, write its results and its picture."""
    from ..papers import registry

    if arguments.name == "list":
        found = registry.summaries()
        width = max(map(len, found))
        for name, sentence in found.items():
            print(f"{name.ljust(width)}  {sentence}")
        return
    data = _data(arguments)
    picture = _picture(arguments)
    if arguments.results is not None:
        check_target(arguments.results, "--results", (".json",))
    # every available processor, as results do not depend on it
    with chosen_workers(arguments, 1 if arguments.quick else -1) as workers:
        experiment = registry.run_experiment(
            arguments.name,
            arguments.quick,
            data,
            seeds=arguments.seeds,
            workers=workers,
            physics=arguments.physics,
            robot=arguments.robot,
            clock=arguments.clock,
        )
    if arguments.results is not None:
        _write_results(arguments, experiment)
    print(experiment.table())
    if arguments.results is not None:
        print(f"\nresults  {arguments.results}")
    if picture is not None and picture.suffix in _FILMS:
        print(f"\nfilm  {picture}, {cast(Any, experiment).film(picture)} pictures")
    elif picture is not None:
        import matplotlib as mpl

        mpl.use("agg")  # no window, whatever the screen
        with whole_file(picture) as temporary:
            experiment.plot().savefig(temporary, dpi=130)
        print(f"\npicture  {picture}")


def _picture(arguments: argparse.Namespace) -> Path | None:
    """Return the path of the picture or film, or None."""
    from ..papers.registry import is_filmed

    if arguments.no_plot:
        if arguments.output is not None:
            raise ThunderError("--output and --no-plot exclude each other")
        return None
    target: Path = arguments.output or Path(f"thunder_{arguments.name}.png")
    if target.suffix in _FILMS and is_filmed(arguments.name, arguments.physics):
        check_target(target, "--output", _FILMS)
    else:
        check_picture(target, "--output")
    return target


def _write_results(arguments: argparse.Namespace, experiment: Experiment) -> None:
    from .. import __version__
    from ..papers.tables import write_results

    write_results(
        arguments.results,
        {
            "experiment": arguments.name,
            "thunder_py": __version__,
            "quick": arguments.quick,
            "seeds": arguments.seeds,
            "physics": arguments.physics,
            "robot": arguments.robot,
            "clock": arguments.clock,
            "results": experiment.to_dict(),
        },
    )


def _data(arguments: argparse.Namespace) -> Path | None:
    """Return the folder of recordings; that of the environment is ignored by experiments without recordings."""
    from ..papers import registry

    takes_data = registry.takes(arguments.name, "data")
    given: Path | None = arguments.data
    if given is None:
        named = os.environ.get(DATA_VARIABLE, "")
        given = Path(named) if named and takes_data else None
    if given is not None and not given.is_dir():
        raise ThunderError(f"--data (or {DATA_VARIABLE}) must be a folder, got {str(given)!r}")
    return given
