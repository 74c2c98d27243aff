"""Trajectories and streams as the loop follows them: continuous, within limits, and what is refused."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from thunder_py import _core
from thunder_py.realtime import ControlLoop, Reason, Safety, SafetyLimits
from thunder_py.realtime.configuration import TaskLimits
from thunder_py.realtime.hold import safe_torque
from thunder_py.realtime.joint_motion import JointMotion, make_motion
from thunder_py.spatial import single

from .loops import MS, NOON, POSE_LAW, Q0, make_loop

PANDA = th.Robot.load("panda")
NAMES = PANDA.joint_names
SPEED = np.full(7, 0.5)
STILL = np.zeros(7)
RNG = np.random.default_rng(3)


def core_loop(law: _core.Controller, **options: object) -> _core.ControlLoop:
    """A loop without limits of states and torques, which waits for states as long as it takes."""
    inf = np.full(7, np.inf)
    limits = SafetyLimits(-inf, inf, np.inf, np.inf)
    far = {"state_late": 1e6, "state_lost": 1e6, "patience": np.inf}
    return _core.ControlLoop(Safety(PANDA, limits), safe_torque(PANDA, 100.0, inf), law, None, **far, **options)


class Followed:
    """What a loop follows at times that increase."""

    def __init__(self, limits: th.robot.Limits | None = None) -> None:
        names = () if limits is None else ("lower", "upper", "velocity")
        options = {name: getattr(limits, name) for name in names}
        self.loop = core_loop(th.PDGravity(PANDA, 50.0, 10.0), joining_speed=SPEED, **options)

    def follow(self, motion: JointMotion) -> None:
        self.loop.follow(*motion)

    def at(self, t: float, q: np.ndarray = Q0, dq: np.ndarray = STILL) -> tuple[np.ndarray, ...] | None:
        stamp = NOON + round(1e9 * t)
        self.loop.state(stamp, stamp, np.arange(7), 7, q, dq)
        return self.loop.reference

    @property
    def refused(self) -> int:
        return self.loop.motions_refused


def followed(motion: JointMotion, t: float) -> Followed:
    """A loop without limits of an arm that follows a motion at time t."""
    follower = Followed()
    follower.at(0.0)
    follower.follow(motion)
    q, dq, _ = motion.at(t)
    for found, wanted in zip(follower.at(t, q, dq), motion.at(t), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    return follower


# --- joints -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [1, 2, 3])
def test_points_are_met_with_the_derivatives_that_are_given(given: int) -> None:
    times = np.array([0.0, 0.4, 1.0])
    parts = [RNG.normal(size=(3, 7)) for _ in range(given)] + [None] * (3 - given)
    motion = make_motion(2.0, times, *parts)  # type: ignore[arg-type]
    for t, k in ((2.0, 0), (2.4, 1), (3.0 - 1e-9, 2)):
        for found, wanted in zip(motion.at(t), parts, strict=True):
            if wanted is not None:
                np.testing.assert_allclose(found, wanted[k], atol=1e-6)


def test_a_lead_in_joins_reference_and_first_point() -> None:
    before = make_motion(1.0, np.array([0.0, 1.0]), *RNG.normal(size=(3, 2, 7)))
    q, dq, ddq = RNG.normal(size=(3, 2, 7))
    motion = make_motion(1.0, np.array([0.5, 1.0]), q, dq, ddq)
    follower = followed(before, 1.2)
    follower.follow(motion)
    for t, wanted, close in (
        (1.2 + 1e-9, before.at(1.2 + 1e-9), 1e-6),
        (1.5, (q[0], dq[0], ddq[0]), 1e-9),
        (1.8, motion.at(1.8), 1e-12),
    ):
        for found, expected in zip(follower.at(t), wanted, strict=True):
            np.testing.assert_allclose(found, expected, atol=close)
    assert follower.refused == 0


@pytest.mark.parametrize("far", [0.01, 2.0])
def test_a_jump_fades_and_is_smooth(far: float) -> None:
    """From a motion to a point at zero, to which the reference is the difference that fades."""
    gap = far * RNG.normal(size=7), RNG.normal(size=7), RNG.normal(size=7)
    follower = followed(make_motion(3.0, np.array([0.0, 1.0]), *(np.stack([x, x]) for x in gap)), 3.0)
    follower.follow(make_motion(3.0, np.zeros(1), np.zeros((1, 7)), None, None))
    end = 3.0 + max(0.25, 1.875 * (np.abs(gap[0]) / SPEED).max())
    t = np.linspace(3.0, 3.24, 9601)
    rows = [follower.at(x + 1e-9) for x in t]
    for found, wanted, close in zip(rows[0], gap, (1e-8, 1e-7, 1e-5), strict=True):
        np.testing.assert_allclose(found, wanted, atol=close)
    q, dq, ddq = (np.array(part) for part in zip(*rows, strict=True))
    for x, dx in ((q, dq), (dq, ddq)):
        np.testing.assert_allclose(np.gradient(x, t, axis=0)[1:-1], dx[1:-1], atol=2e-2)
    assert np.abs(np.diff(ddq, axis=0)).max() < 0.2  # no jump of the acceleration
    for x in np.linspace(3.25, end - 1e-5, 100):  # the part that velocities cause has faded
        assert (np.abs(follower.at(x)[1]) <= SPEED * 1.001).all()
    for found, close in zip(follower.at(end - 1e-6), (1e-9, 1e-6, 1e-2), strict=True):
        np.testing.assert_allclose(found, 0.0, atol=close)
    np.testing.assert_array_equal(follower.at(end + 1e-8)[0], 0.0)


def test_the_reference_is_continuous_whatever_comes() -> None:
    follower = Followed(PANDA.limits)
    q, dq = Q0, np.zeros(7)
    rows = []
    for k in range(4000):
        t = 1e-3 * k
        if k in (100, 700, 1500, 2200):
            points = Q0 + RNG.uniform(-0.3, 0.3, (3, 7))
            follower.follow(
                make_motion(t - 0.05 * (k == 700), np.array([0.0, 0.6, 1.2]) + 0.4 * (k == 1500), points, None, None)
            )
        at = follower.at(t, q, dq)
        if at is not None:
            rows.append(np.concatenate(at))
            q, dq, _ = at
    assert len(rows) > 3000
    path = np.array(rows)
    assert np.abs(np.diff(path[:, :7], axis=0)).max() < 5e-3
    assert np.abs(np.diff(path[:, 7:14], axis=0)).max() < 0.1
    assert follower.refused == 0


def test_a_first_point_too_far_for_its_time_is_not_joined() -> None:
    follower = Followed(PANDA.limits)
    follower.follow(make_motion(0.0, np.array([0.05]), Q0[None] + 1.0, None, None))
    assert follower.at(0.0, Q0, np.zeros(7)) is None
    assert follower.refused == 1


@pytest.mark.parametrize("far", [0.005, 0.2])
@pytest.mark.parametrize("ahead", [2e-4, 1e-3, 5e-3, 0.02])
def test_a_motion_about_to_begin_is_joined_as_if_begun(ahead: float, far: float) -> None:
    """A lead in that time from 0.2 rad away is beyond the limits of speed; one of 5 mrad in 5 ms needs 1000 rad/s^2."""
    follower = Followed(PANDA.limits)
    motion = make_motion(ahead, np.array([0.0, 2.0]), np.array([Q0, Q0 + 0.2]), np.full((2, 7), 0.1), None)
    follower.follow(motion)
    t = np.linspace(0.0, 1.5, 1501)
    q, dq, ddq = (np.array(part) for part in zip(*(follower.at(x, Q0 + far, np.zeros(7)) for x in t), strict=True))
    assert follower.refused == 0
    assert np.abs(ddq).max() < 5.0
    np.testing.assert_allclose(q[0], Q0 + far, atol=1e-12)
    np.testing.assert_allclose(dq[0], 0.0, atol=1e-12)
    assert (np.abs(dq) < SPEED + 0.1).all()
    assert np.abs(np.diff(q, axis=0) - 0.5e-3 * (dq[1:] + dq[:-1])).max() < 1e-5  # no jump
    np.testing.assert_allclose(q[-1], motion.at(1.5)[0], atol=1e-12)


def test_limits_hold_with_what_still_fades() -> None:
    """The arm begins 0.8 rad beyond the first motion; the second is within the limits, but not with that difference."""
    upper = PANDA.limits.upper[0]
    low, high, arm = Q0.copy(), Q0.copy(), Q0.copy()
    low[0], high[0], arm[0] = upper - 1.0, upper - 0.1, upper - 0.2
    follower = Followed(PANDA.limits)
    follower.follow(make_motion(0.0, np.array([0.0, 9.0]), np.array([low, low]), None, None))
    assert follower.at(0.0, arm, np.zeros(7)) is not None
    follower.follow(make_motion(0.05, np.array([0.0, 0.8]), np.array([low, high]), None, None))
    path = np.array([follower.at(t, arm, np.zeros(7))[0] for t in np.linspace(0.05, 5.0, 500)])
    assert path[:, 0].max() < upper
    assert follower.refused == 1
    np.testing.assert_allclose(path[-1], low, atol=1e-9)


def test_trajectories_that_are_no_good_are_refused() -> None:
    given = {"stamp": 0, "names": NAMES, "times": [0.0, 1.0], "q": np.array([Q0, Q0 + 0.1]), "dq": None, "ddq": None}
    for word, change in (
        ("finite", {"q": np.full((2, 7), np.nan)}),
        ("finite", {"dq": np.full((2, 7), np.inf)}),
        ("points[0].positions must be 7 finite numbers, one for each of joint_names, got", {"q": np.zeros((2, 6))}),
        ("points[1].velocities must be 7 finite numbers, one for each of joint_names, got", {"dq": [Q0, Q0[:5]]}),
        (
            "points[1].positions must be 7 finite numbers, one for each of joint_names, got ['up'",
            {"q": [Q0, ["up"] * 7]},
        ),
        ("points must have one time_from_start each, got 2", {"ddq": np.zeros((3, 7))}),
        ("points[1].time_from_start must be later than that of points[0], got 0.5 s after 1 s", {"times": [1.0, 0.5]}),
        ("got 1.0000001 s after 1.0000002 s", {"times": [1.0000002, 1.0000001]}),
        ("points[0].time_from_start must not be negative", {"times": [-1.0, 0.5]}),
        ("points must have positions, got none", {"q": None}),
        ("joint_names must be the robot's joints", {"names": NAMES[:6]}),
        ("joint4 must stay", {"q": np.array([Q0, Q0 + 2.0]), "times": [0.0, 60.0]}),
        ("must not pass", {"times": [0.0, 0.01]}),
        ("ago", {"stamp": NOON - 5000 * MS}),
        ("points must be one at least, with positions and time_from_start", {"times": [], "q": np.zeros((0, 7))}),
        ("time_from_start of the points must be one number each", {"times": "soon"}),
        ("time_from_start of the points must be one number each", {"times": [0.0, np.inf]}),
    ):
        loop = make_loop()
        loop.state(NOON, NOON, NAMES, Q0, np.zeros(7))
        why = loop.references.trajectory(**{**given, **change})  # type: ignore[arg-type]
        assert why is not None
        assert word in why
        assert loop.references.counts == {"taken": 0, "refused": 1, "not joined": 0}
        assert loop.references.last_refusal == why


def test_each_law_takes_its_own_kind_of_reference() -> None:
    joints, poses = make_loop(), make_loop(POSE_LAW)
    assert "no joint state" in str(joints.references.trajectory(0, NAMES, [0.0], [Q0]))
    for loop in (joints, poses):
        loop.state(NOON, NOON, NAMES, Q0, np.zeros(7))
    assert "not poses" in str(joints.references.pose(0, [0, 0, 0], [0, 0, 0, 1]))
    assert "not joint trajectories" in str(poses.references.trajectory(0, NAMES, [0.0], [Q0]))


# --- poses ------------------------------------------------------------------------------------------------------------


def test_quaternions_are_those_of_scipy() -> None:
    for _ in range(50):
        a, b = Rotation.random(rng=RNG), Rotation.random(rng=RNG)
        qa, qb = tuple(a.as_quat()), tuple(b.as_quat())
        np.testing.assert_allclose(single.matrix_of(qa), a.as_matrix(), atol=1e-12)
        np.testing.assert_allclose(single.matrix_of(single.quaternion_of(a.as_matrix())), a.as_matrix(), atol=1e-12)
        np.testing.assert_allclose(single.matrix_of(single.multiply(qa, qb)), (a * b).as_matrix(), atol=1e-12)
        way = single.rotation_vector(qa, qb)
        np.testing.assert_allclose(way, (a * b.inv()).as_rotvec(), atol=1e-9)
        np.testing.assert_allclose(single.matrix_of(single.turned(qb, *way)), a.as_matrix(), atol=1e-9)


#: the frame of an arm at rest
START = PANDA.forward_kinematics(Q0)


class Streamed:
    """What a loop follows of a stream of poses from the frame of an arm at rest, at times that increase."""

    def __init__(self, limits: TaskLimits, timeout: float) -> None:
        options = {"task": list(vars(limits).values()), "reference_timeout": timeout, "frame": None}
        self.loop = core_loop(th.control.OperationalSpace(PANDA, 100.0, 20.0, K_d=2.0), **options)
        self.take_pose, self.take_twist = self.loop.take_pose, self.loop.take_twist

    def at(self, t: float) -> tuple[np.ndarray, ...] | None:
        stamp = NOON + round(1e9 * t)
        self.loop.state(stamp, stamp, np.arange(7), 7, Q0, STILL)
        return self.loop.reference


def test_a_jump_of_a_pose_becomes_a_motion_within_the_limits() -> None:
    limits = TaskLimits(speed=0.3, turning=0.8, acceleration=2.0, angular_acceleration=4.0)
    follower, t = Streamed(limits, 10.0), 1e-3 * np.arange(6000)
    turn = Rotation.from_rotvec([0.0, 0.0, 2.0]) * Rotation.from_matrix(START[:3, :3])
    goal = START[:3, 3] + [0.5, -0.4, 0.2]
    assert follower.take_pose(0.0, goal, turn.as_quat()) == 0
    p, R, xi, xi_dot = (np.array(part) for part in zip(*(follower.at(x) for x in t), strict=True))
    np.testing.assert_allclose(p[-1], goal, atol=1e-5)
    np.testing.assert_allclose(R[-1], turn.as_matrix(), atol=1e-5)
    speeds = np.linalg.norm(xi[:, :3], axis=1), np.linalg.norm(xi[:, 3:], axis=1)
    assert speeds[0].max() < 1.02 * 0.3
    assert speeds[1].max() < 1.02 * 0.8
    assert np.linalg.norm(xi_dot[:, :3], axis=1).max() <= 2.0 + 1e-9
    assert np.linalg.norm(xi_dot[:, 3:], axis=1).max() <= 4.0 + 1e-9
    assert p.max(axis=0)[0] < goal[0] + 0.01  # next to no overshoot
    # derivatives belong together
    np.testing.assert_allclose(np.gradient(p, t, axis=0)[1:-1], xi[1:-1, :3], atol=3e-3)
    np.testing.assert_allclose(np.gradient(xi, t, axis=0)[1:-1], xi_dot[1:-1], atol=0.5)
    assert np.abs(np.diff(xi_dot, axis=0)).max() < 0.6


def test_a_moving_pose_with_its_twist_is_followed_without_lag() -> None:
    follower, t = Streamed(TaskLimits(), 0.2), 1e-3 * np.arange(4000)
    errors, turn = [], Rotation.from_matrix(START[:3, :3]).as_quat()
    for k, x in enumerate(t):
        w = 2.0 * np.pi * 0.25
        if k % 5 == 0:
            follower.take_twist(x, [0.1 * w * np.cos(w * x), 0.0, 0.0], [0.0, 0.0, 0.0])
            follower.take_pose(x, START[:3, 3] + [0.1 * np.sin(w * x), 0.0, 0.0], turn)
        at = follower.at(x)
        assert at is not None
        errors.append(at[0][0] - START[0, 3] - 0.1 * np.sin(w * x))
    assert np.abs(errors[1000:]).max() < 1e-3


def test_a_twist_alone_is_a_velocity_command_and_ends() -> None:
    follower = Streamed(TaskLimits(), 0.2)
    rows = []
    for k in range(2000):
        if k < 1000 and k % 10 == 0:
            assert follower.take_twist(1e-3 * k, [0.1, 0.0, 0.0], [0.0, 0.0, 0.2]) == 0
        at = follower.at(1e-3 * k)
        if at is not None:
            rows.append(at)
    assert 1150 < len(rows) < 1250
    np.testing.assert_allclose(rows[900][2], [0.1, 0, 0, 0, 0, 0.2], atol=1e-3)
    assert tuple(Reason)[follower.loop.reason] is Reason.reference_ended


def test_poses_that_are_no_good_are_refused() -> None:
    for why, p, turn, after in (
        ("not_finite", [np.nan, 0, 0], [0, 0, 0, 1], MS),
        ("not_finite", [0, 0, 0], [0, np.inf, 0, 1], MS),
        ("size", [0, 0], [0, 0, 0, 1], MS),
        ("no_rotation", [0, 0, 0], [0, 0, 0, 1.1], MS),
        ("no_rotation", [0, 0, 0], [0, 0, 0, 0], MS),
        ("reordered", [0, 0, 0], [0, 0, 0, 1], 0),
    ):
        loop = make_loop(POSE_LAW)
        loop.state(NOON, NOON, NAMES, Q0, np.zeros(7))
        assert loop.references.pose(NOON, [0, 0, 0], [0, 0, 0, 1]) is None
        assert loop.references.pose(NOON + after, p, turn) == why


class Resetting(list[float]):
    """A position whose reader comes just before a reset in another thread."""

    def __init__(self, values: list[float], loop: ControlLoop) -> None:
        super().__init__(values)
        self.loop = loop

    def __iter__(self) -> Iterator[float]:
        self.loop.reset()
        return super().__iter__()


def test_a_pose_that_crosses_a_reset_is_refused() -> None:
    loop = make_loop(POSE_LAW)
    for k in range(2):
        loop.state(NOON + 150 * k * MS, NOON + 150 * k * MS, NAMES, Q0, np.zeros(7))
    position, turn = Resetting([0.5, 0.0, 0.5], loop), [0.0, 0.0, 0.0, 1.0]
    assert loop.references.pose(0, position, turn) == "there is no joint state yet"
    loop.state(NOON + 400 * MS, NOON + 400 * MS, NAMES, Q0, np.zeros(7))
    assert loop.references.pose(0, [0.5, 0.0, 0.5], turn) is None


def test_frames_and_old_stamps_are_looked_at() -> None:
    loop = make_loop(POSE_LAW, frame="world")
    loop.state(NOON, NOON, NAMES, Q0, np.zeros(7))
    assert "frame" in str(loop.references.pose(NOON, [0, 0, 0], [0, 0, 0, 1], "camera"))
    assert "old" in str(loop.references.twist(NOON - 900 * MS, [0, 0, 0], [0, 0, 0], "world"))
    assert "float" in str(loop.references.pose(NOON, [0, 0, "x"], [0, 0, 0, 1], "world"))  # type: ignore[list-item]
    assert loop.references.pose(NOON, [0.5, 0, 0.5], [0, 0, 0, 1], "world") is None
