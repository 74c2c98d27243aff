"""ROS 1 for real: a master, three nodes as processes, a closed loop, and what is left when one of them dies."""

import shutil
from collections.abc import Iterator

import pytest

from .closed_loop import ClosedLoop
from .closed_tasks import ClosedTasks
from .network import Listener, Network, absent
from .ros1 import Ros1Listener, Ros1Network

# rospy closes files and sockets when it pleases, and uses what Python is about to drop
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("default::tests.ros.network.StarvedWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    if absent("rospy") or not shutil.which("roscore"):
        pytest.skip(f"ROS 1 is not here: no {absent('rospy') or 'roscore'}")
    made = Ros1Network(tmp_path_factory.mktemp("ros"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def listener(network: Network) -> Listener:
    return Ros1Listener()


class TestRos1(ClosedLoop):
    def test_launch_files_start_everything(self, network: Network, listener: Listener) -> None:
        network.run("launch", ["roslaunch", "thunder_ros", "panda_poses.launch"])
        listener.wait_for("/controller", "tracking")
        listener.wait_for("/robot", "commanded")


class TestRos1Tasks(ClosedTasks):
    """The checks of `closed_tasks`, after the others: on the same network."""
