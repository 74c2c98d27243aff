"""ROS 2 for real: three nodes as processes, a closed loop, and what is left when one of them dies."""

from collections.abc import Iterator

import pytest

from .closed_loop import ClosedLoop
from .closed_tasks import ClosedTasks
from .network import Listener, Network, absent
from .ros2 import Ros2Listener, Ros2Network

# lark, which the type support of messages imports, and rclpy, which closes what it opened when Python ends
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("default::tests.ros.network.StarvedWarning"),
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    if absent("rclpy"):
        pytest.skip(f"ROS 2 is not here: no {absent('rclpy')} in this Python")
    made = Ros2Network(tmp_path_factory.mktemp("ros"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def listener(network: Network) -> Iterator[Listener]:
    made = Ros2Listener()
    yield made
    made.close()


class TestRos2(ClosedLoop):
    """The checks of `closed_loop`, and none of its own: launch files need `launch`, which no package index has."""


class TestRos2Tasks(ClosedTasks):
    """The checks of `closed_tasks`, after the others: on the same network."""
