"""Objects side by side in synthetic pictures: the intended one is found, and the hand turns to where it fits."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the extra mujoco is not installed")

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.manipulation import GraspView, HandPick
from thunder_py.manipulation.grasping.clutter import free_turn, objects_by_height
from thunder_py.mujoco import ParallelGripper, WorldObject
from thunder_py.papers.grasping.setup import SHAPES, SIZES, SURFACE, USES, draw_cameras, draw_thing
from thunder_py.papers.grasping.trial import _outline, draw_scene, has_room
from thunder_py.perception import PinholeCamera
from thunder_py.perception.clouds import Ball, CloudPipeline, Cuboid, Cylinder, DepthCamera, Plane, look_at
from thunder_py.spatial import pose_from_rpy

from ..refusals import assert_refused

GROUND = Cuboid((0.8, 2.0, 0.02), pose_from_rpy((0.5, 0.0, SURFACE - 0.01)))


def bodies(thing: WorldObject, T: np.ndarray) -> list:
    """Return the shapes of an object that rays meet."""
    found: list = []
    for part in thing.parts:
        at = T @ pose_from_rpy(part.center)
        kind, size = part.shape, part.size
        found.append(
            Cuboid(size, at) if kind == "box" else Cylinder(*size, at) if kind == "cylinder" else Ball(*size, at[:3, 3])
        )
    return found


def pictures(shape: str, others: int, seed: int, count: int = 2) -> tuple[GraspView, list, np.ndarray]:
    """Return what a view finds in pictures of a scene, and where the intended object is."""
    scene = draw_scene(shape, 0.26, seed, others=others)
    shift = pose_from_rpy((0.0, 0.45, 0.0))  # in the middle of the camera's view
    places = {name: shift @ T for name, T in scene.places.items()}
    camera, believed = draw_cameras((0.5, -0.2, 0.15), np.random.default_rng(seed))
    view = GraspView(
        th.Robot.load("ur5e"), USES["gripper"], believed, (0.3, -0.9, -0.9), (0.7, 0.6, 0.32), size=SIZES[shape]
    )
    view.feel(0.0, [0.0, -2.5, 1.8, -1.0, -1.6, 0.0], 0.0)
    shapes = [GROUND, *(body for thing in scene.things for body in bodies(thing, places[thing.name]))]
    rng = np.random.default_rng(seed)
    return view, [view.see(0.03 * k, camera.depth(shapes, rng)) for k in range(count)], places["object"][:2, 3]


def test_of_objects_that_touch_the_intended_one_is_found() -> None:
    """Four of five times, and another one in at most one of twenty pictures."""
    errors = {}
    for shape in SHAPES:
        some = [pictures(shape, others, seed) for seed in range(6) for others in (2, 4)]
        errors[shape] = np.array([
            math.inf if found.center is None else float(np.linalg.norm(found.center[:2] - place))
            for _, detections, place in some for found in detections
        ])  # fmt: skip
        assert np.isfinite(errors[shape]).mean() > 0.55, shape
        assert np.median(errors[shape][np.isfinite(errors[shape])]) < 0.008, shape
        among_two = errors[shape].reshape(6, 2, -1)[:4, 0]
        assert (among_two[np.isfinite(among_two)] > 0.03).mean() < 0.1, shape  # another one
    every = np.concatenate(list(errors.values()))
    assert np.isfinite(every).mean() > 0.8
    assert (np.isfinite(every) & (every > 0.03)).mean() <= 0.05


def test_refusals_of_a_view() -> None:
    arm, (camera, _) = th.Robot.load("ur5e"), draw_cameras((0.5, -0.2, 0.15), np.random.default_rng(0))
    view = GraspView(arm, USES["gripper"], camera, (0.3, -0.9, -0.9), (0.7, 0.6, 0.32))
    assert_refused(
        (lambda: GraspView(arm, USES["gripper"], camera, (0.7, -0.9, 0.0), (0.3, 0.6, 0.3)), "low must be below..."),
        (lambda: view.feel(0.0, [0.0, -2.5, 1.8], 0.0), "q must have shape (6,)..."),
        (lambda: view.feel(0.0, [0.0, -2.5, 1.8, math.nan, -1.6, 0.0], 0.0), "q must be finite..."),
        (lambda: view.feel(math.nan, [0.0] * 6, 0.0), "t must be..."),
        (lambda: view.see(0.0, camera.depth([GROUND], np.random.default_rng(0))), "feel must be called before see..."),
        (lambda: view.feel(0.0, [0.0] * 6, math.nan), "closure must be..."),
    )  # fmt: skip
    assert view.closure == 0.0
    law, region = th.ComputedTorque(arm, 400.0, 40.0), ((0.3, -0.9, -0.9), (0.7, 0.6, 0.32))
    assert HandPick(arm, USES["gripper"], camera, *region, law, place=(0.5, -0.5, 0.1)).n == 6
    assert_refused(
        ((1.5, 0.0, 0.1), "place must be within 1... m of the base of ur5e..."),
        ((1.5, 0.0), "place must have shape (3,)..."),
        call=lambda *place: HandPick(arm, USES["gripper"], camera, *region, law, place=place),
    )
    assert_refused(
        ({"closed": 1.0}, "closed must be less than grip_time 1 s, got 1"),
        ({"settings": {"grip_time": 2.0}}, "settings must be a PickSettings, got ..."),
        call=lambda **given: HandPick(arm, USES["gripper"], camera, *region, law, **given),
    )


def test_a_box_is_grasped_across_its_long_side_only_with_room_to_spare() -> None:
    view, (found, _), _ = pictures("box", 0, 0)
    assert found.yaw is not None
    assert found.size is not None
    view._object = view.others  # nothing in the way
    for length, turns in ((0.075, 0.0), (0.055, np.pi / 2.0)):
        turn, _ = view.turn(replace(found, size=np.array([length, *found.size[1:]])), found.yaw + np.pi / 2.0)
        assert turn is not None
        assert math.remainder(turn - found.yaw - turns, np.pi) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("shape", ["sphere", "cylinder"])
def test_round_objects_do_not_turn_the_hand(shape: str) -> None:
    """Now and then one looks like a box, in any direction."""
    rng = np.random.default_rng(2)
    (camera, believed), thing = draw_cameras((0.5, -0.2, 0.15), rng), draw_thing(shape, rng)
    view = GraspView(th.Robot.load("ur5e"), USES["gripper"], believed, (0.3, -0.9, -0.9), (0.7, 0.6, 0.32))
    view.feel(0.0, [0.0, -2.5, 1.8, -1.0, -1.6, 0.0], 0.0)
    shapes = [GROUND, *bodies(thing, pose_from_rpy((0.5, -0.2, SURFACE + thing.rest_height)))]
    yaws, turns = [], []
    for k in range(60):
        yaws.append(view.see(0.03 * k, camera.depth(shapes, rng)).yaw)
        turns += [math.atan2(T.pose[1, 0], T.pose[0, 0]) for T in view.poll(0.03 * k) if T.pose is not None]
    assert np.abs([yaw for yaw in yaws if yaw is not None]).max() > 1.0
    assert len(turns) > 40
    assert np.abs(turns).max() < 0.1


def test_a_pose_belongs_to_the_others_of_its_picture() -> None:
    view, _, _ = pictures("box", 2, 0)
    alone, _, _ = pictures("box", 0, 0)
    together = view.poll(1.0)
    crowd = view.others
    view._new.extend([*alone._new])
    poses = view.poll(1.0)
    assert len(together) == len(poses) == 2
    assert len(crowd) > len(view.others) == len(alone.others)


def test_objects_of_different_heights_are_separated_where_they_touch() -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.arange(0.0, 0.15, 0.005), np.arange(0.0, 0.05, 0.005)))
    heights = np.select([x < 0.05, x < 0.1], [0.06, 0.15], 0.1)
    masks = list(objects_by_height(np.stack([x, y, heights], axis=1), Plane((0.0, 0.0, 1.0), 0.0)))
    assert [round(float(heights[mask].mean()), 2) for mask in masks] == [0.14, 0.1, 0.06]  # a centimeter beside the top
    assert sum(int(mask.sum()) for mask in masks) == len(x)


def test_the_hand_turns_to_where_it_has_room() -> None:
    """A wall beside a post on the line of the fingers: they close along the wall; in a ring is no room."""
    covers, point = ParallelGripper().covers, np.array([0.5, 0.0, 0.1])
    post = point + np.stack([0.012 * np.cos(np.arange(12)), 0.012 * np.sin(np.arange(12)), np.full(12, 0.03)], axis=1)
    s = np.linspace(-0.1, 0.1, 41)
    wall = np.concatenate([np.stack([s, np.full(41, 0.045), np.full(41, z)], axis=1) for z in (-0.01, 0.0, 0.01)])
    turns = (np.pi / 12.0 * np.arange(12)).tolist()
    for angle in (0.0, 0.7, 2.0):
        c, s1 = math.cos(angle), math.sin(angle)
        turned = point + wall @ np.array([[c, s1, 0.0], [-s1, c, 0.0], [0.0, 0.0, 1.0]])
        turn, room = free_turn(turned, post, point, turns, covers, 0.0)
        closes = turn + np.pi / 2.0  # the fingers move along y of the hand
        assert room
        assert abs(math.cos(closes - angle)) > 0.5
    angles = np.linspace(-np.pi, np.pi, 72)
    around = np.stack([0.045 * np.cos(angles), 0.045 * np.sin(angles), np.zeros(72)], axis=1)
    assert not free_turn(point + around, post, point, turns, covers, 0.0)[1]


@pytest.mark.parametrize("others", [1, 4])
def test_scenes_leave_room_and_some_objects_touch(others: int) -> None:
    gaps = []
    for shape, seed in itertools.product(SHAPES, range(4)):
        scene = draw_scene(shape, 0.26, seed, others=others)
        assert len(scene.things) == others + 1
        assert has_room(scene.things, scene.places)
        outlines = [_outline(thing, scene.places[thing.name]) for thing in scene.things]
        for k, one in enumerate(outlines[1:], start=1):
            gaps.append(min(np.linalg.norm(one[:, None] - other, axis=2).min() for other in outlines[:k]))
    assert min(gaps) > 1e-4
    assert (np.array(gaps) < 1e-3).mean() >= 0.5
    assert others == 1 or max(gaps) > 0.02


def test_a_narrow_neck_is_described_and_the_body_below_it_is_not() -> None:
    bottle = draw_thing("bottle", np.random.default_rng(0))
    camera, _ = draw_cameras((0.5, -0.2, 0.15), np.random.default_rng(1))
    T = pose_from_rpy((0.5, -0.2, SURFACE + bottle.rest_height))
    cloud = camera.see([GROUND, *bodies(bottle, T)], np.random.default_rng(2)).cloud
    table = Plane((0.0, 0.0, 1.0), SURFACE)
    upper = CloudPipeline(table=table, fit_shapes=True, upper=0.04)(cloud)
    whole = CloudPipeline(table=table, fit_shapes=True)(cloud)
    assert upper.size is not None
    assert whole.size is not None
    assert upper.size[0] < 0.035 < 0.045 < whole.size[0]
    assert upper.size[2] == pytest.approx(bottle.height, abs=0.01)
    assert_refused((lambda: CloudPipeline(upper=-0.1), "upper must be ..."), error=ThunderError)


@pytest.mark.parametrize("hand", ["gripper", "compliant"])
@pytest.mark.parametrize("height", [0.06, 0.16])
@pytest.mark.parametrize("aside", [-0.5, 0.0, 0.5])
def test_what_the_hand_hides_has_no_pose(hand: str, height: float, aside: float) -> None:
    """However tall the object is and wherever the camera stands: the hand descends, and a pose is right or absent."""
    arm, q, size = th.Robot.load("ur5e"), [0.0, -2.0, 2.0, -np.pi / 2.0, -np.pi / 2.0, 0.0], (0.07, 0.05, height)
    grasp, lens = arm.forward_kinematics(q), PinholeCamera.from_field_of_view(212, 120, 1.2)
    palm = Cuboid((0.1, 0.1, 0.1), grasp @ pose_from_rpy((0.0, 0.0, -0.06)))
    seen = []
    for gap in np.arange(0.16, -0.01, -0.02):
        middle = grasp[:3, 3] - (0.0, 0.0, gap + height / 2.0)
        table = Cuboid((1.0, 1.0, 0.02), pose_from_rpy(middle - (0.0, 0.0, height / 2.0 + 0.01)))
        camera = DepthCamera(lens, look_at(np.add(middle, (-0.8, aside, 0.5)), middle), noise_per_z2=0.002)
        view = GraspView(arm, USES[hand], camera, middle - 0.3, np.add(middle, (0.3, 0.3, 0.25)))
        view.feel(0.0, q, 0.0)
        view.see(0.0, camera.depth([table, Cuboid(size, pose_from_rpy(middle)), palm], np.random.default_rng(0)))
        (found,) = view.poll(0.0)
        seen.append(found.pose is not None)
        if found.pose is not None:
            np.testing.assert_allclose(found.pose[:2, 3], middle[:2], atol=0.008)
    assert seen[0]
    assert not any(seen[-4:])
