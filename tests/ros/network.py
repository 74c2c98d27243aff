"""A ROS master on loopback, nodes as processes, and a listener in this one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPTS, CONFIG = ROOT / "examples/ros/ros1/scripts", ROOT / "examples/ros/config"
#: a machine under load takes so long to start an interpreter, and more to start a master [s]
PATIENCE = 40.0


def wait_until(true: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Network:
    """A master of its own, and processes that end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder, port = folder, free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        (folder / "log").mkdir()
        self.environment = {
            "ROS_MASTER_URI": f"http://localhost:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_HOSTNAME": "localhost",
            "ROS_HOME": str(folder),
            "ROS_LOG_DIR": str(folder / "log"),
            "ROS_PACKAGE_PATH": str(ROOT / "examples/ros"),
            "OPENBLAS_NUM_THREADS": "1",
            # roslaunch runs scripts by their first line
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        os.environ.update(self.environment)
        self.run("roscore", ["roscore", "-p", str(port)])
        wait_until(lambda: self.master_answers(port), f"roscore ({self.words('roscore')})")

    @staticmethod
    def master_answers(port: int) -> bool:
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def run(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.out").open("wb") as out:
            # a session of its own, so that what it starts ends with it
            self.processes[name] = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ}, start_new_session=True
            )

    def node(self, name: str, config: str, *arguments: str) -> None:
        script = SCRIPTS / f"{name}_node.py"
        self.run(name, [sys.executable, str(script), f"_config:={CONFIG / config}", *arguments])

    def words(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()[-2000:]

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self) -> dict[str, int]:
        """End everything as a user would; what does not end then is killed. Returns how each ended."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {}
        for name, process in self.processes.items():
            try:
                codes[name] = process.wait(15)
            except subprocess.TimeoutExpired:
                codes[name] = -signal.SIGKILL
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return codes


class Listener:
    """Keeps what was published: times of arrival and messages by topic, the newest report of every node."""

    def __init__(self) -> None:
        import rospy
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        rospy.init_node("listener", disable_signals=True)
        self.messages: dict[str, list[tuple[float, Any]]] = defaultdict(list)
        self.reports: dict[str, dict[str, str]] = {}
        self.lock = threading.Lock()
        numbers = dict.fromkeys(("tracking_error", "estimates", "timing"), Float64MultiArray)
        for topic, kind in {"joint_states": JointState, "effort_commands": JointState, **numbers}.items():
            rospy.Subscriber(topic, kind, self.keep, callback_args=topic, tcp_nodelay=True, queue_size=1000)
        rospy.Subscriber("/diagnostics", DiagnosticArray, self.report)

    def keep(self, message: Any, topic: str) -> None:
        with self.lock:
            self.messages[topic].append((time.time(), message))

    def report(self, message: Any) -> None:
        status = message.status[0]
        self.reports[status.name] = {"message": status.message, **{v.key: v.value for v in status.values}}

    def says(self, node: str, words: str) -> bool:
        return words in self.reports.get(node, {}).get("message", "")

    def wait_for(self, node: str, words: str, why: str = "") -> None:
        """Wait until the node says so from now on."""
        self.reports.pop(node, None)
        wait_until(lambda: self.says(node, words), f"{node} says {words!r} {why}")

    def count(self, topic: str) -> int:
        return len(self.messages[topic])

    def since(self, topic: str, count: int) -> list[Any]:
        with self.lock:
            return [message for _, message in self.messages[topic][count:]]

    def clear(self) -> None:
        with self.lock:
            self.messages.clear()
