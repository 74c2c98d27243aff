from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.refusals import assert_refused
from thunder_py.geometry import Box, Capsule, HalfSpace, Obstacle, Sphere
from thunder_py.trajectory import PotentialField
from thunder_py.trajectory.potential_field import Plan

from ..control.arms import Q0, elbow, panda

R = Rotation.random(random_state=2).as_matrix()
OBSTACLES: dict[str, Obstacle] = {
    "sphere": Sphere([0.4, 0.3, 0.5], 0.15),
    "box": Box([0.4, 0.35, 0.55], [0.1, 0.2, 0.3], R),
    "capsule": Capsule([0.3, 0.35, 0.2], [0.35, 0.4, 0.7], 0.08),
    "half-space": HalfSpace([0.0, 0.25, 0.0], [0.1, -2.0, 0.3]),
}
#: a sphere at the height of the forearm: the elbow has to fold to get past
POST = Sphere([0.0, 0.7, 0.0], 0.08)
RR_START, RR_GOAL = np.array([0.5, 0.2]), np.array([2.4, -0.3])


def inside_constraints(name: str) -> list:
    """The obstacle as inequalities, for SciPy."""
    o = OBSTACLES[name]
    if isinstance(o, Sphere):
        return [{"type": "ineq", "fun": lambda x: o.radius**2 - (x - o.center) @ (x - o.center)}]
    if isinstance(o, Box):
        return [
            {"type": "ineq", "fun": lambda x, s=s: 0.5 * o.size + s * o.orientation.T @ (x - o.center)} for s in (1, -1)
        ]
    if isinstance(o, HalfSpace):
        return [{"type": "ineq", "fun": lambda x: o.normal @ (o.point - x)}]
    raise AssertionError(name)


@pytest.mark.parametrize("name", ["sphere", "box", "half-space"])
def test_nearest_point_is_the_projection(name: str) -> None:
    obstacle = OBSTACLES[name]
    rng = np.random.default_rng(0)
    for p in 0.4 + rng.normal(size=(12, 3)):
        if obstacle.distance(p) <= 0.0:
            continue
        best = minimize(lambda x, p=p: (x - p) @ (x - p), [0.4, 0.35, 0.55], constraints=inside_constraints(name))
        np.testing.assert_allclose(obstacle.nearest_point(p), best.x, atol=2e-4)
        np.testing.assert_allclose(obstacle.distance(p), np.linalg.norm(best.x - p), atol=1e-5)


def test_capsule_is_the_union_of_its_spheres() -> None:
    capsule = OBSTACLES["capsule"]
    p = np.random.default_rng(1).normal(size=(20, 3))
    s = np.linspace(0.0, 1.0, 4001)[:, None, None]
    centers = capsule.a + s * (capsule.b - capsule.a)
    np.testing.assert_allclose(
        capsule.distance(p), np.linalg.norm(p - centers, axis=2).min(axis=0) - capsule.radius, atol=1e-6
    )
    ball = Capsule([1, 2, 3], [1, 2, 3], 0.5)
    np.testing.assert_allclose(ball.distance(p), Sphere([1, 2, 3], 0.5).distance(p), atol=1e-14)


@pytest.mark.parametrize("name", OBSTACLES)
def test_signed_distance_and_its_gradient(name: str) -> None:
    obstacle, h = OBSTACLES[name], 1e-6
    p = 0.4 + 0.3 * np.random.default_rng(3).normal(size=(60, 3))
    d, normal = obstacle.nearest(p)
    assert (d > 0).any()
    assert (d < 0).any()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0)
    for k, e in enumerate(np.eye(3)):
        np.testing.assert_allclose(
            (obstacle.distance(p + h * e) - obstacle.distance(p - h * e)) / (2 * h), normal[:, k], atol=1e-5
        )
    np.testing.assert_allclose(obstacle.distance(obstacle.nearest_point(p)), 0.0, atol=1e-12)


def test_depth_inside_of_a_box_and_at_a_center() -> None:
    box = Box([0, 0, 0], [2, 4, 6])
    np.testing.assert_allclose(box.distance([[0.9, 0, 0], [0, -1.5, 0], [1, 0, 0]]), [-0.1, -0.5, 0.0], atol=1e-14)
    np.testing.assert_array_equal(box.nearest_point([0.0, -1.5, 0.0]), [0, -2, 0])
    assert Sphere([0, 0, 0], 2.0).distance([0, 0, 0]) == -2.0


