"""Rays against shapes, and what a depth camera makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from perception.scenes import BELT, CAMERA, box

from tests.refusals import assert_refused
from thunder_py.checks import Array
from thunder_py.perception.clouds import Ball, Cuboid, Cylinder, DepthCamera, look_at
from thunder_py.perception.clouds.scenes import Shape
from thunder_py.spatial import pose_from_rpy

_POSE = pose_from_rpy((0.1, -0.2, 0.3), (0.4, 0.5, -0.6))


def _inside(shape: Shape, points: Array) -> Any:
    """Return how deep points are inside a shape, negative outside: an independent description of each."""
    if isinstance(shape, Ball):
        return shape.radius - np.linalg.norm(points - np.asarray(shape.center), axis=-1)
    T = np.asarray(shape.pose)
    local = (points - T[:3, 3]) @ T[:3, :3]
    if isinstance(shape, Cuboid):
        return (np.asarray(shape.size) / 2.0 - np.abs(local)).min(axis=-1)
    assert isinstance(shape, Cylinder)
    across = shape.radius - np.linalg.norm(local[..., :2], axis=-1)
    return np.minimum(across, shape.height / 2.0 - np.abs(local[..., 2]))


@pytest.mark.parametrize(
    "shape",
    [Cuboid((0.3, 0.2, 0.4), _POSE), Cylinder(0.15, 0.3, _POSE), Ball(0.2, _POSE[:3, 3])],
    ids=lambda s: type(s).__name__,
)
def test_rays_end_where_the_shape_begins(shape: Shape) -> None:
    rng = np.random.default_rng(1)
    eye = np.array([0.9, 0.5, 1.0])
    directions = _POSE[:3, 3] + rng.uniform(-0.4, 0.4, size=(3000, 3)) - eye
    depth = shape.depth(eye, directions)
    hit = np.isfinite(depth)
    assert 500 < hit.sum() < 2800
    assert np.abs(_inside(shape, eye + depth[hit, None] * directions[hit])).max() < 1e-12
    before = eye + np.linspace(0.0, 0.999, 200)[:, None, None] * depth[hit, None] * directions[hit]
    assert _inside(shape, before).max() < 0.0
    along = eye + np.linspace(0.0, 3.0, 500)[:, None, None] * directions[~hit]
    assert _inside(shape, along).max() < 0.0


def test_from_inside_the_far_side_is_seen_and_behind_the_eye_nothing() -> None:
    forward, backward = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, -1.0]])
    for shape in (Cuboid((2.0, 2.0, 2.0)), Cylinder(1.0, 2.0), Ball(1.0)):
        assert shape.depth(np.zeros(3), forward)[0] == 1.0
        assert shape.depth(np.array([0.0, 0.0, -3.0]), forward)[0] == 2.0
        assert shape.depth(np.array([0.0, 0.0, -3.0]), backward)[0] == np.inf


def test_a_perfect_camera_sees_surfaces_exactly_and_what_is_in_front() -> None:
    camera = DepthCamera(CAMERA, look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)))
    shapes = [BELT, box((0.1, 0.1, 0.1)), Ball(0.05, (0.1, -0.14, 0.14))]
    seen = camera.see(shapes, np.random.default_rng(0))
    assert seen.cloud.shape == (120, 212, 3)
    assert np.isnan(seen.cloud[seen.shape == -1]).all()
    for k, shape in enumerate(shapes):
        assert np.abs(_inside(shape, seen.cloud[seen.shape == k])).max() < 1e-12
    alone = camera.see(shapes[:2], np.random.default_rng(0))
    assert (alone.shape == 1).sum() > (seen.shape == 1).sum() > 0


def test_noise_grows_with_depth_and_steps_and_holes_are_there() -> None:
    wall = Cuboid((4.0, 4.0, 0.1), pose_from_rpy((0.0, 0.0, 2.05)))
    eye = np.eye(4)

    def depths(**options: float) -> Any:
        return DepthCamera(CAMERA, eye, **options).see([wall], np.random.default_rng(3)).cloud[..., 2]

    z = depths(noise=0.001, noise_per_z2=0.002)
    assert np.std(z) == pytest.approx(0.009, rel=0.03)
    assert np.mean(z) == pytest.approx(2.0, abs=4 * 0.009 / np.sqrt(z.size))
    steps = depths(noise_per_z2=0.002, resolution=0.005) / 0.005
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert np.isnan(depths(dropout=0.2)).mean() == pytest.approx(0.2, abs=0.02)
    assert np.isnan(depths(far=1.9)).all()
    assert np.isnan(depths(near=2.1)).all()


def test_nonsense_is_refused() -> None:
    assert_refused(
        (lambda: Cuboid((0.1, 0.0, 0.1)), "...size must be positive..."),
        (lambda: Cylinder(-0.1, 0.1), "...radius must be a positive number..."),
        (lambda: Ball(0.1, (0.0, np.nan, 0.0)), "...center must be finite..."),
        (lambda: DepthCamera(CAMERA, np.eye(4), near=2.0, far=1.0), "...near must be below far..."),
        (lambda: DepthCamera(CAMERA, np.eye(4), dropout=1.5), "...dropout must be a probability..."),
        (lambda: DepthCamera("D435", np.eye(4)), "...camera must be a PinholeCamera..."),
        (lambda: look_at((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)), "...target must not be at eye, nor straight along up..."),
    )
