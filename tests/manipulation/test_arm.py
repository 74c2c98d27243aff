import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.manipulation import find_place, follower, hand_speed, hand_stiffness, joint_damping, joint_gains

ARMS = ("panda", "ur5e", "iiwa14", "gen3")
Q = {"panda": [0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8], "ur5e": [0.3, -1.4, -1.6, -1.7, 1.6, -1.3]}
POSES = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (3, 1, 1))
POSES[:, :3, 3] = [(0.0, 0.0, 0.3), (0.0, -0.2, 0.1), (0.0, 0.2, 0.1)]


@pytest.mark.parametrize("name", ARMS)
def test_the_place_of_an_arm_is_within_reach_and_limits(name: str) -> None:
    robot = th.Robot.load(name)
    place = find_place(robot, POSES, 0.1, above=0.05)
    T = POSES[0].copy()
    T[:3, 3] += place.reference
    np.testing.assert_allclose(robot.forward_kinematics(place.q), T, atol=1e-6)
    assert ((place.q > robot.limits.lower) & (place.q < robot.limits.upper)).all()
    assert np.abs(place.q).max() < 4.0  # not wound up where a joint can make two turns
    assert 0.0 < place.speed <= hand_speed(robot, place.q)
    K_d = joint_damping(robot, place.q)
    assert (K_d > 0.0).all()
    assert follower(robot, place.q).n == robot.n


def test_speed_stiffness_and_damping_are_what_they_say() -> None:
    for name, q in Q.items():
        robot = th.Robot.load(name)
        speed = hand_speed(robot, q)
        for axis in np.vstack([np.eye(3), -np.eye(3)]):  # each needs no more than the limits, and one needs all
            dq = np.linalg.pinv(robot.jacobian(q)) @ np.r_[speed * axis, np.zeros(3)]
            assert (np.abs(dq) <= robot.limits.velocity * (1.0 + 1e-9)).all()
        K_p, K_d = joint_gains(robot, q, 250.0, damping=0.7)
        assert hand_stiffness(robot, q, K_p) == pytest.approx(250.0)
        M = robot.mass_matrix(q)
        n = robot.n
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, np.diag(K_p)), -np.linalg.solve(M, K_d)]])
        poles = np.linalg.eigvals(A)
        np.testing.assert_allclose(-poles.real / np.abs(poles), 0.7, rtol=1e-6)


def test_tasks_beyond_reach_are_refused() -> None:
    far = POSES.copy()
    far[1, 1, 3] = 3.0
    assert_refused(
        (lambda: find_place(th.Robot.load("ur5e"), far), "robot must reach all poses..."),
        (lambda: joint_gains(th.Robot.load("ur5e"), Q["ur5e"], -1.0), "stiffness..."),
    )
