"""AprilTags on rendered pictures: poses against the truth they were rendered at."""

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.checks import Array
from thunder_py.perception import (
    FiducialPoseSource,
    PinholeCamera,
    PoseSource,
    TagDetection,
    TagTracker,
    detect_tags,
    render_tag,
)
from thunder_py.perception import tags as fiducials
from thunder_py.perception.tags import _located
from thunder_py.spatial import pose_from_rpy

_CAMERA = PinholeCamera(640, 480, 600.0, 605.0, 321.3, 238.7, (-0.2, 0.05, 1e-3, -1e-3, 0.0))
_SIZE = 0.08
needs_opencv = pytest.mark.skipif(find_spec("cv2") is None, reason="could not import 'cv2'")


def _facing(x: float, y: float, z: float, tilt: tuple[float, float] = (0.0, 0.0), roll: float = 0.0) -> Array:
    """Return the pose of a tag that faces the camera, tilted about its axes x and y."""
    T = np.eye(4)
    R = Rotation.from_euler("x", np.pi) * Rotation.from_rotvec([*tilt, 0.0]) * Rotation.from_euler("z", roll)
    T[:3, :3], T[:3, 3] = R.as_matrix(), (x, y, z)
    return T


def _angle(A: Array, B: Array) -> float:
    return float(np.degrees(Rotation.from_matrix(A[:3, :3].T @ B[:3, :3]).magnitude()))


def _random_pose(rng: np.random.Generator) -> Array:
    azimuth, tilt = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.25, 0.9)
    leaning = (tilt * np.cos(azimuth), tilt * np.sin(azimuth))
    return _facing(*rng.uniform((-0.12, -0.1, 0.4), (0.12, 0.1, 0.8)), leaning, rng.uniform(-np.pi, np.pi))


