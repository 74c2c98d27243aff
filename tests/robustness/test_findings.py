"""What used to end the process or give wrong numbers: each case by itself."""

from __future__ import annotations

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
from thunder_py.geometry import Sphere
from thunder_py.kinematics import InverseKinematics
from thunder_py.reference import Lissajous, SetPoint, SetPose, Sinusoid
from thunder_py.trajectory import quintic_spline

from .process import run
from .stateful import GOAL, START, ZERO, Q, robot

# -- the GIL -----------------------------------------------------------------------------------------------------------


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


# -- compiled functions ------------------------------------------------------------------------------------------------


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


# -- numbers -----------------------------------------------------------------------------------------------------------


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


# -- wrong arguments ---------------------------------------------------------------------------------------------------


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


def loop(**changes: object) -> None:
    """Run the core's loop with something wrong in it."""
    law = th.ComputedTorque(robot(), 100.0, 20.0)
    options: dict[str, object] = {
        "n": 7, "x0": np.zeros(14), "dt": 1e-3, "steps_per_period": 1, "periods": 10, "log_every": 1,
        "torque_limits": np.zeros(0), "payloads": [], "external": [], "sensors": None, "actuators": None,
        "observers": [], "integrator": "rk4", "log": None, "progress": None,
        "native_plant": True, "native_control": True,
    }  # fmt: skip
    plant = changes.pop("plant", robot())
    _core.simulate(plant, law, SetPoint(ZERO), **{**options, **changes})


SENSORS = {
    "position_noise": ZERO, "velocity_noise": ZERO, "position_resolution": ZERO, "velocity_resolution": ZERO,
    "dropout": 0.0, "delay": 0, "seed": 0, "velocity": None,
}  # fmt: skip
ACTUATORS = {
    "delay": 0, "torque_limits": None, "rate_limits": None, "feedforward": None, "stall": None,
    "time_constants": ZERO, "damping": ZERO,
}  # fmt: skip
FEW = np.ones(3)


def second(value: float) -> list[float]:
    return [0.0, value, *ZERO[2:]]


def sensors(**changes: object) -> dict[str, object]:
    return {"sensors": {**SENSORS, **changes}}


def actuators(**changes: object) -> dict[str, object]:
    return {"actuators": {**ACTUATORS, **changes}}


NOISE = ("position_noise", "velocity_noise", "position_resolution", "velocity_resolution")
UNLIMITED, FINITE = ("torque_limits", "rate_limits", "stall"), ("feedforward", "time_constants", "damping")
NEGATIVE = "at least 0, got -0.1"
WRONG_LOOPS: list[tuple[dict[str, object], str]] = [
    *(({"log_every": wrong}, "log_every must be positive") for wrong in (0, -1)),
    ({"observers": [("a", "b", None)]}, "observers must be observers, 'a' is None"),
    *(({"periods": wrong}, "periods from 0 to 2^52") for wrong in (-1, 2**62)),
    ({"steps_per_period": 0}, "steps_per_period and log_every must be positive"),
    *(({"dt": wrong}, "dt, steps_per_period and log_every must be positive") for wrong in (0.0, math.nan)),
    ({"n": 0}, "n must be at least 1, got 0"),
    *(({"n": wrong}, f"n must be the plant's 7, got {wrong}") for wrong in (6, 64)),
    ({"x0": np.zeros(3)}, "the initial state must have 14 entries below 1e8"),
    ({"torque_limits": FEW}, "torque_limits must have 7 entries or none, got 3"),
    ({"torque_limits": [*FEW, -1.0, *FEW]}, "torque_limits must be at least 0, got -1.0"),
    ({"torque_limits": np.full(7, math.nan)}, "torque_limits must be finite, got nan at index (0,)"),
    ({"payloads": [(0.0, 1, [1.0, 2.0])]}, "payload parameters must have shape (10,), got (2,)"),
    ({"payloads": [(0.0, 1, [math.nan] * 10)]}, "payload parameters must be finite, got nan at index (0,)"),
    *(({"payloads": [(0.0, k, [1.0] * 10)]}, f"a payload's link must be 1 to 7, got {k}") for k in (0, 8)),
    ({"external": [(0.0, 1.0, False, [1.0])]}, "external must have shape (7,), got (1,)"),
    ({"external": [(0.0, 1.0, None, [1.0] * 7)]}, "external must have shape (6,), got (7,)"),
    ({"external": [(0.0, 1.0, 99, [1.0] * 6)]}, "frame must be a link index 0 to 7"),
    ({"external": [(0.0, 1.0, None, [math.inf] * 6)]}, "external must be finite, got inf at index (0,)"),
    *((sensors(**{k: second(-0.1)}), f"{k} must be {NEGATIVE}") for k in NOISE),
    *((sensors(**{k: second(math.nan)}), f"{k} must be finite, got nan at index (1,)") for k in NOISE),
    *((sensors(**{k: FEW}), f"{k} must have shape (7,), got (3,)") for k in NOISE),
    *((sensors(dropout=wrong), f"dropout must be at least 0 and less than 1, got {wrong}")
      for wrong in (-0.1, 1.0, 1.5, math.nan, math.inf)),
    (sensors(delay=-1), "delay must not be negative, got -1"),
    *((actuators(**{k: second(wrong)}), f"{k} must be at least 0, got {wrong}")
      for k in UNLIMITED for wrong in (-0.1, -math.inf, math.nan)),
    *((actuators(**{k: second(-0.1)}), f"{k} must be {NEGATIVE}") for k in FINITE),
    *((actuators(**{k: second(math.inf)}), f"{k} must be finite, got inf at index (1,)") for k in FINITE),
    *((actuators(**{k: FEW}), f"{k} must have shape (7,), got (3,)") for k in UNLIMITED + FINITE),
    (actuators(delay=-3), "delay must not be negative, got -3"),
    ({"integrator": "nonsense"}, "or 'implicit_midpoint', got 'nonsense'"),
]  # fmt: skip


