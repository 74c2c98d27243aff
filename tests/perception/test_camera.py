from typing import Any

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.perception import PinholeCamera

_BENT = (-0.28, 0.09, 1e-3, -5e-4, -0.02)
_CAMERA = PinholeCamera(640, 480, 520.0, 530.0, 315.0, 250.0, _BENT)


def _points(count: int = 200) -> Any:
    rng = np.random.default_rng(2)
    return np.stack(
        [rng.uniform(-0.5, 0.5, count), rng.uniform(-0.4, 0.4, count), rng.uniform(0.9, 2.0, count)], axis=1
    )


def test_projection_is_that_of_opencv() -> None:
    cv2 = pytest.importorskip("cv2")
    points = _points()
    theirs, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), _CAMERA.matrix, np.array(_BENT))
    np.testing.assert_allclose(_CAMERA.project(points), theirs[:, 0], atol=1e-9)


def test_directions_undo_the_projection() -> None:
    points = _points()
    np.testing.assert_allclose(_CAMERA.directions(_CAMERA.project(points)), points / points[:, 2:], atol=1e-9)
    np.testing.assert_allclose(_CAMERA.project(_CAMERA.directions(_CAMERA.pixels())), _CAMERA.pixels(), atol=1e-6)


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
        (lambda: made(fx=-1.0), "...fx must be a positive number..."),
        (lambda: made(cx=900.0), "...the principal point must lie in the picture of 640 x 480 pixels..."),
        (lambda: made(cy=np.nan), "...cy must be a finite number..."),
        (lambda: made(distortion=(0.1, 0.2)), "...distortion must have shape (5,)..."),
        (lambda: made(distortion=(-2.0, 0.0, 0.0, 0.0, 0.0)), "...distortion must be invertible..."),
    )


def test_shapes_of_points_and_angles_are_checked() -> None:
    assert_refused(
        (lambda: _CAMERA.project([1.0, 2.0]), "...points must have shape (..., 3)..."),
        (lambda: _CAMERA.directions([1.0, 2.0, 3.0]), "...pixels must have shape (..., 2)..."),
        (lambda: PinholeCamera.from_field_of_view(10, 10, 4.0), "...angle must be below pi..."),
    )
