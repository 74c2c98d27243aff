from typing import Any

import numpy as np
import pytest
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import thunder_py as th
from tests.polygons import corners
from tests.refusals import assert_refused
from thunder_py.cli.window import slider_window
from thunder_py.errors import ThunderError
from thunder_py.model.description import Limits
from thunder_py.plotting.shapes import box, cylinder, merge, sphere
from thunder_py.robot.frames import arm_frames, arm_points, default_posture, joint_frames
from thunder_py.robot.plot import ArmPicture, joint_bodies

_Q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
_T = np.linspace(0.0, 0.4, 41)
_MOTION = _Q + 0.5 * np.sin(_T)[:, None]


@pytest.mark.parametrize("name", ["panda", "scara", "human_arm"])
def test_sticks_join_the_link_frames(name: str) -> None:
    robot = th.Robot.load(name)
    q = 0.3 * np.ones(robot.n)
    (sticks, *_) = robot.plot(q).lines
    drawn = np.stack(sticks.get_data_3d(), axis=-1)
    assert np.array_equal(drawn, arm_points(robot, q))
    assert np.array_equal(drawn[-1], robot.forward_kinematics(q)[:3, 3])
    assert np.array_equal(drawn[0], robot.description.base[:3, 3])
    assert arm_frames(robot, np.zeros((5, robot.n))).shape == (5, robot.n + 2, 4, 4)


def test_frames_point_along_the_axes_of_the_end_effector() -> None:
    robot = th.Robot.load("panda")
    lines = robot.plot(_Q).lines
    T = robot.forward_kinematics(_Q)
    for k, line in enumerate(lines[-3:]):
        ends = np.stack(line.get_data_3d(), axis=-1)
        axis = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        np.testing.assert_allclose(axis, T[:3, k], atol=1e-12)
    assert len(robot.plot(_Q, frames=False).lines) == 1


def test_several_postures_get_darker_on_given_axes() -> None:
    robot = th.Robot.load("panda")
    axes = robot.plot(_Q, color="#123456")
    assert robot.plot(_MOTION[::20], ax=axes, frames=False) is axes
    assert axes.lines[0].get_color() == "#123456"
    shades = [line.get_alpha() for line in axes.lines[-3:]]
    assert shades == sorted(shades)
    assert shades[-1] == 1.0


