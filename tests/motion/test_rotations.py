"""Rotation vectors: derivatives against finite differences, means, branches."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import spatial as rot

RNG = np.random.default_rng(3)


def curve(scale):
    """Rotation vector of a polynomial curve, and its first three derivatives, at t (...)."""
    c = scale * RNG.normal(size=(5, 3))
    return lambda t, order: np.stack([np.polynomial.Polynomial(c[:, i]).deriv(order)(t) for i in range(3)], axis=-1)


def velocity(phi, t, frame):
    """Angular velocity by central differences of the rotations, of order h^2."""
    h = 1e-6
    before, after = (Rotation.from_rotvec(phi(t + s, 0)) for s in (-h, h))
    turned = (after * before.inv() if frame == "world" else before.inv() * after).as_rotvec()
    return turned / (2.0 * h)


def central(function, t, h):
    """Derivative by differences of order h^4."""
    f = [function(t + s * h) for s in (-2, -1, 1, 2)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("scale", [0.01, 1.5])
def test_derivatives_of_a_motion(scale, frame):
    phi, t = curve(scale), np.linspace(-0.5, 1.0, 40)
    w = lambda t: rot.angular_velocity(phi(t, 0), phi(t, 1), frame=frame)  # noqa: E731
    dw = lambda t: rot.angular_acceleration(phi(t, 0), phi(t, 1), phi(t, 2), frame=frame)  # noqa: E731
    ddw = rot.angular_jerk(phi(t, 0), phi(t, 1), phi(t, 2), phi(t, 3), frame=frame)
    np.testing.assert_allclose(w(t), velocity(phi, t, frame), atol=1e-8 * max(1.0, np.abs(w(t)).max()))
    np.testing.assert_allclose(dw(t), central(w, t, 1e-3), atol=1e-8 * max(1.0, np.abs(dw(t)).max()))
    np.testing.assert_allclose(ddw, central(dw, t, 1e-3), atol=1e-8 * max(1.0, np.abs(ddw).max()))


def test_jacobians():
    phi = RNG.normal(size=(4, 5, 3))
    dphi = RNG.normal(size=(4, 5, 3))
    left, right = rot.left_jacobian(phi), rot.right_jacobian(phi)
    np.testing.assert_allclose(left, right.swapaxes(-1, -2), atol=1e-14)
    np.testing.assert_allclose(rot.exp(phi) @ right, left, atol=1e-14)
    np.testing.assert_allclose(np.einsum("...ij,...j->...i", left, dphi), rot.angular_velocity(phi, dphi), atol=1e-14)
    np.testing.assert_allclose(
        np.einsum("...ij,...j->...i", right, dphi), rot.angular_velocity(phi, dphi, frame="body"), atol=1e-14
    )


def test_exp_and_log_are_inverse():
    phi = RNG.normal(size=(7, 2, 3))
    phi *= (RNG.uniform(0.0, np.pi - 1e-3, size=(7, 2)) / np.linalg.norm(phi, axis=-1))[..., None]
    np.testing.assert_allclose(rot.log(rot.exp(phi)), phi, atol=1e-10)
    np.testing.assert_allclose(rot.exp(phi[0, 0]), Rotation.from_rotvec(phi[0, 0]).as_matrix(), atol=1e-15)


def test_mean_has_no_gradient_and_turns_with_the_rotations():
    phi, w = 0.8 * RNG.normal(size=(30, 3)), RNG.uniform(0.1, 1.0, size=30)
    mean = Rotation.from_rotvec(rot.karcher_mean(phi, w))
    np.testing.assert_allclose(w @ (mean.inv() * Rotation.from_rotvec(phi)).as_rotvec(), 0.0, atol=1e-12)
    A, B = Rotation.from_rotvec([0.3, 2.0, -0.4]), Rotation.from_rotvec([1.3, 0.1, 0.4])
    moved = rot.karcher_mean((A * Rotation.from_rotvec(phi) * B).as_rotvec(), w)
    np.testing.assert_allclose(rot.exp(moved), (A * mean * B).as_matrix(), atol=1e-12)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_continuous_over_several_turns(direction):
    """Coning motion through 3 turns; what comes out has the same rotations and steps of the size of the motion's."""
    angle = np.linspace(0.2, 18.0, 400)
    axis = np.array([0.6, 0.0, 0.8])
    wrapped = Rotation.from_rotvec(direction * angle[:, None] * axis).as_rotvec()
    assert np.linalg.norm(np.diff(wrapped, axis=0), axis=1).max() > np.pi
    free = rot.continuous(np.stack([wrapped, 0.1 * wrapped]))
    np.testing.assert_allclose(free[0], direction * angle[:, None] * axis, atol=1e-9)
    np.testing.assert_array_equal(free[1], 0.1 * wrapped)


