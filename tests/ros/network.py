"""Nodes as processes, and a listener in this one: what tests of both ROS have in common."""

import importlib.util
import os
import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from thunder_py.manipulation.nodes import TASKS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/ros"
#: a machine under load takes so long to start an interpreter, and more to start a master [s]
PATIENCE = 40.0


def absent(client: str) -> str:
    """Packages that this Python lacks, the client of ROS, messages and services, or nothing."""
    needed = (client, "diagnostic_msgs", "geometry_msgs", "sensor_msgs", "std_srvs", "trajectory_msgs")
    return ", ".join(name for name in needed if importlib.util.find_spec(name) is None)


def wait_until(
    true: Callable[[], Any], what: str, seconds: float = PATIENCE, else_tell: Callable[[], Any] = lambda: ""
) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s {else_tell()}"
        time.sleep(0.02)


class StarvedWarning(UserWarning):
    """Other processes had the processors for so long that the loop ended in a fault, as it is to."""


class Network:
    """Processes that end with it; a subclass knows how a node is started."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.processes = folder, dict[str, subprocess.Popen[bytes]]()
        (folder / "log").mkdir()
        os.environ.update({"ROS_HOME": str(folder), "ROS_LOG_DIR": str(folder / "log"), "OPENBLAS_NUM_THREADS": "1"})
        os.environ.update(environment)

    def run(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.out").open("wb") as out:
            # a session of its own, so that what it starts ends with it
            self.processes[name] = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ}, start_new_session=True
            )

    @staticmethod
    def program(name: str) -> list[str]:
        """The program of a node, with its words: nodes of manipulation are words of one."""
        return ["task_node", name] if name in TASKS else [f"{name}_node"]

    def words(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text()[-2000:]

    def runs(self, name: str) -> bool:
        return name in self.processes and self.processes[name].poll() is None

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


class Goal:
    """A client's goal: feedback so far, and how it ended: succeeded, aborted, canceled or rejected, and the result."""

    def __init__(self) -> None:
        self.feedback: list[Any] = []
        self.status, self.result = "", None

    def wait(self) -> tuple[str, int | None, str]:
        wait_until(lambda: self.status, "the goal ends", PATIENCE, lambda: f"after {len(self.feedback)} of feedback")
        result: Any = self.result
        return self.status, getattr(result, "error_code", None), getattr(result, "error_string", "")


class Listener:
    """Keeps what was published: messages by topic, the newest report of every node."""

    #: of the topics that are kept, each by the module and the name of its kind
    TOPICS: ClassVar = {
        **dict.fromkeys(("joint_states", "effort_commands"), "sensor_msgs JointState"),
        **dict.fromkeys(("tracking_error", "estimates", "timing"), "std_msgs Float64MultiArray"),
        "state": "control_msgs JointTrajectoryControllerState",
    }

    def __init__(self) -> None:
        self.messages: dict[str, list[Any]] = defaultdict(list)
        self.reports: dict[str, dict[str, str]] = {}
        self.lock = threading.Lock()

    @classmethod
    def kind(cls, topic: str) -> type:
        """The class of a topic's messages."""
        package, name = cls.TOPICS[topic].split()
        found: type = getattr(importlib.import_module(f"{package}.msg"), name)
        return found

    def keep(self, message: Any, topic: str) -> None:
        with self.lock:
            self.messages[topic].append(message)

    def report(self, message: Any) -> None:
        status = message.status[0]
        self.reports[status.name] = {"message": status.message, **{v.key: v.value for v in status.values}}

    def says(self, node: str, words: str) -> bool:
        return words in self.reports.get(node, {}).get("message", "")

    def wait_for(self, node: str, words: str, why: str = "") -> None:
        """Wait until the node says so from now on."""
        self.reports.pop(node, None)
        wait_until(lambda: self.says(node, words), f"{node} says {words!r} {why}", PATIENCE, lambda: self.reports)

    def told(self) -> str:
        """The newest reports, where a check fails."""
        return "\n".join(f"{node}: {report}" for node, report in self.reports.items())

    def count(self, topic: str) -> int:
        return len(self.messages[topic])

    def since(self, topic: str, count: int) -> list[Any]:
        with self.lock:
            return self.messages[topic][count:]

    def after(self, topic: str, moment: float, count: int) -> list[Any]:
        """Wait for messages with stamps later than a moment [s]: what arrives may be older than it seems."""

        def later() -> list[Any]:
            recent = self.since(topic, -2 * count)
            return [m for m, stamp in zip(recent, self.stamps(recent), strict=True) if 1e-9 * stamp > moment]

        wait_until(lambda: len(later()) >= count, f"{count} new messages of {topic}")
        return later()

    def clear(self) -> None:
        with self.lock:
            self.messages.clear()

    def close(self) -> None:
        """Listen no more."""
