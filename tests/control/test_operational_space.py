import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import OperationalSpace, Status
from thunder_py.reference import SetPose

from .arms import Q0, panda
from .task_terms import (
    SCARA_Q0,
    SCARA_ROWS,
    State,
    bias_torque,
    error_acceleration,
    gain,
    scara,
    states,
    task_terms,
    torque_projector,
)

CASES = [pytest.param(s, id=f"{s.robot.name}-{len(s.rows)}") for s in states()]


def law_of(s: State, **changes: object) -> OperationalSpace:
    n = s.robot.n
    arguments: dict[str, object] = {
        "K_0": gain(s.rows, 80.0, 120.0),
        "K_1": gain(s.rows, 15.0, 25.0),
        "K_d": np.linspace(1.0, 3.0, n),
        "posture": np.linspace(-0.5, 0.5, n),
        "K_posture": np.linspace(4.0, 8.0, n),
        "rows": s.rows,
    }
    return OperationalSpace(s.robot, **{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("s", CASES)
def test_equals_the_law_written_out(s: State) -> None:
    task, n = task_terms(s), s.robot.n
    wanted = task.f_dot - task.J_dot @ s.dq + gain(s.rows, 15, 25) * task.e_dot + gain(s.rows, 80, 120) * task.e
    free = np.linspace(4, 8, n) * (np.linspace(-0.5, 0.5, n) - s.q) - np.linspace(1, 3, n) * s.dq
    expected = s.robot.mass_matrix(s.q) @ np.linalg.pinv(task.J) @ wanted + bias_torque(s) + torque_projector(s) @ free
    law = law_of(s)
    np.testing.assert_allclose(law.step(0.0, s.q, s.dq, s.reference), expected, atol=1e-9)
    assert law.status is Status.ok
    np.testing.assert_allclose(law.signals["error"], task.e, atol=1e-14)


@pytest.mark.parametrize("s", CASES)
def test_error_dynamics_are_linear(s: State) -> None:
    """e'' + K_1 e' + K_0 e + K_integral (integral of e) = 0 with the true model, the null space whatever it does."""
    law = law_of(s, K_integral=gain(s.rows, 30.0, 50.0))
    law.step(0.0, s.q, s.dq, s.reference)
    tau = law.step(0.05, s.q, s.dq, s.reference)
    task = task_terms(s)
    np.testing.assert_allclose(law.signals["integral"], 0.05 * task.e, atol=1e-14)
    expected = gain(s.rows, 15, 25) * task.e_dot + gain(s.rows, 80, 120) * task.e
    expected = -expected - gain(s.rows, 30, 50) * 0.05 * task.e
    np.testing.assert_allclose(error_acceleration(s, tau), expected, atol=1e-9)


def payload_run(K_integral: list[float] | None) -> th.simulation.SimulationResult:
    """The report's set-up: 5 kg that the model does not know, K_P and K_D as printed."""
    T = scara().forward_kinematics(SCARA_Q0)
    law = OperationalSpace(
        scara(), [5000, 5000, 10000, 5000], [50, 50, 100, 50], 1.0, K_integral, rows=SCARA_ROWS, integral_limit=1.0
    )
    return th.simulate(scara(), law, SetPose(T), 4.0, q0=SCARA_Q0, payloads=[th.Payload(5.0)], log_every=10)


def test_integral_action_removes_the_error_of_a_payload() -> None:
    without, faster = payload_run(None), payload_run([20, 20, 30000, 20])
    # what is left carries the weight: M_33 K_0 e = m g
    left = 5.0 * 9.81 / (scara().mass_matrix(SCARA_Q0)[2, 2] * 10000.0)
    assert np.abs(without.error[-1, 2]) == pytest.approx(left, rel=1e-3)
    assert np.abs(faster.error[-1, 2]) < 1e-3 * left


def test_integral_gain_of_the_report_is_slow() -> None:
    """K_P / K_I is 5 s in z: after 4 s half of the error is still there."""
    without, printed = payload_run(None), payload_run([20, 20, 2000, 20])
    ratio = printed.error[-1, 2] / without.error[-1, 2]
    assert ratio == pytest.approx(np.exp(-4.0 / 5.0), abs=0.02)


def test_integral_holds_while_torques_are_clipped() -> None:
    T = scara().forward_kinematics(SCARA_Q0)
    T[2, 3] += 0.1
    far = SetPose(T)(0.0)
    law = OperationalSpace(scara(), 5000.0, 50.0, 1.0, 100.0, rows=SCARA_ROWS)
    law.torque_limits = [500.0, 500.0, 300.0, 100.0]
    law.step(0.0, SCARA_Q0, np.zeros(4), far)
    assert law.status is Status.saturated
    law.step(0.1, SCARA_Q0, np.zeros(4), far)
    np.testing.assert_array_equal(law.signals["integral"], 0.0)
    law.torque_limits = None
    law.step(0.15, SCARA_Q0, np.zeros(4), far)  # still clipped the step before
    law.step(0.2, SCARA_Q0, np.zeros(4), far)
    np.testing.assert_allclose(law.signals["integral"], [0, 0, 0.005, 0], atol=1e-12)
    law.reset()
    np.testing.assert_array_equal(law.signals["integral"], 0.0)


def test_integral_is_limited_and_skips_where_the_law_is_singular() -> None:
    T = panda().forward_kinematics(Q0)
    T[0, 3] += 0.1
    far, rest = SetPose(T)(0.0), np.zeros(7)
    law = OperationalSpace(panda(), 100.0, 20.0, 2.0, 10.0, integral_limit=[0.004, 1, 1, 1, 1, 1])
    law.step(0.0, Q0, rest, far)
    for t in (0.05, 0.1, 0.15):
        law.step(t, Q0, rest, far)
    assert law.signals["integral"][0] == 0.004
    law.reset()
    law.step(0.0, Q0, rest, far)
    law.step(0.02, np.zeros(7), rest, far)
    assert law.status is Status.singular
    law.step(0.04, Q0, rest, far)
    np.testing.assert_array_equal(law.signals["integral"], 0.0)
