"""Provenance of results: versions, commit, machine, instruction set."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from ... import _core


def provenance() -> dict[str, Any]:
    """Return what results depend on besides their arguments, as JSON holds it.

    Commits are those of the working folder's checkout and of an editable install, None outside of one.
    """
    return {
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "thunder_py": _core.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "commit": _commit(Path.cwd()),
        "thunder_py_commit": None if "site-packages" in __file__ else _commit(Path(__file__).parent),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "host": socket.gethostname(),
        "instruction_set": _instruction_set(),
        "command": sys.argv,
    }


def worker() -> dict[str, Any]:
    """Return host, and version of thunder_py with instruction set, of the process that simulates a run."""
    return {"host": socket.gethostname(), "kernels": f"{_core.__version__} {_instruction_set()}"}


def _instruction_set() -> str:
    return str(_core.build_config()["instruction_set"])


def _commit(folder: Path) -> str | None:
    """Return the commit of a checkout, marked where files were changed since."""
    commit = _git(folder, "rev-parse", "HEAD")
    return commit and commit + ("+changes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10.0, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):  # no git, no checkout
        return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
