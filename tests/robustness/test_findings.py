import gc
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py import _core
from thunder_py.kinematics import InverseKinematics
from thunder_py.reference import Lissajous, SetPoint, SetPose, Sinusoid
from thunder_py.trajectory import quintic_spline

from .process import run
from .stateful import GOAL, START, ZERO, Q, robot


@pytest.mark.release
@pytest.mark.parametrize("part", ["plant", "own integrator", "controller", "reference", "integrator", "actuated plant"])
def test_python_parts_have_the_gil(part: str) -> None:
    """Whichever part is written in Python, it may allocate while other threads do."""
    program = f"""
    import sys, threading
    sys.setswitchinterval(1e-5)
    stop = False
    def work():
        while not stop:
            [str(k) for k in range(50)]

    def busy():
        return [str(k) for k in range(50)]

    class Plant:
        n = 7
        def forward_dynamics(self, q, dq, tau):
            busy()
            return robot.forward_dynamics(q, dq, tau)

    class Own(th.Robot):
        def advance(self, t, q, dq, tau, dt):
            busy()
            return q + dt * dq, dq

    law = th.ComputedTorque(robot, 100.0, 20.0)

    class Law:
        def step(self, t, q, dq, reference):
            busy()
            return law.step(t, q, dq, reference)

    source = SetPoint(np.zeros(7))

    def reference(t):
        busy()
        return source(t)

    part = {part!r}
    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    result = th.simulate(
        Plant() if "plant" in part else Own(robot.description) if part == "own integrator" else robot,
        Law() if part == "controller" else law,
        reference if part == "reference" else source,
        0.05,
        q0=np.zeros(7),
        integrator={{"integrator": "adaptive", "own integrator": "plant"}}.get(part, "rk4"),
        actuators=th.simulation.Actuators(lag=0.01) if part == "actuated plant" else None,
    )
    stop = True
    [thread.join() for thread in threads]
    print(len(result.t))
    """
    assert run(program) == "51"


@pytest.mark.release
def test_compile_while_a_batch_is_evaluated() -> None:
    """The evaluator that a call has begun with lives until the call is over."""
    program = """
    import threading
    g = _core.Graph()
    a = g.symbol("a")
    y = a
    for k in range(300):
        y = (y * a + 0.5).sin()
    f = _core.Function("f", [("a", [], [a])], [("y", [], [y])])
    header, source = _core.emit_c([f], header_name="", packed=True)
    from thunder_py.symbolic.compiler import compile_source
    library = str(compile_source(source))
    values = np.linspace(0.0, 1.0, 200_000)
    alone = f(values)
    stop, errors = False, []
    def call():
        while not stop:
            if not np.allclose(f(values), alone, rtol=1e-9):
                errors.append("different")
    threads = [threading.Thread(target=call) for _ in range(2)]
    [thread.start() for thread in threads]
    for _ in range(300):
        f.attach(library, "f_packed")
    stop = True
    [thread.join() for thread in threads]
    print(errors)
    """
    assert run(program) == "[]"


@pytest.mark.parametrize("method", ["levenberg_marquardt", "gradient_descent"])
@pytest.mark.parametrize("size", [1e150, 1.7e308])
def test_inverse_kinematics_of_a_target_beyond_numbers(method: str, size: float) -> None:
    """The first start comes back, an infinite error and no success; it used to be memory as it was."""
    ik = InverseKinematics(robot(), method=method, restarts=2)
    T = np.tile(np.eye(4), (10, 1, 1))
    T[:, :3, 3] = size
    junk = [np.full((10, 7), 123.0) for _ in range(20)]
    del junk
    gc.collect()
    found = ik.solve(T, Q)
    assert not found.success.any()
    lower, upper = robot().limits.lower, robot().limits.upper
    assert np.isfinite(found.q).all()
    assert (found.q >= lower - 1e-12).all()
    assert (found.q <= upper + 1e-12).all()
    if size > 1e160:
        np.testing.assert_array_equal(found.q, np.tile(np.clip(Q, lower, upper), (10, 1)))
        assert np.isinf(found.error).all()


def test_a_time_must_be_a_number() -> None:
    sources = (
        SetPoint([0.0, 1.0]),
        Sinusoid([0.1], [0.5]),
        SetPose(np.eye(4)),
        Lissajous([0.1] * 3, [0.2] * 3, center=[0.0, 0.0, 0.5]),
        quintic_spline([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]),
    )
    for t in (math.nan, math.inf, -math.inf):
        assert_refused(*((partial(source, t), f"t must be finite, got {t}") for source in sources))
        assert_refused(*((partial(source, [0.0, t]), "t must be finite, got...") for source in sources))


class Raises:
    """An index that is none."""

    def __index__(self) -> int:
        raise TypeError("no")


NO_INDEX = [np.array([1, 2]), Raises(), 10**30, 1.5, -1]


@pytest.mark.parametrize(
    ("call", "wrong", "message"),
    [
        (lambda rows: robot().manipulability(Q, rows=rows),
         [np.array([[0, 1, 2]]), [Raises()], [10**30], [[0]], [-1], "xyz", 3, [2, 1]],
         "rows must be increasing whole numbers from 0 to 5, got..."),
        (lambda frame: robot().forward_kinematics(Q, frame=frame), [*NO_INDEX, True, 8],
         "frame must be a link index 0 to 7 or one of..."),
        (lambda threads: robot().mass_matrix(Q, threads=threads), [*NO_INDEX, None],
         "threads must be a whole number from 0..."),
    ],
    ids=["rows", "frame", "threads"],
)  # fmt: skip
def test_wrong_arguments_leave_no_error_behind(call: Callable[[Any], Any], wrong: list[Any], message: str) -> None:
    for value in wrong:
        assert_refused(*3 * [(partial(call, value), message)])
        assert robot().manipulability(Q) > 0.0


def test_a_python_status_is_one() -> None:
    class Law:
        status = 77

        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.zeros(7)

    with pytest.raises(ValueError, match=r"^controller.status must be 0 to 4, got 77$"):
        th.simulate(robot(), Law(), SetPoint(ZERO), 0.01, q0=ZERO)


def _conditioned() -> _core.ConditionedMotion:
    from thunder_py.manipulation.interception.runs import default_planner
    from thunder_py.motion.planning.model import core_planner

    planner = core_planner(default_planner().fpca, exact=False, order=3)
    rows = [[tau, k, dof, float(tau), 0.0] for tau in (0.0, 1.0) for k in range(3) for dof in range(3)]
    return _core.ConditionedMotion(planner, START, GOAL, 1.0, rows)


def test_a_conditioned_motion_keeps_its_planner() -> None:
    motion = _conditioned()  # nothing else holds the planner
    gc.collect()
    np.testing.assert_allclose(motion.tube([0.0, 1.0])[0], [[0.0] * 3, [1.0] * 3], atol=1e-6)
