"""Pinhole cameras against OpenCV, and hand-eye calibration."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import ThunderWarning
from thunder_py.perception import PinholeCamera, calibrate_hand_eye, detect_tags, render_tag
from thunder_py.spatial import pose_from_rpy

_BENT = (-0.28, 0.09, 1e-3, -5e-4, -0.02)
_CAMERA = PinholeCamera(640, 480, 520.0, 530.0, 315.0, 250.0, _BENT)


def _points(count: int = 200) -> Any:
    rng = np.random.default_rng(2)
    return np.stack(
        [rng.uniform(-0.5, 0.5, count), rng.uniform(-0.4, 0.4, count), rng.uniform(0.9, 2.0, count)], axis=1
    )


#: calibrations with 4, 5 and 8 coefficients, the last ones of a wide lens and of terms that nearly cancel
_LENSES = (
    _BENT[:4],
    _BENT,
    (0.45, -2.7, 7e-4, -3e-4, 1.6, 0.33, -2.5, 1.5),
    (20.1, 30.2, 1e-3, -5e-4, 1.2, 20.3, 35.0, 8.0),
)


@pytest.mark.parametrize("bent", _LENSES, ids=len)
def test_projection_is_that_of_opencv(bent: tuple[float, ...]) -> None:
    cv2 = pytest.importorskip("cv2")
    points, camera = _points(), replace(_CAMERA, distortion=bent)
    theirs, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), camera.matrix, np.array(bent))
    np.testing.assert_allclose(camera.project(points), theirs[:, 0], atol=1e-9)
    np.testing.assert_allclose(camera.project(camera.directions(camera.pixels())), camera.pixels(), atol=1e-6)


def test_directions_undo_the_projection() -> None:
    points = _points()
    np.testing.assert_allclose(_CAMERA.directions(_CAMERA.project(points)), points / points[:, 2:], atol=1e-9)


def test_field_of_view_reaches_from_edge_to_edge() -> None:
    camera = PinholeCamera.from_field_of_view(100, 50, np.pi / 2.0)
    left, right = camera.directions([[-0.5, 24.5], [99.5, 24.5]])
    np.testing.assert_allclose([left[0], right[0]], [-1.0, 1.0], rtol=1e-12)
    assert np.array_equal(camera.project((0.0, 0.0, 2.0)), (49.5, 24.5))


def test_what_is_behind_the_camera_has_no_pixel() -> None:
    assert np.isnan(_CAMERA.project([(0.1, 0.0, -1.0), (0.0, 0.0, 0.0)])).all()


def test_calibrations_that_no_camera_has_are_refused() -> None:
    def made(**change):
        given = {"width": 640, "height": 480, "fx": 500.0, "fy": 500.0, "cx": 320.0, "cy": 240.0} | change
        return PinholeCamera(**given)

    assert_refused(
        (lambda: made(width=0), "...width must be a whole number..."),
        (lambda: made(fx=-1.0), "...fx must be positive..."),
        (lambda: made(cx=900.0), "...the principal point must lie in the picture of 640 x 480 pixels..."),
        (lambda: made(cy=np.nan), "...cy must be a finite number..."),
        (lambda: made(distortion=(0.1, 0.2)), "distortion must have 4, 5 or 8 coefficients, got 2"),
        (lambda: made(distortion=(-2.0, 0.0, 0.0, 0.0, 0.0)), "...distortion must be invertible..."),
        (lambda: _CAMERA.project([1.0, 2.0]), "...points must have shape (..., 3)..."),
        (lambda: _CAMERA.directions([1.0, 2.0, 3.0]), "...pixels must have shape (..., 2)..."),
        (lambda: PinholeCamera.from_field_of_view(10, 10, 4.0), "angle must be a number in (0, 3.14159), got 4.0"),
    )


# --- Hand-eye calibration: exact data, noise against its own standard deviation, other solvers, bad input ---
X = pose_from_rpy((0.05, 0.02, 0.1), (0.1, 0.2, 1.5))  # on the hand
Z = pose_from_rpy((0.6, 0.1, 0.02), (0.1, 0.2, 0.3))  # in the base


def hands(count, seed=0, spread=0.5):
    rng = np.random.default_rng(seed)
    angles = np.c_[np.pi + rng.uniform(-spread, spread, count), rng.uniform(-spread, spread, (count, 2))]
    T = np.tile(np.eye(4), (count, 1, 1))
    T[:, :3, :3] = Rotation.from_euler("xyz", angles).as_matrix()
    T[:, :3, 3] = np.array([0.5, 0.0, 0.5]) + rng.uniform(-0.15, 0.15, (count, 3))
    return T


def seen_by(A, mounting):
    return np.linalg.inv(A @ X) @ Z if mounting == "hand" else np.linalg.inv(Z) @ A @ X


def with_noise(T, seed, position=1e-3, angle=5e-3):
    rng, T = np.random.default_rng(seed), T.copy()
    T[:, :3, 3] += rng.normal(scale=position, size=(len(T), 3))
    T[:, :3, :3] = T[:, :3, :3] @ Rotation.from_rotvec(rng.normal(scale=angle, size=(len(T), 3))).as_matrix()
    return T


def errors(result, mounting):
    """Error of the camera's pose [m, rad]."""
    off = np.linalg.inv(X if mounting == "hand" else Z) @ result.camera
    return np.linalg.norm(off[:3, 3]), Rotation.from_matrix(off[:3, :3]).magnitude()


