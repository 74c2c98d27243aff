"""The chain from cloud to grasp, on clouds of a simulated depth camera."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from perception.scenes import SETTINGS, box, view

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import (
    Ball,
    CloudPipeline,
    CloudPoseSource,
    Cylinder,
    DepthCamera,
    Detection,
    DetectionReason,
    Plane,
    detect_object,
)
from thunder_py.spatial import pose_from_rpy

_FIND = CloudPipeline(**SETTINGS)
_BOX = (0.18, 0.07, 0.10)


def _yaw_error(found: Detection, yaw: float) -> float:
    assert found.yaw is not None
    return float((found.yaw - yaw + np.pi / 2.0) % np.pi - np.pi / 2.0)


def test_a_box_is_found_where_it_stands_over_seeds() -> None:
    centroids, centers, yaws, sizes = [], [], [], []
    for seed in range(16):
        rng = np.random.default_rng([9, seed])
        x, y, yaw = rng.uniform((-0.15, -0.1, -np.pi / 2), (0.15, 0.1, np.pi / 2))
        found = _FIND(view(box(_BOX, x, y, yaw), seed=seed))
        assert found.found
        assert found.planar
        assert found.centroid is not None
        assert found.center is not None
        centroids.append(found.centroid - (x, y, 0.05))
        centers.append(found.center - (x, y, 0.05))
        yaws.append(_yaw_error(found, yaw))
        sizes.append(found.size)
    assert np.linalg.norm(np.mean(centroids, axis=0)) > 0.02  # the bias that the documentation tells of
    assert np.linalg.norm(np.mean(centers, axis=0)) < 0.005
    assert np.abs(np.array(centers)).max() < 0.012
    assert np.degrees(np.sqrt(np.mean(np.square(yaws)))) < 2.5
    np.testing.assert_allclose(np.mean(sizes, axis=0), _BOX, atol=0.01)


def test_a_cylinder_and_a_ball() -> None:
    upright = _FIND(view(Cylinder(0.04, 0.12, pose_from_rpy((0.05, 0.0, 0.06)))))
    assert upright.planar
    assert upright.yaw is None
    np.testing.assert_allclose(upright.center, (0.05, 0.0, 0.06), atol=0.008)
    lying = _FIND(view(Cylinder(0.03, 0.2, pose_from_rpy((0.0, 0.05, 0.03), (0.0, np.pi / 2, 0.4)))))
    assert abs(_yaw_error(lying, 0.4)) < 0.05
    np.testing.assert_allclose(lying.center, (0.0, 0.05, 0.03), atol=0.015)
    ball = _FIND(view(Ball(0.05, (0.0, 0.0, 0.05))))
    assert not ball.planar
    np.testing.assert_allclose(ball.center, (0.0, 0.0, 0.05), atol=0.02)


def test_a_slanting_belt_and_a_belt_along_another_axis() -> None:
    T = pose_from_rpy((0.3, 0.4, 0.5), (0.5, 0.4, 0.0))
    cloud = view(box(_BOX, 0.02, 0.03, 0.4)) @ T[:3, :3].T + T[:3, 3]
    found = _FIND(cloud)
    assert found.reason == "nothing above the table" or not np.allclose(found.table.normal, T[:3, 2], atol=0.05)  # type: ignore[union-attr]
    found = CloudPipeline(**SETTINGS, up=T[:3, 2])(cloud)
    assert found.table is not None
    np.testing.assert_allclose(found.table.normal, T[:3, 2], atol=0.01)
    np.testing.assert_allclose(found.center, T[:3, :3] @ (0.02, 0.03, 0.05) + T[:3, 3], atol=0.01)


def test_grasps_come_from_above_with_the_long_side_between_thumb_and_index() -> None:
    found = _FIND(view(box(_BOX, 0.0, 0.0, 0.5)))
    assert found.grasp is not None
    assert found.pose is not None
    R = found.grasp[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-9)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 2], (0.0, 0.0, -1.0), atol=0.01)
    np.testing.assert_allclose(np.abs(R[:2, 1]), (np.cos(0.5), np.sin(0.5)), atol=0.05)
    assert np.array_equal(found.grasp[:3, 3], found.center)
    assert np.array_equal(R[:, 1], found.pose[:3, 0])


def test_of_two_equal_boxes_the_place_decides() -> None:
    cloud = view(box((0.08, 0.08, 0.08), -0.2), box((0.08, 0.08, 0.08), 0.2))
    for x in (-0.2, 0.2):
        found = _FIND(cloud, near=(x, 0.0, 0.04))
        np.testing.assert_allclose(found.center, (x, 0.0, 0.04), atol=0.008)
    # nearer to the camera is larger
    np.testing.assert_allclose(_FIND(cloud).center, (0.2, 0.0, 0.04), atol=0.008)


@pytest.mark.parametrize(
    ("cloud", "reason"),
    [
        (np.zeros((0, 3)), "no points"),
        (np.full((40, 30, 3), np.nan), "no points"),
        (view(), "nothing above the table"),
        (np.random.default_rng(0).uniform(-5.0, 5.0, (300, 3)), "no cluster"),
        (np.ones((50, 3)), "no cluster"),
    ],
    ids=["empty", "all NaN", "empty belt", "scattered", "one point"],
)
def test_clouds_without_an_object_say_why(cloud: Any, reason: str) -> None:
    found = _FIND(cloud)
    assert found.reason is DetectionReason(reason)
    assert not found.found
    assert found.pose is None
    assert found.grasp is None
    assert found.center is None
    assert found.yaw is None


def test_a_known_table_and_a_region_are_used() -> None:
    cloud = view(box(_BOX))
    known = detect_object(cloud, table=Plane((0.0, 0.0, -1.0), 0.0), **SETTINGS)
    assert known.table == Plane((0.0, 0.0, 1.0), 0.0)
    np.testing.assert_allclose(known.center, (0.0, 0.0, 0.05), atol=0.008)
    assert detect_object(cloud, region=[(0.3, -1, -1), (1, 1, 1)], **SETTINGS).reason == "nothing above the table"
    assert detect_object(cloud, region=[(3, 3, 3), (4, 4, 4)], **SETTINGS).reason == "no points"
    alone = detect_object(cloud[cloud[..., 2] > 0.012], find_table=False, **SETTINGS)
    assert alone.table is None
    np.testing.assert_allclose(alone.center, (0.0, 0.0, 0.05), atol=0.015)


def test_settings_that_make_no_sense_are_refused() -> None:
    def given(**settings):
        return CloudPipeline(**settings)

    assert_refused(
        (lambda: given(voxel=0.0), "...voxel must be a positive number..."),
        (lambda: given(voxel=0.01, gap=0.01), "...gap must be at least a voxel's diagonal..."),
        (lambda: given(table=(0.0, 0.0, 1.0)), "...table must be a Plane..."),
        (lambda: given(least=2), "...least must be a whole number of at least 3..."),
        (lambda: given(up=(0.0, 0.0, 0.0)), "...up must not be zero..."),
        (lambda: given(surface_share=1.5), "...surface_share must be a probability..."),
        (lambda: given(elongation=0.5), "...elongation must be at least 1..."),
        (lambda: given(tilt=2.0), "...tilt must be at most pi / 2..."),
        (lambda: given(region=[(0, 0, 1), (1, 1, 0)]), "...region must be a lowest and a highest corner..."),
        (lambda: given(region=[(0, 0), (1, 1)]), "...region must have shape (2, 3)..."),
    )


@pytest.mark.parametrize("seed", range(4))
def test_outliers_however_far_change_nothing(seed: int) -> None:
    cloud = view(box(_BOX, 0.02, 0.01, 0.4)).reshape(-1, 3)
    rng = np.random.default_rng(seed)
    far = rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(1.0, 300.0, (60, 1))
    found = _FIND(np.concatenate([cloud, far, [[np.inf, 0.0, 0.0], [0.0, -np.inf, np.nan]]]))
    np.testing.assert_allclose(found.center, (0.02, 0.01, 0.05), atol=0.008)
    assert abs(_yaw_error(found, 0.4)) < 0.05


def test_clouds_of_another_shape_are_refused() -> None:
    assert_refused((lambda: _FIND(np.zeros((4, 2))), "...cloud must have shape (..., 3)..."))
    with pytest.raises(ThunderError, match="cloud must be numbers"):
        _FIND("cloud")  # type: ignore[arg-type]


def test_a_dropped_picture_is_not_looked_at() -> None:
    camera = DepthCamera(PinholeCamera.from_field_of_view(8, 6, 1.0), np.eye(4))
    taken: list[float] = []

    def grab(t: float) -> np.ndarray:
        taken.append(t)
        return np.full((6, 8), np.nan)

    source = CloudPoseSource(grab, camera, _FIND, rate=10.0, dropout=0.5, seed=1)
    delivered = [measurement.time for measurement in source.poll(3.95)]
    assert len(taken) == 40  # the noise of a picture does not depend on what was dropped
    assert 0 < len(delivered) < 40
    assert list(source.detections) == delivered


def test_a_pose_source_needs_a_function_that_grabs() -> None:
    camera = DepthCamera(PinholeCamera.from_field_of_view(8, 6, 1.0), np.eye(4))
    for wrong in ({"grab": None}, {"own": 3}):
        with pytest.raises(ThunderError, match=f"{next(iter(wrong))} must be callable, got"):
            CloudPoseSource(**{"grab": lambda t: None, "camera": camera, "pipeline": _FIND, **wrong})
    (nothing,) = CloudPoseSource(lambda t: None, camera, _FIND).poll(0.0)
    assert not nothing.usable
    assert_refused((lambda: CloudPoseSource(lambda t: [None], camera, _FIND).poll(0.0), "...depth must have shape ..."))


def test_every_outcome_can_be_drawn() -> None:
    mpl.use("agg")
    from matplotlib.pyplot import close

    for cloud in (view(box(_BOX)), view(), np.zeros((0, 3))):
        found = _FIND(cloud)
        axes = found.plot()
        axes["space"].figure.canvas.draw()
        title = axes["above"].get_title()
        assert title == found.reason or "yaw" in title
        close("all")
