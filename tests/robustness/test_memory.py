import pytest

from .process import run


def test_no_memory_for_a_copy() -> None:
    program = """
    single = np.zeros((11_000_000, 7), np.float32)
    huge, times = np.broadcast_to(np.zeros(7), (10**12, 7)), np.broadcast_to(np.float32(0.0), 10**12)
    a, b, q = np.zeros((3000, 1, 7)), np.zeros((1, 30000, 7)), np.zeros((3_000_000, 7))
    law, rest = th.PDGravity(robot, 1.0, 1.0), SetPoint(np.zeros(7))
    limit_memory(1.0)
    for call in (
        lambda: robot.gravity_vector(single),
        lambda: robot.mass_matrix(huge),
        lambda: th.PDGravity(robot, huge, 1.0),
        lambda: law.step(0.0, huge, np.zeros(7), rest(0.0)),
        lambda: rest.sample(times),
        lambda: robot.inverse_dynamics(a, b, np.zeros(7)),
        lambda: robot.mass_matrix(q),
    ):
        try:
            call()
        except MemoryError as error:
            print("MemoryError")
    """
    assert run(program).split() == ["MemoryError"] * 7


@pytest.mark.release
def test_without_threads() -> None:
    """Threads that cannot start are done without: the rest does their work."""
    program = """
    import resource
    from thunder_py.kinematics import InverseKinematics
    ik = InverseKinematics(robot)
    T = robot.forward_kinematics(np.random.default_rng(1).uniform(-1, 1, (64, 7)))
    q = np.random.default_rng(1).uniform(-1, 1, (200_000, 7))
    alone, solved = robot.gravity_vector(q), ik.solve(T).q
    out = np.empty_like(alone)
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + 20 * 2**20  # two stacks of 8 MiB
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    robot.gravity_vector(q, out=out, threads=64)
    print(np.array_equal(alone, out), np.array_equal(solved, ik.solve(T, threads=64).q))
    """
    assert run(program) == "True True"


@pytest.mark.release
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
