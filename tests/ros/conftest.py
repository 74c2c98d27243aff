"""One network for the tests of this folder; they are skipped where ROS 1 is not installed."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator

import pytest

from .network import Listener, Network

NEEDED = ("rospy", "diagnostic_msgs", "geometry_msgs", "sensor_msgs", "std_srvs", "trajectory_msgs")


def missing() -> str:
    """Return why the tests cannot run, or nothing."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        return f"no {', '.join(absent)} in this Python"
    return "" if shutil.which("roscore") else "no roscore"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    why = missing()
    if why:
        pytest.skip(f"ROS 1 is not here: {why}")
    made = Network(tmp_path_factory.mktemp("ros"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def listener(network: Network) -> Listener:
    return Listener()