@pytest.mark.parametrize("mounting", ["hand", "fixed"])
@pytest.mark.parametrize("count", [3, 8])
def test_exact_poses_give_the_exact_camera(mounting, count):
    A = hands(count)
    result = calibrate_hand_eye(A, seen_by(A, mounting), mounting)
    camera, marker = (X, Z) if mounting == "hand" else (Z, X)
    np.testing.assert_allclose(result.camera, camera, atol=1e-8)
    np.testing.assert_allclose(result.marker, marker, atol=1e-8)
    assert result.position_residuals.max() < 1e-8
    assert result.angle_residuals.max() < 1e-8


@pytest.mark.parametrize("mounting", ["hand", "fixed"])
def test_errors_are_those_that_the_residuals_predict(mounting):
    """Over eight sets of 15 poses, and they fall with the number of poses."""
    found, predicted = [], []
    for seed in range(8):
        A = hands(15, seed)
        result = calibrate_hand_eye(A, with_noise(seen_by(A, mounting), 100 + seed), mounting)
        found.append(errors(result, mounting))
        predicted.append((result.position_std, result.angle_std))
        assert np.sqrt(np.mean(result.position_residuals**2)) == pytest.approx(np.sqrt(3.0) * 1e-3, rel=0.4)
        assert np.sqrt(np.mean(result.angle_residuals**2)) == pytest.approx(np.sqrt(3.0) * 5e-3, rel=0.4)
    ratio = np.sqrt(np.mean(np.square(found), axis=0) / np.mean(np.square(predicted), axis=0))
    assert (ratio > 0.6).all()
    assert (ratio < 1.5).all()  # of 24 numbers: standard deviation 0.15
    A = hands(60)
    many = calibrate_hand_eye(A, with_noise(seen_by(A, mounting), 7), mounting)
    assert many.position_std == pytest.approx(0.5 * np.mean(predicted, axis=0)[0], rel=0.4)


@pytest.mark.parametrize("mounting", ["hand", "fixed"])
def test_wrong_markers_are_named(mounting):
    A = hands(8, 1)
    B = with_noise(seen_by(A, mounting), 3)
    B[5, :3, 3] += [0.03, -0.02, 0.0]
    with pytest.warns(ThunderWarning, match=r"the other poses fit far better without 5 \(counted from 0\)") as caught:
        calibrate_hand_eye(A, B, mounting)
    assert caught[0].filename == __file__


def scaled(T, factor):
    """Poses in other units."""
    T = T.copy()
    T[:, :3, 3] *= factor
    return T


@pytest.mark.parametrize("mounting", ["hand", "fixed"])
@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (
            lambda A, B: (A, scaled(B, 1.25)),
            r"^the positions of marker_poses .* divided by 1\.2[45].*: the size of the",
        ),
        (
            lambda A, B: (A, scaled(B, 0.8)),
            r"^the positions of marker_poses .* divided by 0\.(79|80).*: the size of the",
        ),
        (lambda A, B: (A, scaled(B, 1e3)), "^marker_poses must be in meters.* in millimeters and hand_poses in meters"),
        (lambda A, B: (scaled(A, 1e3), B), "^hand_poses must be in meters.* in meters and hand_poses in millimeters"),
        (
            lambda A, B: (scaled(A, 1e3), scaled(B, 1e3)),
            "^hand_poses must be in meters.*; marker_poses must be in meters",
        ),
        (lambda A, B: (np.linalg.inv(A), B), "^inverted poses fit better, with .* times smaller residuals"),
        (
            lambda A, B: (A, scaled(np.linalg.inv(B), 1.3)),
            r"^inverted poses .*; the positions of marker_poses .* 1\.(29|3)",
        ),
        (lambda A, B: (A, np.roll(B, 1, axis=0)), "^noise does not explain the residuals, which have"),
    ],
    ids=["large", "small", "mm markers", "mm hands", "mm", "inverted hands", "inverted markers, large", "order"],
)
def test_mistakes_are_told(mounting, mistake, told):
    A = hands(8, 5)
    with pytest.warns(ThunderWarning, match=told):
        calibrate_hand_eye(*mistake(A, with_noise(seen_by(A, mounting), 6)), mounting)


