"""The command ``thunder``: parser, exit status, errors as one line."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import TextIO

from .. import __version__
from ..errors import ThunderError
from ..optional import MissingExtraError
from . import convert, demo, experiment, gen, identify, info, view
from .exit_status import ExitStatus
from .robot_options import as_options

_DESCRIPTION = "Dynamics, regressors and adaptive control of serial robot arms."

_EPILOG = """\
examples:
  thunder demo                       adaptive against fixed control of a Panda, 40 s; writes thunder_demo.png
  thunder demo --json --no-plot      the same, figures as JSON
  thunder experiment list            experiments of the papers: their tables and figures
  thunder info                       versions, build and bundled robots
  thunder info panda                 joints, parameters and frames of a bundled robot
  thunder info arm.urdf --tip-link flange
  thunder convert panda panda.urdf   YAML, URDF and MJCF into one another
  thunder view panda                 a window, or with --output a picture or a film
  thunder identify arm.yaml logs/*.csv --cutoff 20 --report report.html
  thunder gen panda                  C functions, a C++ class and parameter files in panda_generatedFiles

'thunder COMMAND --help' says more about a command. In Python: import thunder_py as th.
Exit status: 0 done, 2 wrong arguments or input, 130 interrupted, 1 a bug.
"""


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; default those of the process.

    Returns
    -------
    int
        An `ExitStatus`.

    Raises
    ------
    SystemExit
        By argparse, after ``--help``, ``--version`` (0) and wrong arguments (2).
    """
    _prepare_streams()
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader, such as head, has exited
        return ExitStatus.done
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                _flush(stream)


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return ExitStatus.bad_input
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, arguments)
            arguments.run(arguments)
        _flush(sys.stdout)
    except BrokenPipeError:
        raise
    except (ThunderError, OSError, MissingExtraError) as error:
        _report(f"thunder {arguments.command}: error: {_told(arguments, _sentence(error))}")
        return ExitStatus.bad_input
    except KeyboardInterrupt:
        _report(f"thunder {arguments.command}: interrupted")
        return ExitStatus.interrupted
    except Exception as error:
        backend = os.environ.get("MPLBACKEND")
        if backend and isinstance(error, (ValueError, ImportError)) and backend.lower() in str(error).lower():
            _report(f"thunder {arguments.command}: error: MPLBACKEND: {error}")
            return ExitStatus.bad_input
        _report(
            f"{traceback.format_exc()}thunder {arguments.command}: this is a bug; please report it with the lines above"
        )
        return ExitStatus.bug
    return ExitStatus.done


def _prepare_streams() -> None:
    """Make standard streams accept all text.

    Streams that were closed before the start (``>&-``), for which Python has None, write to the null device. Characters
    that the encoding of a stream lacks are replaced.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace" if name == "stdout" else "backslashreplace")


def _flush(stream: TextIO) -> None:
    """Write buffered text; after a failure the stream writes to the null device, or Python fails again at exit."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise


def _report(text: str) -> None:
    """Print on the standard error stream, if anybody reads it."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def _show_warning(arguments: argparse.Namespace, message: Warning | str, *_: object, **__: object) -> None:
    _report(f"thunder {arguments.command}: {_told(arguments, str(message))}")


def _told(arguments: argparse.Namespace, text: str) -> str:
    return as_options(text) if hasattr(arguments, "fix_joint") else text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thunder", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"thunder_py {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for command in (convert, demo, experiment, gen, identify, info, view):
        subparser = commands.add_parser(
            command.__name__.rpartition(".")[2],
            help=command.HELP,
            description=command.DESCRIPTION,
            epilog=command.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            conflict_handler="resolve",  # a subcommand may have its own --help
        )
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def _sentence(error: ThunderError | OSError | MissingExtraError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
