"""The SCARA project's path: counts of the report, continuity, reach, distance from the singularity."""

import numpy as np

import thunder_py as th
from thunder_py.papers.scara.kinematics import (
    KEY_POINTS,
    SHEET,
    acceleration_index,
    orientation_at_zero,
    run_planning,
    scara_path,
)
from thunder_py.trajectory import Line, cubic, trapezoidal

PATH = scara_path()
T = np.linspace(0.0, 20.0, 4001)
AT = PATH(T)


def test_position_and_velocity_are_continuous() -> None:
    h = T[1] - T[0]
    assert np.abs(np.diff(AT.xi, axis=0)).max() < 1.1 * h * np.abs(AT.xi_dot).max()
    assert np.abs(np.diff(AT.p, axis=0)).max() < 1.1 * h * np.abs(AT.xi).max()
    for k, segment in enumerate(PATH.segments):
        assert len(segment.timing.breaks) == 4  # up, along, down
        middle = PATH.start_times[k] + 0.5 * segment.timing.duration
        np.testing.assert_allclose(
            np.linalg.norm(PATH(middle).xi_dot[:3]) if isinstance(segment, Line) else 0.0, 0.0, atol=1e-9
        )


def test_key_points_are_reached_and_via_points_are_passed_by() -> None:
    far = np.array([np.linalg.norm(AT.p - point, axis=1).min() for point in KEY_POINTS])
    assert (far[~PATH.over_flown] < 1e-3).all()
    assert (far[PATH.over_flown] > 2e-3).all()
    assert (far[PATH.over_flown] < 2e-2).all()
    speed = np.linalg.norm(AT.xi[:, :3], axis=1)
    first, last = PATH.start_times[8] + 0.3, PATH.start_times[13] + 0.3
    assert speed[(first < T) & (last > T)].min() > 1e-2  # no stop along the hem
    np.testing.assert_allclose(AT.p[(T > 2.0) & (T < 18.5), 2], SHEET, atol=1e-12)


def test_orientation_goes_to_half_a_turn_and_back_to_a_quarter() -> None:
    def turned(angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ orientation_at_zero()

    for t, angle in ((0.0, 0.0), (10.0, np.pi), (20.0, np.pi / 2)):
        np.testing.assert_allclose(PATH(t).R, turned(angle), atol=1e-12)
    assert not AT.xi[:, 3:5].any()


def test_scara_reaches_every_pose_away_from_its_singularity() -> None:
    robot = th.Robot.load("scara")
    np.testing.assert_allclose(robot.forward_kinematics(np.zeros(4))[:3, :3], orientation_at_zero(), atol=1e-12)
    x, y, z = AT.p.T
    r = np.hypot(x, y)
    assert (x > 0.3).all()  # in front
    assert (r < 0.9).all()  # shorter than the arm
    elbow = np.arccos((r**2 - 0.5) / 0.5)
    assert (np.sin(elbow) / 4 > 0.1).all()  # det J; at best 0.25
    shoulder = np.arctan2(y, x) - 0.5 * elbow
    yaw = np.arctan2(AT.R[:, 1, 1], AT.R[:, 0, 1])
    q = np.stack([shoulder, elbow, 0.5 - z, shoulder + elbow - yaw], axis=1)
    poses = robot.forward_kinematics(q)
    np.testing.assert_allclose(poses[:, :3, 3], AT.p, atol=1e-12)
    np.testing.assert_allclose(poses[:, :3, :3], AT.R, atol=1e-12)


def test_trapezoids_against_the_cubic() -> None:
    """S-13: 2 / (b (1 - b)^2) against 12, whatever the duration; the least is 12.5 % more."""
    assert abs(acceleration_index(cubic(3.0)) - 12.0) < 1e-5
    blends = np.array([0.05, 0.25, 1 / 3, 0.45])
    index = np.array([acceleration_index(trapezoidal(duration=2.0, blend=b)) for b in blends])
    np.testing.assert_allclose(index, 2.0 / (blends * (1.0 - blends) ** 2), rtol=1e-3)
    assert index.min() == index[2]
    np.testing.assert_allclose(run_planning().index_ratio(), 2.0 / (0.25 * 0.75**2) / 12.0, rtol=1e-3)
