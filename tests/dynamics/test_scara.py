"""The SCARA of the technical project (S) against what its report prints."""

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.numerics import assert_close
from thunder_py.model.description import Rotor
from thunder_py.model.inertia import reg_from_dyn

STATES = np.random.default_rng(3).uniform(-2.0, 2.0, (5, 2, 4))


@pytest.fixture(scope="module")
def scara():
    """S-1: the parameters that reproduce the printed B(q), rotors on the link before their joint."""
    dyn = np.zeros((4, 10))
    dyn[:, 0] = 20.0, 20.0, 10.0, 0.0
    dyn[:2, 1] = -0.25
    dyn[:, 9] = 4.0, 4.0, 0.0, 1.0
    inertias, ratios = (0.01, 0.01, 0.005, 0.001), (1.0, 1.0, 50.0, 20.0)
    return th.Robot.from_dh(
        [[0.5, 0, 1, 0], [0.5, np.pi, 0, 0], [0, 0, 0.5, 0], [0, 0, 0, -np.pi / 2]],
        convention="standard",
        joint_types="RRPR",
        inertial=dyn,
        rotors=tuple(
            Rotor(joint=i, inertia=I_m, gear_ratio=k_r)
            for i, (I_m, k_r) in enumerate(zip(inertias, ratios, strict=True), start=1)
        ),
    )


@pytest.fixture(params=STATES, ids=lambda state: None)
def state(request):
    return request.param


def test_kinematics(scara, state):
    """S-4."""
    q1, q2, d3, q4 = q = state[0]
    s, c = np.sin(q1 + q2 - q4), np.cos(q1 + q2 - q4)
    x, y = (np.cos(q1 + q2) + np.cos(q1)) / 2, (np.sin(q1 + q2) + np.sin(q1)) / 2
    assert_close(scara.forward_kinematics(q), [[-s, c, 0, x], [c, s, 0, y], [0, 0, -1, 0.5 - d3], [0, 0, 0, 1]])
    J = np.zeros((6, 4))
    J[0, :2], J[1, :2] = (-y, -np.sin(q1 + q2) / 2), (x, np.cos(q1 + q2) / 2)
    J[2, 2], J[5] = -1.0, (1, 1, 0, -1)
    assert_close(scara.jacobian(q), J)


def test_manipulability(scara, state):
    """S-4: w = |sin(q2)| / 4, of the rows the arm can move in."""
    q = state[0]
    assert scara.manipulability(q, rows=[0, 1, 2, 5]) == pytest.approx(abs(np.sin(q[1])) / 4, abs=1e-12)


def test_mass_matrix(scara, state):
    """S-1."""
    q = state[0]
    c2 = np.cos(q[1])
    B = [
        [10 * c2 + 10763 / 500, 5 * c2 + 4383 / 500, -1 / 4, -51 / 50],
        [5 * c2 + 4383 / 500, 4383 / 500, -1 / 4, -51 / 50],
        [-1 / 4, -1 / 4, 45 / 2, 0],
        [-51 / 50, -51 / 50, 0, 7 / 5],
    ]
    assert_close(scara.mass_matrix(q), B)


def test_coriolis_matrix(scara, state):
    q, dq = state
    s2, (v1, v2, *_) = np.sin(q[1]), dq
    C = np.zeros((4, 4))
    C[:2, :2] = [[-5 * v2 * s2, -5 * v1 * s2 - 5 * v2 * s2], [5 * v1 * s2, 0]]
    assert_close(scara.coriolis_matrix(q, dq), C)


def test_printed_christoffel_formula_has_a_wrong_sign(scara, state):
    """S-2: with + for the last term C is not skew against M_dot and the torque is off by 10 v1 (v1 + v2) sin(q2)."""
    q, dq = state
    D = scara.mass_matrix_derivative(q)
    printed = 0.5 * (D + D.transpose(0, 2, 1) + D.transpose(2, 0, 1)) @ dq
    s2, (v1, v2, *_) = np.sin(q[1]), dq
    assert_close(printed[1, :2], [-5 * (v1 + v2) * s2, -5 * v1 * s2])
    skew = scara.mass_matrix_dot(q, dq) - 2 * printed
    assert np.abs(skew + skew.T).max() > 1e-3
    error = scara.coriolis_matrix(q, dq) @ dq - printed @ dq
    assert_close(error, [0, 10 * v1 * (v1 + v2) * s2, 0, 0])


def test_gravity_vector(scara, state):
    """S-3: d3 points down; the payload of 5 kg on the last link adds 49.05 N."""
    q = state[0]
    assert_close(scara.gravity_vector(q), [0, 0, -98.1, 0])
    payload = reg_from_dyn([5.0, *np.zeros(9)])
    loaded = scara.replace(inertial=scara.inertial + np.outer([0, 0, 0, 1], payload))
    assert_close(loaded.gravity_vector(q), [0, 0, -98.1 - 49.05, 0])
