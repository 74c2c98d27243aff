"""The command ``thunder``: parser, exit status, errors as one line."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from .. import __version__
from ..errors import ThunderError
from ..optional import MissingExtraError
from . import convert, demo, experiment, gen, info, view

__all__ = ["BAD_INPUT", "INTERRUPTED", "run"]

OK, UNEXPECTED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

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
  thunder gen panda                  C functions, a C++ class and parameter files in panda_generatedFiles

'thunder COMMAND --help' says more about a command. In Python: import thunder_py as th.
Exit status: 0 done, 2 wrong arguments or input, 1 a bug.
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
        Exit status: 0 done, 2 bad input, 1 unexpected.

    Raises
    ------
    SystemExit
        By argparse, after ``--help``, ``--version`` (0) and wrong arguments (2).
    """
    _replace_closed_streams()
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ThunderError, OSError, MissingExtraError) as error:
        print(f"thunder {arguments.command}: error: {_sentence(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print(f"thunder {arguments.command}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        backend = os.environ.get("MPLBACKEND")
        if backend and isinstance(error, (ValueError, ImportError)) and backend.lower() in str(error).lower():
            print(f"thunder {arguments.command}: error: MPLBACKEND: {error}", file=sys.stderr)
            return BAD_INPUT
        traceback.print_exc()
        print(f"thunder {arguments.command}: this is a bug; please report it with the lines above", file=sys.stderr)
        return UNEXPECTED
    return OK


def _replace_closed_streams() -> None:
    """Give standard streams that were closed before the start (``>&-``) to nobody: Python has None in their place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thunder", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"thunder_py {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for command in (convert, demo, experiment, gen, info, view):
        command.add_parser(commands)
    return parser


def _sentence(error: ThunderError | OSError | MissingExtraError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
