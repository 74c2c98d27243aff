"""What used to end the process or give wrong numbers: each case by itself."""

from __future__ import annotations

import gc
import math
import re

import numpy as np
import pytest

import thunder_py as th
from thunder_py import _core
from thunder_py.geometry import Sphere
from thunder_py.kinematics import InverseKinematics
from thunder_py.reference import Lissajous, SetPoint, SetPose, Sinusoid
from thunder_py.trajectory import quintic_spline

from .process import run
from .stateful import GOAL, START, ZERO, Q, robot

# -- the GIL -----------------------------------------------------------------------------------------------------------


def test_a_plant_with_its_own_integrator_has_the_gil() -> None:
    program = """
    class R(th.Robot):
        def advance(self, t, q, dq, tau, dt):
            [str(k) for k in range(50)]  # allocates: without the GIL the process ends
            return q + dt * dq, dq

    import threading
    stop = False
    def work():
        while not stop:
            [str(k) for k in range(50)]
    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    arm = R(robot.description)
    law = th.ComputedTorque(robot, 100.0, 20.0)
    result = th.simulate(arm, law, SetPoint(np.zeros(7)), 1.0, integrator="plant", q0=np.zeros(7))
    stop = True
    [thread.join() for thread in threads]
    print(len(result.t))
    """
    assert run(program) == "1001"


@pytest.mark.release
@pytest.mark.parametrize("part", ["plant", "controller", "reference", "integrator", "actuated plant"])
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
        Plant() if "plant" in part else robot,
        Law() if part == "controller" else law,
        reference if part == "reference" else source,
        0.05,
        q0=np.zeros(7),
        integrator="adaptive" if part == "integrator" else "rk4",
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
@pytest.mark.parametrize("size", [1e150, 1e200, 1.7e308])
def test_inverse_kinematics_of_a_target_beyond_numbers(method: str, size: float) -> None:
    """The first start comes back, an infinite error and no success; it used to be memory as it was."""
    ik = InverseKinematics(robot(), method=method, restarts=2)
    T = np.tile(np.eye(4), (50, 1, 1))
    T[:, :3, 3] = size
    junk = [np.full((50, 7), 123.0) for _ in range(20)]
    del junk
    gc.collect()
    found = ik.solve(T, Q)
    assert not found.success.any()
    lower, upper = robot().limits.lower, robot().limits.upper
    assert np.isfinite(found.q).all()
    assert (found.q >= lower - 1e-12).all()
    assert (found.q <= upper + 1e-12).all()
    if size > 1e160:
        np.testing.assert_array_equal(found.q, np.tile(np.clip(Q, lower, upper), (50, 1)))
        assert np.isinf(found.error).all()


