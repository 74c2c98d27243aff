"""Programs that used to crash run in a process of their own."""

import subprocess
import sys
import textwrap

PREAMBLE = """
import numpy as np
import thunder_py as th
from thunder_py import _core
from thunder_py.reference import SetPoint
robot = th.Robot.load("panda")

def limit_memory(gigabytes):
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)
"""


def run(program: str, timeout: float = 120.0) -> str:
    """Return what a program prints; it must end well."""
    source = PREAMBLE + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", source],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-3000:]}"
    return done.stdout.strip()
