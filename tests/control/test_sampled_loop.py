import re
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control.estimation import DerivativeEstimator
from thunder_py.control.motion_states import typical_states
from thunder_py.control.stability import Loop, linear_arm
from thunder_py.realtime import ControlLoop, DriveFacts, DriveLoop, RealtimeLoop, SimulatedRobot
from thunder_py.reference import SetPoint, SetPose, Sinusoid
from thunder_py.sampled_loop import Channel

Q = {
    "panda": [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7],
    "ur5e": [0.2, -1.2, 1.5, -1.0, -1.4, 0.3],
    "gen3": [0.1, 0.4, 0.3, -1.2, 0.2, 0.8, 0.1],
    "iiwa14": [0.1, 0.4, 0.3, -1.2, 0.2, 0.8, 0.1],
    "scara": [0.3, 0.8, 0.1, 0.2],
}


def pd(name: str, share: float, **options: Any) -> th.PDGravity:
    robot = th.Robot.load(name)
    inertia = 1.0 / np.linalg.inv(robot.mass_matrix(np.array(Q[name]))).diagonal()
    return th.PDGravity(robot, options.get("K_p", 30.0) * inertia, share * inertia)


@pytest.mark.parametrize(
    ("name", "T", "sensors", "actuators"),
    [
        ("panda", 1e-3, None, None),
        ("ur5e", 2e-3, {"delay": 2e-3}, {"lag": 3e-3}),
        ("gen3", 5e-3, None, {"delay": 1e-2, "lag": 2e-3}),
        ("iiwa14", 1e-3, {"velocity": th.control.ButterworthDerivative(30.0)}, None),
        ("scara", 4e-3, {"velocity": th.control.FirstOrderDerivative(20.0)}, {"lag": [0.0, 4e-3, 0.0, 1e-2]}),
        ("panda", 2e-3, {"velocity": th.control.SavitzkyGolayDerivative(9)}, {"delay": 2e-3}),
    ],
)
def test_the_limit_against_the_arm(name: str, T: float, sensors: Any, actuators: Any) -> None:
    """A warning at 1.1 of the limit, where the arm at rest begins to move, and silence at 0.9, where it stays."""
    robot, q = th.Robot.load(name).replace(limits=None), np.array(Q[name])
    measured = None if sensors is None else th.Sensors(**sensors)
    drives = None if actuators is None else th.Actuators(**actuators)
    between = th.simulation.sensors.channel(measured, drives, robot.n, T)
    assert between is not None
    high = 4.0 / T
    law = pd(name, high)
    arm = linear_arm(law, robot, q, between)
    assert arm is not None
    found = Loop("", ("K_p", "K_d"), arm, between).excess()
    assert found is not None
    assert found.gain == "velocity"
    speeds = []
    for share in (0.9, 1.1):
        with (
            pytest.warns(RuntimeWarning, match="^K_d of PDGravity is too high")
            if share > 1
            else warnings.catch_warnings()
        ):
            run = th.simulate(
                robot, pd(name, share * found.share * high), SetPoint(q), 600 * T, T / 4, control_period=T, q0=q + 1e-7,
                sensors=measured, actuators=drives,
            )  # fmt: skip
        speeds.append(np.abs(run.dq[150:]).max() / np.abs(run.dq[:100]).max() + 1e9 * run.diverged)
    assert speeds[0] < 1.0 < speeds[1]


def test_a_stiffness_beyond_the_lag_of_drives_is_named() -> None:
    """K_0 and the lag of drives: with M q'' + D q' + K q = 0 behind a lag T it needs D > K T."""
    robot, q = th.Robot.load("panda"), np.array(Q["panda"])
    slow = th.Actuators(lag=0.02)
    for K_0, stable in ((900.0, True), (1100.0, False)):
        law = th.ComputedTorque(robot, K_0=K_0, K_1=20.0)
        with (
            warnings.catch_warnings()
            if stable
            else pytest.warns(
                RuntimeWarning, match=r"^K_0 or K_p of ComputedTorque is too high for .* a lag of 0.02 s: it holds"
            )
        ):
            run = th.simulate(robot, law, SetPoint(q), 4.0, 1e-3, q0=q + 1e-6, actuators=slow)
        assert (np.abs(run.dq[-500:]).max() < np.abs(run.dq[1500:2000]).max()) == stable


