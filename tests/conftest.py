"""Threads of linear algebra, random numbers of each test, and a list of the tests that were skipped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import numpy as np
import pytest

# two processes of two threads wait for each other on two cores
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# jobs in the background of a script ignore Ctrl-C, which tests press
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write the functions and modules that were skipped; ``pytest @.pytest_cache/d/skipped/tests.txt`` runs them."""
    if hasattr(config, "cache"):
        reports = terminalreporter.stats.get("skipped", ())
        skipped = sorted({report.nodeid.partition("[")[0] for report in reports})
        text = "".join(f"{nodeid}\n" for nodeid in skipped)
        (config.cache.mkdir("skipped") / "tests.txt").write_text(text, encoding="utf-8")


#: states in which modules leave their generators when they are imported
_STATES: dict[int, dict[str, object]] = {}


@pytest.fixture(autouse=True)
def same_start(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give each test the generators of its module as they are after the import, and no open figures of tests before."""
    generators = [value for value in vars(request.module).values() if isinstance(value, np.random.Generator)]
    for generator in generators:
        generator.bit_generator.state = _STATES.setdefault(id(generator), generator.bit_generator.state)
    yield
    for generator in generators:
        generator.bit_generator.state = _STATES[id(generator)]
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
