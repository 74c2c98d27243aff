import numpy as np
import pytest
from hypothesis import given

import thunder_py as th
from tests.dynamics.numerics import assert_close
from tests.dynamics.random_chains import cases, few, random_case


def mechanical(robot):
    """Mask of the parameters that are not friction."""
    if robot.description.friction is None:
        return np.ones(robot.p, dtype=bool)
    return ~robot.unknown("friction").mask


@few
@given(case=cases(12))
def test_mass_matrix_is_symmetric_and_positive(case):
    robot, q, *_ = case
    M = robot.mass_matrix(q)
    assert_close(M, M.T, 1e-14)
    assert np.linalg.eigvalsh(M)[0] > 0.0


@few
@given(case=cases(12))
def test_coriolis_is_skew_with_any_pair_and_right(case):
    robot, q, dq, _, x, y = case
    C, M_dot = robot.coriolis_matrix(q, dq), robot.mass_matrix_dot(q, dq)
    S = M_dot - 2.0 * C
    assert_close(x @ S @ y, -(y @ S @ x))
    zero = np.zeros_like(q)
    coriolis = robot.inverse_dynamics(q, dq, zero) - robot.gravity_vector(q) - robot.friction_torque(dq)
    assert_close(C @ dq, coriolis)


@few
@given(case=cases(12))
def test_inverse_dynamics_is_the_sum_of_its_parts(case):
    robot, q, dq, ddq, *_ = case
    parts = robot.mass_matrix(q) @ ddq + robot.coriolis_matrix(q, dq) @ dq + robot.gravity_vector(q)
    assert_close(robot.inverse_dynamics(q, dq, ddq), parts + robot.friction_torque(dq))


@few
@given(case=cases())
def test_christoffel_symbols(case):
    robot, q, dq, *_ = case
    gamma = robot.christoffel_symbols(q)
    assert_close(gamma, gamma.transpose(0, 2, 1), 1e-12)
    assert_close(gamma @ dq, robot.coriolis_matrix(q, dq))
    dM = robot.mass_matrix_derivative(q)
    assert_close(gamma, 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)))


@few
@given(case=cases(12))
def test_forward_dynamics_inverts(case):
    robot, q, dq, ddq, tau, _ = case
    forward = robot.forward_dynamics(q, dq, tau)
    scale = np.abs(robot.mass_matrix(q)).max() * np.abs(forward).max()
    assert_close(robot.inverse_dynamics(q, dq, forward), tau, 1e-11 * max(1.0, scale))
    there_and_back = robot.forward_dynamics(q, dq, robot.inverse_dynamics(q, dq, ddq))
    assert_close(there_and_back, ddq, 1e-13 * max(1e2, np.linalg.cond(robot.mass_matrix(q))))


@few
@given(case=cases())
def test_regressors_give_torques_of_any_parameters(case):
    robot, q, dq, ddq, dq_r, ddq_r = case
    pi = np.random.default_rng(7).normal(size=robot.p)  # no body: every column counts
    other = robot.with_parameters(pi)
    assert_close(robot.regressor(q, dq, ddq) @ pi, other.inverse_dynamics(q, dq, ddq))
    M, C, G, D = other.mass_matrix(q), other.coriolis_matrix(q, dq), other.gravity_vector(q), other.friction_torque(dq)
    assert_close(robot.slotine_li_regressor(q, dq, dq_r, ddq_r) @ pi, M @ ddq_r + C @ dq_r + G + D)
    assert_close(robot.mass_regressor(q, ddq_r) @ pi, M @ ddq_r)
    assert_close(robot.coriolis_regressor(q, dq, dq_r) @ pi, C @ dq_r)
    assert_close(robot.gravity_regressor(q) @ pi, G)
    assert_close(robot.friction_regressor(dq) @ pi, D)


@few
@given(case=cases())
def test_torque_and_momentum_without_regressors(case):
    robot, q, dq, _, dq_r, ddq_r = case
    other = robot.with_parameters(np.random.default_rng(7).normal(size=robot.p))
    pi, M, C = other.parameters, other.mass_matrix(q), other.coriolis_matrix(q, dq)
    assert_close(other.slotine_li_torque(q, dq, dq_r, ddq_r), robot.slotine_li_regressor(q, dq, dq_r, ddq_r) @ pi)
    assert_close(other.generalized_momentum(q, dq), M @ dq)
    assert_close(other.momentum_drift(q, dq), C.T @ dq)
    assert_close(robot.momentum_regressor(q, dq) @ pi, M @ dq)
    assert_close(robot.kinetic_energy_regressor(q, dq) @ pi, other.kinetic_energy(q, dq))
    assert_close(robot.potential_energy_regressor(q) @ pi, other.potential_energy(q))