def test_continuous_through_a_whole_turn_and_over_a_gap():
    angle = np.linspace(5.0, 7.5, 11)
    angle[5] = 2.0 * np.pi
    wrapped = Rotation.from_rotvec(angle[:, None] * np.array([0.0, 1.0, 0.0])).as_rotvec()
    wrapped[0] = [0.0, 5.0, 0.0]
    wrapped[5] = 0.0  # to rounding it is no turn at all
    wrapped[7] = np.nan
    free = rot.continuous(wrapped)
    angle[7] = np.nan
    np.testing.assert_allclose(free[:, 1], angle, atol=1e-12)


def test_bad_arguments():
    assert_refused(
        (lambda: rot.exp([1.0, 2.0]), "...phi must have shape (..., 3), got (2,)..."),
        (lambda: rot.exp("turn"), "...phi must be numbers, got str..."),
        (lambda: rot.log(np.eye(2)), "...R must have shape..."),
        (lambda: rot.log(np.zeros((3, 3))), "...R must hold rotations..."),
        (lambda: rot.log(-np.eye(3)), "...R must hold rotations..."),
        (lambda: rot.log(1e200 * np.eye(3)), "...R must hold rotations..."),
        (lambda: rot.angular_velocity(np.zeros((2, 3)), np.zeros((5, 3))), "...phi, dphi must have one shape..."),
        (lambda: rot.karcher_mean([[np.nan, 0.0, 0.0]]), "...leave gaps out..."),
        (lambda: rot.karcher_mean(np.zeros((2, 3)), "ab"), "...weights must be numbers..."),
        (lambda: rot.to_reference(np.zeros((2, 3)), [np.nan, 0.0, 0.0]), "...one finite rotation vector..."),
        (lambda: rot.to_reference(np.zeros((2, 3)), np.zeros((2, 3))), "...one finite rotation vector..."),
        (lambda: rot.angular_velocity(np.zeros(3), np.zeros(3), frame="tool"), "...'tool'..."),
        (lambda: rot.karcher_mean(np.zeros((0, 3))), "...N >= 1..."),
        (lambda: rot.karcher_mean(np.zeros((2, 3)), [1.0, -1.0]), "...not negative..."),
        (lambda: rot.continuous(np.zeros(3)), "...(..., T, 3)..."),
    )


def test_derivatives_at_no_rotation():
    """At phi = 0 the Jacobian is 1, and w' = phi'', w'' = phi''' +- phi' x phi'' / 2."""
    zero, d = np.zeros(3), RNG.normal(size=(3, 3))
    np.testing.assert_array_equal(rot.angular_velocity(zero, d[0]), d[0])
    np.testing.assert_array_equal(rot.angular_acceleration(zero, d[0], d[1]), d[1])
    half = 0.5 * np.cross(d[0], d[1])
    np.testing.assert_allclose(rot.angular_jerk(zero, *d), d[2] + half, atol=1e-15)
    np.testing.assert_allclose(rot.angular_jerk(zero, *d, frame="body"), d[2] - half, atol=1e-15)


def test_series_and_closed_forms_meet():
    """At |phi| = 1 one takes over from the other: a step of 1e-9 there must not be seen."""
    axis = np.array([0.48, -0.6, 0.64])
    d = RNG.normal(size=(3, 3))
    below, above = (rot.angular_jerk((1.0 + s) * axis, *d) for s in (-1e-10, 1e-10))
    np.testing.assert_allclose(below, above, atol=1e-7 * 1e-2)


def test_gaps_stay():
    phi = np.array([[0.1, 0.2, 0.3], [np.nan, 0.0, 0.0], [0.2, 0.1, 0.4]])
    back = rot.from_reference(rot.to_reference(phi, [0.5, 0.0, 0.2]), [0.5, 0.0, 0.2])
    np.testing.assert_allclose(back[[0, 2]], phi[[0, 2]], atol=1e-14)
    assert np.isnan(back[1]).all()
    np.testing.assert_allclose(rot.log(rot.exp(phi))[[0, 2]], phi[[0, 2]], atol=1e-14)
    assert np.isnan(rot.log(rot.exp(phi))[1]).all()
    assert rot.continuous(np.zeros((0, 3))).shape == (0, 3)
