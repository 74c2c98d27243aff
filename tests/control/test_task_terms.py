import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from .task_terms import ROWS, State, states, task_terms


def later(s: State, h: float, ddq: np.ndarray) -> State:
    """The state after a short time, exact to h^2."""
    d = s.reference
    turn = Rotation.from_rotvec(h * d.xi[3:] + 0.5 * h * h * d.xi_dot[3:]).as_matrix()
    moved = d._replace(
        p=d.p + h * d.xi[:3] + 0.5 * h * h * d.xi_dot[:3], R=turn @ d.R, xi=d.xi + h * d.xi_dot, xi_dot=d.xi_dot
    )
    return s._replace(q=s.q + h * s.dq + 0.5 * h * h * ddq, dq=s.dq + h * ddq, reference=moved)


@pytest.mark.parametrize("s", states(), ids=lambda s: f"{s.robot.name}-{len(s.rows)}")
def test_terms_by_finite_differences(s: State) -> None:
    h, ddq = 1e-5, np.linspace(-1.0, 1.0, s.robot.n)
    ahead, here, behind = (task_terms(later(s, k * h, ddq)) for k in (1, 0, -1))
    np.testing.assert_allclose((ahead.e - behind.e) / (2 * h), here.e_dot, atol=1e-8)
    e_ddot = here.f_dot - here.J_dot @ s.dq - here.J @ ddq
    np.testing.assert_allclose((ahead.e_dot - behind.e_dot) / (2 * h), e_ddot, atol=1e-7)


def test_sign_of_the_bias_acceleration() -> None:
    """Errata D-11: ddq = J^+ (xi_dot - J_dot dq) + N a; D4.2 prints a plus."""
    s = next(s for s in states() if s.rows == ROWS)
    J, bias = s.robot.jacobian(s.q), s.robot.jacobian_dot(s.q, s.dq) @ s.dq
    ddq = np.linspace(-1.0, 1.0, 7)
    xi_dot, free = J @ ddq + bias, ddq - np.linalg.pinv(J) @ J @ ddq
    np.testing.assert_allclose(np.linalg.pinv(J) @ (xi_dot - bias) + free, ddq, atol=1e-12)
    assert np.abs(np.linalg.pinv(J) @ (xi_dot + bias) + free - ddq).max() > 0.1
