import numpy as np
import pytest

from thunder_py.control import Impedance, Status

from .arms import panda
from .task_terms import State, bias_torque, gain, states, task_inertia, task_terms

CASES = [pytest.param(s, id=f"{s.robot.name}-{len(s.rows)}") for s in states(2)]
WRENCH = np.array([3.0, -5.0, 4.0, 0.5, -0.3, 0.4])


def law_of(s: State, **changes: object) -> Impedance:
    arguments: dict[str, object] = {
        "K": gain(s.rows, 200.0, 50.0),
        "D": gain(s.rows, 40.0, 10.0),
        "K_d": np.linspace(1.0, 3.0, s.robot.n),
        "rows": s.rows,
    }
    return Impedance(s.robot, **{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("s", CASES)
def test_equals_the_law_written_out(s: State) -> None:
    task, Lambda = task_terms(s), task_inertia(s)
    M, C = s.robot.mass_matrix(s.q), s.robot.coriolis_matrix(s.q, s.dq)
    J_bar = np.linalg.solve(M, task.J.T) @ Lambda
    mu = J_bar.T @ C @ J_bar - Lambda @ task.J_dot @ J_bar
    force = gain(s.rows, 200, 50) * task.e + gain(s.rows, 40, 10) * task.e_dot + mu @ task.e_dot
    force += Lambda @ (task.f_dot - task.J_dot @ s.dq)
    P = np.eye(s.robot.n) - task.J.T @ J_bar.T
    expected = task.J.T @ force + bias_torque(s) - P @ (np.linspace(1, 3, s.robot.n) * s.dq)
    law = law_of(s)
    np.testing.assert_allclose(law.step(0.0, s.q, s.dq, s.reference), expected, atol=1e-9)
    assert law.status is Status.ok


@pytest.mark.parametrize("s", CASES)
def test_desired_inertia_with_a_measured_wrench(s: State) -> None:
    """M_d e'' + D e' + K e = -F."""
    M_d, task = gain(s.rows, 5.0, 0.5), task_terms(s)
    law = law_of(s, inertia=M_d)
    law.wrench = WRENCH
    pushed = s.robot.jacobian(s.q).T @ WRENCH
    tau = law.step(0.0, s.q, s.dq, s.reference)
    ddq = s.robot.forward_dynamics(s.q, s.dq, tau + pushed)
    e_ddot = task.f_dot - task.J_dot @ s.dq - task.J @ ddq
    felt = task_inertia(s) @ task.J @ np.linalg.solve(s.robot.mass_matrix(s.q), pushed)
    left = M_d * e_ddot + gain(s.rows, 40, 10) * task.e_dot + gain(s.rows, 200, 50) * task.e
    np.testing.assert_allclose(left, -felt, atol=1e-8)
    if len(s.rows) == 6:  # F as the errors feel it
        np.testing.assert_allclose(felt, np.linalg.solve(task.L.T, WRENCH), atol=1e-8)


def test_wrench_needs_a_desired_inertia() -> None:
    law = Impedance(panda(), 100.0, 20.0, 2.0)
    with pytest.raises(ValueError, match="wrench must not be set without a desired inertia"):
        law.wrench = WRENCH
    shaped = Impedance(panda(), 100.0, 20.0, 2.0, inertia=2.0)
    np.testing.assert_array_equal(shaped.wrench, 0.0)
    shaped.wrench = WRENCH
    np.testing.assert_array_equal(shaped.wrench, WRENCH)
    with pytest.raises(ValueError, match=r"wrench must have shape \(6,\), got \(3,\)"):
        shaped.wrench = WRENCH[:3]
