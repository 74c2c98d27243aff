"""Downsampling, planes, clusters and principal axes, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.perception.clouds import Plane, find_clusters, find_plane, fit_plane, surface_axes, voxel_downsample
from thunder_py.perception.clouds.segmentation import choose_cluster, yaw_of


def test_voxels_hold_the_means_of_their_points() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.0, 1.0, size=(2000, 3))
    cells: dict[tuple[int, ...], list[Any]] = {}
    for p in points:
        cells.setdefault(tuple(np.floor(p / 0.25).astype(int)), []).append(p)
    expected = np.array(sorted(np.mean(c, axis=0).tolist() for c in cells.values()))
    np.testing.assert_allclose(sorted(voxel_downsample(points, 0.25).tolist()), expected, atol=1e-14)
    np.testing.assert_allclose(voxel_downsample(points[::-1], 0.25), voxel_downsample(points, 0.25), atol=1e-14)
    with_holes = np.concatenate([points, np.full((5, 3), np.nan), [[np.inf, 0.0, 0.0]]])
    assert np.array_equal(voxel_downsample(with_holes, 0.25), voxel_downsample(points, 0.25))
    assert voxel_downsample(np.full((3, 3), np.nan), 0.1).shape == (0, 3)
    assert len(voxel_downsample(points, 100.0)) == 8  # the grid's corner stays at the origin


def test_sizes_and_shapes_are_checked() -> None:
    assert_refused(
        (lambda: voxel_downsample([[0.0, 0.0, 0.0]], 0.0), "...size must be a positive number..."),
        (lambda: voxel_downsample([[0.0, 0.0]], 0.1), "...points must have shape (..., 3)..."),
        (lambda: find_plane(np.zeros((4, 6))), "...points must have shape (..., 3)..."),
    )


@pytest.mark.parametrize("seed", range(6))
def test_any_plane_is_found_among_outliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R = np.eye(3) if seed == 0 else Rotation.random(random_state=seed).as_matrix()
    if seed == 1:
        R = Rotation.from_euler("y", 90, degrees=True).as_matrix()  # upright
    on = np.column_stack([rng.uniform(-1, 1, (400, 2)), 0.002 * rng.normal(size=400)]) @ R.T + R[:, 2] * 0.3
    points = np.concatenate([on, rng.uniform(-1, 1, (600, 3))])
    found = find_plane(points, distance=0.008, seed=seed)
    assert found is not None
    plane, near = found
    assert abs(np.asarray(plane.normal) @ R[:, 2]) > np.cos(0.01)
    assert abs(plane.offset) == pytest.approx(0.3, abs=0.002)
    assert near[:400].mean() > 0.99
    assert near[400:].mean() < 0.05


def test_the_normal_that_is_asked_for_decides() -> None:
    rng = np.random.default_rng(4)
    floor = np.column_stack([rng.uniform(-1, 1, (300, 2)), np.zeros(300)])
    wall = np.column_stack([np.full(900, 1.0), rng.uniform(-1, 1, (900, 2))])
    points = np.concatenate([floor, wall])
    free, up, down = (find_plane(points, normal=n) for n in (None, (0.0, 0.0, 2.0), (0.0, 0.0, -1.0)))
    assert free is not None
    assert up is not None
    assert down is not None
    assert abs(np.asarray(free[0].normal)[0]) == pytest.approx(1.0)
    np.testing.assert_allclose(up[0].normal, (0.0, 0.0, 1.0), atol=1e-3)  # the foot of the wall counts
    np.testing.assert_allclose(down[0].normal, (0.0, 0.0, -1.0), atol=1e-3)
    assert find_plane(floor, normal=(1.0, 1.0, 1.0), angle=0.1) is None


def test_without_three_points_there_is_no_plane() -> None:
    assert find_plane(np.zeros((0, 3))) is None
    assert find_plane(np.eye(3)[:2]) is None
    assert find_plane(np.outer(np.arange(50.0), (1.0, 2.0, 3.0))) is None
    assert find_plane(np.full((9, 3), np.nan)) is None
    assert find_plane(np.ones((9, 3))) is None
    assert fit_plane(np.outer(np.arange(5.0), (1.0, 2.0, 3.0))) is None
    exact = find_plane(np.concatenate([np.eye(3), np.full((1, 3), np.nan)]))
    assert exact is not None
    assert exact[1].tolist() == [True, True, True, False]


def test_planes_are_normalized_and_turned() -> None:
    plane = Plane((0.0, 0.0, 2.0), 1.0)
    assert plane.distance([[5.0, 5.0, 1.5]]).tolist() == [1.0]
    assert plane.towards((0.0, 1.0, -1.0)) == Plane((0.0, 0.0, -1.0), -0.5)
    assert_refused((lambda: Plane((0.0, 0.0, 0.0), 1.0), "...normal must not be zero..."))


def test_clusters_are_in_the_order_of_their_size() -> None:
    rng = np.random.default_rng(0)
    parts = [
        0.05 * rng.normal(size=(n, 3)) + center for n, center in ((50, (0, 0, 0)), (90, (1, 0, 0)), (4, (0, 1, 0)))
    ]
    points = np.concatenate(parts)
    groups = find_clusters(points, eps=0.15, min_size=10)
    assert (groups[:50] == 1).all()
    assert (groups[50:140] == 0).all()
    assert (groups[140:] == -1).all()
    assert choose_cluster(points, groups) == 0
    assert choose_cluster(points, groups, near=(0.2, 0.0, 0.0)) == 1
    assert choose_cluster(points, np.full(len(points), -1)) is None
    assert find_clusters(np.zeros((0, 3)), eps=0.1).shape == (0,)


@pytest.mark.parametrize("yaw", [-1.5, -0.8, 0.0, 0.3, 1.2, 1.57])
@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.2, -0.3, 0.8), (1.0, 0.0, 0.0)])
def test_principal_axes_have_one_sign_whatever_the_order_of_points(yaw: float, normal: tuple[float, ...]) -> None:
    n = np.asarray(Plane(normal, 0.0).normal)
    grid = np.stack(np.meshgrid(np.linspace(-0.1, 0.1, 21), np.linspace(-0.03, 0.03, 7)), axis=-1).reshape(-1, 2)
    reference = surface_axes(np.zeros((1, 3)), n).axes
    turned = reference @ Rotation.from_euler("z", yaw).as_matrix()
    points = grid @ turned[:, :2].T + (0.4, 0.5, 0.6)
    for given in (points, points[::-1]):
        found = surface_axes(given, n)
        np.testing.assert_allclose(found.centroid, (0.4, 0.5, 0.6), atol=1e-12)
        np.testing.assert_allclose(found.middle, (0.4, 0.5, 0.6), atol=1e-12)
        np.testing.assert_allclose(found.size, (0.2, 0.06), atol=1e-9)
        np.testing.assert_allclose(found.axes, turned, atol=1e-9)
        assert np.linalg.det(found.axes) == pytest.approx(1.0)
        assert found.elongation == pytest.approx(np.sqrt((21**2 - 1) * 0.01**2 / ((7**2 - 1) * 0.01**2)))
        assert yaw_of(found.axes[:, 0], n) == pytest.approx(yaw)


def test_yaw_is_that_of_a_line() -> None:
    up = (0.0, 0.0, 1.0)
    assert yaw_of((-1.0, -1.0, 0.0), up) == pytest.approx(np.pi / 4)
    assert yaw_of((0.0, -1.0, 0.0), up) == pytest.approx(np.pi / 2)
    assert yaw_of((0.0, 1.0, 0.0), up) == pytest.approx(np.pi / 2)
    assert yaw_of((1.0, 1.0, 7.0), up) == pytest.approx(np.pi / 4)


def test_as_long_as_wide_has_the_axes_of_the_reference() -> None:
    found = surface_axes([(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (-1.0, -1.0, 0.0)], (0.0, 0.0, 1.0))
    assert np.array_equal(found.axes, np.eye(3))
    assert found.elongation == 1.0
    assert surface_axes([(1.0, 0.0, 0.0), (2.0, 0.0, 0.0)], (0.0, 0.0, 1.0)).elongation == np.inf
    assert_refused((lambda: surface_axes(np.zeros((0, 3)), (0.0, 0.0, 1.0)), "...points must be at least one..."))


def test_middle_does_not_depend_on_the_density() -> None:
    """Of a rectangle; without a center of symmetry it depends on it through the axes."""
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(-0.1, 0.1, 21), np.linspace(-0.05, 0.05, 11)))
    rectangle = np.column_stack([x, y, 0.0 * x])
    triangle = rectangle[x / 0.2 + y / 0.1 <= 1e-9]
    moved = []
    for points in (rectangle, triangle):
        dense = np.concatenate([points, *[points[(points[:, 0] < -0.05) & (points[:, 1] < 0.0)]] * 20])
        even, uneven = surface_axes(points, (0.0, 0.0, 1.0)), surface_axes(dense, (0.0, 0.0, 1.0))
        assert np.abs(uneven.centroid - even.centroid).max() > 0.01
        assert np.abs(uneven.axes - even.axes).max() > 0.05
        moved.append(np.abs(uneven.middle - even.middle).max())
    assert moved[0] < 1e-12
    assert moved[1] > 1e-3
