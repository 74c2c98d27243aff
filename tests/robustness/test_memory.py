"""Little memory, few threads: errors, and never the end of the process."""

from __future__ import annotations

import pytest

from .process import run

NO_COPY = [
    ("robot.gravity_vector(single)", "single = np.zeros((11_000_000, 7), np.float32)"),
    ("robot.mass_matrix(huge)", "huge = np.broadcast_to(np.zeros(7), (10**12, 7))"),
    ("th.PDGravity(robot, huge, 1.0)", "huge = np.broadcast_to(np.zeros(7), (10**12, 7))"),
    ("th.PDGravity(robot, 1.0, 1.0).step(0.0, huge, np.zeros(7), SetPoint(np.zeros(7))(0.0))",
     "huge = np.broadcast_to(np.zeros(7), (10**12, 7))"),
    ("SetPoint(np.zeros(7)).sample(huge)", "huge = np.broadcast_to(np.float32(0.0), 10**12)"),
    ("robot.inverse_dynamics(a, b, np.zeros(7))", "a, b = np.zeros((3000, 1, 7)), np.zeros((1, 30000, 7))"),
    ("robot.mass_matrix(q)", "q = np.zeros((3_000_000, 7))"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "setup"), NO_COPY)
def test_no_memory_for_a_copy(call: str, setup: str) -> None:
    program = f"""
    {setup}
    limit_memory(1.0)
    try:
        {call}
    except MemoryError as error:
        print("MemoryError")
    """
    assert run(program) == "MemoryError"


def test_batches_without_threads() -> None:
    """Threads that cannot start are done without: the rest does their work."""
    program = """
    import resource
    q = np.random.default_rng(1).uniform(-1, 1, (200_000, 7))
    alone = robot.gravity_vector(q)
    out = np.empty_like(alone)
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + 20 * 2**20  # two stacks of 8 MiB
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    robot.gravity_vector(q, out=out, threads=64)
    print(np.array_equal(alone, out))
    """
    assert run(program) == "True"


def test_inverse_kinematics_without_threads() -> None:
    program = """
    import resource
    from thunder_py.kinematics import InverseKinematics
    ik = InverseKinematics(robot)
    T = robot.forward_kinematics(np.random.default_rng(1).uniform(-1, 1, (64, 7)))
    alone = ik.solve(T).q
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + 20 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    print(np.array_equal(alone, ik.solve(T, threads=64).q))
    """
    assert run(program) == "True"


def test_kernels_report_no_memory() -> None:
    """`bad_alloc` is MemoryError, from the fast calls too."""
    program = """
    limit_memory(0.9)
    law = th.PDGravity(robot, 10.0, 1.0)
    try:
        th.simulate(robot, law, SetPoint(np.zeros(7)), 2e4, dt=1e-3)
    except MemoryError:
        print("MemoryError")
    """
    assert run(program) == "MemoryError"
