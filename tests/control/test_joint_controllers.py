from collections.abc import Callable

import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.control import (
    ACT,
    MACT,
    ComputedTorque,
    DCMotor,
    IndependentJoint,
    PassivityBased,
    PDGravity,
    RobustUnitVector,
    SlotineLi,
    Status,
)
from thunder_py.reference import JointReference, SetPoint

from .arms import elbow, elbow_motion
from .laws import arm

LAWS: dict[str, Callable[..., th._core.JointController]] = {
    "independent_joint": lambda robot, **k: IndependentJoint(
        robot, **{"K_p": 200.0, "K_d": 20.0, "inertia": 1.0, "feedforward": "model", **k}
    ),
    "pd_gravity": lambda robot, **k: PDGravity(robot, **{"K_p": 100.0, "K_d": 20.0, **k}),
    "craig": lambda robot, **k: ComputedTorque(robot, **{"K_0": 100.0, "K_1": 20.0, **k}),
    "impedance": lambda robot, **k: ComputedTorque(robot, **{"K_p": 100.0, "K_d": 20.0, **k}),
    "passivity_based": lambda robot, **k: PassivityBased(robot, **{"Lambda": 5.0, "K_d": 10.0, **k}),
    "robust_unit_vector": lambda robot, **k: RobustUnitVector(
        robot, **{"K_0": 100.0, "K_1": 20.0, "rho": 5.0, "epsilon": 0.1, **k}
    ),
    "slotine_li": lambda robot, **k: SlotineLi(robot, **{"Lambda": 5.0, "K_d": 10.0, "adaptation": 1e3, **k}),
    "act": lambda robot, **k: ACT(robot, **{"K_0": 100.0, "K_1": 20.0, "adaptation": 1e6, **k}),
    "mact": lambda robot, **k: MACT(robot, **{"K_p": 100.0, "K_d": 20.0, "adaptation": 1e3, "gamma": 0.1, **k}),
}
GAINS = {
    "independent_joint": ("K_p", "K_d", "K_i"),
    "pd_gravity": ("K_p", "K_d", "K_i"),
    "craig": ("K_0", "K_1"),
    "impedance": ("K_p", "K_d"),
    "passivity_based": ("Lambda", "K_d"),
    "robust_unit_vector": ("K_0", "K_1"),
    "slotine_li": ("Lambda", "K_d"),
    "act": ("K_0", "K_1"),
    "mact": ("K_p", "K_d", "R_t"),
}
SIGNALS = {"passivity_based": {"s"}, "robust_unit_vector": {"z", "w"}, "slotine_li": {"s", "parameters"}}
SIGNALS |= {"act": {"s", "parameters"}, "mact": {"prediction_error", "s", "parameters"}}
GOAL = SetPoint([0.5, 0.7])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("bad", ["q", "dq", "reference"])
def test_nan_gives_a_hold_or_a_safe_torque(name: str, bad: str) -> None:
    robot, q, dq = arm("rr_elbow_craig"), np.array([0.3, 0.4]), np.array([0.5, -0.2])
    law, desired, broken = LAWS[name](robot), GOAL(0.0), np.array([np.nan, 0.0])
    law.step(0.0, q, dq, desired)
    assert law.status is Status.ok
    given = {"q": q, "dq": dq, "reference": desired}
    given[bad] = JointReference(broken, desired.dq, desired.ddq) if bad == "reference" else broken
    tau = law.step(1e-3, given["q"], given["dq"], given["reference"])
    assert law.status is Status.invalid_input
    expected = robot.gravity_vector(q) - (0.0 if bad == "dq" else 90.0 * robot.mass_matrix(q) @ dq)
    if bad == "reference":  # the first torque of a hold
        expected = robot.inverse_dynamics(q, dq, 0.0 * dq) - robot.friction_torque(dq)
    np.testing.assert_allclose(tau, expected, atol=1e-12)
    law.step(2e-3, q, dq, desired)
    assert law.status is Status.ok


@pytest.mark.parametrize("name", LAWS)
def test_overflow_is_divergence(name: str) -> None:
    law = LAWS[name](elbow())
    tau = law.step(0.0, [0.1, 0.2], [1e308, 1e308], GOAL(0.0))
    assert law.status is Status.diverged
    assert np.isfinite(tau).all()


class Jump:
    """A set point that jumps by 2 rad."""

    def __call__(self, t: float) -> JointReference:
        return SetPoint([0.0, 0.0] if t < 0.2 else [2.0, 0.5])(t)