@pytest.mark.parametrize("t", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "source",
    [
        SetPoint([0.0, 1.0]),
        Sinusoid([0.1], [0.5]),
        SetPose(np.eye(4)),
        Lissajous([0.1] * 3, [0.2] * 3, center=[0.0, 0.0, 0.5]),
        quintic_spline([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_a_time_must_be_a_number(source: object, t: float) -> None:
    with pytest.raises(ValueError, match=f"^t must be finite, got {t}$"):
        source(t)  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"^t must be finite, got"):
        source([0.0, t])  # type: ignore[operator]


# -- error indicators --------------------------------------------------------------------------------------------------


class Raises:
    """An index that is none."""

    def __index__(self) -> int:
        raise TypeError("no")


@pytest.mark.parametrize("rows", [np.array([[0, 1, 2]]), [Raises()], [10**30], [[0]], [-1], "xyz", 3, [2, 1]])
def test_wrong_rows_leave_no_error_behind(rows: object) -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^rows must be increasing whole numbers from 0 to 5, got"):
            robot().manipulability(Q, rows=rows)
        assert robot().manipulability(Q) > 0.0


@pytest.mark.parametrize("frame", [np.array([1, 2]), Raises(), 10**30, 1.5, True, -1, 8])
def test_wrong_frames_leave_no_error_behind(frame: object) -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^frame must be a link index 0 to 7 or one of"):
            robot().forward_kinematics(Q, frame=frame)
        robot().forward_kinematics(Q)


@pytest.mark.parametrize("threads", [np.array([1, 2]), Raises(), 10**30, 1.5, -1, None])
def test_wrong_threads_leave_no_error_behind(threads: object) -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^threads must be a whole number from 0"):
            robot().mass_matrix(Q, threads=threads)
        robot().mass_matrix(Q)


# -- sizes that the private module trusted -----------------------------------------------------------------------------


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
WRONG_LOOPS: list[tuple[dict[str, object], str]] = [
    ({"log_every": 0}, "log_every must be positive"),
    ({"log_every": -1}, "log_every must be positive"),
    ({"observers": [("a", "b", None)]}, "observers must be observers, 'a' is None"),
    ({"periods": -1}, "periods from 0 to 2^52"),
    ({"periods": 2**62}, "periods from 0 to 2^52"),
    ({"steps_per_period": 0}, "steps_per_period and log_every must be positive"),
    ({"dt": 0.0}, "dt, steps_per_period and log_every must be positive"),
    ({"dt": math.nan}, "dt, steps_per_period and log_every must be positive"),
    ({"n": 0}, "n must be at least 1, got 0"),
    ({"n": 6}, "n must be the plant's 7, got 6"),
    ({"n": 64}, "n must be the plant's 7, got 64"),
    ({"x0": np.zeros(3)}, "the initial state must have 14 entries below 1e8"),
    ({"torque_limits": FEW}, "torque_limits must have 7 entries or none, got 3"),
    ({"payloads": [(0.0, 1, [1.0, 2.0])]}, "payload parameters must have shape (10,), got (2,)"),
    ({"payloads": [(0.0, 8, [1.0] * 10)]}, "a payload's link must be 1 to 7, got 8"),
    ({"payloads": [(0.0, 0, [1.0] * 10)]}, "a payload's link must be 1 to 7, got 0"),
    ({"external": [(0.0, 1.0, False, [1.0])]}, "external must have shape (7,), got (1,)"),
    ({"external": [(0.0, 1.0, None, [1.0] * 7)]}, "external must have shape (6,), got (7,)"),
    ({"external": [(0.0, 1.0, 99, [1.0] * 6)]}, "frame must be a link index 0 to 7"),
    ({"torque_limits": [*FEW, -1.0, *FEW]}, "torque_limits must be at least 0, got -1.0"),
    ({"torque_limits": np.full(7, math.nan)}, "torque_limits must be finite, got nan at index (0,)"),
    ({"payloads": [(0.0, 1, [math.nan] * 10)]}, "payload parameters must be finite, got nan at index (0,)"),
    ({"external": [(0.0, 1.0, None, [math.inf] * 6)]}, "external must be finite, got inf at index (0,)"),
    *[
        ({"sensors": {**SENSORS, name: [0.0, wrong, *ZERO[2:]]}}, f"{name} must be {message}")
        for name in ("position_noise", "velocity_noise", "position_resolution", "velocity_resolution")
        for wrong, message in ((-0.1, "at least 0, got -0.1"), (math.nan, "finite, got nan at index (1,)"))
    ],
    *[
        ({"sensors": {**SENSORS, "dropout": wrong}}, f"dropout must be at least 0 and less than 1, got {wrong}")
        for wrong in (-0.1, 1.0, 1.5, math.nan, math.inf)
    ],
    *[
        ({"actuators": {**ACTUATORS, name: [0.0, wrong, *ZERO[2:]]}}, f"{name} must be at least 0, got {wrong}")
        for name in ("torque_limits", "rate_limits", "stall")
        for wrong in (-0.1, -math.inf, math.nan)
    ],
    *[
        ({"actuators": {**ACTUATORS, name: [0.0, wrong, *ZERO[2:]]}}, f"{name} must be {message}")
        for name in ("feedforward", "time_constants", "damping")
        for wrong, message in ((-0.1, "at least 0, got -0.1"), (math.inf, "finite, got inf at index (1,)"))
    ],
    *[
        ({"sensors": {**SENSORS, name: FEW}}, f"{name} must have shape (7,), got (3,)")
        for name in ("position_noise", "velocity_noise", "position_resolution", "velocity_resolution")
    ],
    ({"sensors": {**SENSORS, "delay": -1}}, "delay must not be negative, got -1"),
    *[
        ({"actuators": {**ACTUATORS, name: FEW}}, f"{name} must have shape (7,), got (3,)")
        for name in ("torque_limits", "rate_limits", "feedforward", "stall", "time_constants", "damping")
    ],
    ({"actuators": {**ACTUATORS, "delay": -3}}, "delay must not be negative, got -3"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG_LOOPS, ids=lambda value: str(value)[:60])
def test_sizes_of_a_loop(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        loop(**changes)


def test_objects_of_a_loop() -> None:
    for changes in ({"plant": None}, {"plant": 3}, {"sensors": {**SENSORS, "velocity": 3}}):
        with pytest.raises(TypeError):
            loop(**changes)
    with pytest.raises(KeyError):
        loop(sensors={})
    loop(sensors=SENSORS, actuators=ACTUATORS)
    unlimited = np.full(7, math.inf)
    loop(actuators={**ACTUATORS, "torque_limits": unlimited, "rate_limits": unlimited, "stall": unlimited})


def test_a_python_status_is_one() -> None:
    class Law:
        status = 77

        def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: object) -> np.ndarray:
            return np.zeros(7)

    with pytest.raises(ValueError, match=r"^controller.status must be 0 to 4, got 77$"):
        th.simulate(robot(), Law(), SetPoint(ZERO), 0.01, q0=ZERO)


NONE_FOR_A_MODEL = [
    lambda: _core.PDGravity(None, 1.0, 1.0, None, None, False),
    lambda: _core.ComputedTorque(None, 1.0, 1.0, False),
    lambda: _core.InverseKinematics(None, None, 63, True, 1e-6, 10, 0.0, [0.0], [0.0], [[0.0]]),
    lambda: _core.Clik(None, None, 63, 0, {}),
    lambda: _core.ViaSearch(None, "uniform", 1, 0, 1.0, "paper", 1, True),
    lambda: _core.PotentialField(None, [], [0.0], [], np.zeros((0, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1),
    lambda: _core.SymbolicChain(None, _core.Graph(), {}, False, False),
    lambda: _core.SymbolicChain(robot(), None, {}, False, False),
    lambda: _core.ScheduledInterception(None, [0.0], [0.0], [[0.0, 0.0, 0.0]]),
]


@pytest.mark.parametrize("call", NONE_FOR_A_MODEL)
def test_none_is_no_model(call: object) -> None:
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        call()  # type: ignore[operator]


CARTESIAN = th.CartesianComputedTorque
WRONG_VALUES = [
    (lambda: setattr(CARTESIAN(robot(), 100.0, 20.0, 1.0), "_obstacles", np.ones((2, 2))),
     "obstacles must have shape (n, 4), got (2, 2)"),
    (lambda: _core.OperationalSpace(robot(), 1.0, 1.0, 1.0, None, None, [0, 99], None, (None, [True] * 7, None)),
     "rows of a task must be some of 0 to 5"),
    (lambda: _core.ManipulabilityObjective(robot(), None, 1 << 20, 1.0), "rows of a task must be some of 0 to 5"),
    (lambda: _core.ManipulabilityObjective(robot(), None, 0, 1.0), "rows of a task must be some of 0 to 5"),
    (lambda: _core.Clik(robot(), None, 63, 17, {}), "orientation must be 0 to 5, got 17"),
    (lambda: InverseKinematics(robot())._solve(np.eye(4)[None], None, -1), "threads must not be negative, got -1"),
    (lambda: _core.InverseKinematics(robot(), None, 63, True, 1e-6, 10, 0.0, Q, Q, np.zeros((0, 7))),
     "limits and starts must have one entry per joint, and at least one start"),
    (lambda: _core.PotentialField(robot(), [None], Q, [], np.zeros((0, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1),
     "obstacles must not contain None"),
    (lambda: _core.PotentialField(robot(), [], Q, [9], np.zeros((1, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1),
     "links must be 0 to 7, got 9"),
    (lambda: _core.PotentialField(robot(), [], Q, [], np.zeros((0, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1),
     "interior must be 0 to 10000, got -1"),
    (lambda: _core.PotentialField(robot(), [], Q, [], np.zeros((0, 3)), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 2**31 - 1),
     "interior must be 0 to 10000, got 2147483647"),
    (lambda: _core.DmpBasis(_core.BasisKind.gaussian, 1, 4.0, 1.0), "count must be 2 to 10000, got 1"),
    (lambda: _core.DmpBasis(_core.BasisKind.gaussian, 2**31 - 1, 4.0, 1.0), "count must be 2 to 10000, got 2147483647"),
    (lambda: _core.PiecewisePolynomial([], np.zeros((2, 5, 1))), "breaks must have at least two entries, got 0"),
    (lambda: _core.BezierPath([], np.zeros((5, 2, 1))), "breaks must have at least two entries, got 0"),
    (lambda: _core.ConstantVelocityFilter("paper", 1.0, np.eye(3), 1.0, 1.0, 99, 3),
     "reinitialize_after must be 0 to 16, got 99"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG_VALUES, ids=lambda value: value if isinstance(value, str) else "")
def test_values_of_the_private_module(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("k", [-1, 1, 10**6])
def test_an_obstacle_that_is_not_there(k: int) -> None:
    with pytest.raises(IndexError, match=f"^obstacle index must be 0 or more and less than 1, got {k}$"):
        _core.ObstacleSet([Sphere(GOAL, 0.1)]).distance(k, START, 0.0)


@pytest.mark.parametrize("steps", [-1, -5, -(2**31), 10_000_001, 2**31 - 1])
def test_steps_of_rollouts(steps: int) -> None:
    from .stateful import STATEFUL

    for kind in (_core.Dmp, _core.QuaternionDmp):
        rest = (1e-3, 1) if kind is _core.Dmp else (1e-3,)
        with pytest.raises(ValueError, match=f"^steps must be 0 to 10000000, got {steps}$"):
            STATEFUL[kind].make()._rollout(steps, *rest)
    with pytest.raises(ValueError, match=r"^pieces must be at least 1, got 0$"):
        STATEFUL[_core.Dmp].make()._rollout(5, 1e-3, 0)


@pytest.mark.parametrize("term", [-1, 7, 99])
def test_friction_terms_are_known(term: int) -> None:
    arguments = {
        "name": "arm", "prismatic": [False], "placements": np.eye(4)[None], "axes": [[0.0, 0.0, 1.0]],
        "offsets": np.eye(4)[None], "inertial": np.ones((1, 10)), "gravity": [0.0, 0.0, -9.81], "base": np.eye(4),
        "tool": np.eye(4), "friction_terms": [term], "friction": [[0.1]], "friction_delta": 0.01, "armature": [],
        "rotors": [], "elastic": ([], np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 1)), []),
        "joint_names": ["j"], "link_names": ["l"], "frames": [], "lower": [-1.0], "upper": [1.0],
    }  # fmt: skip
    with pytest.raises(ValueError, match=f"^friction term must be 0 to 6, got {term}$"):
        _core.Model(**arguments)
    assert _core.Model(**{**arguments, "friction_terms": [0]}).n == 1


@pytest.mark.parametrize("wrong", [-1, 0, 3.5, "x", object()])
def test_a_planner_is_one(wrong: object) -> None:
    """A call that failed used to look at a result that was not there."""
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        _core.ConditionedMotion(wrong, START, GOAL, 1.0, np.zeros((3, 5)))


@pytest.mark.parametrize("derivative", [-1, 4, 2**31 - 1])
def test_derivatives_of_a_conditioned_motion(derivative: int) -> None:
    """They are indices of a table of four."""
    motion = _conditioned()
    with pytest.raises(ValueError, match=f"^derivative must be 0 to 3, got {derivative}$"):
        motion.tube([0.5], derivative)
    assert np.isfinite(motion.tube([0.5], 3)[0]).all()


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mass_matrix", [], 8, [0]), "mass_matrix takes 1 inputs, got 0"),
        (("mass_matrix", [[0.0] * 6], 8, [0]), "q must have 7 entries, got 6"),
        (("inverse_dynamics", [[0.0] * 7, [0.0] * 7, []], 8, [0]), "ddq must have 7 entries, got 0"),
        (("forward_kinematics", [[0.0] * 7], -1, [0]), "there is no frame -1"),
        (("forward_kinematics", [[0.0] * 7], 10**6, [0]), "there is no frame 1000000"),
        (("jacobian", [[0.0] * 7], 8, [7]), "rows of a task must be some of 0 to 5"),
    ],
)
def test_sizes_of_a_symbolic_chain(arguments: tuple[object, ...], message: str) -> None:
    chain = robot().symbolic()._chain
    with pytest.raises(ValueError, match=f"^{message}$"):
        chain.evaluate(*arguments)
    assert len(chain.evaluate("mass_matrix", [[0.0] * 7], 8, [0])) == 49


# -- what a reviewer found ---------------------------------------------------------------------------------------------


def test_the_rate_that_an_integrator_is_given_ends_with_its_step() -> None:
    kept = []

    def advance(f, x, t, dt):
        kept.append(f)
        return x + dt * f(t, x)

    loop(integrator=advance, periods=2)
    with pytest.raises(ValueError, match=r"^f\(t, x\) of an integrator must be called within its step$"):
        kept[0](0.0, np.zeros(14))


def test_unknown_integrators_of_the_core() -> None:
    with pytest.raises(ValueError, match=r"^integrator must be 'plant'.* or 'implicit_midpoint', got 'nonsense'$"):
        loop(integrator="nonsense")


@pytest.mark.parametrize("steps", [-1, 5_000_001, 2**63 - 1])
def test_steps_of_a_followed_motion(steps: int) -> None:
    clik = th.kinematics.CLIK(robot(), 10.0)
    with pytest.raises(ValueError, match=f"^steps must be 0 to 5000000, got {steps}$"):
        clik._follow(SetPose(np.eye(4)), None, Q, ZERO, 1e-3, steps, False)


def test_objectives_of_other_arms() -> None:
    clik = _core.PostureObjective(th.Robot.load("elbow"), np.zeros(th.Robot.load("elbow").n), 1.0)
    settings = {
        "method": 2, "order": 1, "K": 10.0, "K_D": 10.0, "damping": 0.0, "threshold": 0.0, "measure": 0,
        "null_damping": 10.0, "largest_condition": 1e3, "lower": np.full(7, -1.0), "upper": np.ones(7),
        "velocity_limits": np.ones(7), "acceleration_limits": np.ones(7), "period": 0.01, "objective": clik,
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"^objective must be of 7 joints, got one of"):
        _core.Clik(robot(), None, 63, 0, settings)


@pytest.mark.parametrize("group", ["dh", "inertial", "friction", "gravity", "base", "tool", "elastic_K"])
def test_groups_of_symbolic_parameters_have_their_size(group: str) -> None:
    with pytest.raises(ValueError, match=f"^group {group} must have [0-9]+ entries, got 2"):
        _core.SymbolicChain(robot(), _core.Graph(), {group: [1.0, 2.0]}, False, False)
    with pytest.raises(ValueError, match="no group of parameters called other"):
        _core.SymbolicChain(robot(), _core.Graph(), {"other": [1.0]}, False, False)
