"""Clearances are proofs: against dense sampling, roots of polynomials and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy.interpolate import PPoly
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import _core
from thunder_py.geometry import Box, Capsule, HalfSpace, Sphere
from thunder_py.motion.planning.obstacles import MovingObstacle, bezier_path, clearance, obstacle_set

KINDS = ("sphere", "box", "capsule", "half-space")


def random_path(rng, degree, pieces):
    """Control points that wander from piece to piece."""
    steps = rng.normal(scale=0.07, size=(pieces, degree + 1, 3)) + rng.normal(scale=0.03, size=3)
    points = rng.uniform(-0.6, 0.6, 3) + np.cumsum(steps.reshape(-1, 3), axis=0).reshape(steps.shape)
    points[1:, 0] = points[:-1, -1]
    return _core.BezierPath(rng.uniform(-1.0, 1.0) + np.cumsum(rng.uniform(0.1, 1.0, pieces + 1)), points)


def random_obstacle(rng, kind):
    at = rng.uniform(-0.6, 0.6, 3)
    if kind == "sphere":
        return Sphere(at, rng.uniform(0.05, 0.5))
    if kind == "box":
        return Box(at, rng.uniform(0.1, 0.8, 3), Rotation.random(random_state=rng).as_matrix())
    if kind == "capsule":
        return Capsule(at, rng.uniform(-1.0, 1.0, 3), rng.uniform(0.05, 0.3))
    return HalfSpace(at - [0.0, 0.0, 0.7], rng.normal((0.0, 0.0, 3.0)))


def sampled(path, obstacle, velocity, n):
    t = np.linspace(path.breaks[0], path.breaks[-1], n)
    return obstacle.distance(path.sample(t) - t[:, None] * velocity)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moving", [False, True])
def test_no_sample_contradicts_a_proof(kind, moving):
    """8 cases of 120 paths with 500 samples each: 500 000 chances to be wrong."""
    rng = np.random.default_rng([KINDS.index(kind), moving])
    answers = []
    for k in range(120):
        path, obstacle = random_path(rng, 4 + k % 4, 1 + k % 5), random_obstacle(rng, kind)
        velocity = rng.uniform(-0.5, 0.5, 3) if moving else np.zeros(3)
        obstacles = obstacle_set([MovingObstacle(obstacle, velocity)])
        margin = 0.05 * (k % 3)
        nearest = sampled(path, obstacle, velocity, 500).min()
        free = obstacles.free(path, margin)
        assert not (free and nearest < margin)
        distance, lower_bound, time, index = obstacles.clearance(path)
        assert lower_bound <= nearest
        assert lower_bound <= distance <= lower_bound + 1e-9
        assert distance <= nearest + 1e-12
        assert index == 0
        there = obstacle.distance(path.sample(time) - time * velocity)
        assert there == pytest.approx(distance, abs=1e-12)
        assert free == (distance >= margin) or abs(distance - margin) < 2e-9
        answers.append(free)
    assert 10 < sum(answers) < 110  # both answers are there


@pytest.mark.parametrize("degree", [4, 5, 7])
def test_sphere_agrees_with_the_roots_of_the_derivative(degree):
    rng = np.random.default_rng(degree)
    for _ in range(60):
        path = random_path(rng, degree, 1)
        sphere = Sphere(rng.uniform(-1.0, 1.0, 3), 0.1)
        powers = [np.polynomial.Polynomial(c) for c in _powers(path.points[0] - sphere.center).T]
        square = sum((p * p for p in powers), np.polynomial.Polynomial([0.0]))
        roots = np.roots(square.deriv().coef[::-1])
        inside = roots.real[(abs(roots.imag) < 1e-6) & (roots.real > 0.0) & (roots.real < 1.0)]
        s = np.concatenate([inside, [0.0, 1.0]])
        distances = np.sqrt(square(s)) - sphere.radius
        found = clearance(path, [sphere])
        assert found.distance == pytest.approx(distances.min(), abs=1e-9)
        first, last = path.breaks
        if np.partition(distances, 1)[1] - distances.min() > 1e-6:  # one nearest point: it is at that time
            assert found.time == pytest.approx(first + s[distances.argmin()] * (last - first), abs=1e-6)


def _powers(points):
    """Coefficients of powers of s, ascending, from control points."""
    n = len(points) - 1
    differences = [points]
    while len(differences) <= n:
        differences.append(np.diff(differences[-1], axis=0))
    return np.array([math.comb(n, i) * differences[i][0] for i in range(n + 1)])


def line(start, end, duration=2.0):
    start, end = np.asarray(start, float), np.asarray(end, float)
    return PPoly(np.array([[(end - start) / duration], [start]]), [0.0, duration])


def test_straight_line_past_a_sphere():
    found = clearance(line([-1, 0.5, 0], [1, 0.5, 0]), [Sphere([0.2, 0, 0], 0.3)])
    assert found == pytest.approx((0.2, 0.2, 1.2, 0), abs=2e-9)


def test_moving_sphere_is_met_when_both_are_there():
    ball = MovingObstacle(Sphere([0, 1, 0], 0.1), [0, -1, 0])
    through = clearance(line([-1, 0, 0], [1, 0, 0]), [ball])
    assert through.time == pytest.approx(1.0, abs=1e-7)
    assert through.distance == pytest.approx(-0.1, abs=1e-9)
    waits = PPoly(np.array([[[1.0, 0, 0]], [[-4.0, 0, 0]]]), [1.0, 2.0])  # elsewhere while it passes
    assert clearance(waits, [ball]).distance > 1.5


def test_deepest_point_inside_and_a_kink():
    box = Box([0, 0, 0], [2.0, 2.0, 2.0])
    found = clearance(line([-2, 0.25, 0], [2, 0.25, 0]), [box])
    assert found.distance == pytest.approx(-0.75, abs=1e-9)
    assert found.lower_bound <= -0.75
    corner = clearance(line([-2, 0, 0], [0.5, 0, 0]), [Box([0, 0, 0], [0.4, 4, 4])])
    assert corner.distance == pytest.approx(-0.2, abs=1e-9)
    assert corner.time == pytest.approx(1.6, abs=1e-6)


def test_which_obstacle_and_in_any_order():
    obstacles = [HalfSpace([0, 0, -1], [0, 0, 1]), Sphere([0, 0.6, 0], 0.2), Capsule([-1, 2, 0], [1, 2, 0], 0.1)]
    for shift in range(3):
        turned = obstacles[shift:] + obstacles[:shift]
        found = clearance(line([-1, 0, 0], [1, 0, 0]), turned)
        assert turned[found.obstacle] is obstacles[1]
        assert found.distance == pytest.approx(0.4, abs=1e-9)


def test_distances_of_points_at_times():
    balls = [MovingObstacle(Box([0, 0, 0], [1, 1, 1]), [0.5, 0, 0]), Sphere([0, 3, 0], 0.5), Sphere([0, 3, 0], 0.6)]
    obstacles = obstacle_set(balls)
    for p, t in (([0.2, 1.0, 0.3], 0.0), ([2.0, 2.4, 0.0], 3.0), ([0.0, 2.6, 0.1], -1.0)):
        expected = [balls[0].distance(p, t), balls[1].distance(p), balls[2].distance(p)]
        np.testing.assert_allclose([obstacles.distance(k, p, t) for k in range(3)], expected, atol=1e-15)
        for margin in (-1.0, 0.0, 0.4, 9.0):
            near = [k for k in range(3) if expected[k] < margin]
            assert obstacles.nearer(p, t, margin) == (near[0] if near else -1)


def test_nothing_is_infinitely_far():
    found = clearance(line([0, 0, 0], [1, 0, 0]), [])
    assert found.distance == found.lower_bound == math.inf
    assert found.obstacle == -1


@pytest.mark.parametrize(("gap", "free"), [(1e-8, True), (-1e-8, False)])
def test_tangency_is_decided_to_a_nanometre(gap, free):
    path = bezier_path(line([-1, 0.3 + 0.05 + gap, 0], [1, 0.3 + 0.05 + gap, 0]))
    assert obstacle_set([Sphere([0, 0, 0], 0.3)]).free(path, 0.05) is free
    assert obstacle_set([Box([0, 0, 0], [0.6, 0.6, 0.6])]).free(path, 0.05) is free
    assert obstacle_set([HalfSpace([0, 0.3, 0], [0, 1, 0])]).free(path, 0.05) is free


def test_far_from_the_origin_rounding_is_counted():
    offset = np.full(3, 1e7)
    path = line(np.array([-1, 0.35, 0]) + offset, np.array([1, 0.35, 0]) + offset)
    found = clearance(path, [Sphere(offset, 0.3)])
    assert found.lower_bound < 0.05 < found.distance + 1e-8
    assert found.distance - found.lower_bound < 1e-6


def test_conversion_keeps_values_and_derivatives():
    rng = np.random.default_rng(3)
    poly = PPoly(rng.normal(size=(6, 4, 3)), np.cumsum(rng.uniform(0.2, 1.0, 5)))
    path = bezier_path(poly)
    t = np.linspace(poly.x[0], poly.x[-1] - 1e-9, 57)
    for derivative in range(4):
        expected = poly(t, nu=derivative)
        np.testing.assert_allclose(path.sample(t, derivative), expected, atol=1e-10 * abs(expected).max())


def test_bad_input():
    assert_refused(
        (lambda: clearance(line([0, 0, 0], [1, 0, 0]), ["wall"]), "...obstacles must be Sphere...got str..."),
        (lambda: clearance("straight", []), "...path must be a PPoly...got str..."),
        (lambda: clearance(PPoly(np.ones((2, 1)), [0.0, 1.0]), []), "...coefficients..."),
        (lambda: clearance(PPoly(np.ones((2, 1, 2)), [0.0, 1.0]), []), "...three dimensions, the position first, ..."),
        (lambda: clearance(line([0, 0, 0], [1, 0, 0]), [], tolerance=0.0), "...tolerance must be a positive number..."),
        (lambda: MovingObstacle("ball", [0, 0, 0]), "...obstacle must be Sphere...got str..."),
        (lambda: MovingObstacle(Sphere([0, 0, 0], 1.0), [0, np.nan, 0]), "...velocity must be finite..."),
        (lambda: _core.ObstacleSet([None]), "...obstacles must not contain None..."),
    )


def test_numbers_that_are_none_are_not_free():
    path = _core.BezierPath([0.0, 1.0], np.full((1, 6, 3), 1e308) * [[[1], [-1], [1], [-1], [1], [-1]]])
    assert not obstacle_set([Sphere([0, 0, 0], 1.0)]).free(path, 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_proved_where_squares_overflow(kind):
    """The path leads through the middle of the obstacle, infinitely far from it in double precision."""
    ends = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    for size, speed in itertools.product([1e99, 1e102, 1e300], [0.0, 1.0]):
        path = _core.BezierPath([0.0, 2.0], size * np.linspace(*ends, 6)[None])
        here = {
            "sphere": Sphere([0, 0, 0], 0.1 * size),
            "box": Box([0, 0, 0], np.full(3, 0.1 * size)),
            "capsule": Capsule([0, -size, 0], [0, size, 0], 0.1 * size),
            "half-space": HalfSpace([0, 0, 0], [1, 0, 0]),
        }[kind]
        if speed and size < 1e100:
            here = MovingObstacle(here, [0.0, 1e-3 * size, 0.0])
        if size > 1e100 and kind != "half-space":
            with pytest.raises(ValueError, match="obstacles must be nearer, smaller and slower"):
                obstacle_set([here])
            here = Sphere([0, 0, 0], 1.0)
        obstacles = obstacle_set([here])
        assert not obstacles.free(path, 0.0)
        distance, lower_bound, _, _ = obstacles.clearance(path)
        assert lower_bound < 0.0
        assert np.isnan(distance) or distance < 0.0


def test_fast_obstacles_and_late_clocks_do_not_overflow_either():
    path = _core.BezierPath([1e60, 2e60], np.zeros((1, 6, 3)))
    passing = obstacle_set([MovingObstacle(Sphere([0, 0, 0], 0.1), [1e60, 0.0, 0.0])])
    assert not passing.free(path, 0.0)
    assert passing.clearance(path)[1] == -math.inf
    with pytest.raises(ValueError, match="obstacles must be nearer, smaller and slower"):
        obstacle_set([MovingObstacle(Sphere([0, 0, 0], 0.1), [1e101, 0.0, 0.0])])
