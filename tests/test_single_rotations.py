import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from thunder_py import spatial
from thunder_py.spatial import single

ANGLES = [0.0, 1e-12, 1e-7, 1e-4, 9.99e-4, 1.001e-3, 0.02, 1.0, np.pi / 2, 2.5, 2.7, 3.1, np.pi - 1e-6, np.pi - 1e-9]


def vectors(angle):
    rng = np.random.default_rng(3)
    axes = rng.normal(size=(10, 3))
    return angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)


def test_exponential_logarithm_and_jacobian():
    for angle, phi in [(size, phi) for size in ANGLES for phi in vectors(size)]:
        R = single.exp(phi)
        np.testing.assert_allclose(R, Rotation.from_rotvec(phi).as_matrix(), atol=1e-14)
        np.testing.assert_allclose(single.log(R), phi, atol=1e-12 + 1e-15 / max(1e-6, np.sin(angle)))
        np.testing.assert_allclose(single.left_jacobian(phi), spatial.left_jacobian(phi), atol=1e-12)
        assert single.angle_of(R) == pytest.approx(angle, abs=1e-12)


def test_half_a_turn_has_a_logarithm():
    for phi in vectors(np.pi):
        found = single.log(Rotation.from_rotvec(phi).as_matrix())
        assert min(np.linalg.norm(found - phi), np.linalg.norm(found + phi)) < 1e-7


def test_left_jacobian_is_the_derivative_of_the_exponential():
    phi, step = np.array([0.4, -1.0, 0.7]), 1e-6 * np.array([0.3, 0.9, -0.5])
    moved = single.log(single.exp(phi + step) @ single.exp(phi - step).T) / 2.0
    np.testing.assert_allclose(single.left_jacobian(phi) @ step, moved, atol=1e-14)


def test_poses():
    a, b = (single.make_pose(Rotation.random(rng=k).as_matrix(), np.arange(3.0) + k) for k in (1, 2))
    np.testing.assert_allclose(single.inverse(a) @ a, np.eye(4), atol=1e-14)
    between = Slerp([0.0, 1.0], Rotation.from_matrix([a[:3, :3], b[:3, :3]]))(0.3).as_matrix()
    np.testing.assert_allclose(single.interpolate(a, b, 0.3)[:3, :3], between, atol=1e-12)
    np.testing.assert_allclose(single.interpolate(a, b, 0.3)[:3, 3], a[:3, 3] + 0.3)
