"""Plans as references of controllers, among obstacles, and drawn."""

from concurrent.futures import ThreadPoolExecutor

import matplotlib

from tests.refusals import assert_refused

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import thunder_py as th
from tests.polygons import corners
from thunder_py.errors import NoPathError, ThunderError
from thunder_py.geometry import Box, Capsule, HalfSpace, Sphere
from thunder_py.motion import HumanLikePlanner, ViaSearch
from thunder_py.motion.planning.obstacles import MovingObstacle

from ..control.arms import Q0, panda
from .planner_models import fitted, joints

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

START, GOAL, T = np.array([0.0, 0.0, 0.0]), np.array([0.5, 0.1, 0.0]), 1.2
BALL = Sphere([0.25, 0.05, 0.0], 0.08)


def follower(robot):
    """Computed torque in task space."""
    return th.CartesianComputedTorque(robot, K_0=np.full(6, 400.0), K_1=np.full(6, 40.0), K_d=np.full(7, 5.0))


@pytest.mark.parametrize("kind", ["plain", "pose joint aligned"])
def test_an_arm_follows_a_plan(kind) -> None:
    robot = panda()
    start = robot.forward_kinematics(Q0)
    goal = start.copy()
    goal[:3, 3] += [0.08, -0.1, 0.05]
    if kind != "plain":
        c, s = np.cos(0.3), np.sin(0.3)
        goal[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ start[:3, :3]
    made = HumanLikePlanner(fitted(kind)).plan(start, goal, 0.6)
    result = th.simulate(robot, follower(robot), made, 0.7, q0=Q0)
    reached = robot.forward_kinematics(result.q[-1])
    np.testing.assert_allclose(reached, goal, rtol=0.0, atol=5e-3)
    native, python = (
        th.simulate(robot, follower(robot), reference, 0.05, q0=Q0) for reference in (made, lambda t: made(t))
    )
    np.testing.assert_array_equal(native.q, python.q)


def test_joints_follow_a_plan() -> None:
    robot, planner = panda(), HumanLikePlanner(joints())
    made = planner.plan(Q0, Q0 + 0.1, 0.5, goal_velocity=np.full(7, 0.05))
    assert planner.kind == "joints"
    np.testing.assert_allclose(made(0.5).q, Q0 + 0.1, atol=1e-12)
    np.testing.assert_allclose(made(0.5).dq, 0.05, atol=1e-10)
    h = 1e-5
    np.testing.assert_allclose(made(0.2).ddq, (made(0.2 + h).dq - made(0.2 - h).dq) / (2 * h), atol=1e-5)
    result = th.simulate(robot, th.ComputedTorque(robot, [100.0] * 7, [20.0] * 7), made, 0.5, q0=Q0)
    assert np.abs(result.q - made(result.t).q).max() < 5e-3
    assert_refused((lambda: planner.plan(Q0, Q0 + 0.1, 0.5, obstacles=[BALL]), "...obstacles must be empty for ..."))


@pytest.mark.parametrize("kind", ["plain", "aligned", "joint aligned", "pose"])
def test_plans_around_obstacles_keep_the_margin(kind) -> None:
    planner = HumanLikePlanner(fitted(kind))
    ends = (START, GOAL)
    if kind == "pose":
        ends = tuple((p, np.eye(3)) for p in ends)
    ball = Sphere(planner.plan(*ends, T).position(0.5 * T)[:3], 0.06)
    made = planner.plan(*ends, T, obstacles=[ball], margin=0.03)
    t = np.linspace(0.0, T, 2001)
    distance = ball.distance(made.position(t)[:, :3])
    assert distance.min() >= 0.03
    assert made.clearance == pytest.approx(distance.min(), abs=1e-4)
    assert ball.distance(made.position(made.clearance_time)[:3]) == pytest.approx(made.clearance, abs=1e-7)
    assert len(made.via_points) == len(made.via_times) >= 1
    np.testing.assert_allclose(made.position(made.via_times)[:, :3], made.via_points, atol=1e-9)
    np.testing.assert_allclose(made.position(T)[:3], GOAL, atol=1e-11)
    assert made.scores.shape == planner.fpca.explained_variance_.shape
    far = planner.plan(*ends, T, obstacles=[Sphere([0.2, 3.0, 0.0], 0.1)])
    assert far.clearance > 2.0
    assert not len(far.via_points)
    assert planner.plan(*ends, T).clearance is None


def test_paper_mode_searches_as_the_paper() -> None:
    planner = HumanLikePlanner(fitted("paper"), "paper")
    made = planner.plan(START, GOAL, T, obstacles=[BALL], margin=0.02)
    same = planner.plan(START, GOAL, T, obstacles=[BALL], margin=0.02, via=ViaSearch.paper())
    assert len(made.via_points) == 1
    np.testing.assert_array_equal(made.position(np.linspace(0, T, 9)), same.position(np.linspace(0, T, 9)))
    np.testing.assert_allclose(made.position(made.via_times[0], 1), (GOAL - START) / T, atol=1e-8)


def test_batches_among_obstacles() -> None:
    planner, rng = HumanLikePlanner(fitted("plain")), np.random.default_rng(1)
    starts = START + 0.03 * rng.normal(size=(12, 3))
    moving = MovingObstacle(Sphere([0.25, 0.6, 0.0], 0.05), [0.0, -0.5, 0.0])
    batch = planner.plan_many(starts, GOAL, T, obstacles=[BALL, moving], margin=0.01, n=201)
    assert batch.found.all()
    assert "via" in batch.status
    for x, clearance in zip(batch.x, batch.clearance, strict=True):
        distance = min(BALL.distance(x).min(), moving.distance(x, batch.tau * T).min())
        assert distance >= clearance - 1e-12 >= 0.01 - 1e-12
    for start, x in zip(starts, batch.x, strict=True):
        one = planner.plan(start, GOAL, T, obstacles=[BALL, moving], margin=0.01)
        np.testing.assert_array_equal(one.position(batch.tau * T), x)


def test_replanning_among_obstacles() -> None:
    planner = HumanLikePlanner(fitted("plain"), max_acceleration_ratio=np.inf)
    made = planner.plan(START, GOAL, T, obstacles=[BALL], margin=0.02)
    goal = GOAL + np.array([0.0, 0.03, 0.05])
    early = planner.replan(made, 0.2 * made.via_times[0], goal, obstacles=[BALL], margin=0.02)
    late = planner.replan(made, 0.5 * (made.via_times[-1] + T), goal, obstacles=[BALL], margin=0.02)
    assert early.fallback == "plan"
    assert late.fallback is None
    for rest in (early, late):
        t = np.linspace(rest.start_time, T, 400)
        assert BALL.distance(rest.position(t)).min() >= 0.02
        assert rest.clearance >= 0.02
        np.testing.assert_allclose(rest.position(rest.start_time, 1), made.position(rest.start_time, 1), atol=1e-8)
        np.testing.assert_allclose(rest.position(T), goal, atol=1e-11)
    blocked = Sphere(late.position(0.5 * (late.start_time + T)), 0.02)
    around = planner.replan(made, late.start_time, goal, obstacles=[BALL, blocked], margin=0.005)
    assert around.fallback == "plan"
    assert blocked.distance(around.position(np.linspace(late.start_time, T, 400))).min() >= 0.005
    with pytest.raises(ThunderError, match=r"end_time must be later to pass the obstacles, got 1\.2 s, which requires"):
        HumanLikePlanner(planner.fpca).replan(made, late.start_time, goal, obstacles=[BALL, blocked], margin=0.005)


def random_obstacles(rng):
    """One to three, where reaches pass."""
    for _ in range(rng.integers(1, 4)):
        at, R = rng.normal(0.2, 0.07, 3), Rotation.random(random_state=rng).as_matrix()
        kinds = (
            Sphere(at, rng.uniform(0.02, 0.12)),
            Box(at, rng.uniform(0.03, 0.25, 3), R),
            Capsule(at, at + rng.normal(scale=0.1, size=3), rng.uniform(0.02, 0.08)),
            HalfSpace([0.0, 0.0, -0.2], [0.1, 0.0, 1.0]),
        )
        one = kinds[rng.integers(4)]
        yield MovingObstacle(one, rng.normal(scale=0.2, size=3) * rng.integers(2))


@pytest.mark.parametrize("kind", ["plain", "joint", "aligned", "joint aligned", "paper"])
def test_no_sample_contradicts_the_clearance_of_a_plan(kind) -> None:
    planner = HumanLikePlanner(fitted(kind), "paper" if kind == "paper" else "map", max_acceleration_ratio=np.inf)
    rng, answers = np.random.default_rng(17), []
    for _ in range(40):
        start, goal = rng.uniform(0.0, 0.15, 3), rng.uniform(0.25, 0.4, 3)
        begin, duration = rng.uniform(-2.0, 2.0), rng.uniform(0.5, 3.0)
        around = {"obstacles": list(random_obstacles(rng)), "margin": rng.choice([0.0, 0.02, -0.01])}
        try:
            made = planner.plan(start, goal, duration, start_time=begin, start_velocity=rng.normal(0, 0.1, 3), **around)
            answers.append(len(made.via_points))
            now = begin + rng.uniform(0.0, 0.9) * duration
            rest = planner.replan(made, now, goal + rng.normal(0.0, 0.03, 3), **around)
        except NoPathError:
            continue
        np.testing.assert_allclose(rest.position(now, 1), made.position(now, 1), atol=1e-8)
        for each in (made, rest):
            t = np.linspace(each.start_time, each.end_time, 500)
            nearest = min(obstacle.distance(each.position(t), t).min() for obstacle in around["obstacles"])
            assert nearest >= each.clearance >= around["margin"] - 1e-12
    assert len(answers) > 10
    assert sum(answers) > 3


def test_figures_show_start_via_points_and_goal(tmp_path) -> None:
    made = HumanLikePlanner(fitted("pose")).plan(
        (START, np.eye(3)), (GOAL, np.eye(3)), T, obstacles=[BALL], margin=0.02
    )
    axes = made.plot()
    assert set(axes) == {"path", "position", "speed", "rotation"}
    assert len(axes["position"].lines) == 3 + len(made.via_points)
    speed = axes["speed"].lines[0]
    np.testing.assert_allclose(speed.get_ydata(), np.linalg.norm(made.position(speed.get_xdata(), 1)[:, :3], axis=1))
    assert_refused((lambda: made.plot(0.0), "duration must be positive..."))
    ball = MovingObstacle(BALL, [0.0, 0.1, 0.0])
    film = made.animate(tmp_path / "reach.html", obstacles=[BALL, ball], fps=2.0 / T, dpi=20)
    (space,) = film._fig.axes
    np.testing.assert_allclose(np.ravel(space.lines[-1].get_data_3d()), made.position(T)[:3])
    still, moved = (corners(body) for body in space.collections[-2:])
    np.testing.assert_allclose(moved - still, np.broadcast_to([0.0, 0.1 * T, 0.0], still.shape), atol=1e-12)
    plt.close("all")


def test_threads_share_a_planner() -> None:
    """One search has one scratch: calls wait for each other, and find what they find alone."""
    planner, rng = HumanLikePlanner(fitted("plain")), np.random.default_rng(2)
    starts = START + 0.03 * rng.normal(size=(24, 3))

    def points(start):
        return planner.plan(start, GOAL, T, obstacles=[BALL], margin=0.02).path.points

    alone = [points(start) for start in starts]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(alone * 4, pool.map(points, np.tile(starts, (4, 1))), strict=True):
            np.testing.assert_array_equal(one, other)