@pytest.mark.filterwarnings("ignore:the run diverged:RuntimeWarning")
@pytest.mark.parametrize("name", ["K_posture", "Lambda_posture"])
def test_a_posture_that_is_held_too_stiffly_is_told(name: str) -> None:
    """The attraction in the null space: beyond the period, the arm at rest begins to move along its redundancy."""
    robot, q = th.Robot.load("panda"), np.array(Q["panda"])
    pose = SetPose(robot.forward_kinematics(q))
    for gain, stable in ((20.0, True), (1e6, False)):
        if name == "K_posture":
            law: Any = th.OperationalSpace(robot, 100.0, 20.0, [20.0] * 4 + [2.0] * 3, posture=q, K_posture=gain)
        else:
            K_d = [20.0] * 4 + [2.0] * 3
            law = th.CartesianMACT(robot, [400.0] * 3 + [2.0] * 3, K_d, adaptation=None, posture=q, Lambda_posture=gain)
        with nullcontext() if stable else pytest.warns(RuntimeWarning, match=f"^K_. or {name} of .* is too high"):
            run = th.simulate(robot.replace(limits=None), law, pose, 0.2, q0=q + 1e-6)
        assert (np.abs(run.dq[-20:]).max() < 1e-3) == stable


def test_gravity_that_is_compensated_late_is_told() -> None:
    """A pendulum upside down: the torque of the sample before pushes it on; K_1 must exceed g / l T / 2."""
    robot = th.Robot.load("elbow")
    q, T = np.array([0.5 * np.pi, 0.0]), 0.05
    G = np.linalg.solve(robot.mass_matrix(q), linear_arm(th.PDGravity(robot, 1.0, 1.0), robot, q, Channel(T)).G)  # type: ignore[union-attr]
    least = 0.5 * T * -np.linalg.eigvals(G).real.min()
    for share, stable in ((1.3, True), (0.5, False)):
        law = th.ComputedTorque(robot, K_0=1e-3, K_1=share * least)
        with (
            warnings.catch_warnings()
            if stable
            else pytest.warns(RuntimeWarning, match="gravity is compensated too late")
        ):
            run = th.simulate(robot, law, SetPoint(q), 6.0, 1e-3, control_period=T, q0=q, dq0=[1e-5, 1e-5])
        assert (np.abs(run.dq[-1]).max() < np.abs(run.dq[len(run.t) // 2]).max()) == stable


@pytest.mark.parametrize(
    "estimator",
    [
        th.control.FirstOrderDerivative(7.0),
        th.control.ButterworthDerivative(25.0),
        th.control.SavitzkyGolayDerivative(7, 3),
    ],
)
def test_recursion_of_an_estimator(estimator: DerivativeEstimator) -> None:
    b, a = estimator._recursion(2e-3)
    q = np.cumsum(np.random.default_rng(0).normal(size=200))
    q[:20] = q[0]  # at rest
    v = np.zeros(200)
    for k in range(20, 200):
        v[k] = b @ q[k - np.arange(len(b))] - sum(a[i] * v[k - 1 - i] for i in range(len(a)))
    np.testing.assert_allclose(estimator.apply(2e-3, q).dq[20:], v[20:], atol=1e-7 * np.abs(v).max())


def test_a_reference_in_python_does_not_silence_the_check() -> None:
    with pytest.warns(RuntimeWarning, match="K_d of PDGravity is too high"):
        th.simulate(th.Robot.load("panda"), pd("panda", 3000.0), lambda t: SetPoint(Q["panda"])(t), 2e-3)


@pytest.mark.parametrize(
    ("arm", "period", "drives", "stable"),
    [
        ("panda", 1e-3, {"delay": 5e-3}, True),
        ("ur5e", 1e-3, {"delay": 0.02}, False),
        ("gen3", 1e-3, {"lag": 5e-3}, True),
        ("panda", 1e-3, {"lag": 0.05}, False),
        ("ur5e", 0.01, {"delay": 0.02}, True),
        ("gen3", 0.02, {"delay": 0.02}, True),
    ],
)
def test_the_hold_of_a_task_law_is_checked(arm: str, period: float, drives: Any, stable: bool) -> None:
    """A goal half a turn away, where the law is singular: the arm comes to rest, or shakes and the run warned of it."""
    robot = th.Robot.load(arm)
    q = np.array([0.3, -1.1, 1.2, -0.9, 0.6, 0.8, 0.4][: robot.n]) if arm != "panda" else np.array(Q["panda"])
    law = th.control.OperationalSpace(robot, K_0=20, K_1=6, K_d=2)
    goal = th.reference.SetPose(robot.forward_kinematics(q) @ np.diag([1.0, -1.0, -1.0, 1.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = th.simulate(
            robot, law, goal, 2.0, min(period, 2e-3), control_period=period, q0=q, dq0=np.full(robot.n, 0.02),
            actuators=th.Actuators(**drives),
        )  # fmt: skip
    assert (run.status == th.control.Status.singular).any()
    told = [str(w.message) for w in caught if "the hold of OperationalSpace is too high" in str(w.message)]
    assert bool(told) != stable
    assert (run.diverged or np.abs(run.dq[-200:]).max() > 0.5) != stable
    if run.diverged:
        assert any(text.startswith("the run diverged") and "the hold of OperationalSpace" in text for text in told)
    if not stable:
        assert "a control period of 0.0" in told[0]


def facts(robot: th.Robot, **changes: Any) -> DriveFacts:
    usual: dict[str, Any] = {"period": 1e-3, "cycle": 1e-3, "torque_limits": 100.0, "torque_rate": 1e5}
    return DriveFacts(robot.joint_names, **{**usual, **changes})


class Adapter:
    def __init__(self, facts: DriveFacts) -> None:
        self.facts = facts

    def start(self) -> None: ...
    def read(self) -> Any: ...
    def write(self, tau: np.ndarray, /) -> None: ...
    def stop(self) -> None: ...


def built(kind: str, law: th.ComputedTorque, **changes: Any) -> list[str]:
    """Warnings of the loop's gains, those of its brake aside."""
    robot = th.Robot.load("panda")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if kind == "DriveLoop":
            DriveLoop(Adapter(facts(robot, **changes)), robot, law, SetPoint(Q["panda"]))
        elif kind == "RealtimeLoop":
            RealtimeLoop(SimulatedRobot(robot, Q["panda"], facts(robot, **changes), real_time=False), robot, law)
        else:
            gains = {"name": "ComputedTorque", "K_0": float(law.K_0), "K_1": float(law.K_1)}  # type: ignore[attr-defined]
            ControlLoop({"robot": "panda", "controller": gains, "times": changes})
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught if "of the brake" not in str(w.message) and "of hold" not in str(w.message)]


@pytest.mark.parametrize("kind", ["ControlLoop", "DriveLoop", "RealtimeLoop"])
@pytest.mark.parametrize(
    ("K_0", "K_1", "changes", "gain"),
    [
        (100.0, 20.0, {}, None),
        (100.0, 2100.0, {}, "K_1 or K_d"),
        (100.0, 110.0, {"period": 0.02}, "K_1 or K_d"),
        (100.0, 80.0, {"period": 0.02}, None),
        (100.0, 1100.0, {"delay": 1e-3}, "K_1 or K_d"),
        (1100.0, 20.0, {"lag": 0.02}, "K_0 or K_p"),
        (900.0, 20.0, {"lag": 0.015}, None),
    ],
)
def test_loops_warn_of_period_delay_and_lag(kind: str, K_0: float, K_1: float, changes: Any, gain: str | None) -> None:
    law: Any = th.ComputedTorque(th.Robot.load("panda"), K_0=K_0, K_1=K_1)
    law.K_0, law.K_1 = K_0, K_1
    told = built(kind, law, **changes)
    assert len(told) == (gain is not None)
    if gain is not None:
        assert told[0].startswith(f"{gain} of ComputedTorque is too high for ")


@pytest.mark.parametrize(
    ("kind", "delay", "stable"),
    [
        ("ControlLoop", 8e-3, True),
        *(
            pytest.param(kind, 0.02, False, marks=pytest.mark.release)
            for kind in ("ControlLoop", "DriveLoop", "RealtimeLoop")
        ),
    ],
)
def test_loops_warn_of_the_hold_of_a_task_law(kind: str, delay: float, stable: bool) -> None:
    robot = th.Robot.load("panda")
    gains = {"K_0": 20.0, "K_1": 6.0, "K_d": 2.0}
    named = {"name": "OperationalSpace", **gains}
    law, told = th.control.OperationalSpace(robot, **gains), facts(robot, delay=delay)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if kind == "DriveLoop":
            DriveLoop(Adapter(told), robot, law, th.reference.SetPose(robot.forward_kinematics(Q["panda"])))
        elif kind == "RealtimeLoop":
            RealtimeLoop(SimulatedRobot(robot, Q["panda"], told, real_time=False), robot, named)
        else:
            ControlLoop({"robot": "panda", "controller": named, "times": {"delay": delay}})
    assert any("the hold of OperationalSpace is too high" in str(w.message) for w in caught) != stable


def test_new_gains_of_a_running_loop_are_checked() -> None:
    robot = th.Robot.load("elbow")
    drive = SimulatedRobot(robot, [0.4, 0.6], facts(robot), real_time=False)
    loop = RealtimeLoop(drive, robot, {"name": "PDGravity", "K_p": 50.0, "K_d": 10.0})
    with pytest.warns(RuntimeWarning, match="^K_d of PDGravity is too high"):
        loop.set_gains(K_d=1e5)
    loop = RealtimeLoop(
        SimulatedRobot(robot, [0.4, 0.6], facts(robot), real_time=False), robot, th.PDGravity(robot, 50.0, 10.0)
    )
    with pytest.warns(RuntimeWarning, match="^K_d of PDGravity is too high"):
        loop.set_law(th.PDGravity(robot, 50.0, 1e5))


def test_the_rate_of_the_hold_is_checked_against_delay_and_lag() -> None:
    law = {"name": "SlotineLi", "Lambda": 0.5, "K_d": 0.02, "adaptation": None}
    with pytest.warns(RuntimeWarning, match="^rate of hold is too high for .* a delay of 0.01 s"):
        ControlLoop({"robot": "panda", "controller": law, "hold": {"rate": 400.0}, "times": {"delay": 0.01}})


@pytest.mark.parametrize(("name", "value"), [("delay", -1e-3), ("lag", -1e-3), ("lag", [1.0, 2.0])])
def test_delay_and_lag_must_be_times(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        facts(th.Robot.load("panda"), **{name: value})
    with pytest.raises(ValueError, match=name):
        ControlLoop({"robot": "panda", "controller": {"name": "PDGravity", "K_p": 1, "K_d": 1}, "times": {name: value}})


@pytest.mark.parametrize(
    ("options", "gain", "name"),
    [
        ({}, "Lambda", "Lambda"),
        ({"rows": ("x", "y", "z")}, "Lambda", "Lambda"),
        ({"method": "damped", "damping": 0.3}, "Lambda", "Lambda"),
        ({"method": "transpose"}, "Lambda", "Lambda"),
        ({"rows": ("x", "y", "z"), "Lambda": 10.0}, "null", "Lambda or the gain of null_space"),
        ({"K_0": 9.0}, "K_1", "K_1 or null_damping"),
    ],
)
@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_steps_of_clik_that_are_too_long(options: dict[str, Any], gain: str, name: str, integrator: str) -> None:
    """Limits are 2 / dt of the fastest rate, 2.785 / dt for Runge-Kutta's rule; errors shrink below and grow beyond."""
    arm, dt = "panda" if gain == "null" else "ur5e", 0.01
    robot, q0 = th.Robot.load(arm), np.array(Q[arm])
    J = robot.jacobian(q0)[: 3 if "rows" in options else 6]
    most = float(np.linalg.svd(J, compute_uv=False).max() ** 2)
    largest = {"damped": most / (most + 0.09), "transpose": most}.get(options.get("method", ""), 1.0)
    bound = 2.785293563 if integrator == "rk4" else 2.0
    for share in (0.9, 1.1):
        value = share * bound / dt / largest
        arguments = {**options}
        if gain == "null":
            arguments["null_space"] = th.kinematics.Posture(q0 + 0.01, gain=value)
        else:
            arguments[gain] = value
        clik = th.kinematics.CLIK(robot, limits=False, **arguments)
        with (
            warnings.catch_warnings()
            if share < 1.0
            else pytest.warns(RuntimeWarning, match=rf"^{re.escape(name)} of CLIK is too high for steps of 0.01 s")
        ):
            run = clik.follow(SetPose(robot.forward_kinematics(q0 + 1e-6)), q0, 1.0, dt, integrator=integrator)  # type: ignore[arg-type]
        assert (np.abs(run.dq).max() > 10.0 * np.abs(run.dq[:2]).max()) == (share > 1.0)


MIDDLE = {
    "human_arm": [0.3, 0.4, 0.2, 1.0, 0.1, 0.1, 0.1], "elbow": [0.3, 0.8], "cart_pendulum": [0.1, 0.4], **Q,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "law", "period"),
    [
        ("human_arm", th.ComputedTorque, 0.02),
        ("human_arm", th.SlotineLi, 0.01),
        pytest.param("gen3", th.PDGravity, 0.02, marks=pytest.mark.release),
        pytest.param("gen3", th.MACT, 0.02, marks=pytest.mark.release),
        ("scara", th.SlotineLi, 0.02),
        ("elbow", th.ACT, 0.02),
    ],
)
def test_what_tune_finds_is_stable(name: str, law: Any, period: float) -> None:
    robot = th.Robot.load(name)
    q = np.array(MIDDLE[name])
    motion = Sinusoid([0.2] * robot.n, np.linspace(0.15, 0.3, robot.n), center=q)
    with pytest.warns(RuntimeWarning, match="hardly any inertia") if name == "human_arm" else nullcontext():
        tuning = th.control.tune(robot, law, period=period)
    assert tuning.damping_share <= 0.501
    start = motion(0.0)
    free = robot.replace(limits=None)
    run = th.simulate(
        free, tuning.controller(), motion, 5.0, period / 10, control_period=period, q0=start.q, dq0=start.dq
    )
    assert not run.diverged
    assert np.abs(run.dq - motion(run.t).dq).max() < 1.5
    q = typical_states(robot, 0.0).q[1]  # of the human arm one in which gravity topples a light joint
    still = th.simulate(free, tuning.controller(), SetPoint(q), 6.0, period / 5, control_period=period, q0=q + 1e-5)
    assert np.abs(still.dq[-10:]).max() < 1e-3


def test_tune_warns_where_no_damping_suffices() -> None:
    """Joints that weigh much and turn easily at 50 Hz: M^-1 dG/dq is 30 000 1/s^2, and diagonal gains do not help."""
    with pytest.warns(RuntimeWarning, match="^K_d of PDGravity is too low, or the period too long"):
        th.control.tune(th.Robot.load("human_arm"), th.PDGravity, period=0.02)


@pytest.mark.parametrize(("period", "delay"), [(0.0, 0.0), (-1e-3, 0.0), (1e-3, -1e-3), (np.nan, 0.0)])
def test_stable_rate_checks_its_arguments(period: float, delay: float) -> None:
    with pytest.raises(ValueError, match=r"period|delay"):
        th.control.stable_rate(period, delay)
