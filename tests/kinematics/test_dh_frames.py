"""`Robot.to_dh`: the same arm with the frames of Denavit and Hartenberg."""

import warnings

import numpy as np
import pytest

import thunder_py as th
from tests.dynamics.random_chains import random_robot
from thunder_py.errors import ThunderWarning, UnknownNameError

CONVENTIONS = ("modified", "standard")
BUNDLED = ("panda", "ur5e", "gen3", "iiwa14", "scara", "cart_pendulum", "human_arm")


def states(n):
    return np.random.default_rng(5).uniform(-3.0, 3.0, (4, 20, n))


def assert_same_arm(robot, other, tolerance=1e-12, dynamics=1e-11):
    q, dq, ddq, dq_r = states(robot.n)
    for frame in (None, *robot.description.frames):
        np.testing.assert_allclose(
            other.forward_kinematics(q, frame=frame), robot.forward_kinematics(q, frame=frame), rtol=0, atol=tolerance
        )
    np.testing.assert_allclose(other.jacobian(q), robot.jacobian(q), rtol=0, atol=tolerance)
    tau = robot.inverse_dynamics(q, dq, ddq)
    scale = np.abs(tau).max()
    np.testing.assert_allclose(other.inverse_dynamics(q, dq, ddq), tau, rtol=0, atol=dynamics * scale)
    Y = other.slotine_li_regressor(q, dq, dq_r, ddq)
    expected = robot.slotine_li_regressor(q, dq, dq_r, ddq) @ robot.parameters
    np.testing.assert_allclose(Y @ other.parameters, expected, rtol=0, atol=dynamics * np.abs(expected).max())


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_arms(name, convention):
    robot = th.Robot.load(name)
    arm = robot.to_dh(convention)
    assert_same_arm(robot, arm)
    if robot.description.convention == convention:
        assert arm.description == robot.description


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("kind", ["placements", *CONVENTIONS])
@pytest.mark.parametrize("seed", range(6))
def test_random_chains_with_everything_fixed_to_their_links(seed, kind, convention):
    robot = random_robot(seed, 2 + seed, kind, friction=True, rotors=True, armature=True, elastic=True)
    assert_same_arm(robot, robot.to_dh(convention), dynamics=1e-9)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("kind", ["placements", *CONVENTIONS])
def test_the_table_base_and_tool_are_the_arm(kind, convention):
    """An arm made anew from the three alone, which is what a user copies."""
    d = random_robot(3, 6, kind).to_dh(convention).description
    copy = th.Robot.from_dh(d.dh, convention=convention, joint_types=d.joint_types, base=d.base, tool=d.tool)
    q = states(6)[0]
    expected = random_robot(3, 6, kind).forward_kinematics(q)
    np.testing.assert_allclose(copy.forward_kinematics(q), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_parallel_meeting_and_opposite_axes(convention):
    """The cases without a unique common normal, with the axis also along -z and along x."""
    axes = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0)]
    shifts = [(0, 0, 0.3), (0, 0, 0.1), (0, 0, 0), (0, 0, 0.4), (0.3, 0.05, 0), (0, 0, 0)]
    placements = np.tile(np.eye(4), (6, 1, 1))
    placements[:, :3, 3] = shifts
    description = th.robot.RobotDescription(
        name="bench",
        joint_types="RRRRRR",
        placements=placements,
        axes=np.array(axes, dtype=float),
        offsets=np.tile(np.eye(4), (6, 1, 1)),
        inertial=np.tile([1.0, 0.1, 0, 0, 0.1, 0, 0, 0.2, 0, 0.2], (6, 1)),
    )
    robot = th.Robot(description)
    arm = robot.to_dh(convention)
    assert_same_arm(robot, arm)
    a, alpha, d, _ = arm.description.dh.T
    assert np.abs([a, d]).max() < 0.8
    np.testing.assert_allclose(np.sin(2 * alpha), 0.0, atol=1e-12)


def test_known_table_of_the_ur5e():
    """The distal table that the manufacturer publishes for e-series, from the bundled arm's modified one."""
    published = [[0, 90, 0.1625], [-0.425, 0, 0], [-0.3922, 0, 0], [0, 90, 0.1333], [0, -90, 0.0997], [0, 0, 0.0996]]
    a, alpha, d = np.transpose(published)
    expected = th.Robot.from_dh(np.column_stack([a, np.radians(alpha), d, np.zeros(6)]), convention="standard")
    modified = expected.to_dh("modified")
    back = th.Robot(modified.description.replace(dh=None, convention="placements")).to_dh("standard")
    q = states(6)[0]
    for arm in (modified, back, th.Robot.load("ur5e")):
        np.testing.assert_allclose(arm.forward_kinematics(q), expected.forward_kinematics(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(back.description.dh[:, 0]), np.abs(a), atol=1e-12)


def test_axes_parallel_but_for_a_rounded_angle_are_told():
    """Two right angles, one of them written 1.5708: the common normal is some ten kilometers away."""
    body = [1.0, 0, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1]
    exact = th.Robot.from_dh([[0, 0, 0.3, 0], [0, np.pi / 2, 0, 0], [0.4, 0, 0, 0]], inertial=[body] * 3).description
    placements = exact.placements.copy()
    placements[2, :3, 3] = [0.3, 0.2, 0.1]
    arms = []
    for angle in (0.0, 1.5708 - np.pi / 2):
        placements[2, 1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        arms.append(th.Robot(exact.replace(placements=placements, dh=None, convention="placements")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_arm(arms[0], arms[0].to_dh("standard"))
    with pytest.warns(ThunderWarning, match="nearly parallel") as caught:
        arm = arms[1].to_dh("standard")
    assert caught[0].filename == __file__
    assert_same_arm(arms[1], arm, 1e-10, dynamics=1e-4)


def test_poses_are_told_from_1e_12_on():
    """Axes of a massless arm that meet ten kilometers away: poses differ by some 3e-12."""
    placements = np.tile(np.eye(4), (2, 1, 1))
    placements[1, :3, 3] = [0.3, 0.2, 0.1]
    placements[1, 1:3, 1:3] = [[np.cos(2e-5), -np.sin(2e-5)], [np.sin(2e-5), np.cos(2e-5)]]
    arm = th.Robot(
        random_robot(0, 2, "placements").description.replace(
            placements=placements,
            inertial=np.zeros((2, 10)),
            offsets=[np.eye(4)] * 2,
            axes=[[0, 0, 1]] * 2,
            joint_types="RR",
        )
    )
    with pytest.warns(ThunderWarning, match="poses differ by [1-9]e-12, torques by 0"):
        arm.to_dh()


def test_conventions_have_names():
    with pytest.raises(UnknownNameError, match="convention must be one of modified, standard, got 'craig'"):
        th.Robot.load("panda").to_dh("craig")
