"""Orientation planned with position: rotation vectors about the start, world axes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.motion import HumanLikePlanner
from thunder_py.motion.alignment import turns_from_start
from thunder_py.recordings import MotionSet, Trial

from .planner_models import fitted

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

KINDS = ("pose", "pose joint aligned")


def pose(rng, angle: float | None = None):
    T = np.eye(4)
    axis = rng.normal(size=3)
    turn = rng.uniform(0.2, 2.0) if angle is None else angle
    T[:3, :3] = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_matrix()
    T[:3, 3] = rng.normal(size=3)
    return T


def turned(T, rng, angle: float):
    """A pose that differs by a turn of this angle."""
    other = pose(rng, angle)
    other[:3, :3] = other[:3, :3] @ T[:3, :3]
    return other


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.7, 3.0])
def test_poses_twists_and_their_derivatives_at_the_ends(kind, angle) -> None:
    planner, rng = HumanLikePlanner(fitted(kind)), np.random.default_rng(int(100 * angle))
    start = pose(rng)
    goal = turned(start, rng, angle)
    rates = [0.5 * rng.normal(size=6) for _ in range(4)]
    names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
    made = planner.plan(start, goal, 1.3, **dict(zip(names, rates, strict=True)))
    for t, T, xi, xi_dot in ((0.0, start, rates[0], rates[2]), (1.3, goal, rates[1], rates[3])):
        here = made(t)
        np.testing.assert_allclose(here.p, T[:3, 3], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(here.R, T[:3, :3], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(here.xi, xi, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(here.xi_dot, xi_dot, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [1e-6, 0.05, 1.5, 3.0])
def test_twists_are_derivatives_of_poses(kind, angle) -> None:
    planner, rng = HumanLikePlanner(fitted(kind)), np.random.default_rng(2)
    start = pose(rng)
    made, h = planner.plan(start, turned(start, rng, angle), 1.0), 1e-5
    for t in np.linspace(0.02, 0.98, 25):
        before, here, after = made(t - h), made(t), made(t + h)
        w = Rotation.from_matrix(after.R @ before.R.T).as_rotvec() / (2 * h)
        np.testing.assert_allclose(here.xi[3:], w, rtol=0.0, atol=1e-6 * (1.0 + np.abs(w).max()))
        np.testing.assert_allclose(here.xi[:3], (after.p - before.p) / (2 * h), rtol=0.0, atol=1e-6)
        xi_dot = (after.xi - before.xi) / (2 * h)
        np.testing.assert_allclose(here.xi_dot, xi_dot, rtol=0.0, atol=1e-5 * (1.0 + np.abs(xi_dot).max()))
        np.testing.assert_allclose(here.R.T @ here.R, np.eye(3), atol=1e-13)


def test_half_a_turn_is_refused() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(3)
    start = pose(rng)
    assert_refused((lambda: planner.plan(start, turned(start, rng, np.pi - 1e-4), 1.0), "...less than half a ..."))
    goal = start.copy()
    goal[:3, :3] *= -1.0
    assert_refused((lambda: planner.plan(start, goal, 1.0), "...goal must hold a rotation, got a reflection..."))


def test_pairs_of_position_and_rotation() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(4)
    a, b = pose(rng), pose(rng)
    t = np.linspace(0.0, 1.0, 7)
    one = planner.plan(a, b, 1.0)
    other = planner.plan((a[:3, 3], a[:3, :3]), (b[:3, 3], b[:3, :3]), 1.0)
    np.testing.assert_array_equal(one(t).R, other(t).R)
    assert one.position(t).shape == (7, 6)
    assert_refused((lambda: planner.plan(a[:3, 3], b, 1.0), "...start must have shape (4, 4)..."))


def test_aligned_poses_turn_with_the_world_about_the_vertical() -> None:
    planner, rng = HumanLikePlanner(fitted("pose joint aligned")), np.random.default_rng(5)
    start = pose(rng)
    goal = turned(start, rng, 1.0)
    world = np.eye(4)
    world[:3, :3] = Rotation.from_rotvec([0.0, 0.0, 1.1]).as_matrix()
    world[:3, 3] = [1.0, -2.0, 0.5]
    t = np.linspace(0.0, 1.0, 11)
    here, there = planner.plan(start, goal, 1.0)(t), planner.plan(world @ start, world @ goal, 1.0)(t)
    np.testing.assert_allclose(there.p, here.p @ world[:3, :3].T + world[:3, 3], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(there.R, world[:3, :3] @ here.R, rtol=0.0, atol=1e-11)


def test_replanned_poses() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(6)
    start = pose(rng)
    goal = turned(start, rng, 1.0)
    made = planner.plan(start, goal, 1.0)
    other = turned(goal, rng, 0.3)
    twist = np.array([0.1, 0.0, 0.0, 0.0, 0.2, 0.3])
    rest = planner.replan(made, 0.4, other, goal_velocity=twist)
    assert rest.fallback is None
    for name, atol in (("p", 1e-11), ("R", 1e-11), ("xi", 1e-9), ("xi_dot", 1e-7)):
        np.testing.assert_allclose(getattr(rest(0.4), name), getattr(made(0.4), name), rtol=0.0, atol=atol)
    np.testing.assert_allclose(rest(1.0).R, other[:3, :3], atol=1e-11)
    np.testing.assert_allclose(rest(1.0).xi, twist, rtol=0.0, atol=1e-9)


def test_positions_keep_the_orientation_they_are_given() -> None:
    planner, rng = HumanLikePlanner(fitted("plain")), np.random.default_rng(7)
    start = pose(rng)
    goal = start.copy()
    goal[:3, 3] += 0.3
    made = planner.plan(start, goal, 1.0)
    np.testing.assert_array_equal(made(0.3).R, start[:3, :3])
    np.testing.assert_array_equal(planner.plan(start, goal[:3, 3], 1.0).position(0.4), made.position(0.4))
    assert not made(0.3).xi[3:].any()
    assert_refused(
        (lambda: planner.plan(start, turned(start, rng, 0.1), 1.0), "...start and goal must have the same ..."),
        (lambda: planner.replan(made, 0.4, turned(start, rng, 0.1)), "...goal must have the orientation of the ..."),
    )


def test_samples_of_poses() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(8)
    start = pose(rng)
    goal = turned(start, rng, 0.8)
    for each in planner.sample(start, goal, 1.0, 3, seed=1):
        np.testing.assert_allclose(each(0.0).R, start[:3, :3], atol=1e-9)
        np.testing.assert_allclose(each(1.0).R, goal[:3, :3], atol=1e-9)


def turning(start, axis, angles, **options) -> Trial:
    """A hand that turns about one axis of the world."""
    R = Rotation.from_rotvec(angles[:, None] * axis) * Rotation.from_matrix(start)
    t = np.linspace(0.0, 1.0, len(angles))
    return Trial.from_poses(t, np.zeros((len(t), 3)), quaternion=R.as_quat(), scalar_first=False, **options)


def test_turns_from_the_start_are_straight_for_one_axis() -> None:
    rng, angles = np.random.default_rng(9), np.linspace(0.0, 4.5, 60)
    axis = np.array([0.6, 0.0, 0.8])
    trials = [turning(pose(rng)[:3, :3], axis, angles, name=f"turn {k}") for k in range(3)]
    for trial in turns_from_start(MotionSet(trials)):
        np.testing.assert_allclose(trial.rotation_vectors, angles[:, None] * axis, atol=1e-9)
    x = np.array(trials[0].x)
    x[[0, 1, 30]] = np.nan
    holes = turns_from_start(trials[0].with_values(x))
    np.testing.assert_allclose(holes.rotation_vectors[2:30], (angles - angles[2])[2:30, None] * axis, atol=1e-9)
    assert np.isnan(holes.x[[0, 1, 30]]).all()
    assert_refused(
        (lambda: turns_from_start(trials[0].with_values(np.full_like(x, np.nan))), "...must have samples with ..."),
        (lambda: turns_from_start(trials[0].select(("x", "y", "z"))), "...must have coordinates rx, ry, rz, got ..."),
    )
