import numpy as np
import pytest

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.kinematics import joint_path
from thunder_py.trajectory import Circle, Line, trapezoidal

Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
PANDA = th.Robot.load("panda")
T0 = PANDA.forward_kinematics(Q0)
P, R = T0[:3, 3], T0[:3, :3]
UR5E = th.Robot.load("ur5e")


@pytest.mark.parametrize("timing", [2.0, trapezoidal(duration=2.0, blend=0.25)], ids=["quintic", "trapezoidal"])
def test_poses_are_those_of_the_path(timing) -> None:
    line = Line(P, P + np.array([0.0, 0.3, 0.1]), timing, orientation=R)
    motion = joint_path(PANDA, line, Q0)
    t = np.linspace(0.0, 2.0, 777)
    T = PANDA.forward_kinematics(motion(t).q)
    np.testing.assert_allclose(T[:, :3, 3], line(t).p, atol=2e-6)
    np.testing.assert_allclose(T[:, :3, :3], line(t).R, atol=2e-6)
    assert motion.start_time == 0.0
    assert motion.duration == 2.0
    np.testing.assert_allclose(motion(0.0).q, Q0, atol=1e-8)
    assert np.abs(motion(0.0).dq).max() < 1e-12


def test_arm_without_redundancy_has_the_velocities_of_the_path() -> None:
    q0 = np.array([0.2, -1.2, 1.5, -1.8, -1.5, 0.3])
    T = UR5E.forward_kinematics(q0)
    circle = Circle(T[:3, 3], T[:3, 3] - [0.1, 0.0, 0.0], [0, 0, 1], 3.0, orientation=T[:3, :3])
    motion, t = joint_path(UR5E, circle, q0), np.linspace(0.1, 2.9, 50)
    q, dq, _ = motion(t)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", UR5E.jacobian(q), dq), circle(t).xi, atol=1e-6)


def test_rows_leave_others_free() -> None:
    line = Line(P, P + np.array([0.0, 0.2, 0.0]), 1.0)  # its orientation is not that of the arm
    motion = joint_path(PANDA, line, Q0, rows=["x", "y", "z"])
    np.testing.assert_allclose(PANDA.forward_kinematics(motion(0.4).q)[:3, 3], line(0.4).p, atol=2e-6)


def _along(x: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return T


def test_refusals() -> None:
    assert_refused(
        (Line(P, P + np.array([2.0, 0.0, 0.0]), 2.0, orientation=R), "path must stay within reach and joint limits..."),
        (th.reference.SetPose(T0), "path must have a duration, which a SetPose has not"),
        (Line(P, P, 2.0, orientation=R), "path must move, got a constant pose"),
        (th.trajectory.point_to_point(Q0, np.zeros(7), th.trajectory.quintic(1.0)), "path must be a reference of p..."),
        call=lambda path: joint_path(PANDA, path, Q0),
    )
    line = Line(P, P + np.array([0.0, 0.2, 0.0]), 1.0, orientation=R)
    assert_refused(
        (lambda: joint_path(PANDA, line, np.array(Q0) + 4.0), "q0 must be within the joint limits, -2.8973 to 2.8...")
    )
    elbow = th.Robot.from_dh([[0, 0, 0, 0], [1.0, 0, 0, 0]], joint_types="RR", tool=_along(1.0))
    start = elbow.forward_kinematics([0.3, 2.8])[:3, 3]
    aside = 1e-3 * np.array([-start[1], start[0], 0.0]) / np.linalg.norm(start)
    line = Line(start + aside, aside - start, 1.0)
    assert_refused(
        (lambda: joint_path(elbow, line, [0.3, 2.8], rows=["x", "y"]), "samples must be more than 200: between the...")
    )