@needs_opencv
def test_poses_are_those_that_were_rendered() -> None:
    corners = _SIZE / 2.0 * np.array([[-1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [-1.0, -1.0, 0.0]])
    off, turned, shifted = [], [], []
    for k in range(6):
        rng = np.random.default_rng(k)
        T = _random_pose(rng)
        (tag,) = detect_tags(render_tag(_CAMERA, T, size=_SIZE, tag_id=14 * k, rng=rng), _CAMERA, size=_SIZE)
        assert tag.tag_id == 14 * k
        off.append(tag.corners - _CAMERA.project(corners @ T[:3, :3].T + T[:3, 3]))
        turned.append(_angle(tag.pose, T))
        shifted.append(np.linalg.norm(tag.pose[:3, 3] - T[:3, 3]) / T[2, 3])
        assert tag.error <= tag.other_error
    assert np.sqrt(np.mean(np.square(off))) < 0.15  # pixels
    assert np.median(shifted) < 0.0015
    assert max(shifted) < 0.006
    assert np.median(turned) < 0.3
    assert max(turned) < 3.0


@needs_opencv
def test_of_several_tags_each_is_found() -> None:
    poses = {3: _facing(-0.1, 0.0, 0.5, (0.3, 0.2)), 7: _facing(0.1, 0.02, 0.6, (-0.3, 0.4), 1.0)}
    picture = render_tag(_CAMERA, poses[3], size=_SIZE, tag_id=3)
    picture = render_tag(_CAMERA, poses[7], size=_SIZE, tag_id=7, picture=picture)
    found = detect_tags(np.repeat(picture[..., None], 3, axis=2), _CAMERA, size=_SIZE)
    assert [tag.tag_id for tag in found] == [3, 7]
    for tag in found:
        np.testing.assert_allclose(tag.pose[:3, 3], poses[tag.tag_id][:3, 3], atol=0.003)


@needs_opencv
def test_where_no_tag_is_none_is_found() -> None:
    behind = _facing(0.0, 0.0, 0.5) @ pose_from_rpy((0.0, 0.0, 0.0), (np.pi, 0.0, 0.0))
    for T in (behind, _facing(0.0, 0.0, -0.5), _facing(2.0, 0.0, 0.5)):
        assert detect_tags(render_tag(_CAMERA, T, size=_SIZE), _CAMERA, size=_SIZE) == []
    assert detect_tags(np.zeros((480, 640), np.uint8), _CAMERA, size=_SIZE) == []
    cut = _facing(0.27, 0.0, 0.5)  # half of it outside the picture
    assert detect_tags(render_tag(_CAMERA, cut, size=_SIZE), _CAMERA, size=_SIZE) == []


@pytest.mark.parametrize(("distance", "tilt"), [(0.3, 0.05), (0.6, 0.8), (1.0, 0.4)])
@pytest.mark.parametrize("coefficients", [4, 5, 8])
def test_a_tag_that_is_seen_well_is_unambiguous(
    distance: float, tilt: float, coefficients: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corners by OpenCV's own projection, with 0.05 pixel of noise, turned about the view in all directions."""
    bent = (-0.2, 0.05, 1e-3, -1e-3, 0.02, 0.1, -0.05, 0.01)[:coefficients]
    monkeypatch.setattr(f"{__name__}._CAMERA", replace(_CAMERA, distortion=bent))
    rng = np.random.default_rng(round(100 * distance + 10 * tilt))
    for _ in range(20):
        T, corners = _seen(distance, tilt, 0.05, rng)
        tag = _located(0, corners, _CAMERA, _SIZE)
        assert tag.ambiguity < 0.5
        assert _angle(tag.pose, T) < 5.0
        assert _angle(tag.other, tag.pose) > 0.3  # not the same pose again
        for pose, error in ((tag.pose, tag.error), (tag.other, tag.other_error)):
            seen = _projected(pose)
            assert error == pytest.approx(np.sqrt(((seen - corners) ** 2).sum(axis=1).mean()), rel=1e-6, abs=1e-9)


def _projected(T: Array) -> Array:
    """Corners of a tag by OpenCV."""
    cv2 = pytest.importorskip("cv2")
    h = _SIZE / 2.0
    square = np.array([[-h, h, 0.0], [h, h, 0.0], [h, -h, 0.0], [-h, -h, 0.0]])
    bent = np.asarray(_CAMERA.distortion)
    return cv2.projectPoints(square, cv2.Rodrigues(T[:3, :3])[0], T[:3, 3], _CAMERA.matrix, bent)[0].reshape(4, 2)


def _seen(distance: float, tilt: float, noise: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """A tag's pose at random in the middle of the picture, and its corners with noise."""
    about, spin = rng.uniform(-np.pi, np.pi, 2)
    turned = Rotation.from_rotvec([0.0, 0.0, about]) * Rotation.from_rotvec([np.pi - tilt, 0.0, 0.0])
    T = np.eye(4)
    T[:3, :3] = (turned * Rotation.from_rotvec([0.0, 0.0, spin])).as_matrix()
    T[:3, 3] = [*(0.05 * distance * rng.normal(size=2)), distance]
    return T, _projected(T) + noise * rng.normal(size=(4, 2))


@needs_opencv
def test_a_source_gives_poses_in_the_world_late() -> None:
    camera_pose, target = pose_from_rpy((0.2, 0.3, 0.9), (np.pi, 0.1, 0.2)), pose_from_rpy((0.0, 0.05, -0.1))

    def truth(t: float) -> Array:
        return _facing(0.1 * t, 0.0, 0.5, (0.3, 0.2))

    def grab(t: float) -> Any:
        hidden = 0.35 < t < 0.65
        return None if t > 0.85 else render_tag(_CAMERA, truth(t), size=_SIZE, tag_id=9 if hidden else 5)

    source = FiducialPoseSource(
        grab, _CAMERA, size=_SIZE, tag_id=5, rate=10.0, latency=0.15, camera_pose=camera_pose, target=target
    )
    assert isinstance(source, PoseSource)
    assert source.poll(0.1) == []
    seen = source.poll(0.2) + source.poll(1.2)
    assert [m.time for m in seen] == pytest.approx(np.arange(11) / 10.0)
    for m in seen:
        assert m.available == m.time + 0.15
        if 0.35 < m.time < 0.65 or m.time > 0.85:
            assert (m.pose, m.quality) == (None, 0.0)
        else:
            assert m.usable
            assert 0.6 < m.quality < 1.0
            np.testing.assert_allclose(m.pose[:3, 3], (camera_pose @ truth(m.time) @ target)[:3, 3], atol=0.002)
    source.reset()
    assert len(source.poll(1.2)) == 11


def test_of_several_measurements_those_with_large_errors_are_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    right, mirrored = _facing(0.0, 0.0, 1.0, (0.4, 0.0)), _facing(0.0, 0.0, 1.0, (-0.4, 0.0))
    corners = np.zeros((4, 2))
    clear = TagDetection(0, corners, right, 0.1, mirrored, 2.0)
    doubtful = TagDetection(0, corners, mirrored, 0.1, right, 0.11)  # noise makes the wrong pose fit better
    bad = TagDetection(0, corners, mirrored, 2.1, right, 2.2)
    answers = iter([[clear], [bad, doubtful], [doubtful], [bad], [doubtful]])
    monkeypatch.setattr(fiducials, "detect_tags", lambda *_, **__: next(answers))
    source = FiducialPoseSource(lambda t: np.zeros((480, 640), np.uint8), _CAMERA, size=_SIZE, rate=10.0)
    seen = source.poll(0.3)
    assert [None if m.pose is None else np.array_equal(m.pose, right) for m in seen] == [True, True, True, None]
    assert seen[2].quality == pytest.approx(1.0 / 1.11)
    source.reset()
    assert np.array_equal(source.poll(0.0)[0].pose, mirrored)  # without a picture before


@pytest.mark.parametrize("turning", [0.0, 0.4])
@pytest.mark.parametrize(("pixels", "tilt", "noise"), [(20.0, 0.4, 0.2), (20.0, 0.7, 0.3), (40.0, 0.3, 0.3)])
def test_flips_of_small_tags_end(pixels: float, tilt: float, noise: float, turning: float) -> None:
    """After half a second, of tags at rest or turning about the view, which flip in a tenth of the pictures or more."""
    rng, flips, left = np.random.default_rng(round(pixels + 100 * tilt)), [], []
    for _ in range(8):
        first, tracker = _seen(_SIZE * 550.0 / pixels, tilt, 0.0, rng)[0], TagTracker()
        for k in range(45):
            T = first.copy()
            T[:3, :3] = Rotation.from_rotvec([0.0, 0.0, turning * k / 30.0]).as_matrix() @ T[:3, :3]
            tag = _located(0, _projected(T) + noise * rng.normal(size=(4, 2)), _CAMERA, _SIZE)
            chosen, error = tracker.choose(k / 30.0, tag)
            assert error == (tag.error if chosen is tag.pose else tag.other_error)
            nearest = min((tag.pose, tag.other), key=lambda pose: _angle(pose, T))
            flips.append(tag.pose is not nearest)
            left += [chosen is not nearest] if k > 15 else []
    assert np.mean(flips) > 0.03
    assert np.mean(left) < 0.03
    tracker.reset()
    assert tracker.choose(0.0, tag)[0] is tag.pose


def test_nonsense_is_refused() -> None:
    def made(grab: Any = lambda t: None, camera: Any = _CAMERA, size: float = _SIZE, **change: Any) -> Any:
        return FiducialPoseSource(grab, camera, size=size, **change)

    def detect(picture: Any, camera: Any = _CAMERA) -> Any:
        return detect_tags(picture, camera, size=_SIZE)

    late, facing = made(), _facing(0.0, 0.0, 0.5)
    late.poll(1.0)
    assert_refused(
        (lambda: made(grab=3), "...grab must be callable..."),
        (lambda: made(camera=None), "...camera must be a PinholeCamera..."),
        (lambda: made(size=0.0), "...size must be positive..."),
        (lambda: made(tag_id=587), "...tag_id must be a whole number from 0 to 586..."),
        (lambda: made(rate=-1.0), "...rate must be positive..."),
        (lambda: made(latency=np.nan), "...latency must not be negative..."),
        (lambda: made(camera_pose=np.zeros((4, 4))), "...camera_pose must have the last row..."),
        (lambda: made(memory=0.0), "memory must be positive..."),
        (lambda: TagTracker(memory=-1.0), "memory must be positive..."),
        (lambda: made(lambda t: np.zeros((3, 3), np.uint8)).poll(0.0), "...picture must be uint8..."),
        (lambda: late.poll(0.9), "...t must not be before the last time..."),
        (lambda: detect(np.zeros((10, 10), np.uint8)), "...picture must be ..."),
        (lambda: detect(np.zeros((480, 640))), "...got float64 of (480, 640)..."),
        (lambda: detect(np.zeros((480, 640), np.uint8), None), "...camera must be a PinholeCamera, got None..."),
        (lambda: render_tag(None, np.eye(4), size=_SIZE), "...camera must be a PinholeCamera, got None..."),
        (lambda: render_tag(_CAMERA, facing, size=_SIZE, tag_id=600), "...tag_id must be a whole number from 0 to..."),
    )


@needs_opencv
def test_the_rendered_corners_stand_where_the_camera_model_says() -> None:
    # an independent look at the picture: the mean of the black square of a tag that faces a camera without distortion
    camera = PinholeCamera(200, 200, 400.0, 400.0, 100.0, 90.0)
    picture = render_tag(camera, _facing(0.01, -0.02, 0.5), size=0.1, blur=0.0, noise=0.0).astype(float)
    paper = picture > 150.0
    rows, columns = np.nonzero(np.abs(picture - 130.0) > 1.0)
    assert (columns.min() + columns.max()) / 2.0 == pytest.approx(100.0 + 400.0 * 0.01 / 0.5, abs=0.51)
    assert (rows.min() + rows.max()) / 2.0 == pytest.approx(90.0 - 400.0 * 0.02 / 0.5, abs=0.51)
    assert columns.max() - columns.min() + 1 == pytest.approx(400.0 * 0.125 / 0.5, abs=1.5)
    assert paper.sum() > 1000


def test_small_tags_flip_and_the_right_pose_is_among_the_two() -> None:
    """Tags of 20 pixels: the wrong pose fits better in some pictures."""
    rng, wrong = np.random.default_rng(4), 0
    for _ in range(150):
        T, corners = _seen(0.08 * 550.0 / 20.0 * (_SIZE / 0.08), 0.4, 0.2, rng)
        tag = _located(0, corners, _CAMERA, _SIZE)
        assert tag is not None
        assert min(_angle(tag.pose, T), _angle(tag.other, T)) < 20.0
        wrong += _angle(tag.pose, T) > _angle(tag.other, T)
    assert 5 < wrong < 75


def test_one_pose_is_not_ambiguous() -> None:
    """Straight from the front, without noise, both solutions are the same pose."""
    T = _facing(0.0, 0.0, 0.5)
    tag = TagDetection(0, _projected(T), T, 0.0, T, 0.0)
    assert tag.ambiguity == 0.0
    found = _located(0, _projected(T), _CAMERA, _SIZE)
    assert found is not None
    assert found.ambiguity < 1e-3
    other = _facing(0.0, 0.0, 0.5, (0.4, 0.0))
    assert [TagDetection(0, _projected(T), T, e, other, 0.0).ambiguity for e in (0.0, 0.1)] == [1.0, 1.0]
