import numpy as np
import pytest

import thunder_py as th
from thunder_py.errors import ThunderError
from thunder_py.model.description import Limits


def _planar() -> th.Robot:
    return th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]], tool=_shift(0.3), name="planar")


def _shift(x: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return T


def test_samples_are_postures_within_limits_and_what_they_reach() -> None:
    robot = th.Robot.load("panda")
    space = robot.sample_workspace(500, seed=5)
    assert (space.q >= robot.limits.lower).all()
    assert (space.q <= robot.limits.upper).all()
    for k in (0, 77, 499):
        np.testing.assert_allclose(space.points[k], robot.forward_kinematics(space.q[k])[:3, 3], atol=1e-12)
        J = robot.jacobian(space.q[k])[:3]
        assert space.manipulability[k] == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)))
    again, other = robot.sample_workspace(500, seed=5), robot.sample_workspace(500, seed=6)
    assert np.array_equal(space.q, again.q)
    assert not np.array_equal(space.q, other.q)
    elbow = robot.sample_workspace(500, seed=5, frame=4)
    np.testing.assert_allclose(elbow.points, robot.forward_kinematics(space.q, 4)[:, :3, 3], atol=1e-12)


def test_the_workspace_of_two_links_is_a_ring() -> None:
    radius = np.linalg.norm(_planar().sample_workspace(20000).points, axis=1)
    assert radius.min() >= 0.2 - 1e-12
    assert radius.max() <= 0.8 + 1e-12
    assert radius.min() < 0.201
    assert radius.max() > 0.799


def test_the_picture_holds_the_largest_manipulability_of_every_cell() -> None:
    robot = th.Robot.load("ur5e")
    axes = robot.plot_workspace(5000, seed=1, through=[0.0, 0.0, 0.8])
    space = robot.sample_workspace(5000, seed=1)
    drawn = axes["space"].collections[0]
    np.testing.assert_allclose(np.stack(drawn._offsets3d, -1), space.points[:4000])
    for name, across, middle in (("side", 1, 0.0), ("above", 2, 0.8)):
        half = 0.025 * np.ptp(space.points, axis=0).max()
        inside = np.abs(space.points[:, across] - middle) <= half
        cells = axes[name].collections[0]
        assert cells.get_array().max() == pytest.approx(space.manipulability[inside].max())
        assert 0 < len(cells.get_array()) <= inside.sum()


def test_what_has_no_workspace_is_refused() -> None:
    slides = th.Robot.from_dh([[0.0, 0.0, 0.0, 0.0]], joint_types="P")
    with pytest.raises(ThunderError, match="limits of joint1 must be finite"):
        slides.sample_workspace()
    held = Limits(lower=np.array([-1.0]), upper=np.array([2.0]), velocity=np.array([1.0]), effort=np.array([1.0]))
    reach = slides.sample_workspace(1000, limits=held).points[:, 2]
    assert -1.0 <= reach.min() < -0.9
    assert 1.9 < reach.max() <= 2.0
    with pytest.raises(ThunderError, match="samples must be a whole number of at least 1, got 0"):
        slides.sample_workspace(0)
    with pytest.raises(ThunderError, match=r"through must be near reached points, got none near z = 9 m"):
        th.Robot.load("ur5e").plot_workspace(1000, through=[0.0, 0.0, 9.0])