@pytest.mark.parametrize("mounting", ["hand", "fixed"])
@pytest.mark.parametrize("count", [3, 5, 10])
def test_noise_alone_is_no_mistake(mounting, count):
    """Over seeds and noise: a warning fails the test."""
    for seed in range(2):
        A = hands(count, 50 + seed, spread=0.35)
        for size in (0.1, 3.0):
            B = with_noise(seen_by(A, mounting), seed, 1e-3 * size, 5e-3 * size)
            calibrate_hand_eye(A, B, mounting)
    A[:, :3, 3] = A[0, :3, 3]  # turned about one place, which leaves the scale open
    for B in (seen_by(A, mounting), with_noise(seen_by(A, mounting), 1)):
        calibrate_hand_eye(A, B, mounting)


def parallel(count):
    """Hands that turn about the vertical axis only."""
    A = hands(count)
    for k in range(count):
        A[k, :3, :3] = Rotation.from_euler("z", 0.3 * k).as_matrix() @ A[0, :3, :3]
    return A


def test_bad_input_is_refused():
    def given(A, B, mounting):
        return calibrate_hand_eye(A, B, mounting)

    cases = (
        (hands(3), hands(3), "arm", "mounting must be one of hand, fixed, got 'arm'"),
        (hands(3), hands(4), "hand", "hand_poses and marker_poses must have the same length, got 3 and 4"),
        (hands(2), hands(2), "hand", "hand_poses must have at least 3 poses, got 2"),
        (np.eye(4), hands(3), "hand", "hand_poses must have shape (n, 4, 4), got (4, 4)"),
        ("poses", hands(3), "hand", "hand_poses must be numbers of shape (n, 4, 4), got..."),
        (np.zeros((0, 4, 4)), np.zeros((0, 4, 4)), "hand", "hand_poses must have at least 3 poses, got 0"),
        (hands(3), 2.0 * hands(3), "hand", "marker_poses[0]..."),
        (parallel(5), hands(5), "hand", "hand_poses must turn about axes that are not parallel by more than 1 deg..."),
        (hands(5), parallel(5), "fixed", "marker_poses must turn about axes that are not parallel..."),
    )
    assert_refused(*((partial(given, *case), message) for *case, message in cases))


@pytest.mark.release
def test_opencv_agrees():
    cv2 = pytest.importorskip("cv2")
    if not hasattr(cv2, "calibrateHandEye"):
        pytest.skip("this OpenCV has no calibrateHandEye in Python (5.0.0, its issue 29565)")
    A = hands(10)
    B = with_noise(seen_by(A, "hand"), 3, 1e-5, 1e-5)
    R, t = cv2.calibrateHandEye(A[:, :3, :3], A[:, :3, 3], B[:, :3, :3], B[:, :3, 3], method=cv2.CALIB_HAND_EYE_PARK)
    result = calibrate_hand_eye(A, B)
    np.testing.assert_allclose(result.camera[:3, :3], R, atol=1e-4)
    np.testing.assert_allclose(result.camera[:3, 3], t.ravel(), atol=1e-4)


@pytest.mark.release
def test_tags_on_pictures_calibrate_a_camera():
    """Rendered AprilTags, a camera on the hand: within two millimeters and a quarter of a degree."""
    pytest.importorskip("cv2")
    lens = PinholeCamera.from_field_of_view(320, 240, 1.0)
    tag, mount = pose_from_rpy((0.6, 0.0, 0.0)), pose_from_rpy((0.06, 0.0, 0.05), (0.0, 0.0, np.pi / 2))
    rng, A, B = np.random.default_rng(4), [], []
    for tilt, roll in zip(np.linspace(-0.6, 0.6, 8), rng.uniform(-1.0, 1.0, 8), strict=True):
        camera = np.eye(4)
        turn = Rotation.from_euler("z", roll) * Rotation.from_euler("x", np.pi + tilt)
        camera[:3, :3] = turn.as_matrix()
        camera[:3, 3] = tag[:3, 3] - 0.3 * camera[:3, 2] + rng.uniform(-0.02, 0.02, 3)
        (found,) = detect_tags(render_tag(lens, np.linalg.inv(camera) @ tag, size=0.08, rng=rng), lens, size=0.08)
        A.append(camera @ np.linalg.inv(mount))
        B.append(found.pose)
    off = np.linalg.inv(mount) @ calibrate_hand_eye(A, B).camera
    assert np.linalg.norm(off[:3, 3]) < 2e-3
    assert Rotation.from_matrix(off[:3, :3]).magnitude() < np.radians(0.25)
