"""The lectures: models by hand are those of the package, proofs hold along runs, misprints do not."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import trapezoid

import thunder_py as th
from tests.control.arms import panda
from thunder_py.papers.lectures import run as lectures


@pytest.fixture(scope="module")
def cart():
    return lectures.cart_pendulum_by_hand(), lectures.cart_pendulum_by_package()


@pytest.fixture(scope="module")
def arm():
    return lectures.planar_arm_by_hand(), lectures.planar_arm_by_package()


@pytest.mark.parametrize("which", ["cart", pytest.param("arm", marks=pytest.mark.release)])
def test_hand_and_package_agree_in_letters(which, request):
    for name, rest in lectures.difference(*request.getfixturevalue(which)).items():
        assert rest.is_zero_matrix, name


@pytest.mark.release
def test_models_are_those_that_the_lectures_end_with(cart, arm):
    phi = cart[0].q[1]
    m1, m2, length, inertia, g = sp.symbols("m_1 m_2 l I_zz g", positive=True)
    D = sp.Matrix([[m1 + m2, -m2 * length * sp.cos(phi)], [-m2 * length * sp.cos(phi), inertia + m2 * length**2]])
    assert sp.simplify(cart[0].D - D).is_zero_matrix
    assert sp.simplify(cart[0].G - sp.Matrix([0, -m2 * length * g * sp.sin(phi)])).is_zero_matrix
    q2, (v1, v2) = arm[0].q[1], arm[0].dq
    l1, lc2 = sp.symbols("l_1 l_c2", positive=True)
    C = -m2 * l1 * lc2 * sp.sin(q2) * sp.Matrix([[v2, v1 + v2], [-v1, 0]])
    assert sp.simplify(arm[0].C - C).is_zero_matrix
    assert arm[1].latex("G").startswith("G = ")


def test_lecture_26_prints_a_gravity_that_is_none(cart):
    """N-1: the cosine is no gradient of m2 g l cos(phi), and would hold the pendulum up where it falls."""
    hand, package = cart
    phi = hand.q[1]
    rest = sp.simplify(package.G - lectures.printed_cart_pendulum_gravity())
    assert not rest.is_zero_matrix
    assert rest[1].subs(phi, 0) != 0  # upright is an equilibrium, printed it is none
    assert package.G[1].subs(phi, 0) == 0


def test_lecture_26_prints_a_reflection(cart):
    """N-1: the third row of R_2^0 lost its signs; lecture 27 has the rotation, and it is the pendulum's."""
    assert sp.simplify(lectures.pendulum_frame(26).det()) == -1
    assert sp.simplify(lectures.pendulum_frame(27).det()) == 1
    robot = th.Robot.load("cart_pendulum")
    base = robot.description.base[:3, :3]
    R = np.array(lectures.pendulum_frame(27).subs(cart[0].q[1], 0.4), dtype=float)
    np.testing.assert_allclose(base @ R, robot.forward_kinematics([0.2, 0.4], 2)[:3, :3], atol=1e-14)


def test_kinetic_energy_ends_with_the_jacobian_itself():
    """N-2: with J_w' as the last factor the shapes fit for three joints only, and the result is no mass matrix."""
    q = np.linspace(-0.8, 1.1, 7)
    np.testing.assert_allclose(lectures.kinetic_energy_matrix(panda(), q), panda().mass_matrix(q), atol=1e-13)
    with pytest.raises(ValueError, match="mismatch"):
        lectures.kinetic_energy_matrix(panda(), q, printed=True)
    dh = [[0.0, 0.3, 0.2, 0.0], [0.4, -1.2, 0.1, 0.0], [0.3, 0.7, 0.0, 0.0]]
    three = th.Robot.from_dh(dh, inertial=np.tile([2.0, 0.1, 0.2, -0.1, 0.5, 0.1, 0.0, 0.4, 0.1, 0.6], (3, 1)))
    q = np.array([0.3, -0.5, 0.9])
    np.testing.assert_allclose(lectures.kinetic_energy_matrix(three, q), three.mass_matrix(q), atol=1e-13)
    printed = lectures.kinetic_energy_matrix(three, q, printed=True)
    assert np.abs(printed - three.mass_matrix(q)).max() > 0.1
    assert np.abs(printed - printed.T).max() > 0.1


