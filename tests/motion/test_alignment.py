"""The canonical frame: its axes, there and back, what turning the motion does to it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.motion.alignment import PathFrames, aligned, from_canonical, path_frame, to_canonical

XYZ = ("x", "y", "z")
#: a motion that rests, to rounding
RESTING = np.full((1, 9, 3), 1.0 / 3.0) * (1.0 + 1e-15 * np.arange(9)[:, None])

RNG = np.random.default_rng(5)
POSE = ("x", "y", "z", "rx", "ry", "rz")


def test_axes():
    start, goal = RNG.normal(size=(2, 50, 3))
    D, R = path_frame(start, goal)
    np.testing.assert_allclose(R.swapaxes(-1, -2) @ R, np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-14)
    np.testing.assert_allclose(D[:, None] * R[..., 0], goal - start, atol=1e-14)
    np.testing.assert_allclose(R[:, 2, 1], 0.0, atol=1e-15)  # the second is horizontal
    assert (R[:, 2, 2] > 0.0).all()  # and the third does not hang down


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_vertical_paths_take_the_worlds_y(sign):
    for aside in (0.0, 1e-8):
        _, R = path_frame([0.0, 0.0, 0.0], [aside, 0.0, sign])
        np.testing.assert_allclose(R[:, 1], [0.0, 1.0, 0.0], atol=1e-7)
    _, R = path_frame(np.zeros(3), [1e-5, 0.0, sign])  # steep, not vertical
    np.testing.assert_allclose(R[:, 1], [0.0, 1.0, 0.0], atol=1e-10)
    _, R = path_frame(np.zeros(3), [0.0, 1e-5, sign])
    np.testing.assert_allclose(R[:, 1], [-1.0, 0.0, 0.0], atol=1e-10)


def test_there_and_back():
    x = RNG.normal(size=(4, 20, 6))
    D, R = path_frame(x[:, 0, :3], x[:, -1, :3])
    frames = PathFrames(x[:, 0, :3], D, R)
    canonical = to_canonical(x, POSE, frames)
    np.testing.assert_allclose(canonical[:, 0, :3], 0.0, atol=1e-15)
    np.testing.assert_allclose(canonical[:, -1, :3], np.broadcast_to([1.0, 0.0, 0.0], (4, 3)), atol=1e-14)
    np.testing.assert_allclose(from_canonical(canonical, POSE, frames), x, atol=1e-14)
    slopes = np.diff(from_canonical(canonical, POSE, frames), axis=1)
    np.testing.assert_allclose(from_canonical(np.diff(canonical, axis=1), POSE, frames, 1), slopes, atol=1e-14)


def test_rotation_vectors_are_of_the_same_motion_in_other_axes():
    """exp(R' r) = R' exp(r) R."""
    x = RNG.normal(size=(1, 9, 6))
    D, R = path_frame(x[:, 0, :3], x[:, -1, :3])
    canonical = to_canonical(x, POSE, PathFrames(x[:, 0, :3], D, R))[0, :, 3:]
    expected = R[0].T @ Rotation.from_rotvec(x[0, :, 3:]).as_matrix() @ R[0]
    np.testing.assert_allclose(Rotation.from_rotvec(canonical).as_matrix(), expected, atol=1e-13)


def test_bad_arguments():
    assert_refused(
        (lambda: path_frame([1, 2, 3], [1, 2, 3]), "...start and goal must differ..."),
        (lambda: path_frame(np.zeros((2, 3)), [[1, 0, 0], [0, 0, 0]]), "...start and goal must differ..."),
        (lambda: path_frame([0, 0, np.nan], [1, 2, 3]), "...start must be finite..."),
        (lambda: path_frame([0, 0, 0], [1e300, 1e300, 3]), "...goal must be finite..."),
        (lambda: path_frame("here", [1, 2, 3]), "...start must be numbers, got str..."),
        (lambda: path_frame([0, 0], [1, 2]), "...start must have shape (..., 3), got (2,)..."),
        (lambda: path_frame(np.zeros((2, 3)), np.ones((5, 3))), "...the same number of points, got (2, 3) and..."),
        (lambda: aligned(RESTING, XYZ, ["rests"], "path"), "...rests..."),
        (lambda: aligned(np.zeros((1, 9, 3)), XYZ, ["trial 7"], "path"), "...differ ... in trial 7..."),
        (lambda: aligned(np.ones((1, 9, 2)), ("x", "y"), ["a"], "path"), "dofs must include x, y and z, ... got x, y"),
        (
            lambda: to_canonical(np.ones((1, 9, 4)), ("x", "y", "z", "rx"), PathFrames(*3 * [None])),
            "...all of rx, ry and rz or none ... got x, y, z, rx",
        ),
    )