@few
@given(case=cases())
def test_slotine_li_regressor_by_polarization(case):
    """Y_r(q, v, v_r, a_r) = Y(q, (v + v_r) / 2, a_r) - Y(q, (v - v_r) / 2, 0) + Y(q, 0, 0), but for friction."""
    robot, q, v, _, v_r, a_r = case
    Y, zero, keep = robot.regressor, np.zeros_like(q), mechanical(robot)
    expected = Y(q, (v + v_r) / 2, a_r) - (Y(q, (v - v_r) / 2, zero) - Y(q, zero, zero))
    assert_close(robot.slotine_li_regressor(q, v, v_r, a_r)[:, keep], expected[:, keep])


@few
@given(case=cases(friction=True))
def test_friction_is_the_sum_of_its_terms(case):
    """Smooth sign of D4.2, eq. 62; polynomial terms dq |dq|^(k - 1)."""
    robot, _, dq, *_ = case
    friction = robot.description.friction
    speed = np.abs(dq)
    basis = {"viscous": dq, "coulomb": dq / (speed + friction.delta)}
    basis |= {name: dq * speed**k for k, name in enumerate(friction.TERMS[2:], start=1)}
    terms = np.column_stack([basis[name] for name in friction.terms])
    assert_close(robot.friction_torque(dq), (friction.coefficients * terms).sum(axis=1))
    for j, name in enumerate(robot.joint_names):
        columns = [robot.parameter_names.index(f"{name}.{term}") for term in friction.terms]
        assert_close(robot.friction_regressor(dq)[:, columns], np.eye(robot.n)[:, [j]] * terms[j])


@few
@given(case=cases(rotors=True))
def test_rotors_add_their_spin_energy(case):
    """Each rotor adds I s s' to M, where s' dq is the spin about its axis: of its carrier, and of its own."""
    robot, q, *_ = case
    d = robot.description
    expected = robot.replace(rotors=()).mass_matrix(q)
    for rotor in d.rotors:
        carrier = rotor.joint - 1 if rotor.carrier is None else rotor.carrier
        axis = rotor.axis
        if axis is None:
            rest = np.zeros(d.n)
            before = robot.forward_kinematics(rest, rotor.joint - 1) @ d.placements[rotor.joint - 1]
            axis = robot.forward_kinematics(rest, carrier)[:3, :3].T @ before[:3, :3] @ d.axes[rotor.joint - 1]
        spin = robot.jacobian(q, carrier)[3:].T @ robot.forward_kinematics(q, carrier)[:3, :3] @ axis
        spin[rotor.joint - 1] += rotor.gear_ratio
        expected = expected + rotor.inertia * np.outer(spin, spin)
    assert_close(robot.mass_matrix(q), expected)


@few
@given(case=cases(12))
def test_energies(case):
    robot, q, dq, *_ = case
    assert_close(robot.kinetic_energy(q, dq), 0.5 * dq @ robot.mass_matrix(q) @ dq)
    potential = 0.0
    for link, body in enumerate(robot.inertial, start=1):
        first_moment = robot.forward_kinematics(q, link)[:3] @ [*body[1:4], body[0]]
        potential -= robot.gravity @ first_moment
    assert_close(robot.potential_energy(q), potential)


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_do_not_depend_on_where_the_base_stands(seed):
    robot, q, dq, ddq, tau, _ = random_case(seed, 6, "modified", rotors=True)
    far = np.array(robot.description.base)
    far[:3, 3] += [1000.0, -500.0, 20.0]
    moved = robot.replace(base=far)
    assert_close(moved.inverse_dynamics(q, dq, ddq), robot.inverse_dynamics(q, dq, ddq))
    assert_close(moved.gravity_vector(q), robot.gravity_vector(q))
    assert_close(moved.mass_matrix(q), robot.mass_matrix(q))
    assert_close(moved.coriolis_matrix(q, dq), robot.coriolis_matrix(q, dq))
    assert_close(moved.forward_dynamics(q, dq, tau), robot.forward_dynamics(q, dq, tau))


def _singular_arms():
    body = [1.0, 0.3, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1]
    rows = [[0.3, 0.2, 0.1, 0], [0.4, 0.5, 0.2, 0]]
    yield "massless", th.Robot.from_dh(rows)
    yield "massless last link", th.Robot.from_dh(rows, inertial=[body, [0.0] * 10])
    yield "point mass on the axis", th.Robot.from_dh(rows, inertial=[body, [1.0, 0, 0, 0.3, *[0.0] * 6]])
    yield "two joints on one axis", th.Robot.from_dh([rows[0], [0, 0, 0.2, 0]], inertial=[[0.0] * 10, body])


@pytest.mark.parametrize("arm", [pytest.param(arm, id=name) for name, arm in _singular_arms()])
def test_forward_dynamics_of_a_singular_mass_matrix(arm):
    """It is not finite or huge, except near equilibrium; the mass matrix shows it everywhere."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, dq, tau = rng.uniform(-2.0, 2.0, (3, 2))
        ddq = arm.forward_dynamics(q, dq, tau)
        assert not np.isfinite(ddq).all() or np.abs(ddq).max() > 1e12
        M = arm.mass_matrix(q)
        assert not M.any() or np.linalg.cond(M) > 1e15