def test_sizes_and_objects_of_a_loop() -> None:
    assert_refused(*((partial(loop, **changes), f"...{message}...") for changes, message in WRONG_LOOPS))
    for changes in ({"plant": None}, {"plant": 3}, {"sensors": {**SENSORS, "velocity": 3}}):
        with pytest.raises(TypeError):
            loop(**changes)
    with pytest.raises(KeyError):
        loop(sensors={})
    loop(sensors=SENSORS, actuators=ACTUATORS)
    loop(**actuators(**dict.fromkeys(UNLIMITED, np.full(7, math.inf))))


def test_a_python_status_is_one() -> None:
    class Law:
        status = 77

        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.zeros(7)

    with pytest.raises(ValueError, match=r"^controller.status must be 0 to 4, got 77$"):
        th.simulate(robot(), Law(), SetPoint(ZERO), 0.01, q0=ZERO)


NO_RADII = np.zeros((0, 3))


def potential(obstacles: Any = (), links: Any = (), radii: Any = NO_RADII, interior: int = 1) -> Any:
    numbers = 1.0, 1.0, 1.0, 1.0, 1.0, 0.0
    return _core.PotentialField(robot(), list(obstacles), Q, list(links), radii, *numbers, interior)


def core_model(**changes: Any) -> Any:
    arguments = {
        "name": "arm", "prismatic": [False], "placements": np.eye(4)[None], "axes": [[0.0, 0.0, 1.0]],
        "offsets": np.eye(4)[None], "inertial": np.ones((1, 10)), "gravity": [0.0, 0.0, -9.81], "base": np.eye(4),
        "tool": np.eye(4), "friction_terms": [0], "friction": [[0.1]], "friction_delta": 0.01, "armature": [],
        "rotors": [], "elastic": ([], np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 1)), []),
        "joint_names": ["j"], "link_names": ["l"], "frames": [], "lower": [-1.0], "upper": [1.0],
    }  # fmt: skip
    return _core.Model(**{**arguments, **changes})


def core_clik(**changes: Any) -> Any:
    settings = {
        "method": 2, "order": 1, "K": 10.0, "K_D": 10.0, "damping": 0.0, "threshold": 0.0, "measure": 0,
        "null_damping": 10.0, "largest_condition": 1e3, "lower": np.full(7, -1.0), "upper": np.ones(7),
        "velocity_limits": np.ones(7), "acceleration_limits": np.ones(7), "period": 0.01,
    }  # fmt: skip
    return _core.Clik(robot(), None, 63, 0, {**settings, **changes})


