"""Threads of linear algebra, random numbers of each test, and the marker ``slow``."""

from __future__ import annotations

import json
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

# two processes of two threads wait for each other on two cores
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# jobs in the background of a script ignore Ctrl-C, which tests press
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: seconds of every test function, all its cases and their share of fixtures; written by ``pytest --record-durations``
DURATIONS = Path(__file__).with_name("durations.json")
#: above this a function is slow [s]
LIMIT = 0.15


def _function(nodeid: str) -> str:
    return nodeid.partition("[")[0].partition("@")[0]


class _Durations:
    """Adds up what each test function takes, and says what ``-m "not slow"`` leaves out."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: dict[str, float] = defaultdict(float)
        self.left_out = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[_function(report.nodeid)] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.config.getoption("record_durations"):
            found = {key: round(value, 1) for key, value in sorted(self.seconds.items()) if value >= 0.6 * LIMIT}
            DURATIONS.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
            terminalreporter.write_line(f"durations written to {DURATIONS}")
        elif self.config.getoption("markexpr") == "not slow":
            slow = [seconds for seconds in recorded().values() if seconds > LIMIT]
            terminalreporter.write_line(
                f"left out: {len(slow)} slow test functions, {sum(slow):.0f} s when recorded; `pytest` runs all"
            )


def recorded() -> dict[str, float]:
    """Return the recorded durations, by test function [s]."""
    return json.loads(DURATIONS.read_text(encoding="utf-8")) if DURATIONS.exists() else {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-durations", action="store_true", help=f"write {DURATIONS.name}, which marks slow tests")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Durations(config))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {key for key, seconds in recorded().items() if seconds > LIMIT}
    for item in items:
        if _function(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


#: states in which modules leave their generators when they are imported
_STATES: dict[int, dict[str, object]] = {}


@pytest.fixture(autouse=True)
def same_random_numbers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Give each test the generators of its module as they are after the import, whichever tests ran before."""
    generators = [value for value in vars(request.module).values() if isinstance(value, np.random.Generator)]
    states = [_STATES.setdefault(id(g), g.bit_generator.state) for g in generators]
    for generator, state in zip(generators, states, strict=True):
        generator.bit_generator.state = state
    yield
    for generator, state in zip(generators, states, strict=True):
        generator.bit_generator.state = state
