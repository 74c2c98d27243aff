"""Partial derivatives against identities, differences of what they derive, and friction against 50 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given

import thunder_py as th
from tests.dynamics.numerics import assert_close, derivative
from tests.dynamics.quantities import kernel
from tests.dynamics.random_chains import cases, few, random_case
from tests.refusals import assert_refused
from thunder_py.model.description import Friction

TERMS = ("viscous", "coulomb", "quadratic", "cubic", "quartic", "quintic", "sextic")


def by(f, n):
    """Partial derivatives of f at 0, the index of the argument last."""
    return np.moveaxis([derivative(lambda t, e=e: f(t * e)) for e in np.eye(n)], 0, -1)


@few
@given(case=cases(friction=False))
def test_derivatives_of_kinematic_and_inertia_matrices(case):
    robot, q, dq, ddq, *_ = case
    dC = robot.coriolis_matrix_derivative(q, dq)
    assert_close(dC, by(lambda e: robot.coriolis_matrix(q + e, dq), robot.n), 1e-9)
    assert_close(dC @ dq + robot.christoffel_symbols(q) @ ddq, robot.coriolis_matrix_dot(q, dq, ddq))
    for frame in robot.frame_names:
        assert_close(robot.jacobian_derivative(q, frame) @ dq, robot.jacobian_dot(q, dq, frame))


@pytest.mark.parametrize(("n", "rows"), [(7, None), (8, [0, 2, 4]), (3, [1])])
def test_operational_space_inertia_derivative(n, rows):
    """dLambda = -Lambda d(J M^-1 J') Lambda from dJ and dM."""
    robot, q, *_ = random_case(17, n, "modified", joints="R", friction=False, rotors=True, armature=True)
    keep = range(6) if rows is None else rows
    J, dJ = robot.jacobian(q)[keep], robot.jacobian_derivative(q)[keep]
    inverse, dM = np.linalg.inv(robot.mass_matrix(q)), robot.mass_matrix_derivative(q)
    X = J @ inverse
    half = np.einsum("rjk,sj->rsk", dJ, X)
    change = half + half.swapaxes(0, 1) - np.einsum("ri,ijk,sj->rsk", X, dM, X)
    Lambda = robot.operational_space_inertia(q, rows=rows)
    expected = -np.einsum("ar,rsk,sb->abk", Lambda, change, Lambda)
    assert_close(robot.operational_space_inertia_derivative(q, rows=rows), expected, 1e-9)


@few
@given(case=cases(friction=False))
def test_derivatives_of_forward_dynamics(case):
    """Of ddq(q, dq, tau(q, dq, ddq)) = ddq, with the derivatives of both."""
    robot, q, dq, ddq, *_ = case
    inverse = robot.inverse_dynamics_derivatives(q, dq, ddq)
    forward = robot.forward_dynamics_derivatives(q, dq, robot.inverse_dynamics(q, dq, ddq))
    scale = np.abs(forward.Minv).max()
    for by_state, torque in [(forward.ddq_dq, inverse.dtau_dq), (forward.ddq_dv, inverse.dtau_dv)]:
        assert_close((by_state + forward.Minv @ torque) / scale, np.zeros((robot.n, robot.n)), 1e-9)
    assert_close(forward.Minv @ inverse.M, np.eye(robot.n), 1e-9)
    np.testing.assert_array_equal(forward.Minv, forward.Minv.T)


@few
@given(case=cases())
def test_products_with_regressors(case):
    robot, q, dq, ddq, dq_r, ddq_r = case
    pi = np.random.default_rng(robot.p).normal(size=robot.p)
    expected = np.array(robot.with_parameters(pi).inverse_dynamics_derivatives(q, dq, ddq))
    assert_close(robot.regressor_product_derivatives(q, dq, ddq, pi), expected)
    other = robot.with_parameters(pi)
    by_q, by_dq, by_dq_r, by_ddq_r = robot.slotine_li_product_derivatives(q, dq, dq_r, ddq_r, pi)
    assert_close(by_q, by(lambda e: robot.slotine_li_regressor(q + e, dq, dq_r, ddq_r) @ pi, robot.n), 1e-9)
    # friction acts on the velocity: its slope is in the derivative of Y pi at rest of everything else
    slope = np.diag(np.diag(other.inverse_dynamics_derivatives(q, dq, ddq).dtau_dv - 2 * other.coriolis_matrix(q, dq)))
    assert_close(by_dq, other.coriolis_matrix(q, dq_r) + slope, 1e-9)
    assert_close(by_dq_r, other.coriolis_matrix(q, dq))
    assert_close(by_ddq_r, other.mass_matrix(q))


@few
@given(case=cases())
def test_products_with_transposed_regressors(case):
    """Contracted with parameters they are s' times those of the torques, for any parameters."""
    robot, q, dq, ddq, dq_r, ddq_r = case
    pi, s = (np.random.default_rng(robot.n).normal(size=size) for size in (robot.p, robot.n))
    torques = robot.regressor_product_derivatives(q, dq, ddq, pi)
    assert_close(pi @ robot.transposed_regressor_derivatives(q, dq, ddq, s), s @ torques)
    torques = robot.slotine_li_product_derivatives(q, dq, dq_r, ddq_r, pi)
    assert_close(pi @ robot.transposed_slotine_li_derivatives(q, dq, dq_r, ddq_r, s), s @ torques)


def friction_in_digits(coefficients, v, delta, order):
    def torque(x):
        basis = [x, x / (abs(x) + delta), *(x * abs(x) ** k for k in range(1, 6))]
        return sum(c * value for c, value in zip(coefficients, basis, strict=True))

    with mpmath.workdps(50):
        return float(mpmath.diff(torque, mpmath.mpf(float(v)), order))


def test_friction():
    """Its share of each derivative, against differences in 50 digits."""
    rng = np.random.default_rng(8)
    coefficients = rng.uniform(0.1, 1.0, (3, len(TERMS)))
    plain = random_case(8, 3, "modified", friction=False).robot
    q, dq, ddq = rng.uniform(-1.2, 1.2, (3, 3))
    friction = Friction(terms=TERMS, coefficients=coefficients, delta=0.05)
    robot = plain.replace(friction=friction)
    slopes, curvatures = (
        np.array([friction_in_digits(c, v, 0.05, order) for c, v in zip(coefficients, dq, strict=True)])
        for order in (1, 2)
    )
    with_it, without = (r.inverse_dynamics_derivatives(q, dq, ddq) for r in (robot, plain))
    assert_close(with_it.dtau_dv, without.dtau_dv + np.diag(slopes), 1e-12)
    np.testing.assert_array_equal(with_it.dtau_dq, without.dtau_dq)
    with_it, without = (r.inverse_dynamics_second_derivatives(q, dq, ddq) for r in (robot, plain))
    diagonal = np.zeros((3, 3, 3))
    diagonal[range(3), range(3), range(3)] = curvatures
    assert_close(with_it.d2tau_dvdv, without.d2tau_dvdv + diagonal, 1e-12)
    np.testing.assert_array_equal(with_it.d2tau_dqdq, without.d2tau_dqdq)


def test_named_parts_are_views_of_out():
    robot, q, dq, ddq, *_ = random_case(3, 4, "standard")
    batch = [np.tile(x, (2, 3, 1)) for x in (q, dq, ddq)]
    for name, shape in [
        ("inverse_dynamics_derivatives", (3, 4, 4)),
        ("forward_dynamics_derivatives", (3, 4, 4)),
        ("inverse_dynamics_second_derivatives", (4, 4, 4, 4)),
        ("forward_dynamics_second_derivatives", (4, 4, 4, 4)),
    ]:
        out = np.empty((2, 3, *shape))
        parts = getattr(robot, name)(*batch, out=out)
        np.testing.assert_array_equal(np.stack(parts, axis=2), kernel(robot, name)(*batch))
        assert all(np.shares_memory(part, out) and part.shape == (2, 3, *shape[1:]) for part in parts)
        single = getattr(robot, name)(q, dq, ddq)
        assert type(single) is type(parts)
        assert_close(single, [part[1, 2] for part in parts], 1e-11)


def test_refusals():
    robot = th.Robot.load("elbow")
    assert_refused(
        (lambda: robot.operational_space_inertia_derivative([0.3, 0.4]), "the chosen rows of the Jacobian are sing...")
    )