@pytest.mark.parametrize("name", OBSTACLES)
@pytest.mark.parametrize("robot", ["panda", "scara"])
def test_gradient_is_that_of_the_potential(name: str, robot: str) -> None:
    arm = panda() if robot == "panda" else th.Robot.load("scara")
    q = Q0 if robot == "panda" else np.array([0.1, 0.8, 0.2, 0.3])
    field = (
        PotentialField(
            arm,
            q - 0.4,
            [OBSTACLES[name]],
            influence=5.0,
            repulsion=1e-2,
            conic_distance=0.05,
            radius=0.01,
            control_points=[(2, [0.0, 0.1, 0.05]), (arm.n, [0.1, 0.0, 0.1])],
        )
        if (robot, name) != ("scara", "half-space")
        else PotentialField(
            arm, q - 0.4, [HalfSpace([0, 2.0, 0], [0, -1, 0.2])], influence=5.0, repulsion=1e-2, conic_distance=0.05
        )
    )
    assert np.isfinite(field.potential(q))
    h = 1e-6
    numeric = [(field.potential(q + h * e) - field.potential(q - h * e)) / (2 * h) for e in np.eye(arm.n)]
    np.testing.assert_allclose(field.gradient(q), numeric, atol=1e-6)


def test_potential_written_out() -> None:
    """Of the elbow, whose origins are at the base, at the elbow and at the tip."""
    arm, post = elbow(), Sphere([0.9, 0.5, 0.0], 0.1)
    q, goal = np.array([0.3, 0.4]), np.array([1.9, 0.2])
    field = PotentialField(
        arm,
        goal,
        [post],
        attraction=2.0,
        conic_distance=0.3,
        repulsion=0.02,
        influence=0.8,
        posture=0.5,
        interior_points=0,
    )
    expected = 0.25 * (q - goal) @ (q - goal)
    for frame in ("link1", "link2", "tool"):
        p, p_goal = (arm.forward_kinematics(x, frame)[:3, 3] for x in (q, goal))
        d, rho = np.linalg.norm(p - p_goal), post.distance(p)
        expected += d**2 if d <= 0.3 else 0.6 * (d - 0.15)
        expected += 0.01 * (1 / rho - 1 / 0.8) ** 2 if rho < 0.8 else 0.0
    np.testing.assert_allclose(field.potential(q), expected, rtol=1e-12)


def test_columns_of_the_end_effectors_jacobian() -> None:
    """Errata N-7: J_v of O_i is not J_v with columns set to zero, and only its transpose gives the gradient."""
    arm, q, h = panda(), Q0, 1e-6
    J_end, wrong, right = arm.jacobian(q)[:3], np.zeros(7), np.zeros(7)
    field = PotentialField(arm, q - 0.5, [], posture=0.0, conic_distance=np.inf)
    for i in range(1, 8):
        way = arm.forward_kinematics(q, i)[:3, 3] - arm.forward_kinematics(q - 0.5, i)[:3, 3]
        wrong[:i] += J_end[:, :i].T @ way
        right += arm.jacobian(q, i)[:3].T @ way
    numeric = [(field.potential(q + h * e) - field.potential(q - h * e)) / (2 * h) for e in np.eye(7)]
    np.testing.assert_allclose(right, numeric, atol=1e-7)
    np.testing.assert_allclose(field.gradient(q), right, atol=1e-12)
    assert np.linalg.norm(wrong - numeric) > 0.2


def points_along_links(robot: th.Robot, q: np.ndarray, per_link: int = 25) -> np.ndarray:
    """Points on the polyline through the origins of all frames, (k, points, 3)."""
    origins = np.stack([robot.forward_kinematics(q, frame)[..., :3, 3] for frame in (*range(1, robot.n + 1), "tool")])
    s = np.linspace(0.0, 1.0, per_link)[:, None, None]
    return np.concatenate([(1 - s) * a + s * b for a, b in pairwise(origins)]).swapaxes(0, 1)


def assert_free(field: PotentialField, q: np.ndarray) -> None:
    points = points_along_links(field.robot, q)
    least = min(float(obstacle.distance(points).min()) for obstacle in field.obstacles)
    assert least > 0.0
    assert field.clearance(q).min() > 0.0
    assert least >= field.clearance(q).min() - 1e-9  # which looks at all points, not at some


