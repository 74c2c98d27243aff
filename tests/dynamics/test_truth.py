import numpy as np
import pytest

from tests.truth import CHAINS, load, robot_of


def assert_close(actual, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", CHAINS)
def test_states(name):
    robot = robot_of(name)
    for state in load(name)["states"]:
        q, dq, dq_r, ddq_r, ddq = (np.array(state[key]) for key in ("q", "qd", "qdr", "qddr", "qdd"))
        assert_close(robot.forward_kinematics(q), state["T_0_ee"])
        assert_close(robot.jacobian(q), state["J"])
        assert_close(robot.jacobian_dot(q, dq), state["Jdot"])
        assert_close(robot.jacobian_dot(q, dq) @ dq, state["Jdot_qd"])
        assert_close(robot.mass_matrix(q), state["M"])
        assert_close(robot.coriolis_matrix(q, dq), state["C"])
        assert_close(robot.gravity_vector(q), state["G"])
        assert_close(robot.mass_matrix_dot(q, dq), state["Mdot"])
        assert_close(robot.coriolis_matrix_dot(q, dq, ddq), state["Cdot_with_qdd"])
        assert_close(robot.gravity_vector_dot(q, dq), state["Gdot"])
        assert_close(robot.inverse_dynamics(q, dq, ddq), state["tau_ID_qdd"])
        assert_close(robot.forward_dynamics(q, dq, np.array(state["tau_ID_qdd"])), ddq)
        assert_close(robot.slotine_li_regressor(q, dq, dq_r, ddq_r) @ robot.parameters, state["tau"])
        if "Yr" in state:
            assert_close(robot.slotine_li_regressor(q, dq, dq_r, ddq_r), state["Yr"])
