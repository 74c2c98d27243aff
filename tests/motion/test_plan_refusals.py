"""What no motion can be planned of is refused by name; what can, however odd, is planned."""

from functools import partial

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import NoPathError, ThunderError
from thunder_py.geometry import Capsule, Sphere
from thunder_py.motion import FPCA, Constraint, HumanLikePlanner, MovingObstacle, PathStatus, ViaSearch

from .planner_models import fitted, reaches

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2
BALL = Sphere(0.5 * (START + GOAL), 0.05)
KINDS = [("aligned", "map"), ("paper", "paper")]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind[0])
def planner(request):
    return HumanLikePlanner(fitted(request.param[0]), request.param[1])


@pytest.mark.parametrize("obstacles", [(), (BALL,)], ids=["free", "obstacle"])
def test_arguments_that_are_none(planner, obstacles) -> None:
    made, ends = planner.plan(START, GOAL, T), [Constraint(0.0, value=START), Constraint(T, value=GOAL)]

    def plan(**change):
        planner.plan(START, GOAL, **{"duration": T, "obstacles": obstacles, **change})

    def replan(**change):
        planner.replan(**{"plan": made, "t": 0.5, "goal": GOAL, "obstacles": obstacles, **change})

    def many(**change):
        planner.plan_many(START, GOAL, T, **{"obstacles": obstacles, **change})

    def condition(constraints, duration=T):
        planner.condition(constraints, duration)

    kinds = {"must be a finite number...": ("1", None, [1.0], True, 1j, np.nan, np.inf)}
    numbers = [
        (partial(plan, **{name: value}), f"{name} {message}")
        for name in ("duration", "start_time", "margin")
        for message, values in kinds.items()
        for value in values
    ]
    wrong = ({"n": 0}, {"n": 2.5}, {"derivative": 1.5}, {"derivative": -1}, {"threads": -1, "obstacles": [BALL]})
    counts = [partial(many, **change) for change in wrong]
    counts += [partial(made.position, 0.5, 1.0), partial(made.position, 0.5, -1), partial(made.mean_jerk, 10.5)]
    sequences = [partial(call, obstacles=o) for call in (plan, replan, many) for o in (BALL, None, 3)]
    assert_refused(
        *numbers,
        *((partial(plan, duration=duration), "duration must be positive...") for duration in (0.0, -1.0, 0)),
        *((call, "... must be a whole number of at least ...") for call in counts),
        *((call, "obstacles must be a sequence of obstacles, got ...") for call in sequences),
        *(
            (partial(replan, **{name: "now"}), f"{name} must be a finite number, got 'now'")
            for name in ("t", "end_time")
        ),
        (partial(plan, via="paper", obstacles=[BALL]), "via must be..."),
        (partial(plan, obstacles=[1]), "obstacles must..."),
        *((partial(condition, c), "constraints must be a sequence of Constraint...") for c in (None, ends[0], 3, "ab")),
        (partial(condition, [*ends, Constraint(0.5, dofs=5)]), "dofs must be one of x, y, z, got 5..."),
        (partial(condition, [*ends, Constraint("x")]), "t must be a finite number..."),
        (lambda: planner.sample(START, GOAL, "long", 1), "duration must be positive..."),
        (partial(plan, start_time=1e17), "duration must exceed the clock resolution, got 1.2 s from 1e+17 s..."),
    )


@pytest.mark.parametrize("obstacles", [(), (BALL,)])
def test_a_clock_since_1970(planner, obstacles) -> None:
    now = 1.7e9  # [s]
    made = planner.plan(START, GOAL, T, start_time=now, obstacles=obstacles)
    assert (np.diff(made.path.breaks) > 0.0).all()
    np.testing.assert_allclose(made.position([now, now + T]), [START, GOAL], atol=1e-12)


def test_numbers_that_overflow_make_no_motion(planner) -> None:
    assert_refused(
        (lambda: planner.plan(START, GOAL, 1e300), "...rates and the duration must give a finite motion..."),
        (lambda: planner.plan_many([START, START], GOAL, [1.0, 1e300]), "...rates and the duration must give a ..."),
    )
    with pytest.raises(NoPathError):  # finite, but nothing can be proved of it
        planner.plan(START, GOAL, T, start_velocity=[1e307, 0.0, 0.0], obstacles=[BALL], via=ViaSearch(count=5))


