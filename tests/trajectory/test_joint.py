import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from tests.refusals import assert_refused
from thunder_py.trajectory import (
    JointTrajectory,
    parabolic_blends,
    point_to_point,
    quintic,
    quintic_spline,
    spline,
    trapezoidal,
)

from .numerics import assert_joint_derivatives, assert_rests_outside

T = np.array([0.0, 0.8, 1.5, 3.0, 3.6])
Q = np.random.default_rng(2).normal(size=(5, 3))
V = np.random.default_rng(3).normal(size=(5, 3))
LOOP = np.vstack([Q[:4], Q[:1]])
TRAJECTORIES: dict[str, JointTrajectory] = {
    "point to point": point_to_point(Q[0], Q[1], trapezoidal(0.0, 5.0, v_max=2.0, a_max=3.0)),
    "natural": spline(T, Q, "natural"),
    "clamped": spline(T, Q, start_velocity=V[0], end_velocity=V[1]),
    "periodic": spline(T, LOOP, "periodic"),
    "not-a-knot": spline(T, Q, "not-a-knot"),
    "quintic": quintic_spline(T, Q),
    "quintic of two points": quintic_spline(T[:2], Q[:2]),
    "quintic pieces": quintic_spline(T, Q, V, 2 * V),
    "blends": parabolic_blends(T, Q, [0.2, 0.3, 0.5, 0.4, 0.3]),
}


@pytest.mark.parametrize("trajectory", TRAJECTORIES.values(), ids=TRAJECTORIES)
def test_derivatives_are_consistent(trajectory: JointTrajectory) -> None:
    t = np.linspace(trajectory.start_time - 0.3, trajectory.end_time + 0.3, 67)
    t = t[np.abs(t[:, None] - trajectory.breaks).min(axis=1) > 1e-4]
    assert_joint_derivatives(trajectory, t, atol=1e-5)
    assert_rests_outside(trajectory, trajectory.start_time, trajectory.end_time)


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_continuity(name: str) -> None:
    trajectory = TRAJECTORIES[name]
    inner, h = trajectory.breaks[1:-1], 1e-9
    before, after = trajectory(inner - h), trajectory(inner + h)
    np.testing.assert_allclose(before.q, after.q, atol=1e-6)
    np.testing.assert_allclose(before.dq, after.dq, atol=1e-6)
    if name not in ("point to point", "blends"):  # whose acceleration jumps
        np.testing.assert_allclose(before.ddq, after.ddq, atol=1e-5)


@pytest.mark.parametrize("boundary", ["natural", "periodic", "not-a-knot"])
def test_spline_equals_scipy(boundary: str) -> None:
    q = LOOP if boundary == "periodic" else Q
    ours, theirs, t = spline(T, q, boundary), CubicSpline(T, q, bc_type=boundary), np.linspace(0.0, 3.6, 40)
    for order, part in enumerate(ours(t)):
        np.testing.assert_allclose(part, theirs(t, order), atol=1e-10)


def test_ends_of_splines() -> None:
    natural, clamped, quintic = TRAJECTORIES["natural"], TRAJECTORIES["clamped"], TRAJECTORIES["quintic"]
    np.testing.assert_allclose(natural(T[[0, -1]]).ddq, 0.0, atol=1e-12)
    np.testing.assert_allclose(clamped(T[[0, -1]]).dq, V[:2], atol=1e-12)
    np.testing.assert_allclose(spline(T, Q)(T[[0, -1]]).dq, 0.0, atol=1e-12)
    np.testing.assert_allclose(quintic(T[[0, -1]]).dq, 0.0, atol=1e-9)
    np.testing.assert_allclose(quintic(T[[0, -1]]).ddq, 0.0, atol=1e-9)
    for trajectory in (natural, clamped, quintic):
        np.testing.assert_allclose(trajectory(T).q, Q, atol=1e-9)


def test_quintic_spline_has_four_continuous_derivatives() -> None:
    c, breaks = TRAJECTORIES["quintic"].coefficients, TRAJECTORIES["quintic"].breaks
    for derivative in range(5):
        factor = np.array([np.prod(np.arange(p, p - derivative, -1)) for p in range(5, -1, -1)], dtype=float)
        left = np.stack(
            [
                sum(
                    f * c[j, k] * (breaks[k + 1] - breaks[k]) ** (5 - j - derivative) for j, f in enumerate(factor) if f
                )
                for k in range(len(breaks) - 2)
            ]
        )
        right = factor[5 - derivative] * c[5 - derivative, 1:]
        np.testing.assert_allclose(left, right, atol=1e-7)


