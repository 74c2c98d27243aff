import numpy as np
from hypothesis import given

from tests.dynamics.numerics import assert_close, derivative, path
from tests.dynamics.random_chains import cases, few


@few
@given(case=cases())
def test_first_derivatives(case):
    robot, q, dq, ddq, *_ = case
    motion, eye = path(q, dq, ddq), np.eye(robot.n)
    assert_close(robot.mass_matrix_dot(q, dq), derivative(lambda t: robot.mass_matrix(motion(t))), 1e-9)
    by_q = [derivative(lambda t, e=e: robot.mass_matrix(q + t * e)) for e in eye]
    assert_close(robot.mass_matrix_derivative(q), np.moveaxis(by_q, 0, -1), 1e-9)
    C_dot = derivative(lambda t: robot.coriolis_matrix(motion(t), dq + t * ddq))
    assert_close(robot.coriolis_matrix_dot(q, dq, ddq), C_dot, 1e-9)
    assert_close(robot.gravity_vector_dot(q, dq), derivative(lambda t: robot.gravity_vector(motion(t))), 1e-9)
    assert_close(
        robot.gravity_vector(q), [derivative(lambda t, e=e: robot.potential_energy(q + t * e)) for e in eye], 1e-9
    )


@few
@given(case=cases())
def test_jacobian_and_its_derivative(case):
    robot, q, dq, *_ = case
    motion = path(q, dq)
    for frame in robot.frame_names:
        twist = robot.jacobian(q, frame) @ dq
        T_dot = derivative(lambda t, frame=frame: robot.forward_kinematics(motion(t), frame))
        R = robot.forward_kinematics(q, frame)[:3, :3]
        spin = T_dot[:3, :3] @ R.T
        assert_close(twist, [*T_dot[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]], 1e-9)
        J_dot = derivative(lambda t, frame=frame: robot.jacobian(motion(t), frame))
        assert_close(robot.jacobian_dot(q, dq, frame), J_dot, 1e-9)


@few
@given(case=cases())
def test_second_derivatives(case):
    """Of M, C, G and J along a motion with jerk, as derivatives of the first ones."""
    robot, q, dq, ddq, d3q, _ = case
    motion = path(q, dq, ddq, d3q)

    def speed(t):
        return dq + t * ddq + 0.5 * t * t * d3q

    M_ddot = derivative(lambda t: robot.mass_matrix_dot(motion(t), speed(t)))
    assert_close(robot.mass_matrix_ddot(q, dq, ddq), M_ddot, 1e-9)
    C_ddot = derivative(lambda t: robot.coriolis_matrix_dot(motion(t), speed(t), ddq + t * d3q))
    assert_close(robot.coriolis_matrix_ddot(q, dq, ddq, d3q), C_ddot, 1e-9)
    G_ddot = derivative(lambda t: robot.gravity_vector_dot(motion(t), speed(t)))
    assert_close(robot.gravity_vector_ddot(q, dq, ddq), G_ddot, 1e-9)
    for frame in robot.frame_names:
        J_ddot = derivative(lambda t, frame=frame: robot.jacobian_dot(motion(t), speed(t), frame))
        assert_close(robot.jacobian_ddot(q, dq, ddq, frame), J_ddot, 1e-9)


@few
@given(case=cases())
def test_energy_grows_by_the_power_put_in(case):
    """d/dt (T + U) = dq' (tau - friction)."""
    robot, q, dq, ddq, *_ = case
    motion = path(q, dq, ddq)
    tau = robot.inverse_dynamics(q, dq, ddq)

    def energy(t):
        return robot.kinetic_energy(motion(t), dq + t * ddq) + robot.potential_energy(motion(t))

    assert_close(derivative(energy), dq @ (tau - robot.friction_torque(dq)), 1e-9)
