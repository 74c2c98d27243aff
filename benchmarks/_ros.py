"""The loop over ROS 1: from the stamp of a joint state to the command that answers it, nodes as processes.

`results` runs this file by a Python that has rospy, which is the system's; where there is none it says so.
"""

from __future__ import annotations

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
SYSTEM_PYTHON = "/usr/bin/python3"
#: before anything is measured: the reference is joined, processes have touched their memory [s]
WARM_UP = 5.0
#: what is measured: who listens, besides the nodes
CASES = {"timing only": ("timing",), "all topics": ("timing", "effort_commands", "tracking_error", "estimates")}
NODES = {
    "robot": "panda_robot.yaml",
    "controller": "panda_controller.yaml",
    "reference": "panda_sinusoid.yaml",
}
QUANTITIES = ("period", "latency", "computing")


def results(quick: bool) -> dict[str, Any]:
    """Measure, or tell why not."""
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(Path(folder))
        python = _python_with_rospy(environment)
        if python is None or shutil.which("roscore") is None:
            return {"ros": {"reason": "ROS 1 (rospy and roscore) is not on this machine"}}
        return {"ros": _run(python, environment, 5.0 if quick else 60.0)}


def _run(python: str, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    """Measure each case in processes of its own."""
    measured = []
    for case in CASES:
        command = [python, __file__, case, str(seconds)]
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


def _python_with_rospy(environment: dict[str, str]) -> str | None:
    command = ["-c", "import rospy, diagnostic_msgs, thunder_py.realtime"]
    for python in (sys.executable, SYSTEM_PYTHON):
        try:
            if subprocess.run([python, *command], env=environment, capture_output=True, timeout=60).returncode == 0:
                return python
        except (OSError, subprocess.TimeoutExpired):
            continue
    return None


def measure(case: str, seconds: float) -> dict[str, Any]:
    """Close the loop and listen."""
    sys.path.insert(0, str(ROOT))
    import numpy as np

    from tests.ros.ros1 import Ros1Listener, Ros1Network

    class Audience(Ros1Listener):
        TOPICS: ClassVar = {topic: kind for topic, kind in Ros1Listener.TOPICS.items() if topic in CASES[case]}

    with tempfile.TemporaryDirectory() as folder:
        network = Ros1Network(Path(folder))
        try:
            for name, config in NODES.items():
                network.node(name, config)
            listener = Audience()
            listener.wait_for("/controller", "tracking")
            time.sleep(WARM_UP)
            listener.clear()
            time.sleep(seconds)
            rows = np.array([m.data for m in listener.since("timing", 0)])
            rows = rows[rows[:, 0] > 0.0]  # the others answer no state: the watch looked, and states were late
        finally:
            network.close()
    spreads = {name: _spread(column) for name, column in zip(QUANTITIES, rows.T, strict=False)}
    return {"case": case, "seconds": seconds, "rate": len(rows) / seconds, **spreads}


def _spread(values: Any) -> list[float]:
    """Return median, p99 and worst [s]."""
    import numpy as np

    return [float(x) for x in (*np.quantile(values, [0.5, 0.99]), values.max())]


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], float(sys.argv[2]))))