@pytest.mark.parametrize("name", LAWS)
def test_reference_that_jumps(name: str) -> None:
    law, limits = LAWS[name](elbow()), np.array([45.0, 15.0])
    law.torque_limits = limits
    run = th.simulate(elbow(), law, Jump(), 6.0)
    assert (np.abs(run.tau) <= limits).all()
    assert (run.status[run.t < 0.2] == Status.ok).all()
    assert (run.status == Status.saturated).any()
    assert run.status[-1] == Status.ok
    np.testing.assert_allclose(run.q[-1], [2.0, 0.5], atol=3e-3)


@pytest.mark.parametrize("name", LAWS)
def test_follows_and_logs_its_signals(name: str) -> None:
    law = LAWS[name](elbow())
    run = th.simulate(elbow(), law, elbow_motion(), 2.0, q0=elbow_motion()(0.0).q, dq0=elbow_motion()(0.0).dq)
    assert set(law.signals) == {"error"} | SIGNALS.get(name, set())
    assert (run.status == Status.ok).all()
    desired = np.array([elbow_motion()(t).q for t in run.t])
    np.testing.assert_allclose(run.error, desired - run.q, atol=1e-12)
    assert run.error_norm().max() < (0.2 if name == "pd_gravity" else 0.02)


@pytest.mark.parametrize("name", LAWS)
def test_step_alone_is_the_step_of_the_loop(name: str) -> None:
    integral = {"K_i": 5.0} if "K_i" in GAINS[name] else {}
    law, motion = LAWS[name](elbow(), **integral), elbow_motion()
    run = th.simulate(elbow(), law, motion, 0.2, q0=[0.0, 0.0])
    law.reset()
    for t, q, dq, tau in zip(run.t, run.q, run.dq, run.tau, strict=True):
        np.testing.assert_array_equal(law.step(t, q, dq, motion(t)), tau)


@pytest.mark.parametrize(("name", "gain"), [(name, gain) for name in LAWS for gain in GAINS[name]])
def test_bad_gains(name: str, gain: str) -> None:
    for value, message in (
        (-1.0, f"{gain} must be positive definite"),
        ([1.0, 0.0], f"{gain} must be positive definite"),
        ([[2.0, 1.0], [0.0, 2.0]], f"{gain} must be symmetric"),
        ([1.0, 2.0, 3.0], f"{gain} must be a number, 2 numbers or a 2 x 2 matrix, got 3 numbers"),
        (np.eye(3), f"{gain} must be a number, 2 numbers or a 2 x 2 matrix, got 3 x 3"),
        (np.nan, f"{gain} must be finite"),
        ("stiff", gain),
    ):
        with pytest.raises(ValueError, match=message):
            LAWS[name](elbow(), **{gain: value})


class OutOfReach:
    """For three seconds a posture that the motors cannot hold, then one that they can."""

    def __call__(self, t: float) -> JointReference:
        return SetPoint([0.0, 0.0] if t < 3.0 else [-1.57, 0.0])(t)


@pytest.mark.parametrize("name", ["independent_joint", "pd_gravity"])
def test_integral_does_not_wind_up(name: str) -> None:
    """Beside a law whose own limits are too wide to tell that its torque is clipped, and which comes back late."""
    robot, q0 = elbow(), [-1.57, 0.0]
    limits = 0.8 * np.abs(robot.gravity_vector([0.0, 0.0]))
    law, unaware = LAWS[name](robot, K_i=40.0), LAWS[name](robot, K_i=40.0)
    law.torque_limits, unaware.torque_limits = limits, 100.0 * limits
    run = th.simulate(robot, law, OutOfReach(), 8.0, q0=q0)
    wound = th.simulate(robot, unaware, OutOfReach(), 8.0, q0=q0, torque_limits=limits)
    assert (run.status == Status.saturated).any()
    assert 10.0 * np.abs(run.signals["integral"]).max() < np.abs(wound.signals["integral"]).max()
    np.testing.assert_allclose(run.q[-1], q0, atol=2e-2)
    assert np.abs(wound.q[-1] - q0).max() > 0.05
    bounded = LAWS[name](robot, K_i=40.0, integral_limit=[3.0, 2.0])
    bounded.torque_limits = 100.0 * limits
    run = th.simulate(robot, bounded, OutOfReach(), 3.0, q0=q0, torque_limits=limits)
    assert (np.abs(run.signals["integral"]) <= [3.0, 2.0]).all()
    assert np.abs(run.signals["integral"]).max() == 3.0