def test_quintic_pieces_take_given_velocities_and_accelerations() -> None:
    at = TRAJECTORIES["quintic pieces"](T)
    np.testing.assert_allclose(at.q, Q, atol=1e-12)
    np.testing.assert_allclose(at.dq, V, atol=1e-11)
    np.testing.assert_allclose(at.ddq, 2 * V, atol=1e-10)


def test_two_points_at_rest_are_minimum_jerk() -> None:
    t = np.linspace(0.0, 0.8, 9)
    np.testing.assert_allclose(TRAJECTORIES["quintic of two points"](t).q, point_to_point(*Q[:2], quintic(0.8))(t).q)


def test_point_to_point_is_synchronized_and_within_limits() -> None:
    v, a = np.array([1.0, 0.5, 2.0]), np.array([3.0, 2.0, 1.0])
    motion = point_to_point(Q[0], Q[1], v_max=v, a_max=a)
    q, dq, ddq = motion(np.linspace(0.0, motion.duration, 301))
    np.testing.assert_allclose(q[[0, -1]], Q[:2], atol=1e-12)
    part = (q[1:-1] - Q[0]) / (Q[1] - Q[0])
    np.testing.assert_allclose(part, part[:, :1] * np.ones(3), atol=1e-12)  # on a straight line, all at once
    assert (np.abs(dq).max(axis=0) <= v * (1 + 1e-9)).all()
    assert (np.abs(ddq).max(axis=0) <= a * (1 + 1e-9)).all()
    assert (np.abs(ddq).max(axis=0) > a * (1 - 1e-6)).any()  # one joint has nothing to spare


def test_blends_pass_by_as_far_as_they_say() -> None:
    b = np.array([0.2, 0.3, 0.5, 0.4, 0.3])
    blends = TRAJECTORIES["blends"]
    v = np.diff(Q, axis=0) / np.diff(T)[:, None]
    passed = blends(T[1:-1] + b[0] / 2).q
    np.testing.assert_allclose(passed - Q[1:-1], np.diff(v, axis=0) * b[1:-1, None] / 8, atol=1e-12)
    np.testing.assert_allclose(blends(0.0).q, Q[0], atol=1e-12)
    np.testing.assert_allclose(blends(blends.duration).q, Q[-1], atol=1e-12)
    np.testing.assert_allclose(blends(blends.duration).dq, 0.0, atol=1e-12)
    np.testing.assert_allclose(blends.duration, 3.6 + 0.25)
    between = blends(T[1] + b[0] / 2 + 0.2)  # on the line after point 1
    np.testing.assert_allclose(between.dq, v[1], atol=1e-12)
    np.testing.assert_allclose(between.q, Q[1] + 0.2 * v[1], atol=1e-12)


def test_touching_blends_leave_no_line() -> None:
    assert len(parabolic_blends([0.0, 1.0], [[0.0], [1.0]], 1.0).breaks) == 3


def test_refusals() -> None:
    assert_refused(
        (lambda: spline([0.0, 1.0, 1.0], Q[:3]), "times must increase, got 1 and then 1"),
        (lambda: spline([0.0], Q[:1]), "times must be at least 2, got 1"),
        (lambda: spline(T, Q[:4]), "points must have shape (5, n), got (4, 3)"),
        (lambda: spline(T, Q * np.nan), "points must be finite..."),
        (lambda: spline(T, Q, "free"), "boundary must be one of..."),
        (lambda: spline(T, Q, "natural", start_velocity=V[0]), "boundary must be 'clamped' for start_velocity and..."),
        (lambda: spline(T, Q, start_velocity=[0.0]), "start_velocity must have shape (3,), got (1,)"),
        (lambda: spline(T, Q, "periodic"), "points must end where they start if periodic..."),
        (lambda: quintic_spline(T, Q, None, V), "velocities must be given if accelerations are"),
        (lambda: parabolic_blends(T, Q, 1.0), "blends 1 s and 1 s overlap: points 3 and 4 are 0.6 s apart"),
        (lambda: parabolic_blends(T, Q, 0.0), "blend must be positive..."),
        (lambda: point_to_point(Q[0], Q[1]), "timing must be given, or both v_max and a_max"),
        (lambda: point_to_point(Q[0], Q[1], quintic(1.0), v_max=1.0), "timing must be None if v_max or a_max is given"),
        (lambda: point_to_point(Q[0], Q[0], v_max=1.0, a_max=1.0), "q1 must differ from q0..."),
        (lambda: point_to_point(Q[0], Q[1], v_max=[1, 1, 0], a_max=1.0), "v_max must be positive..."),
        (lambda: point_to_point(Q[0], Q[1][:2], quintic(1.0)), "q1 must have shape (3,), got (2,)"),
        (lambda: JointTrajectory([0.0, 1.0], np.zeros((2, 2, 3))), "coefficients must have shape (n, 1, n)..."),
    )
