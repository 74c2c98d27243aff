"""The command ``thunder``: one module per subcommand, each with ``add_arguments`` and ``run``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .exit_status import ExitStatus

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Import the package and run the command line; see `thunder_py.cli.command.run`.

    An import that is interrupted, or fails because THUNDER_ISA names no available instruction set, leaves no traceback.
    """
    try:
        from .command import run
    except KeyboardInterrupt:
        return ExitStatus.interrupted
    except ImportError as error:
        if "THUNDER_ISA" not in str(error):
            raise
        print(f"thunder: error: {error}", file=sys.stderr)
        return ExitStatus.bad_input
    return run(argv)
