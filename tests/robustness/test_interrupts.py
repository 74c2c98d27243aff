import pytest

from .process import run

SETUP = """
import os, signal, threading, time
from thunder_py.kinematics import InverseKinematics

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(1)

def interrupted(call):
    "How long it took from Ctrl-C to KeyboardInterrupt [s]."
    times = []
    def interrupt():
        times.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.4, interrupt)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - times[0]
    raise AssertionError("was over before")
"""

CALLS = {
    "inverse kinematics": """
ik = InverseKinematics(robot, restarts=50)
T = np.tile(np.eye(4), (20000, 1, 1))
T[:, :3, 3] = 5.0  # out of reach
print(interrupted(lambda: ik.solve(T, threads=THREADS)))
assert ik.solve(robot.forward_kinematics(np.full(7, 0.3))).success
""",
    "kernels": """
q = rng.uniform(-1, 1, (400_000, 7))
out = np.empty((400_000, 7, 7, 7))
def many():
    while True:
        _core.Model.christoffel_symbols(robot, q, out=out, threads=THREADS)
print(interrupted(many))
assert np.isfinite(robot.mass_matrix(q[:100])).all()
""",
    "via points": """
from thunder_py.manipulation.interception.runs import default_planner
from thunder_py.motion.planning.obstacles import obstacle_set
from thunder_py.motion.planning.obstacles import ViaSearch
from thunder_py.geometry import Box
search = ViaSearch(2000).core(default_planner()._core)
goal = np.array([0.2, 0.4, 0.3])
walls = [Box(goal + s * 0.2 * np.eye(3)[k], size=0.4 - 0.38 * np.eye(3)[k]) for k in range(3) for s in (-1, 1)]
a, b = np.zeros((3000, 3, 3)), np.zeros((3000, 3, 3))
b[:, 0] = goal
print(interrupted(
    lambda: search.plan_many(a, b, np.zeros(3000), np.ones(3000), [obstacle_set(walls)], 0.01, THREADS)))
assert search.plan(a[0, 0], goal, 1.0, obstacle_set([]), 0.01)[0] == "direct"
""",
}


@pytest.mark.release
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c(name: str, threads: int) -> None:
    """A tenth of a second and a chunk, with room for a busy machine."""
    elapsed = float(run(SETUP + CALLS[name].replace("THREADS", str(threads))))
    assert elapsed < 1.0
