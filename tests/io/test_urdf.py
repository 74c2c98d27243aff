"""URDF files: the chain and what is lumped into it, also against Pinocchio on real files."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest
from real_urdfs import RealUrdf, description, pinocchio_arm, real_urdf_cases
from urdf_text import FINGERS, PENDULUM, WORKBENCH, edited, without, workbench

from thunder_py.io.urdf import parse_urdf
from thunder_py.model.description import RobotDescription
from thunder_py.spatial import pose_from_rpy


def forward_kinematics(robot: RobotDescription, q: np.ndarray) -> list[np.ndarray]:
    """Pose of every link in the world, the base first."""
    poses = [robot.base]
    for i in range(robot.n):
        if robot.joint_types[i] == "P":
            motion = pose_from_rpy(q[i] * robot.axes[i])
        else:
            motion = np.array(pinocchio.SE3(pinocchio.exp3(q[i] * robot.axes[i]), np.zeros(3)).homogeneous)
        poses.append(poses[-1] @ robot.placements[i] @ motion @ robot.offsets[i])
    return poses


# --- against Pinocchio, on real files ---------------------------------------------------------------------------------


@pytest.fixture(params=real_urdf_cases(), ids=lambda case: case.id)
def case(request: pytest.FixtureRequest) -> RealUrdf:
    return request.param


def test_bodies_frames_and_limits_are_those_of_pinocchio(case: RealUrdf) -> None:
    robot = description(case)
    arm = pinocchio_arm(case, robot.joint_names)
    robot = robot.replace(base=arm.base)
    assert robot.n == arm.model.nv
    for i in range(robot.n):
        body = arm.model.inertias[i + 1]
        about_origin = body.matrix()[3:, 3:][np.triu_indices(3)]
        expected = [body.mass, *body.mass * body.lever, *about_origin]
        np.testing.assert_allclose(robot.inertial[i], expected, rtol=0, atol=1e-10)
        placement = robot.placements[i] if i else robot.base @ robot.placements[i]
        np.testing.assert_allclose(placement, arm.model.jointPlacements[i + 1].homogeneous, rtol=0, atol=1e-10)
    data = arm.model.createData()
    q = np.random.default_rng(1).uniform(-1.5, 1.5, robot.n)
    pinocchio.framesForwardKinematics(arm.model, data, arm.configuration(q))
    links = forward_kinematics(robot, q)
    expected = {f.name: np.array(p.homogeneous) for f, p in zip(arm.model.frames, data.oMf, strict=True)
                if f.type == pinocchio.FrameType.BODY}  # fmt: skip
    frames = {name.removeprefix("urdf:"): links[link] @ T for name, (link, T) in robot.frames.items()}
    frames.update(zip(robot.link_names, links[1:], strict=True))
    if case.tip is not None:
        frames[case.tip] = links[-1] @ robot.tool
    for name, pose in frames.items():
        np.testing.assert_allclose(pose, expected[name], rtol=0, atol=1e-10, err_msg=name)
    model = arm.model
    for i, joint in enumerate(list(model.joints)[1:]):
        if joint.nq == 1:  # of continuous joints Pinocchio bounds the cosine and sine
            assert robot.limits.lower[i] == model.lowerPositionLimit[joint.idx_q]
            assert robot.limits.upper[i] == model.upperPositionLimit[joint.idx_q]
        else:
            assert (robot.limits.lower[i], robot.limits.upper[i]) == (-math.inf, math.inf)
    np.testing.assert_array_equal(robot.limits.effort, model.effortLimit)
    speeds = np.where(model.velocityLimit == 0.0, math.inf, model.velocityLimit)
    np.testing.assert_array_equal(robot.limits.velocity, speeds)


# --- what is read -----------------------------------------------------------------------------------------------------


def test_the_chain() -> None:
    robot = workbench()
    assert (robot.name, robot.joint_types, robot.convention) == ("workbench", "RPR", "placements")
    assert robot.joint_names == ("turn", "lift", "wrist")
    assert robot.link_names == ("column", "carriage", "hand")
    np.testing.assert_allclose(robot.axes, [[0, 0.6, 0.8], [0, 0, 1], [1, 0, 0]], rtol=0, atol=1e-16)
    mount = pose_from_rpy((0.1, 0, 0.5), (0, 0, 1.5))
    np.testing.assert_allclose(robot.placements[0], mount @ pose_from_rpy((0, 0, 0.2), (0.1, 0.2, 0.3)), atol=1e-15)
    np.testing.assert_array_equal(robot.placements[1], pose_from_rpy((0, 0, 0.4), (0, 0.3, 0)))
    np.testing.assert_array_equal(robot.tool, pose_from_rpy((0, 0, 0.15)))
    np.testing.assert_array_equal(robot.base, np.eye(4))
    np.testing.assert_array_equal(robot.gravity, (0, 0, -9.81))


def test_joint_limits() -> None:
    limits = workbench().limits
    np.testing.assert_array_equal(limits.lower, [-2.5, 0.0, -math.inf])  # one end alone: the other is zero
    np.testing.assert_array_equal(limits.upper, [2.0, 0.6, math.inf])
    np.testing.assert_array_equal(limits.velocity, [1.5, 0.5, 3.0])
    np.testing.assert_array_equal(limits.effort, [80, 200, 5])


def test_friction_terms_are_those_present() -> None:
    friction = workbench().friction
    assert friction.terms == ("viscous", "coulomb")
    np.testing.assert_array_equal(friction.coefficients, [[0.7, 0.4], [0, 0], [0.1, 0]])
    assert parse_urdf(PENDULUM).friction is None
    viscous = parse_urdf(edited("<axis", '<dynamics damping="0.3" friction="0"/><axis')).friction
    assert viscous.terms == ("viscous",)
    np.testing.assert_array_equal(viscous.coefficients, [[0.3]])


def test_fixed_branches_are_lumped() -> None:
    """The carriage carries the plate (inertia turned and moved) though the plate is not on the way to the tip."""
    model = pinocchio.buildModelFromXML(WORKBENCH)
    body = model.inertias[model.getJointId("lift")]
    inertial = workbench().inertial[1]
    assert inertial[0] == 2.5
    np.testing.assert_allclose(inertial[1:4], body.mass * body.lever, rtol=0, atol=1e-15)
    np.testing.assert_allclose(inertial[4:], body.matrix()[3:, 3:][np.triu_indices(3)], rtol=0, atol=1e-15)


def test_locked_joints_are_lumped_where_they_are_locked() -> None:
    inertial = workbench().inertial[2]
    assert inertial[0] == pytest.approx(0.4, rel=1e-15)
    np.testing.assert_allclose(inertial[1:4], [0, 0.05 * (-0.03 + 0.01), 0], rtol=0, atol=1e-17)
    assert inertial[4] == pytest.approx(0.001 + 2e-5 + 0.05 * (0.03**2 + 0.01**2), rel=1e-14)


def test_a_joint_of_the_chain_can_be_locked() -> None:
    robot = workbench(fix_joints={**FINGERS, "lift": 0.25})
    assert robot.joint_names == ("turn", "wrist")
    carriage = pose_from_rpy((0, 0, 0.4), (0, 0.3, 0)) @ pose_from_rpy((0, 0, 0.25))
    hand = carriage @ pose_from_rpy((0.3, 0, 0), (0, 1.5, 0))
    np.testing.assert_allclose(robot.placements[1], hand, rtol=0, atol=1e-15)
    assert robot.inertial[0, 0] == 6.5
    assert robot.frames["carriage"][0] == 1


def test_lumped_links_stay_as_frames() -> None:
    frames = workbench().frames
    assert {name: link for name, (link, _) in frames.items()} == {
        "world": 0, "pedestal": 0, "sensor-plate": 2, "camera": 2, "finger": 3, "thumb": 3
    }  # fmt: skip
    plate = pose_from_rpy((0, 0.1, 0), (0.5, 0, 0))
    np.testing.assert_array_equal(frames["sensor-plate"][1], plate)
    np.testing.assert_allclose(frames["camera"][1], plate @ pose_from_rpy((0, 0, 0.03), (-1.5, 0, -1.5)), atol=1e-16)


def test_frames_called_base_and_tool_keep_their_names() -> None:
    robot = workbench(tip_link="hand")  # its link "tool" is not the end effector now
    np.testing.assert_array_equal(robot.frames["tool"][1], pose_from_rpy((0, 0, 0.15)))
    assert "base" not in parse_urdf(PENDULUM).frames  # it is the base


def test_the_base_link_may_stand_anywhere() -> None:
    robot = workbench(base_link="column")
    assert robot.joint_names == ("lift", "wrist")
    np.testing.assert_array_equal(robot.placements[0], pose_from_rpy((0, 0, 0.4), (0, 0.3, 0)))
    assert robot.frames["column"][0] == 0
    assert "pedestal" not in robot.frames


def test_the_tip_may_lie_before_the_last_fixed_link() -> None:
    bob = (
        '<joint name="f" type="fixed"><parent link="rod"/><child link="bob"/></joint><link name="bob"><inertial>'
        '<mass value="3"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>'
    )
    pendulum = edited("</robot>", bob + "</robot>")
    robot = parse_urdf(pendulum, tip_link="rod")
    assert robot.inertial[0, 0] == 5.0
    np.testing.assert_array_equal(robot.tool, np.eye(4))


def test_the_axis_defaults_to_x() -> None:
    np.testing.assert_array_equal(parse_urdf(without("axis")).axes, [[1, 0, 0]])


@pytest.mark.parametrize("scale", ["1e-200", "1e200"])
def test_axes_are_normalized(scale: str) -> None:
    axes = parse_urdf(edited("0 1 0", f"{scale} 0 {scale}")).axes
    np.testing.assert_allclose(axes, [[math.sqrt(0.5), 0, math.sqrt(0.5)]], rtol=1e-15)


def test_missing_inertia_can_be_zero() -> None:
    robot = parse_urdf(without("inertial"), missing_inertia="zero")
    np.testing.assert_array_equal(robot.inertial, np.zeros((1, 10)))


def test_name_and_gravity_can_be_given() -> None:
    robot = parse_urdf(edited("pendulum", "my-arm 2"), name="my_arm", gravity=[0, 9.81, 0])
    assert robot.name == "my_arm"
    np.testing.assert_array_equal(robot.gravity, [0, 9.81, 0])


def test_extensions_of_others_are_ignored() -> None:
    text = edited("</robot>", '<gazebo reference="rod"><x:y a="1"/></gazebo><ros2_control name="$(find a)"/></robot>')
    text = edited('type="revolute"', 'type="revolute" dont_collapse="1"', text)
    assert parse_urdf(edited("<axis", "<hardware_port/><axis", text)) == parse_urdf(PENDULUM)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<!-- \xfc -->' + PENDULUM
    assert parse_urdf(text.encode(encoding)) == parse_urdf(PENDULUM)
    assert parse_urdf(text) == parse_urdf(PENDULUM)


def test_limits_left_out_are_infinite() -> None:
    limits = parse_urdf(edited('lower="-1" upper="1" effort="2" velocity="3"', "", PENDULUM)).limits
    assert (limits.lower[0], limits.upper[0], limits.effort[0], limits.velocity[0]) == (-math.inf, *3 * (math.inf,))


def test_branches_of_the_base_do_not_count() -> None:
    assert "lamp" not in workbench().frames
    assert workbench(fix_joints={**FINGERS, "lamp_neck": 0.5}).frames["lamp"][0] == 0


def test_own_numbers_are_kept_to_the_last_bit() -> None:
    np.testing.assert_array_equal(parse_urdf(PENDULUM).inertial[0], [2, 0, 0, -1, 0.1 + 0.5, 0, 0, 0.1 + 0.5, 0, 0.01])


def test_what_is_lumped_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="thunder_py"):
        robot = workbench()
    tree = ElementTree.fromstring(WORKBENCH)
    (message,) = [record.getMessage() for record in caplog.records if "lumped" in record.getMessage()]
    assert f"{robot.n} joints from" in message
    assert f"{len(tree.findall('link')) - 1 - robot.n} links lumped" in message
