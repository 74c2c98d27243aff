"""Shapes fitted to the visible part of objects."""

from __future__ import annotations

import numpy as np
import pytest

from thunder_py.perception.clouds import Ball, CloudPipeline, Cylinder, Plane, find_clusters
from thunder_py.perception.clouds.fits import fit_rectangle, fit_round
from thunder_py.spatial import pose_from_rpy

from .scenes import SETTINGS, box, view

TABLE = Plane((0.0, 0.0, 1.0), 0.0)


def test_the_rectangle_of_least_area_is_found_at_every_angle() -> None:
    rng = np.random.default_rng(0)
    for angle in (-1.5, -0.4, 0.0, 0.9, 1.5):
        c, s = np.cos(angle), np.sin(angle)
        points = (rng.uniform(-0.5, 0.5, (400, 2)) * [0.2, 0.1]) @ np.array([[c, s], [-s, c]]) + [0.3, -0.1]
        middle, found, size, fill = fit_rectangle(points)
        assert np.abs(middle - [0.3, -0.1]).max() < 2e-3
        assert abs((found - angle + np.pi / 2) % np.pi - np.pi / 2) < 0.03
        np.testing.assert_allclose(size, [0.2, 0.1], atol=4e-3)
        assert fill > 0.93


@pytest.mark.parametrize("seed", [0, 1])
def test_half_a_ball_and_half_a_cylinder_have_their_middle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(400, 3))
    d = d[(d[:, 0] > 0.0) & (d[:, 2] > -0.3)]
    points = 0.05 * d / np.linalg.norm(d, axis=1)[:, None] + [0.1, 0.2, 0.05] + rng.normal(scale=5e-4, size=d.shape)
    ball = fit_round(points, TABLE)
    assert ball is not None
    assert ball.shape == "ball"
    np.testing.assert_allclose(ball.center, [0.1, 0.2, 0.05], atol=1e-3)
    a, y = rng.uniform(-0.4, 1.7, 400), rng.uniform(-0.1, 0.1, 400)
    lying = np.stack([0.03 * np.cos(a), y, 0.03 + 0.03 * np.sin(a)], axis=1)
    cylinder = fit_round(lying + rng.normal(scale=5e-4, size=lying.shape), TABLE)
    assert cylinder is not None
    assert cylinder.shape == "cylinder"
    np.testing.assert_allclose(cylinder.center, [0.0, 0.0, 0.03], atol=2e-3)
    assert abs(cylinder.direction[1]) > 0.999


def test_fits_remove_the_bias_of_round_objects_and_give_cubes_a_yaw() -> None:
    plain, fitted = (CloudPipeline(**SETTINGS, table=TABLE, fit_shapes=on) for on in (False, True))
    ball = view(Ball(0.05, (0.0, 0.0, 0.05)))
    errors = [np.linalg.norm(pipeline(ball).center[:2]) for pipeline in (plain, fitted)]
    assert errors[1] < 0.5 * errors[0]
    assert fitted(ball).shape == "ball"
    assert fitted(ball).yaw is None
    cube = fitted(view(box((0.09, 0.09, 0.09), yaw=0.5)))
    assert cube.shape == "box"
    assert cube.yaw is not None
    assert abs((cube.yaw - 0.5 + np.pi / 4) % (np.pi / 2) - np.pi / 4) < 0.1
    can = fitted(view(Cylinder(0.05, 0.12, pose_from_rpy((0.0, 0.0, 0.06)))))
    assert (can.shape, can.yaw) == ("disk", None)


def test_clusters_have_the_labels_of_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    rng = np.random.default_rng(0)
    for _ in range(10):
        points = rng.uniform(size=(int(rng.integers(1, 200)), 3))
        eps, few = float(rng.uniform(0.05, 0.2)), int(rng.integers(1, 7))
        raw = cluster.DBSCAN(eps=eps, min_samples=few).fit(points).labels_
        mine = find_clusters(points, eps=eps, min_size=1, min_samples=few)
        np.testing.assert_array_equal(raw < 0, mine < 0)
        assert len(set(zip(raw, mine, strict=True))) == len(set(raw))  # the same groups