def test_applied_forces_of_the_lagrangian_are_without_gravity():
    """N-3: generalized forces of gravity beside a Lagrangian with U make an arm that is let go fall twice as fast."""
    robot, q, h = th.Robot.load("elbow"), np.array([0.4, 0.9]), 1e-6
    dyn = th.model.inertia.dyn_from_reg(robot.inertial)

    def centers(q):
        return np.stack([(robot.forward_kinematics(q, i + 1) @ np.append(dyn[i, 1:4], 1.0))[:3] for i in range(2)])

    slopes = [(centers(q + h * e) - centers(q - h * e)) / (2 * h) for e in np.eye(2)]
    of_gravity = np.array([np.sum(dyn[:, :1] * robot.gravity * slope) for slope in slopes])
    falling = robot.forward_dynamics(q, np.zeros(2), np.zeros(2))
    inertial = robot.mass_matrix(q) @ falling
    np.testing.assert_allclose(inertial, of_gravity, rtol=1e-8)  # Newton: gravity, once
    np.testing.assert_allclose(inertial + robot.gravity_vector(q), 0.0, atol=1e-9)  # f^a alone on the right
    printed = np.linalg.solve(robot.mass_matrix(q), of_gravity - robot.gravity_vector(q))  # f^l on the right
    np.testing.assert_allclose(printed, 2.0 * falling, rtol=1e-8)


def test_candidates_of_lecture_30():
    crossed, energy = lectures.mass_spring_candidates().values()
    np.testing.assert_allclose(crossed.Q, crossed.P, atol=1e-15)  # V_dot = -V
    np.testing.assert_allclose(energy.Q, np.diag([0.0, 1.0]), atol=1e-15)  # V_dot = -b x2^2
    assert crossed.verdict == "asymptotically stable"
    assert energy.verdict.startswith("stable")
    assert lectures.Candidate(-np.eye(2), np.eye(2)).verdict == "nothing"
    x = lectures.mass_spring_motion(np.array([1.0, -0.5]), np.array([0.0, 2.0]))
    V = np.einsum("ki,ij,kj->k", x, crossed.P, x)
    assert V[1] / V[0] == pytest.approx(np.exp(-2.0), rel=1e-12)


def test_lyapunov_needs_all_of_the_state():
    """N-10: V_dot <= 0 for the x of a line, as printed, and not of R^n: x' = diag(-1, 1) x is unstable."""
    A, P = np.diag([-1.0, 1.0]), 0.5 * np.eye(2)
    Q = -(P @ A + A.T @ P)
    line = np.column_stack([np.linspace(-1, 1, 5), np.zeros(5)])
    assert (np.einsum("ki,ij,kj->k", line, -Q, line) <= 0.0).all()
    assert np.linalg.eigvals(A).max() > 0.0
    assert lectures.Candidate(P, Q).verdict == "nothing"


@pytest.mark.parametrize("study", [lectures.set_point_study, lectures.passivity_study, lectures.adaptation_study])
def test_proofs_hold_along_runs(study):
    """V falls, at the rate of the proof, until what is left is the hold of the torque between control steps."""
    found = study()
    for lyapunov in found.lyapunov.values():
        largest = lyapunov.V.max()
        assert (np.diff(lyapunov.V) < 1e-4 * largest).all()
        measured = lyapunov.V[-1] - lyapunov.V[0]
        assert measured == pytest.approx(trapezoid(lyapunov.V_dot, lyapunov.t), rel=0.04)
    assert found.table().count("\n") == 1 + len(found.runs)


def test_what_the_studies_say():
    steady = {name: run.steady_state_error() for name, run in lectures.set_point_study().runs.items()}
    assert steady["with gravity"] < 1e-5 < 0.1 < steady["half of gravity"] < steady["without"]
    steady = {name: run.steady_state_error() for name, run in lectures.passivity_study().runs.items()}
    assert steady["passivity-based"] < 1e-3
    assert steady["computed torque"] < 3e-3
    assert steady["passivity-based, wrong model"] > 20 * steady["passivity-based"]
    steady = {name: run.steady_state_error() for name, run in lectures.adaptation_study().runs.items()}
    assert 20 * steady["Slotine-Li"] < steady["the same, not adapting"]
    assert steady["as printed"] > 0.2


def test_only_excitation_teaches():
    exciting, runs = lectures.excitation_study()
    assert runs["exciting"].parameter_error[-1] < 0.05
    assert runs["exciting"].excitation.l1 > 1.0
    for name in ("at rest", "one joint moves"):
        assert runs[name].parameter_error[-1] > 0.5
        assert runs[name].excitation.l1 < 1e-6
        assert runs[name].result.steady_state_error() < 2e-3
    assert exciting.margin >= 0.0


@pytest.mark.release
def test_figures():
    import matplotlib.pyplot as plt

    from thunder_py.papers.lectures.figure import plot_excitation_study, plot_mass_spring, plot_study

    assert len(plot_mass_spring().axes) == 3
    assert len(plot_study(lectures.set_point_study(0.5)).axes) == 3
    runs = lectures.excitation_study(4.5, iterations=5)[1]
    figure = plot_excitation_study(runs)
    assert len(figure.axes) == 3
    for line, run in zip(figure.axes[0].lines, runs.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata()[1:], run.result.error_norm()[1:])  # as they are, not cut off
    assert [text.get_text() for text in figure.axes[2].texts] == ["at rest: zero", "one joint moves: zero"]
    plt.close("all")
