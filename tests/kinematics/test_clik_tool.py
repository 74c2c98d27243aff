import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from thunder_py import Robot
from thunder_py.kinematics import CLIK
from thunder_py.reference import TaskReference

Q = np.array([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.8])


def tool(seed=0):
    rng = np.random.default_rng(seed)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rng.normal(0.0, 0.3, 3)).as_matrix()
    T[:3, 3] = rng.normal(0.0, 0.1, 3)
    return T


def test_a_tool_set_later_is_the_frame_of_a_robot_that_has_it():
    """The second tool replaces the first: tools do not pile up."""
    plain = Robot.load("panda")
    T = tool()
    given = plain.replace(tool=plain.description.tool @ T)
    late, made = CLIK.visual_servoing(plain, 2.0, 3.0), CLIK.visual_servoing(given, 2.0, 3.0)
    late.set_tool(tool(1))
    late.set_tool(T)
    goal = given.forward_kinematics(Q + 0.1)
    target = TaskReference(goal[:3, 3], goal[:3, :3], np.arange(6) / 10.0, np.zeros(6))
    np.testing.assert_allclose(late.step(0.0, Q, target), made.step(0.0, Q, target), atol=1e-12)
    np.testing.assert_allclose(late.error, made.error, atol=1e-14)


@pytest.mark.parametrize("orientation", ["axis_angle", "rotation_vector", "quaternion"])
@pytest.mark.parametrize("rows", [None, ("x", "z", "ry")])
def test_accelerations_with_a_tool(orientation, rows):
    """Order 2 needs the derivative of the Jacobian at the tool."""
    plain, T = Robot.load("panda"), tool(2)
    given = plain.replace(tool=plain.description.tool @ T)
    options = {"K_0": 4.0, "K_1": 5.0, "orientation": orientation, "rows": rows}
    late, made = CLIK(plain, **options), CLIK(given, **options)
    late.set_tool(T)
    goal, dq = given.forward_kinematics(Q + 0.1), np.linspace(-0.5, 0.5, 7)
    target = TaskReference(goal[:3, 3], goal[:3, :3], np.arange(6) / 10.0, np.arange(6) / 5.0)
    np.testing.assert_allclose(late.step(0.0, Q, target, dq), made.step(0.0, Q, target, dq), atol=1e-10)


def test_a_tool_in_another_frame_than_the_last():
    plain, T = Robot.load("panda"), tool(4)
    clik = CLIK(plain, 2.0, frame=5, rows=("x", "y", "z"))
    clik.set_tool(T)
    goal = plain.forward_kinematics(Q, frame=5) @ T
    way = np.array([0.01, -0.02, 0.03])
    dq = clik.step(0.0, Q, TaskReference(goal[:3, 3] + way, goal[:3, :3], np.zeros(6), np.zeros(6)))
    moved = [plain.forward_kinematics(Q + h * dq, frame=5) @ T for h in (1e-6, -1e-6)]
    np.testing.assert_allclose((moved[0] - moved[1])[:3, 3] / 2e-6, 2.0 * way, atol=1e-8)


def test_tools_that_are_no_poses_are_refused_and_change_nothing():
    clik = CLIK.visual_servoing(Robot.load("panda"), 2.0, 3.0)
    T = Robot.load("panda").forward_kinematics(Q + 0.1)
    before = clik.step(0.0, Q, TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6)))
    for wrong in (np.full((4, 4), np.nan), 2.0 * np.eye(4), np.eye(3)):
        with pytest.raises(ValueError, match="tool"):
            clik.set_tool(wrong)
    after = clik.step(0.0, Q, TaskReference(T[:3, 3], T[:3, :3], np.zeros(6), np.zeros(6)))
    np.testing.assert_array_equal(before, after)
