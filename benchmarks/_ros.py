"""The loop over ROS 1 and 2: from the stamp of a joint state to the command that answers it, nodes as processes.

`results` runs this file by a Python that has rospy, which is the system's, and by one that has rclpy, which is that of
tools/ros2_test.sh or the one that ROS2_PYTHON names; where there is none it says so.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[1]
#: by generation: what a Python must import, and which besides this one may
NEEDED = {
    1: "rospy, diagnostic_msgs, thunder_py.realtime.nodes",
    2: "rclpy, diagnostic_msgs, thunder_py.realtime.nodes",
}
PYTHONS = {1: "/usr/bin/python3", 2: os.environ.get("ROS2_PYTHON", str(ROOT / "build/ros2-venv/bin/python"))}
#: before anything is measured: the reference is joined, processes have touched their memory [s]
WARM_UP = 5.0
#: what is measured: who listens, besides the nodes
CASES = {"timing only": ("timing",), "all topics": ("timing", "effort_commands", "tracking_error", "estimates")}
NODES = {
    "robot": "panda_robot.yaml",
    "controller": "panda_controller.yaml",
    "reference": "panda_sinusoid.yaml",
}
#: beginning processes stop the others for longer than the usual 0.25 s, and a fault stays
PARAMETERS = {"controller": {"times/state_lost": "2.0"}}
QUANTITIES = ("period", "latency", "computing")


def results(quick: bool) -> dict[str, Any]:
    """Measure, or tell why not."""
    with tempfile.TemporaryDirectory() as folder:
        environment, seconds = _environment(Path(folder)), 5.0 if quick else 60.0
        return {f"ros{generation}": _result(generation, environment, seconds) for generation in (1, 2)}


def _result(generation: int, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    python = _python_with(generation, environment)
    if python is None or (generation == 1 and shutil.which("roscore") is None):
        return {"reason": f"ROS {generation} ({('rospy and roscore', 'rclpy')[generation - 1]}) is not on this machine"}
    return _run(generation, python, environment, seconds)


def _run(generation: int, python: str, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    """Measure each case in processes of its own."""
    measured = []
    for case in CASES:
        command = [python, __file__, str(generation), case, str(seconds)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300 + seconds)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"they ended with {done.returncode}"]
            return {"reason": f"the nodes did not run: {lines[-1]}"}
        measured.append(json.loads(done.stdout.splitlines()[-1]))
    return {"cases": measured}


def _environment(folder: Path) -> dict[str, str]:
    """Give another Python of the same version what this one has installed, editable packages included."""
    installed = sysconfig.get_path("purelib")
    (folder / "sitecustomize.py").write_text(f"import site\n\nsite.addsitedir({installed!r})\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), installed])}


def _python_with(generation: int, environment: dict[str, str]) -> str | None:
    command = ["-c", f"import {NEEDED[generation]}"]
    for python in (sys.executable, PYTHONS[generation]):
        try:
            if subprocess.run([python, *command], env=environment, capture_output=True, timeout=60).returncode == 0:
                return python
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def measure(generation: int, case: str, seconds: float) -> dict[str, Any]:
    """Close the loop and listen."""
    sys.path.insert(0, str(ROOT))
    import numpy as np

    from tests.ros.network import Listener

    module = importlib.import_module(f"tests.ros.ros{generation}")

    class Audience(getattr(module, f"Ros{generation}Listener")):  # type: ignore[misc]
        TOPICS: ClassVar = {topic: kind for topic, kind in Listener.TOPICS.items() if topic in CASES[case]}

    with tempfile.TemporaryDirectory() as folder:
        network = getattr(module, f"Ros{generation}Network")(Path(folder))
        listener = None
        try:
            for name, config in NODES.items():
                network.node(name, config, **PARAMETERS.get(name, {}))
            listener = Audience()
            listener.wait_for("/controller", "tracking")
            time.sleep(WARM_UP)
            listener.clear()
            time.sleep(seconds)
            rows = np.array([m.data for m in listener.since("timing", 0)])
            rows = rows[rows[:, 0] > 0.0]  # the others answer no state: the watch looked, and states were late
        finally:
            network.close()
            if listener is not None:
                listener.close()
    spreads = {name: _spread(column) for name, column in zip(QUANTITIES, rows.T, strict=False)}
    return {"case": case, "seconds": seconds, "rate": len(rows) / seconds, **spreads}


def _spread(values: Any) -> list[float]:
    """Return median, p99 and worst [s]."""
    import numpy as np

    return [float(x) for x in (*np.quantile(values, [0.5, 0.99]), values.max())]


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))
