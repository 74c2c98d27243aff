"""Exit status of the command ``thunder``."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of the command."""

    done = 0
    bug = 1
    bad_input = 2
    interrupted = 130
