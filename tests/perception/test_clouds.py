"""The chain from cloud to grasp, on clouds of a simulated depth camera."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from perception.scenes import BELT, CAMERA, NOISE, SETTINGS, box, view
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.checks import Array
from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import (
    Ball,
    CloudPipeline,
    CloudPoseSource,
    Cuboid,
    Cylinder,
    DepthCamera,
    Detection,
    DetectionReason,
    Plane,
    detect_object,
    find_clusters,
    find_plane,
    fit_plane,
    look_at,
    surface_axes,
    voxel_downsample,
)
from thunder_py.perception.clouds.fits import fit_rectangle, fit_round
from thunder_py.perception.clouds.scenes import Shape
from thunder_py.perception.clouds.segmentation import yaw_of
from thunder_py.spatial import pose_from_rpy, rotation_about

_FIND = CloudPipeline(**SETTINGS)
_BOX = (0.18, 0.07, 0.10)


def _yaw_error(found: Detection, yaw: float) -> float:
    return float((found.yaw - yaw + np.pi / 2.0) % np.pi - np.pi / 2.0)


def test_a_box_is_found_where_it_stands_over_seeds() -> None:
    centroids, centers, yaws, sizes = [], [], [], []
    for seed in range(16):
        rng = np.random.default_rng([9, seed])
        x, y, yaw = rng.uniform((-0.15, -0.1, -np.pi / 2), (0.15, 0.1, np.pi / 2))
        found = _FIND(view(box(_BOX, x, y, yaw), seed=seed))
        assert found.found
        assert found.planar
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
    assert found.reason is DetectionReason.not_level
    np.testing.assert_allclose(found.table.normal, T[:3, 2], atol=0.01)
    found = CloudPipeline(**SETTINGS, up=T[:3, 2])(cloud)
    np.testing.assert_allclose(found.table.normal, T[:3, 2], atol=0.01)
    np.testing.assert_allclose(found.center, T[:3, :3] @ (0.02, 0.03, 0.05) + T[:3, 3], atol=0.01)


def test_grasps_come_from_above() -> None:
    found = _FIND(view(box(_BOX, 0.0, 0.0, 0.5)))
    R = found.grasp[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-9)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 2], (0.0, 0.0, -1.0), atol=0.01)
    np.testing.assert_allclose(np.abs(R[:2, 1]), (np.cos(0.5), np.sin(0.5)), atol=0.05)
    assert np.array_equal(found.grasp[:3, 3], found.center)
    assert np.array_equal(R[:, 1], found.pose[:3, 0])


def test_clouds_without_an_object_say_why() -> None:
    scattered = np.random.default_rng(0).uniform(-5.0, 5.0, (300, 3))
    for cloud, reason in (
        (np.zeros((0, 3)), "no points"),
        (np.full((40, 30, 3), np.nan), "no points"),
        (view(), "nothing above the table"),
        (scattered, "no plane with enough of the points"),
        (np.ones((50, 3)), "no plane with enough of the points"),
    ):
        found = _FIND(cloud)
        assert found.reason is DetectionReason(reason)
        assert not found.found
        assert (found.pose, found.grasp, found.center, found.yaw) == (None,) * 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("eye", [(0.5, -0.7, 0.7), (-0.3, 0.6, 0.8), (0.0, -0.3, 1.0)])
def test_what_is_no_table_and_no_object_is_told(eye: tuple[float, float, float], seed: int) -> None:
    """Over viewpoints, objects and seeds."""
    rng = np.random.default_rng([seed, round(10 * eye[2])])
    x, y, yaw = rng.uniform((-0.15, -0.1, -1.5), (0.15, 0.1, 1.5))
    cloud = view(box(tuple(rng.uniform(0.06, 0.2, 3)), x, y, yaw), seed=seed, eye=eye).reshape(-1, 3)
    assert _FIND(cloud).found
    assert _FIND(1e3 * cloud).reason is DetectionReason.millimeters
    assert detect_object(1e3 * cloud, region=[(-1, -1, -1), (1, 1, 1)]).reason is DetectionReason.millimeters
    for about in ("x", "y"):
        for degrees in (22.0, 30.0, 45.0, 70.0, 90.0):
            found = _FIND(cloud @ rotation_about(about, np.radians(degrees)).T)
            assert found.reason is DetectionReason.not_level
        assert _FIND(cloud @ rotation_about(about, np.radians(15.0)).T).found
    floor = np.column_stack([rng.uniform(-1.5, 1.5, (40000, 2)), rng.normal(-0.7, 0.002, 40000)])
    assert _FIND(np.concatenate([cloud, floor])).reason is DetectionReason.too_large  # the belt above a floor
    belt_alone = view(seed=seed, eye=eye).reshape(-1, 3)
    few = rng.uniform((-0.5, -0.2, 0.02), (0.5, 0.2, 0.4), (1500, 3))
    clump = rng.normal(size=(40, 3)) * 0.01 + (0.0, 0.0, 0.1)
    assert _FIND(np.concatenate([belt_alone, few, clump])).reason is DetectionReason.no_cluster
    assert detect_object(few, **SETTINGS).reason is DetectionReason.no_table


@pytest.mark.parametrize("yaw", [0.0, 0.4, 1.2])
def test_objects_that_are_close_are_separated_or_flagged(yaw: float) -> None:
    lens = PinholeCamera.from_field_of_view(320, 240, 1.2)
    camera = DepthCamera(lens, look_at((0.4, -0.6, 0.7), (0.0, 0.0, 0.0)), **NOISE)
    c, s = np.cos(yaw), np.sin(yaw)

    def find(*shapes: Shape) -> Detection:
        return CloudPipeline()(
            camera.see([BELT, *shapes], np.random.default_rng(1)).cloud, near=(-0.05 * c, -0.05 * s, 0.03)
        )

    def pair(gap: float, first: Any, second: Any) -> Detection:
        left, right = -(first[0] + gap) / 2.0, (second[0] + gap) / 2.0
        return find(box(first, left * c, left * s, yaw), box(second, right * c, right * s, yaw))

    apart = pair(0.01, (0.08, 0.08, 0.08), (0.08, 0.1, 0.07))
    assert apart.groups.max() == 1
    np.testing.assert_allclose(apart.center, (-0.045 * c, -0.045 * s, 0.04), atol=0.01)
    touching = pair(0.0, (0.06, 0.12, 0.08), (0.12, 0.06, 0.08))
    assert touching.groups.max() == 1 or touching.touching
    for single in (
        box((0.16, 0.08, 0.08), yaw=yaw),
        Cylinder(0.05, 0.1, pose_from_rpy((0.0, 0.0, 0.05))),
        Ball(0.05, (0, 0, 0.05)),
    ):
        found = find(single)
        assert (found.groups.max(), found.touching) == (0, False)


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
    plane = Plane((0.0, 0.0, 2.0), 1.0)
    assert plane.distance([[5.0, 5.0, 1.5]]).tolist() == [1.0]
    assert plane.towards((0.0, 1.0, -1.0)) == Plane((0.0, 0.0, -1.0), -0.5)
    assert_refused(
        ({"voxel": 0.0}, "...voxel must be positive..."),
        ({"voxel": 0.01, "gap": 0.01}, "...gap must be at least a voxel's diagonal..."),
        ({"table": (0.0, 0.0, 1.0)}, "...table must be a Plane..."),
        ({"least": 2}, "...least must be a whole number of at least 3..."),
        ({"up": (0.0, 0.0, 0.0)}, "...up must not be zero..."),
        ({"surface_share": 1.5}, "...surface_share must be a number in [0, 1]..."),
        ({"elongation": 0.5}, "elongation must be a number in [1, inf)..."),
        ({"tilt": 2.0}, "tilt must be a number in (0, 1.57..."),
        ({"region": [(0, 0, 1), (1, 1, 0)]}, "...region must be a lowest and a highest corner..."),
        ({"region": [(0, 0), (1, 1)]}, "...region must have shape (2, 3)..."),
        call=CloudPipeline,
    )
    assert_refused(
        (lambda: voxel_downsample([[0.0, 0.0, 0.0]], 0.0), "...size must be positive..."),
        (lambda: voxel_downsample([[0.0, 0.0]], 0.1), "...points must have shape (..., 3)..."),
        (lambda: find_plane(np.zeros((4, 6))), "...points must have shape (..., 3)..."),
        (lambda: surface_axes(np.zeros((0, 3)), (0.0, 0.0, 1.0)), "...points must be at least one..."),
        (lambda: Plane((0.0, 0.0, 0.0), 1.0), "...normal must not be zero..."),
        (lambda: Cuboid((0.1, 0.0, 0.1)), "...size must be positive..."),
        (lambda: Cylinder(-0.1, 0.1), "...radius must be positive..."),
        (lambda: Ball(0.1, (0.0, np.nan, 0.0)), "...center must be finite..."),
        (lambda: DepthCamera(CAMERA, np.eye(4), near=2.0, far=1.0), "...near must be below far..."),
        (lambda: DepthCamera(CAMERA, np.eye(4), dropout=1.5), "...dropout must be a number in [0, 1]..."),
        (lambda: DepthCamera("D435", np.eye(4)), "...camera must be a PinholeCamera..."),
        (lambda: look_at((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)), "...target must not be at eye, nor straight along up..."),
    )


@pytest.mark.parametrize("seed", range(4))
def test_outliers_however_far_change_nothing(seed: int) -> None:
    cloud = view(box(_BOX, 0.02, 0.01, 0.4)).reshape(-1, 3)
    rng = np.random.default_rng(seed)
    far = rng.normal(size=(60, 3)) * 10.0 ** rng.uniform(1.0, 300.0, (60, 1))
    found = _FIND(np.concatenate([cloud, far, [[np.inf, 0.0, 0.0], [0.0, -np.inf, np.nan]]]))
    np.testing.assert_allclose(found.center, (0.02, 0.01, 0.05), atol=0.008)
    assert abs(_yaw_error(found, 0.4)) < 0.05


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


# --- Shapes fitted to the visible part of objects ---
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
    assert ball.shape == "ball"
    np.testing.assert_allclose(ball.center, [0.1, 0.2, 0.05], atol=1e-3)
    a, y = rng.uniform(-0.4, 1.7, 400), rng.uniform(-0.1, 0.1, 400)
    lying = np.stack([0.03 * np.cos(a), y, 0.03 + 0.03 * np.sin(a)], axis=1)
    cylinder = fit_round(lying + rng.normal(scale=5e-4, size=lying.shape), TABLE)
    assert cylinder.shape == "cylinder"
    np.testing.assert_allclose(cylinder.center, [0.0, 0.0, 0.03], atol=2e-3)
    assert abs(cylinder.direction[1]) > 0.999


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


# --- Downsampling, planes, clusters and principal axes, each by itself ---
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


@pytest.mark.parametrize("seed", range(4))
def test_any_plane_is_found_among_outliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R = np.eye(3) if seed == 0 else Rotation.random(random_state=seed).as_matrix()
    if seed == 1:
        R = Rotation.from_euler("y", 90, degrees=True).as_matrix()  # upright
    on = np.column_stack([rng.uniform(-1, 1, (400, 2)), 0.002 * rng.normal(size=400)]) @ R.T + R[:, 2] * 0.3
    points = np.concatenate([on, rng.uniform(-1, 1, (600, 3))])
    found = find_plane(points, distance=0.008, seed=seed)
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
    assert exact[1].tolist() == [True, True, True, False]


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
    assert find_clusters(np.zeros((0, 3)), eps=0.1).shape == (0,)


@pytest.mark.parametrize("yaw", [-1.5, 0.0, 0.3, 1.57])
@pytest.mark.parametrize("normal", [(0.2, -0.3, 0.8), (1.0, 0.0, 0.0)])
def test_principal_axes_have_one_sign(yaw: float, normal: tuple[float, ...]) -> None:
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


# --- Rays against shapes, and what a depth camera makes of them ---
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


def test_from_inside_the_far_side_is_seen() -> None:
    forward, backward = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, -1.0]])
    for shape in (Cuboid((2.0, 2.0, 2.0)), Cylinder(1.0, 2.0), Ball(1.0)):
        assert shape.depth(np.zeros(3), forward)[0] == 1.0
        assert shape.depth(np.array([0.0, 0.0, -3.0]), forward)[0] == 2.0
        assert shape.depth(np.array([0.0, 0.0, -3.0]), backward)[0] == np.inf


def test_a_perfect_camera_sees_surfaces_exactly() -> None:
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


def test_occlusion_hides_a_part_and_is_no_error() -> None:
    hand = Cuboid((0.02, 0.03, 0.3), pose_from_rpy((0.21, -0.2, 0.2)))
    cloud = view(box(_BOX, 0.0, 0.0, 0.0), hand)
    found = _FIND(cloud, near=(0.0, 0.0, 0.05))
    assert found.found
    np.testing.assert_allclose(found.center, (0.0, 0.0, 0.05), atol=0.04)
    whole = _FIND(view(box(_BOX, 0.0, 0.0, 0.0)))
    assert (found.groups == found.chosen).sum() < 0.95 * (whole.groups == whole.chosen).sum()


def test_of_two_equal_boxes_the_place_decides() -> None:
    cloud = view(box((0.08, 0.08, 0.08), -0.2), box((0.08, 0.08, 0.08), 0.2))
    for x in (-0.2, 0.2):
        found = _FIND(cloud, near=(x, 0.0, 0.04))
        np.testing.assert_allclose(found.center, (x, 0.0, 0.04), atol=0.008)
    # nearer to the camera is larger
    np.testing.assert_allclose(_FIND(cloud).center, (0.2, 0.0, 0.04), atol=0.008)


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


def test_draws_do_not_depend_on_the_scene() -> None:
    camera = DepthCamera(CAMERA, look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)), noise_per_z2=0.002, dropout=0.05)
    left = []
    for shapes in ([BELT], [BELT, box((0.1, 0.1, 0.1))], [Ball(0.05)]):
        rng = np.random.default_rng(0)
        camera.see(shapes, rng)
        left.append(rng.random())
    assert left[0] == left[1] == left[2]


def test_depth_is_lost_at_edges() -> None:
    camera = DepthCamera(CAMERA, look_at((0.5, -0.7, 0.7), (0.0, 0.0, 0.0)), edge_dropout=1.0)
    shapes = [BELT, box((0.1, 0.1, 0.1))]
    seen = camera.see(shapes, np.random.default_rng(0))
    whole = DepthCamera(CAMERA, camera.pose).see(shapes, np.random.default_rng(0))
    lost = np.isnan(seen.cloud[..., 0]) & ~np.isnan(whole.cloud[..., 0])
    assert 100 < lost.sum() < 2000


def test_more_cubes_than_can_be_counted_are_told_apart() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]) + 5e-10
    found = voxel_downsample(corners, 1e-9)
    np.testing.assert_allclose(found, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]], atol=1e-9)


def test_as_long_as_wide_has_the_axes_of_the_reference() -> None:
    found = surface_axes([(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (-1.0, -1.0, 0.0)], (0.0, 0.0, 1.0))
    assert np.array_equal(found.axes, np.eye(3))
    assert found.elongation == 1.0
    assert surface_axes([(1.0, 0.0, 0.0), (2.0, 0.0, 0.0)], (0.0, 0.0, 1.0)).elongation == np.inf


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
