import numpy as np
import pytest

from thunder_py.papers.scara.control import run_dynamics
from thunder_py.papers.scara.kinematics import (
    GAINS,
    POSTURES,
    PRINTED_COUNTS,
    PRINTED_ORDER,
    run_clik,
    run_kinematics,
    run_planning,
    run_transpose,
    stability_number,
)

KINEMATICS = run_kinematics()


@pytest.fixture(scope="module")
def clik():
    return run_clik()


@pytest.fixture(scope="module")
def transpose():
    return run_transpose()


def test_printed_kinematics_is_the_arm_s():
    """S-4: with the angle as that of the y axis."""
    assert max(KINEMATICS.differences.values()) < 1e-13
    printed = [[0.5, 0, 1, 0], [0.5, np.pi, 0, 0], [0, 0, 0.5, 0], [0, 0, 0, -np.pi / 2]]  # a, alpha, d, theta
    np.testing.assert_array_equal(KINEMATICS.robot.description.dh, printed)


def test_force_is_held_best_where_velocity_is_least():
    short = []
    for q in POSTURES.values():
        velocity, force = KINEMATICS.velocity(q), KINEMATICS.force(q)
        np.testing.assert_allclose(velocity.lengths * force.lengths[::-1], 1.0, rtol=1e-9)
        short.append(velocity.lengths[1])
    assert short[0] > short[1] > 5.0 * short[2]  # the more stretched, the flatter


def test_path_has_the_counts_and_angles_of_the_report():
    planning = run_planning()
    assert planning.counts() == PRINTED_COUNTS
    np.testing.assert_allclose(
        planning.angle(np.array([0.0, 5.0, 10.0, 15.0, 20.0]))[::2], np.pi * np.array([0, 1, 0.5])
    )


def test_every_scheme_follows_the_path(clik):
    for name, scheme in clik.schemes.items():
        assert scheme.result.ok, name
        assert scheme.result.error_norm().max() < (1e-2 if name == "transpose" else 1e-4), name


def test_transpose_is_two_orders_of_magnitude_behind_the_inverse(clik):
    worst = {name: clik.schemes[name].result.error_norm().max() for name in PRINTED_ORDER}
    for name, order in PRINTED_ORDER.items():
        assert order < worst[name] < 10.0 * order
    assert 30.0 < worst["transpose"] / worst["inverse"] < 300.0
    # what it lacks is the velocity of the path
    assert clik.feedforward_share() > 0.99


def test_objective_raises_w_and_stretches_the_arm(clik):
    """w of the relaxed task: its largest values are where that of the whole task vanishes."""
    runs = [clik.schemes[name].result for name in ("pseudo-inverse, w", "pseudo-inverse")]
    assert (runs[0].manipulability >= runs[1].manipulability).all()
    assert runs[0].manipulability[2000:].mean() > 1.5 * runs[1].manipulability[2000:].mean()
    assert abs(runs[0].q[2000:, 1]).max() < np.radians(10.0)
    assert runs[0].error_norm().max() < 2.0 * runs[1].error_norm().max()


def test_transpose_gains_hold_on_the_path_and_fail_in_postures(transpose):
    """S-6: dt lambda_max(J J' K) below 2 decides."""
    for name, runs in transpose.set_points.items():
        assert runs["half"].error_norm()[-1] < 1e-4
        left = runs["printed"].error_norm()
        assert left[-1] > 0.2 if name in POSTURES else left[-1] < 1e-12
    assert 1.5 < transpose.worst_on_path() < 2.0 < transpose.worst_anywhere() == pytest.approx(3.22, abs=0.01)
    assert transpose.worst_anywhere("half") < 2.0
    half, printed = (transpose.on_path[gains].error_norm().max() for gains in ("half", "printed"))
    assert half == pytest.approx(2.0 * printed, rel=0.05)


def test_stability_number_is_an_eigenvalue(transpose):
    q = POSTURES["q2"]
    J = transpose.robot.jacobian(q)[[0, 1, 2, 5]]
    largest = np.linalg.eigvals(J @ J.T @ np.diag(GAINS["transpose"])).real.max()
    assert stability_number(transpose.robot, q) == pytest.approx(1e-3 * largest)


def test_printed_matrices_are_right_and_the_formula_is_not():
    """S-1, S-2, S-3: the torque of joint 2 has the wrong sign in part along the path; d3 points down."""
    dynamics = run_dynamics()
    np.testing.assert_allclose(dynamics.robot.gravity_vector([0.3, 0.4, 0.1, 0.2]), [0, 0, -98.1, 0], atol=1e-12)
    assert "-98.1, -147.15" in dynamics.table()
    right, wrong = [], []
    for name, value in dynamics.differences.items():
        (wrong if "formula" in name else right).append(value)
    assert len(right) == 3
    assert max(right) < 1e-12
    assert min(wrong) > 1.0
    np.testing.assert_allclose(dynamics.torque[:, [0, 2, 3]], dynamics.printed_torque[:, [0, 2, 3]], atol=1e-12)
    assert np.abs(dynamics.torque - dynamics.printed_torque)[:, 1].max() > 0.5 * np.abs(dynamics.torque[:, 1]).max()
