import numpy as np
import pytest
from scipy.linalg import polar
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import spatial

RNG = np.random.default_rng(4)
ANGLES = RNG.uniform((-3.0, 0.1, -3.0), (3.0, 1.4, 3.0), (2, 5, 3))  # away from both singularities
RATES = RNG.normal(size=(2, 5, 3))
STEP = 1e-6
sequences = pytest.mark.parametrize("sequence", spatial.EULER_SEQUENCES)
orders = pytest.mark.parametrize("scalar_first", [True, False])


def elementary(sequence: str, angles: np.ndarray) -> np.ndarray:
    R = np.eye(3)
    for axis, angle in zip(sequence.lower(), angles, strict=True):
        R = R @ spatial.rotation_about(axis, angle)[:3, :3]
    return R


def angular_velocity(turn, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """Angular velocity of ``turn(x)`` in the fixed frame, by central differences."""
    dR = (turn(x + STEP * dx) - turn(x - STEP * dx)) / (2.0 * STEP)
    W = dR @ turn(x).swapaxes(-1, -2)
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], -1)


@sequences
def test_euler_angles_are_elementary_rotations(sequence):
    R = spatial.rotation_from_euler(ANGLES, sequence)
    assert R.shape == (2, 5, 3, 3)
    np.testing.assert_allclose(R[1, 2], elementary(sequence, ANGLES[1, 2]), atol=1e-15)
    np.testing.assert_allclose(spatial.euler_from_rotation(R, sequence), ANGLES, atol=1e-14)


@sequences
def test_jacobian_of_euler_angles(sequence):
    T = spatial.euler_jacobian(ANGLES, sequence)
    by_differences = angular_velocity(lambda x: spatial.rotation_from_euler(x, sequence), ANGLES, RATES)
    np.testing.assert_allclose((T @ RATES[..., None])[..., 0], by_differences, atol=1e-8)


@pytest.mark.parametrize(("sequence", "theta"), [("ZYX", np.pi / 2), ("ZYX", -np.pi / 2), ("ZYZ", 0.0), ("ZYZ", np.pi)])
def test_singular_orientations_have_the_angles_of_one_rotation(sequence, theta):
    R = spatial.rotation_from_euler([0.4, theta, 0.3], sequence)
    angles = spatial.euler_from_rotation(R, sequence)
    assert angles[2] == 0.0
    np.testing.assert_allclose(spatial.rotation_from_euler(angles, sequence), R, atol=1e-12)
    assert abs(np.linalg.det(spatial.euler_jacobian(angles, sequence))) < 1e-7


def test_axis_and_angle():
    axis = RATES / np.linalg.norm(RATES, axis=-1, keepdims=True)
    angle = RNG.uniform(0.01, 3.1, (2, 5))
    R = spatial.rotation_from_axis_angle(axis, angle)
    expected = Rotation.from_rotvec((angle[..., None] * axis).reshape(-1, 3)).as_matrix().reshape(2, 5, 3, 3)
    np.testing.assert_allclose(R, expected, atol=1e-14)
    again = spatial.axis_angle_from_rotation(R)
    np.testing.assert_allclose(again[0], axis, atol=1e-12)
    np.testing.assert_allclose(again[1], angle, atol=1e-12)
    still = spatial.axis_angle_from_rotation(np.eye(3))
    assert (still[0].tolist(), float(still[1])) == ([0.0, 0.0, 1.0], 0.0)


@orders
def test_quaternions(scalar_first):
    R = spatial.rotation_from_euler(ANGLES)
    q = spatial.quaternion_from_rotation(R, scalar_first=scalar_first)
    assert (q[..., 0 if scalar_first else 3] >= 0.0).all()
    np.testing.assert_allclose(spatial.rotation_from_quaternion(q, scalar_first=scalar_first), R, atol=1e-14)
    expected = Rotation.from_matrix(R[0, 0]).as_quat(canonical=True)
    np.testing.assert_allclose(q[0, 0], np.roll(expected, 1) if scalar_first else expected, atol=1e-15)