@pytest.mark.parametrize("wrap", [iter, lambda o: np.array(o, dtype=object)], ids=["iterator", "array"])
def test_obstacles_in_any_wrapping(planner, wrap) -> None:
    t, around = np.linspace(0.0, T, 9), [BALL, MovingObstacle(Sphere([3.0, 3.0, 3.0], 0.1), [0.1, 0.0, 0.0])]
    margin = {"margin": 0.02}
    expected = planner.plan(START, GOAL, T, obstacles=around, **margin).position(t)
    np.testing.assert_array_equal(planner.plan(START, GOAL, T, obstacles=wrap(around), **margin).position(t), expected)
    batch = planner.plan_many(START, GOAL, T, obstacles=wrap(around), tau=t / T, **margin)
    np.testing.assert_array_equal(batch.x[0], expected)
    at_start = wrap([Sphere(START, 0.1)])
    with pytest.raises(NoPathError, match=r"start must keep the margin.*obstacle 0 \(Sphere\)"):
        planner.plan(START, GOAL, T, obstacles=at_start)


def test_batches_hold_good_and_bad_problems(planner) -> None:
    starts, goals = np.array([START, START, BALL.center, START]), np.array([GOAL, START, GOAL, BALL.center])
    for threads in (0, 1, 2, 10_000):
        batch = planner.plan_many(starts, goals, T, obstacles=[BALL], margin=0.01, threads=threads)
        assert batch.found.tolist() == [True, True, False, False]
        assert batch.status[2:].tolist() == [PathStatus.start_blocked, PathStatus.goal_blocked]
        assert {type(status) for status in batch.status} == {PathStatus}
        assert (batch.clearance[:2] >= 0.01 - 1e-12).all()
        assert np.isnan(batch.clearance[2:]).all()
        assert np.isfinite(batch.x[:2]).all()
        assert np.isnan(batch.x[2:]).all()
    wall = [Capsule([0.3, -9.0, z], [0.3, 9.0, z], 0.1) for z in np.arange(-9.0, 9.1, 0.1)]
    assert planner.plan_many(START, GOAL, T, obstacles=wall, via=ViaSearch(count=20)).status.tolist() == ["none"]
    for obstacles in ((), (BALL,)):
        assert planner.plan_many(np.zeros((0, 3)), GOAL, T, obstacles=obstacles).x.shape == (0, 101, 3)


def test_replans_at_every_time(planner) -> None:
    made = planner.plan(START, GOAL, T)
    again = planner.replan(made, 0, GOAL + 0.02)
    assert again.start_time == 0.0
    np.testing.assert_allclose(again.position([0.0, T]), [START, GOAL + 0.02], atol=1e-11)
    assert planner.replan(made, T, GOAL + 0.02) is made
    for t in (-1e-9, T + 1e-9):
        with pytest.raises(ThunderError, match="t must lie within the plan"):
            planner.replan(made, t, GOAL)
    late = HumanLikePlanner(planner.fpca, planner.mode, freeze_time=0.1, max_acceleration_ratio=np.inf)
    assert late.replan(made, T - 0.09, GOAL + 1.0) is made
    assert late.replan(made, T - 0.11, GOAL + 0.01) is not made
    restless = HumanLikePlanner(planner.fpca, planner.mode, freeze_time=0.0)
    for left in (1e-12, 1e-10, 1e-6, 1e-3):
        rest = restless.replan(made, T - left, GOAL)
        np.testing.assert_allclose(rest.position(T), GOAL, atol=1e-11)


def test_plans_cannot_be_changed(planner) -> None:
    made = planner.plan(START, GOAL, T, obstacles=[BALL], margin=0.02)
    motion = planner.condition([Constraint(0.0, value=START), Constraint(T, value=GOAL)], T)
    arrays = (made.via_points, made.via_times, made.scores, motion.scores, motion.offsets, motion.plan().scores)
    for values in (*arrays, planner.plan(START, GOAL, T).via_points):
        assert not values.flags.writeable
    points = made.path.points
    points += 1.0
    assert not np.array_equal(made.path.points, points)


def test_components_that_are_none() -> None:
    assert_refused(
        (lambda: HumanLikePlanner(FPCA(alignment="none", shrinkage=0.0).fit(reaches()[:1])), "...shrinkage..."),
        (lambda: HumanLikePlanner(FPCA(alignment="none", shrinkage=0.0)), "...FPCA must be fitted before ... call ..."),
    )
    for fpca in ("fpca", None):
        with pytest.raises(ThunderError, match="fpca must be a fitted FPCA, got"):
            HumanLikePlanner(fpca)