def test_values_of_the_private_module() -> None:
    from .stateful import STATEFUL

    arm, elbow = robot(), th.Robot.load("elbow")
    chain, graph, motion = arm.symbolic()._chain, _core.Graph(), _conditioned()
    dmp, turning, clik = STATEFUL[_core.Dmp].make(), STATEFUL[_core.QuaternionDmp].make(), th.kinematics.CLIK(arm, 10.0)
    law, ik, rows = th.CartesianComputedTorque(arm, 100.0, 20.0, 1.0), InverseKinematics(arm), "rows of a task must be"
    obstacles, many = _core.ObstacleSet([Sphere(GOAL, 0.1)]), 2**31 - 1
    no_arguments, seven = "...incompatible constructor arguments...", [[0.0] * 7]
    assert_refused(
        (lambda: setattr(law, "_obstacles", np.ones((2, 2))), "obstacles must have shape (n, 4), got (2, 2)"),
        (lambda: _core.OperationalSpace(arm, 1.0, 1.0, 1.0, None, None, [0, 99], None, (None, [True] * 7, None)),
         f"{rows} some of 0 to 5"),
        (lambda: _core.ManipulabilityObjective(arm, None, 1 << 20, 1.0), f"{rows} some of 0 to 5"),
        (lambda: _core.ManipulabilityObjective(arm, None, 0, 1.0), f"{rows} some of 0 to 5"),
        (lambda: _core.Clik(arm, None, 63, 17, {}), "orientation must be 0 to 5, got 17"),
        (lambda: core_clik(objective=_core.PostureObjective(elbow, np.zeros(2), 1.0)),
         "objective must be of 7 joints, got one of..."),
        (lambda: ik._solve(np.eye(4)[None], None, -1), "threads must not be negative, got -1"),
        (lambda: _core.InverseKinematics(arm, None, 63, True, 1e-6, 10, 0.0, Q, Q, np.zeros((0, 7))),
         "limits and starts must have one entry per joint, and at least one start"),
        (lambda: potential([None]), "obstacles must not contain None"),
        (lambda: potential(links=[9], radii=np.zeros((1, 3))), "links must be 0 to 7, got 9"),
        *((partial(potential, interior=k), f"interior must be 0 to 10000, got {k}") for k in (-1, many)),
        *((partial(_core.DmpBasis, _core.BasisKind.gaussian, k, 4.0, 1.0), f"count must be 2 to 10000, got {k}")
          for k in (1, many)),
        (lambda: _core.PiecewisePolynomial([], np.zeros((2, 5, 1))), "breaks must have at least two entries, got 0"),
        (lambda: _core.BezierPath([], np.zeros((5, 2, 1))), "breaks must have at least two entries, got 0"),
        (lambda: _core.ConstantVelocityFilter("paper", 1.0, np.eye(3), 1.0, 1.0, 99, 3),
         "reinitialize_after must be 0 to 16, got 99"),
        *((partial(obstacles.distance, k, START, 0.0), f"obstacle index must be 0 or more and less than 1, got {k}",
           IndexError) for k in (-1, 1, 10**6)),
        *((partial(roll, k, *rest), f"steps must be 0 to 10000000, got {k}")
          for roll, *rest in ((dmp._rollout, 1e-3, 1), (turning._rollout, 1e-3))
          for k in (-1, -5, -(2**31), 10_000_001, many)),
        (lambda: dmp._rollout(5, 1e-3, 0), "pieces must be at least 1, got 0"),
        *((partial(core_model, friction_terms=[k]), f"friction term must be 0 to 6, got {k}") for k in (-1, 7, 99)),
        *((partial(motion.tube, [0.5], k), f"derivative must be 0 to 3, got {k}") for k in (-1, 4, many)),
        (lambda: chain.evaluate("mass_matrix", [], 8, [0]), "mass_matrix takes 1 inputs, got 0"),
        (lambda: chain.evaluate("mass_matrix", [[0.0] * 6], 8, [0]), "q must have 7 entries, got 6"),
        (lambda: chain.evaluate("inverse_dynamics", [*seven, *seven, []], 8, [0]), "ddq must have 7 entries, got 0"),
        *((partial(chain.evaluate, "forward_kinematics", seven, k, [0]), f"there is no frame {k}")
          for k in (-1, 10**6)),
        (lambda: chain.evaluate("jacobian", seven, 8, [7]), f"{rows} some of 0 to 5"),
        *((partial(clik._follow, SetPose(np.eye(4)), None, Q, ZERO, 1e-3, k, False),
           f"steps must be 0 to 5000000, got {k}") for k in (-1, 5_000_001, 2**63 - 1)),
        *((partial(_core.SymbolicChain, arm, graph, {group: [1.0, 2.0]}, False, False),
           f"group {group} must have ... entries, got 2...")
          for group in ("dh", "inertial", "friction", "gravity", "base", "tool", "elastic_K")),
        (lambda: _core.SymbolicChain(arm, graph, {"other": [1.0]}, False, False),
         "...no group of parameters called other..."),
        *((call, no_arguments, TypeError) for call in (
            lambda: _core.PDGravity(None, 1.0, 1.0, None, None, False),
            lambda: _core.ComputedTorque(None, 1.0, 1.0, False),
            lambda: _core.InverseKinematics(None, None, 63, True, 1e-6, 10, 0.0, [0.0], [0.0], [[0.0]]),
            lambda: _core.Clik(None, None, 63, 0, {}),
            lambda: _core.ViaSearch(None, "uniform", 1, 0, 1.0, "paper", 1, True),
            lambda: _core.PotentialField(None, [], [0.0], [], np.zeros((0, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1),
            lambda: _core.SymbolicChain(None, graph, {}, False, False),
            lambda: _core.SymbolicChain(arm, None, {}, False, False),
            lambda: _core.ScheduledInterception(None, [0.0], [0.0], [[0.0, 0.0, 0.0]]),
            *(partial(_core.ConditionedMotion, wrong, START, GOAL, 1.0, np.zeros((3, 5)))
              for wrong in (-1, 0, 3.5, "x", object())),
        )),
    )  # fmt: skip
    assert core_model().n == 1
    assert np.isfinite(motion.tube([0.5], 3)[0]).all()
    assert len(chain.evaluate("mass_matrix", seven, 8, [0])) == 49


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


def test_the_rate_that_an_integrator_is_given_ends_with_its_step() -> None:
    kept = []

    def advance(f, x, t, dt):
        kept.append(f)
        return x + dt * f(t, x)

    loop(integrator=advance, periods=2)
    with pytest.raises(ValueError, match=r"^f\(t, x\) of an integrator must be called within its step$"):
        kept[0](0.0, np.zeros(14))