def test_elbow_folds_to_get_past_a_post() -> None:
    field = PotentialField(elbow(), RR_GOAL, [POST])
    assert not field.is_free(RR_START, RR_GOAL)
    plan = field.plan(RR_START, seed=1)
    assert plan.status == "reached"
    assert plan.walks > 0  # there is a local minimum on the way
    np.testing.assert_array_equal(plan.path[[0, -1]], [RR_START, RR_GOAL])
    assert_free(field, plan.path)
    again = field.plan(RR_START, seed=1)
    np.testing.assert_array_equal(again.path, plan.path)
    trajectory = plan.to_trajectory(v_max=1.5)
    q, dq, _ = trajectory(np.linspace(0.0, trajectory.duration, 800))
    assert_free(field, q)
    np.testing.assert_allclose(np.abs(dq).max(), 1.5, rtol=1e-3)
    np.testing.assert_allclose(dq[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(q[[0, -1]], [RR_START, RR_GOAL], atol=1e-12)


def test_without_walks_the_local_minimum_is_told() -> None:
    plan = PotentialField(elbow(), RR_GOAL, [POST]).plan(RR_START, max_walks=0)
    assert (plan.status, plan.reached, plan.walks) == ("local_minimum", False, 0)
    assert np.linalg.norm(plan.path[-1] - RR_GOAL) > 0.3
    assert_free(plan.field, plan.path)
    with pytest.raises(ValueError, match="status must be 'reached' for a trajectory, got 'local_minimum'"):
        plan.to_trajectory(1.0)
    assert PotentialField(elbow(), RR_GOAL, [POST]).plan(RR_START, max_iterations=3).status == "max_iterations"


def test_shortened_path_is_free_and_shorter() -> None:
    plan = PotentialField(elbow(), RR_GOAL, [POST]).plan(RR_START, seed=1)
    short = plan.shortened()
    assert len(short) < len(plan.path)
    np.testing.assert_array_equal(short[[0, -1]], [RR_START, RR_GOAL])
    for a, b in pairwise(short):
        assert_free(plan.field, a + np.linspace(0.0, 1.0, 60)[:, None] * (b - a))

    def length(path: np.ndarray) -> float:
        return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())

    assert length(short) < length(plan.path)


def test_clearance_and_free_motion() -> None:
    field = PotentialField(elbow(), RR_GOAL, [POST], radius=0.02)
    q = np.array([np.pi / 2, 0.0])
    assert field.clearance(q) < 0.0
    assert field.potential([1.2, 0.6]) < np.inf
    assert field.clearance(np.zeros((2, 3, 2))).shape == (2, 3)
    np.testing.assert_allclose(field.clearance([0.0, 0.0]), 0.6, atol=1e-9)
    sweep = np.linspace(RR_START, RR_GOAL, 500)
    touched = field.clearance(sweep) <= 0.0
    first = int(np.argmax(touched))
    assert field.is_free(sweep[0], sweep[first - 2])
    assert not field.is_free(sweep[0], sweep[first + 1])
    assert not field.is_free(sweep[0], sweep[-1])  # both ends free, not the way
    assert PotentialField(elbow(), RR_GOAL, []).clearance(q) == np.inf


def test_turns_that_move_no_origin_reach_the_goal_too() -> None:
    goal = Q0 + np.array([0, 0, 0, 0, 0, 0, 1.0])
    assert PotentialField(panda(), goal, []).plan(Q0).status == "reached"
    assert PotentialField(panda(), goal, [], posture=0.0).plan(Q0, max_walks=0).status == "local_minimum"


ARM = elbow()


def test_refusals() -> None:
    assert_refused(
        (lambda: Sphere([0, 0, 0], -1.0), "radius must not be negative, got -1"),
        (lambda: Sphere([0, 0], 1.0), "center must have shape (3,), got (2,)"),
        (lambda: Box([0, 0, 0], [1, 0, 1]), "size must be positive, got [1.0, 0.0, 1.0]"),
        (lambda: Box([0, 0, 0], [1, 1, 1], 2 * np.eye(3)), "orientation must hold an orthonormal..."),
        (lambda: Capsule([0, 0, np.nan], [0, 0, 1], 0.1), "a must be finite..."),
        (lambda: HalfSpace([0, 0, 0], [0, 0, 0]), "normal must not be zero"),
        (lambda: POST.distance([0.0, 1.0]), "points must have shape (..., 3), got (2,)"),
        (lambda: PotentialField(ARM, [0.0], []), "goal must have shape (2,), got (1,)"),
        (lambda: PotentialField(ARM, RR_GOAL, ["wall"]), "obstacles must be Sphere, Box, Capsule or HalfSpace, got..."),
        (lambda: PotentialField(ARM, [1.57, 0.0], [POST]), "goal must keep more than 0 m from obstacles, got -..."),
        (lambda: PotentialField(ARM, RR_GOAL, [], repulsion=-1.0), "repulsion must be positive, got -1"),
        (lambda: PotentialField(ARM, RR_GOAL, [], influence=0.0), "influence must be positive, got 0"),
        (lambda: PotentialField(ARM, RR_GOAL, [], posture=-1), "posture must not be negative, got -1"),
        (
            lambda: PotentialField(ARM, RR_GOAL, [], interior_points=10**9),
            "interior_points must be a whole number from 0 to 10000,...",
        ),
        (
            lambda: PotentialField(ARM, RR_GOAL, [], interior_points=1.5),
            "interior_points must be a whole number from...",
        ),
        (
            lambda: PotentialField(ARM, RR_GOAL, [], control_points=[(3, [0, 0, 0])]),
            "...link must be a whole number from 0 to 2, got 3",
        ),
        (lambda: PotentialField(ARM, RR_GOAL, [POST]).plan([1.57, 0.0]), "q0 must keep more than 0 m from obstacle..."),
        (lambda: PotentialField(ARM, RR_GOAL, [POST]).plan(RR_START, step=0.0), "step must be positive, got 0"),
        (lambda: PotentialField(ARM, RR_GOAL, [POST]).plan(RR_START, margin=-1), "margin must not be negative, got -1"),
        (lambda: PotentialField(ARM, RR_GOAL, [POST]).plan(RR_START, seed=-1), "seed must be a whole number of at..."),
        (lambda: PotentialField(ARM, RR_GOAL, []).plan(RR_START).to_trajectory(), "exactly one of duration and v_m..."),
        (lambda: PotentialField(ARM, RR_GOAL, []).plan(RR_START).to_trajectory(v_max=0), "v_max must be positive..."),
        (lambda: PotentialField(ARM, RR_GOAL, []).plan(RR_GOAL).to_trajectory(1.0), "goal must differ from the sta..."),
        (lambda: PotentialField(ARM, RR_GOAL, []).clearance([0.0]), "q must have shape (..., 2), got (1,)"),
    )


def test_walks_keep_within_joint_limits_and_depend_on_the_seed() -> None:
    unlimited = np.full(2, np.inf)
    limits = th.model.description.Limits(lower=[-0.5, -2.6], upper=[3.0, 2.6], velocity=unlimited, effort=unlimited)
    arm = elbow().replace(limits=limits)
    field = PotentialField(arm, RR_GOAL, [POST])
    plans = [field.plan(RR_START, seed=seed) for seed in (0, 1)]
    for plan in plans:
        assert plan.reached
        assert (plan.path >= limits.lower).all()
        assert (plan.path <= limits.upper).all()
    assert len(plans[0].path) != len(plans[1].path)
    with pytest.raises(ValueError, match="goal must be within the joint limits"):
        PotentialField(arm, [3.1, 0.0], [])
    with pytest.raises(ValueError, match="q0 must be within the joint limits"):
        field.plan([0.0, 2.7])


def test_panda_goes_round_a_box_over_a_floor() -> None:
    goal = Q0 + np.array([1.6, 0.3, 0.0, 0.2, 0.0, 0.0, 0.5])
    obstacles = [
        Box(panda().forward_kinematics(0.5 * (Q0 + goal))[:3, 3], [0.1, 0.1, 0.3]),
        HalfSpace([0, 0, -0.01], [0, 0, 1]),
        Capsule([0.0, -0.6, 0.0], [0.0, -0.6, 1.0], 0.1),
    ]
    field = PotentialField(panda(), goal, obstacles, control_points=[(7, [0.05, 0.0, 0.0])])
    assert not field.is_free(Q0, goal)
    plan = field.plan(Q0, margin=0.02)
    assert plan.status == "reached"
    assert plan.clearance.min() > 0.02
    assert_free(field, plan.path)
    trajectory = plan.to_trajectory(4.0)
    assert trajectory.duration == pytest.approx(4.0)
    assert_free(field, trajectory(np.linspace(0.0, 4.0, 400)).q)


def test_detours_are_replaced_by_bisection() -> None:
    """Of motions that are free over four steps: half of the rest of the path, and half again, until one is free."""

    class Near:
        def is_free(self, a: np.ndarray, b: np.ndarray, margin: float = 0.0) -> bool:
            assert margin == 0.25
            return bool(np.abs(b - a).max() <= 4.0)

    plan = Plan(Near(), "reached", np.arange(17.0)[:, None], 1, 0, margin=0.25)  # type: ignore[arg-type]
    assert plan.shortened().ravel().tolist() == [0.0, 4.0, 7.0, 10.0, 13.0, 16.0]
