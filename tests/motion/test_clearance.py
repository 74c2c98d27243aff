"""Clearances are proofs: against dense sampling, roots of polynomials and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import fixed_quad
from scipy.interpolate import PPoly
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import _core
from thunder_py.errors import NoPathError
from thunder_py.geometry import Box, Capsule, HalfSpace, Sphere
from thunder_py.motion.planning.model import core_planner
from thunder_py.motion.planning.obstacles import (
    MovingObstacle,
    ViaSearch,
    bezier_path,
    clearance,
    obstacle_set,
    via_path,
)

from .planner_models import fitted

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


def line(start, end, duration=2.0):
    start, end = np.asarray(start, float), np.asarray(end, float)
    return PPoly(np.array([[(end - start) / duration], [start]]), [0.0, duration])


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
        (lambda: clearance(line([0, 0, 0], [1, 0, 0]), [], tolerance=0.0), "...tolerance must be positive..."),
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


# --- paths around obstacles ---
pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

START, GOAL, T = np.array([0.0, -0.3, 0.1]), np.array([0.2, 0.4, 0.3]), 1.5
BALL = Sphere(0.5 * (START + GOAL), 0.1)


@pytest.fixture(scope="module")
def planner():
    return core_planner(fitted("plain"), exact=False, order=3)


def search(planner, obstacles=(BALL,), margin=0.02, via=None, start=START, goal=GOAL, **options):
    core = (via or ViaSearch()).core(planner)
    return via_path(core, start, goal, T, obstacle_set(obstacles), margin, **options)


def polyline(points, start=START, goal=GOAL):
    return np.linalg.norm(points - start, axis=-1) + np.linalg.norm(points - goal, axis=-1)


def squared_jerk(path):
    """Integral of the squared jerk, by Gauss-Legendre piece by piece."""
    pairs = itertools.pairwise(path.breaks)
    return sum(fixed_quad(lambda t: (path.sample(t, 3) ** 2).sum(axis=1), a, b, n=8)[0] for a, b in pairs)


@pytest.mark.parametrize("via", [ViaSearch.paper(80, 3), ViaSearch(80, 3), ViaSearch(80, 5, "uniform", 0.4)])
@pytest.mark.parametrize("obstacles", [(BALL,), (BALL, Box([0.1, 0.0, 0.45], [0.3, 0.2, 0.1]))])
def test_first_feasible_is_the_shortest_of_all(planner, via, obstacles):
    """What the report describes, by looking at every candidate."""
    core, around = via.core(planner), obstacle_set(obstacles)
    found = via_path(core, START, GOAL, T, around, 0.02)
    best, length = None, np.inf
    for point in np.random.default_rng(0).permutation(core.candidates(START, GOAL)):
        _, path, *_ = core.through(START, GOAL, T, [point])
        if polyline(point) < length and around.free(path, 0.02):
            best, length = point, polyline(point)
    assert found.status == "via"
    assert found.clearance.lower_bound >= 0.02 - 1e-12
    np.testing.assert_allclose(found.via_points[0, :3], best, atol=1e-14)
    shorter = polyline(core.candidates(START, GOAL)) < length - 1e-12
    assert found.evaluated == 1 + shorter.sum()


def test_candidates_come_in_order_and_are_where_they_shall_be(planner):
    for method in ("uniform", "ellipsoid"):
        points = ViaSearch(500, 1, method, 0.3).core(planner).candidates(START, GOAL)
        assert points.shape == (500, 3)
        assert (np.diff(polyline(points)) > -1e-12).all()
        away = points - 0.5 * (START + GOAL)
        if method == "uniform":
            assert abs(away).max() < 0.3
            assert abs(away.mean(axis=0)).max() < 0.03
            np.testing.assert_allclose(away.std(axis=0), 0.3 / np.sqrt(3), rtol=0.1)
        else:
            longest = np.hypot(np.linalg.norm(GOAL - START), 2 * 0.3)
            assert polyline(points).max() <= longest
            assert polyline(points).max() > 0.99 * longest


@pytest.mark.parametrize("via", [ViaSearch.paper(), ViaSearch()])
def test_state_at_the_via_point_of_the_paper_and_of_least_jerk(planner, via):
    found = search(planner, via=via)
    t, state = found.times[0], found.states[0]
    for derivative in range(3):
        np.testing.assert_allclose(found.path.sample(t, derivative), state[derivative], atol=1e-9)
        np.testing.assert_allclose(found.path.sample(t - 1e-9, derivative), state[derivative], atol=1e-6)
    if via.state == "paper":
        first, second = np.linalg.norm(state[0] - START), np.linalg.norm(GOAL - state[0])
        assert t == pytest.approx(T * first / (first + second), abs=1e-12)
        np.testing.assert_allclose(state[1], (GOAL - START) / T, atol=1e-15)
        np.testing.assert_array_equal(state[2], 0.0)


@pytest.mark.parametrize("kind", ["plain", "aligned", "joint"])
@pytest.mark.parametrize("count", [1, 2])
def test_no_other_via_state_has_less_jerk(kind, count):
    """The cost is quadratic: differences in every direction say that the gradient is zero and the curvature is not."""
    core = core_planner(fitted(kind), exact=False, order=3)
    vias = ViaSearch(10).core(core)
    points = START + np.array([[0.05, 0.3, 0.3], [0.2, 0.5, 0.35]])[:count]
    rates = {"start_velocity": [0.1, 0.0, -0.1], "goal_acceleration": [0.0, 0.3, 0.0]}
    _, path, times, states, *_ = vias.through(START, GOAL, T, points, 0.0, **rates)
    knots = [0.0, *times, T]

    def total(states):
        ends = np.zeros((2, 3, 3))
        ends[:, 0], ends[0, 1], ends[1, 2] = (START, GOAL), rates["start_velocity"], rates["goal_acceleration"]
        chain = [ends[0], *states, ends[1]]
        pieces = [
            core.plan(a[0], b[0], t1 - t0, t0, a[1], b[1], a[2], b[2])[0]
            for a, b, t0, t1 in zip(chain, chain[1:], knots, knots[1:], strict=False)
        ]
        return sum(squared_jerk(piece) for piece in pieces)

    least = total(states)
    assert least == pytest.approx(squared_jerk(path), rel=1e-10)
    for i, order, k in itertools.product(range(count), (1, 2), range(3)):
        step = np.zeros_like(states)
        step[i, order, k] = 0.3 if order == 1 else 2.0
        more, less = total(states + step), total(states - step)
        assert min(more, less) > least
        assert more - less == pytest.approx(0.0, abs=1e-7 * (more + less - 2 * least))


@pytest.mark.parametrize("method", ["uniform", "ellipsoid"])
def test_same_seed_same_path_other_seed_another(planner, method):
    a, b, c = (search(planner, via=ViaSearch(300, seed, method)) for seed in (7, 7, 8))
    np.testing.assert_array_equal(a.path.points, b.path.points)
    assert a.evaluated == b.evaluated
    assert abs(a.path.points - c.path.points).max() > 1e-4


def test_straight_first_unless_the_paper_says_otherwise(planner):
    aside = (Sphere([1.0, 0.0, 0.0], 0.1),)
    direct = search(planner, aside)
    assert direct.status == "direct"
    assert direct.evaluated == 0
    assert len(direct.via_points) == 0
    np.testing.assert_allclose(direct.path.points, planner.plan(START, GOAL, T)[0].points, atol=1e-13)
    assert search(planner, aside, via=ViaSearch.paper()).status == "via"
    assert search(planner, (), via=ViaSearch.paper()).status == "direct"


@pytest.mark.parametrize(("name", "at"), [("start", START), ("goal", GOAL)])
@pytest.mark.parametrize("radius", [0.05, 0.195])  # contains it; is nearer than the margin
def test_blocked_ends_are_named(planner, name, at, radius):
    center = np.add(at, (0.0, 0.0, 0.0 if radius < 0.1 else 0.2))
    obstacles = (Sphere([2.0, 0, 0], 0.1), Sphere(center, radius))
    found = search(planner, obstacles)
    assert found.status == f"{name}_blocked"
    assert found.obstacle == 1
    assert not found.found
    assert_refused((lambda: found.require(obstacles, 0.02), f"...{name} must keep the margin ..."), error=NoPathError)


def shell(center, size=0.3, wall=0.02):
    """A closed box of six plates."""
    for axis, side in itertools.product(range(3), (-1, 1)):
        at, edges = np.array(center, float), np.full(3, size + wall)
        at[axis] += side * size / 2
        edges[axis] = wall
        yield Box(at, edges)


@pytest.mark.parametrize("most", [1, 3])
def test_walled_in_goal_has_no_path_and_none_is_returned(planner, most):
    walls = tuple(shell(GOAL))
    found = search(planner, walls, margin=0.0, via=ViaSearch(200, most=most))
    assert found.status == "none"
    assert not found.found
    assert found.evaluated >= 200
    assert np.isinf(found.clearance.distance)
    assert_refused((lambda: found.require(walls, 0.0), "...no path keeps 0 m from the obstacles..."), error=NoPathError)


def test_two_via_points_where_one_will_not_do(planner):
    """Two overlapping plates make a chicane."""
    walls = (
        Box([0.1, -0.1, 0.2], [0.02, 0.02, 3.0]),
        Box([-0.4, -0.08, 0.2], [1.2, 0.04, 3.0]),
        Box([0.6, 0.15, 0.2], [1.2, 0.04, 3.0]),
    )
    options = {"half_width": 0.6, "count": 1500}
    one = search(planner, walls, via=ViaSearch(most=1, **options))
    more = search(planner, walls, via=ViaSearch(most=4, **options))
    assert one.status == "none"
    assert more.status == "via"
    assert len(more.times) >= 2
    assert more.clearance.lower_bound >= 0.02 - 1e-12
    assert (np.diff(more.times) > 0.0).all()


def test_identical_start_and_goal(planner):
    rest = search(planner, (Sphere([0.5, 0, 0], 0.1),), goal=START)
    assert rest.status == "direct"
    np.testing.assert_allclose(rest.path.sample([0.0, T]), [START, START], atol=1e-12)
    passing = MovingObstacle(Sphere(START - [0.8, 0, 0], 0.1), [0.8 / (0.5 * T), 0, 0])
    away = search(planner, (passing,), goal=START)  # has to step aside and come back
    assert away.status == "via"
    assert away.clearance.lower_bound >= 0.02 - 1e-12


@pytest.mark.parametrize("state", ["optimal", "paper"])
def test_orientation_is_passed_on_the_way(state):
    pose = core_planner(fitted("pose"), exact=False, order=3)
    start, goal = np.append(START, [0.0, 0.2, 0.0]), np.append(GOAL, [0.3, 0.2, -0.4])
    _, path, (t,), (via,), *_ = ViaSearch(state=state).core(pose).through(start, goal, T, [START + 0.2])
    expected = pose.plan(start, goal, T)[0].sample(t) if state == "optimal" else start + t / T * (goal - start)
    np.testing.assert_allclose(via[0], [*(START + 0.2), *expected[3:]], atol=1e-12)
    np.testing.assert_allclose(path.sample(t), via[0], atol=1e-12)


def test_settings_out_of_range():
    def given(**options):
        return ViaSearch(**options)

    assert_refused(
        (lambda: given(count=0), "...count must be a whole number from 1 to..."),
        (lambda: given(count=10.0), "...count must be a whole number..."),
        (lambda: given(seed=-1), "...seed must be a whole number from 0..."),
        (lambda: given(most=5), "...most must be a whole number from 1 to 4, got 5..."),
        (lambda: given(method="grid"), "...method must be 'ellipsoid' or 'uniform', got 'grid'..."),
        (lambda: given(state="best"), "...state must be 'optimal' or 'paper'..."),
        (lambda: given(half_width=0.0), "...half_width must be positive..."),
        (lambda: given(half_width=np.nan), "...half_width must be positive..."),
        (lambda: given(straight_first=1), "...straight_first must be True or False..."),
    )


def test_bad_problems(planner):
    def given(**arguments):
        return search(planner, **arguments)

    assert_refused(
        (lambda: given(start=[0.0, 1.0]), "...start..."),
        (lambda: given(goal=[0.0, np.nan, 0.0]), "...goal..."),
        (lambda: given(margin=np.inf), "...margin must be finite..."),
        (lambda: given(start_velocity=[1.0]), "...start_velocity..."),
    )


def test_points_to_pass_through(planner):
    core = ViaSearch(5, most=1).core(planner)
    assert_refused((lambda: core.through(START, GOAL, T, [START + 0.1, GOAL - 0.1]), "...points must be 1 to 1, ..."))
    assert core.through(START, GOAL, T, [START]) is None  # no time to get there