@pytest.mark.parametrize("name", ["panda", "ur5e", "scara", "cart_pendulum", "human_arm", "iiwa14"])
def test_joints_stand_on_their_axes(name: str) -> None:
    """A joint's Jacobian column is its axis and its moment: computed elsewhere, it must be that of the drawn body."""
    robot = th.Robot.load(name)
    q = np.random.default_rng(3).uniform(-1.0, 1.0, robot.n)
    J, tip = robot.jacobian(q), robot.forward_kinematics(q)[:3, 3]
    for i, (kind, T) in enumerate(zip(robot.joint_types, joint_frames(robot, q), strict=True)):
        np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-12)
        z, p = T[:3, 2], T[:3, 3]
        column = [*np.cross(z, tip - p), *z] if kind == "R" else [*z, 0.0, 0.0, 0.0]
        np.testing.assert_allclose(J[:, i], column, atol=1e-12)
        body = joint_bodies(robot, q, 1.0)[i]
        np.testing.assert_allclose(body.vertices[: 2 * (len(body.vertices) // 2)].mean(axis=0), p, atol=1e-12)
        assert len(body.vertices) == (8 if kind == "P" else 42)


def test_bodies_of_joints_are_in_the_picture() -> None:
    robot = th.Robot.load("scara")
    q = default_posture(robot)
    (bodies,) = (item for item in robot.plot(q).collections if isinstance(item, Poly3DCollection))
    length = np.linalg.norm(np.diff(arm_points(robot, q), axis=0), axis=1).sum()
    joints = merge(joint_bodies(robot, q, length)).corners()
    drawn = corners(bodies)
    assert len(drawn) == len(joints) + 12  # the base is a box
    np.testing.assert_allclose(drawn[12:], joints, atol=1e-12)


def test_a_moved_picture_is_that_of_a_new_one() -> None:
    robot = th.Robot.load("panda")
    moved = ArmPicture(robot.plot(_Q), robot, _Q, frames="all")
    moved.move(_MOTION[-1])
    new = ArmPicture(robot.plot(_Q), robot, _MOTION[-1], frames="all")
    np.testing.assert_array_equal(corners(moved._bodies), corners(new._bodies))
    np.testing.assert_array_equal(moved._bodies.get_facecolor(), new._bodies.get_facecolor())
    assert len(moved._axes) == robot.n + 2
    for one, other in zip(moved._axes, new._axes, strict=True):
        for line, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(line.get_data_3d(), same.get_data_3d())


def test_without_a_posture_the_middle_of_limits_is_drawn() -> None:
    robot = th.Robot.load("panda")
    middle = 0.5 * (robot.limits.lower + robot.limits.upper)
    np.testing.assert_array_equal(np.stack(robot.plot().lines[0].get_data_3d(), -1), arm_points(robot, middle))
    assert np.array_equal(default_posture(th.Robot.from_dh([[0.1, 0.0, 0.0, 0.0]])), [0.0])


def test_equal_scales_and_everything_inside() -> None:
    robot = th.Robot.load("ur5e")
    axes = robot.plot(ellipsoid="velocity", q=[0.3, -1.0, 1.2, -0.5, 0.5, 0.0])
    limits = np.array([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    assert np.ptp(axes.get_box_aspect() / np.ptp(limits, axis=1)) < 1e-9
    for line in axes.lines:
        points = np.stack(line.get_data_3d(), -1)
        assert (points >= limits[:, 0]).all()
        assert (points <= limits[:, 1]).all()


def test_of_a_long_motion_twelve_postures_are_drawn() -> None:
    robot = th.Robot.load("panda")
    lines = robot.plot(np.linspace(_Q, _Q + 1.0, 1000), frames=False).lines
    assert len(lines) == 12
    np.testing.assert_array_equal(np.stack(lines[-1].get_data_3d(), -1), arm_points(robot, _Q + 1.0))
    np.testing.assert_array_equal(np.stack(lines[0].get_data_3d(), -1), arm_points(robot, _Q))


@pytest.mark.parametrize("kind", ["velocity", "force"])
def test_ellipsoids_satisfy_their_equation_at_the_end_effector(kind: str) -> None:
    robot = th.Robot.load("panda")
    axes = robot.plot(_Q, ellipsoid=kind)  # type: ignore[arg-type]
    surface = axes.collections[-1]
    points = np.unique(corners(surface).reshape(-1, 3), axis=0) - robot.forward_kinematics(_Q)[:3, 3]
    J = robot.jacobian(_Q)[:3]
    A = np.linalg.inv(J @ J.T) if kind == "velocity" else J @ J.T
    value = np.einsum("ki,ij,kj->k", points, A, points)
    np.testing.assert_allclose(value, value[0], rtol=1e-9)  # one scale for all points
    length = np.linalg.norm(np.diff(arm_points(robot, _Q), axis=0), axis=1).sum()
    half = np.sqrt(value[0] / np.linalg.eigvalsh(A)[0])
    assert half == pytest.approx(0.25 * length)
    # the grid need not hit the longest axis
    assert 0.95 * half < np.linalg.norm(points, axis=1).max() <= half * (1.0 + 1e-12)


def test_a_force_ellipsoid_without_end_is_refused() -> None:
    robot = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]])
    with pytest.raises(ThunderError, match="singular posture"):
        robot.plot([0.3, 0.4], ellipsoid="force")
    assert len(robot.plot([0.3, 0.4], ellipsoid="velocity").collections) == 2


def test_pictures_of_nonsense_are_refused() -> None:
    assert_refused(
        ({"q": np.zeros(6)}, "...q must have shape (7,)..."),
        ({"q": np.full(7, np.nan)}, "...q must be finite..."),
        ({"q": np.zeros((0, 7))}, "...at least one posture..."),
        ({"ellipsoid": "torque"}, "...ellipsoid must be..."),
        ({"frames": "some"}, "...frames must be..."),
        ({"meshes": 3}, "...meshes must be Meshes or the path of a URDF, got 3..."),
        ({"ax": 3}, "...ax must be 3-D axes, ... got 3..."),
        call=th.Robot.load("panda").plot,
    )


def _volume(body: Any) -> float:
    """Volume by the divergence theorem: right only if every face looks outwards."""
    a, b, c = np.moveaxis(body.corners(), 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_shapes_have_their_volume() -> None:
    T = th.Robot.load("panda").forward_kinematics(_Q)
    assert _volume(box([1.0, 2.0, 3.0]).placed(T)) == pytest.approx(6.0)
    assert _volume(cylinder(0.5, 2.0, 400)) == pytest.approx(0.25 * np.pi * 2.0, rel=1e-4)
    assert 0.8 < _volume(sphere(1.0)) / (4.0 / 3.0 * np.pi) < 1.0
    assert _volume(merge([box([1.0, 1.0, 1.0]), cylinder(0.5, 2.0, 400)])) == pytest.approx(2.5708, rel=1e-4)


def test_joints_with_one_limit_stay_on_its_side() -> None:
    lower, upper = np.array([5.0, -np.inf]), np.array([np.inf, -5.0])
    ones = np.ones(2)
    arm = th.Robot.load("elbow").replace(limits=Limits(lower=lower, upper=upper, velocity=ones, effort=ones))
    assert default_posture(arm).tolist() == [5.0, -5.0]
    q = arm.sample_workspace(200, seed=0).q
    assert (q >= lower).all()
    assert (q <= upper).all()
    assert (np.ptp(q, axis=0) > 6.0).all()
    sliders = slider_window(arm)
    assert [slider.valmin for slider in sliders] == pytest.approx([5.0, -5.0 - np.pi])
    assert [slider.valmax for slider in sliders] == pytest.approx([5.0 + np.pi, -5.0])