@orders
def test_jacobian_of_quaternions(scalar_first):
    omega = RATES
    R = spatial.rotation_from_euler(ANGLES)

    def quaternion(h: float) -> np.ndarray:
        return spatial.quaternion_from_rotation(spatial.exp(h * omega) @ R, scalar_first=scalar_first)

    E = spatial.quaternion_jacobian(quaternion(0.0), scalar_first=scalar_first)
    by_differences = (quaternion(STEP) - quaternion(-STEP)) / (2.0 * STEP)
    np.testing.assert_allclose((E @ omega[..., None])[..., 0], by_differences, atol=1e-8)
    np.testing.assert_allclose(4.0 * E.swapaxes(-1, -2) @ E, np.broadcast_to(np.eye(3), (2, 5, 3, 3)), atol=1e-14)


def test_refusals() -> None:
    assert_refused(
        (lambda: spatial.rotation_from_quaternion([0.0] * 4, scalar_first=True), "..."),
        (lambda: spatial.rotation_from_euler([0.0] * 3, "XYZ"), "sequence must be one of ZYZ, ZYX, got 'XYZ'..."),
        (lambda: spatial.euler_from_rotation(np.eye(3), "zyx"), "sequence must be one of ZYZ, ZYX, got 'zyx'..."),
        (lambda: spatial.euler_jacobian([0.0, np.nan, 0.0]), "angles must be finite, got..."),
        (lambda: spatial.euler_jacobian_dot([0.0] * 3, [np.nan] * 3), "rates must be finite, got..."),
        (
            lambda: spatial.euler_jacobian_dot(np.zeros((2, 3)), np.zeros((4, 3))),
            "angles and rates must have shapes that broadcast, got (2, 3) and (4, 3)",
        ),
        (lambda: spatial.rotation_from_euler([0.0, 0.0]), "angles must have shape (..., 3), got (2,)"),
        (lambda: spatial.euler_from_rotation(2.0 * np.eye(3)), "R must hold an orthonormal rotation matrix..."),
        (lambda: spatial.axis_angle_from_rotation(-np.eye(3)), "R must hold a rotation, got a reflection..."),
        (lambda: spatial.rotation_from_axis_angle([0.0, 0.0, 2.0], 1.0), "axis must have unit length, got..."),
        (lambda: spatial.rotation_from_axis_angle([0.0, 0.0, 1.0], np.nan), "angle must be finite, got nan"),
        (lambda: spatial.rotation_about("w", 1.0), "axis must be one of x, y, z, got 'w'"),
        (lambda: spatial.cos_sin(np.nan), "angle must be a finite number, got nan"),
        (lambda: spatial.pose_from_rpy([1.0, 2.0]), "translation must have shape (3,), got (2,)"),
        (lambda: spatial.pose_from_rpy([0.0] * 3, [np.nan, 0.0, 0.0]), "rpy must be finite, got..."),
        (lambda: spatial.rpy_from_rotation(2.0 * np.eye(3)), "R must..."),
        (lambda: spatial.dh_transform([1.0, 2.0, 3.0]), "row must have shape (4,), got (3,)"),
        (lambda: spatial.dh_chain([[0.0, 0.0, 0.0]]), "dh must have shape (n, 4), got (1, 3)"),
        (
            lambda: spatial.rotation_from_quaternion([1.0, 1.0, 0.0, 0.0], scalar_first=True),
            "quaternion must have unit...",
        ),
        (
            lambda: spatial.nearest_rotation(1.2 * np.eye(3)),
            "R must hold an orthonormal rotation matrix (to 0.1), got...",
        ),
        (lambda: spatial.nearest_rotation(-np.eye(3)), "R must hold a rotation, got a reflection..."),
        (lambda: spatial.nearest_rotation(np.full((3, 3), np.nan)), "R must hold finite matrices..."),
        (lambda: spatial.nearest_rotation(1e200 * np.eye(3)), "...deviates from the identity by inf..."),
        (lambda: spatial.nearest_rotation(np.eye(4)), "R must have shape..."),
    )


@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_the_nearest_rotation_is_that_of_polar_decomposition(digits: int) -> None:
    rounded = Rotation.random(40, random_state=digits).as_matrix().round(digits)
    rounded = rounded[np.abs(rounded.swapaxes(1, 2) @ rounded - np.eye(3)).max(axis=(1, 2)) < 0.1].reshape(1, -1, 3, 3)
    found = spatial.nearest_rotation(rounded)
    np.testing.assert_allclose(found[0], [polar(R)[0] for R in rounded[0]], atol=1e-14)
    assert found.shape == rounded.shape
    np.testing.assert_allclose(spatial.nearest_rotation(found[0, 0]), found[0, 0], atol=1e-15)