@pytest.mark.parametrize("name", ["independent_joint", "pd_gravity"])
def test_integral_counts_time(name: str) -> None:
    """Backward Euler; a pause counts as 0.1 s, a step without torque as nothing."""
    law, q, zero = LAWS[name](elbow(), K_i=[4.0, 2.0]), np.array([0.4, 0.5]), np.zeros(2)
    gain = np.array([4.0, 2.0]) * ([0.5, 0.7] - q)
    for t, total in ((0.0, 0.0), (0.01, 0.01), (0.03, 0.03), (5.0, 0.13), (4.0, 0.13), (4.01, 0.14)):
        law.step(t, q, zero, GOAL(0.0))
        np.testing.assert_allclose(law.signals["integral"], total * gain, atol=1e-12)
    law.step(4.02, [np.nan, 0.0], zero, GOAL(0.0))
    law.step(4.03, q, zero, GOAL(0.0))
    np.testing.assert_allclose(law.signals["integral"], 0.14 * gain, atol=1e-12)
    law.reset()
    np.testing.assert_array_equal(law.signals["integral"], zero)


def test_dc_motor() -> None:
    """Electrical and mechanical equation at the rotor, seen at the joint."""
    J_m, B_m, k_m, k_b, R, r = 2e-4, 1e-4, 0.05, 0.06, 1.5, np.array([50.0, 100.0])
    motor = DCMotor(J_m, B_m, k_m, R, k_b, r)
    dq, ddq, current = np.array([0.5, -1.0]), np.array([2.0, 3.0]), np.array([1.0, -2.0])
    voltage = R * current + k_b * r * dq
    np.testing.assert_allclose(motor.torque(voltage, dq), r * k_m * current)
    np.testing.assert_allclose(motor.voltage(r * k_m * current, dq), voltage)
    load = r * (k_m * current - J_m * r * ddq - B_m * r * dq)
    np.testing.assert_allclose(motor.joint_inertia * ddq + motor.joint_damping * dq, r * k_m * current - load)
    np.testing.assert_allclose(motor.torque(0.0, dq), -motor.joint_back_emf * dq)
    assert DCMotor(J_m, B_m, k_m, R).back_emf == k_m
    assert_refused(
        (((-1.0, B_m, k_m, R),), "...inertia must not be negative..."),
        (((J_m, B_m, 0.0, R),), "...torque_constant must be positive..."),
        (((J_m, B_m, k_m, np.inf),), "...resistance must be finite, got inf..."),
        call=lambda arguments: DCMotor(*arguments),
    )


def test_refusals() -> None:
    assert_refused(
        (("independent_joint", {"K_p": [[2.0, 1.0], [1.0, 2.0]]}), "K_p must be diagonal..."),
        (("independent_joint", {"inertia": -1.0}), "inertia must not be negative, its smallest entry is -1..."),
        (("independent_joint", {"damping": [0.1, 0.2, 0.3]}), "damping must be a number or 2 numbers..."),
        (("independent_joint", {"feedforward": "modle"}), "feedforward must be one of ...did you mean 'model'..."),
        (("independent_joint", {"integral_limit": 1.0}), "integral_limit needs K_i"),
        (("pd_gravity", {"K_i": 1.0, "integral_limit": 0.0}), "integral_limit must be positive..."),
        (("pd_gravity", {"gravity": "both"}), "gravity must be one of..."),
        (("craig", {"K_d": 5.0}), "gains must be K_0 and K_1, or K_p and K_d, got K_0 and K_1 and K_d"),
        (("impedance", {"K_p": None, "K_d": None}), "gains must be K_0 and K_1, or K_p and K_d, got none"),
        (("robust_unit_vector", {"rho": 0.0}), "rho must be positive, got 0"),
        (("robust_unit_vector", {"rho": np.inf}), "rho must be positive and finite..."),
        (("robust_unit_vector", {"rho": [1.0, 2.0]}), "rho must be positive..."),
        (("robust_unit_vector", {"epsilon": -0.1}), "epsilon must be positive, got -0.1"),
        (("robust_unit_vector", {"Q": np.eye(2)}), "Q must be a number, 4 numbers or a 4 x 4 matrix..."),
        (("robust_unit_vector", {"Q": -1.0}), "Q must be positive definite..."),
        call=lambda name, arguments: LAWS[name](elbow(), **arguments),
    )
