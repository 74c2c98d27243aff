from dataclasses import replace

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.manipulation.interception import (
    Belt,
    BeltObject,
    ConstantVelocityFilter,
    Feed,
    InterceptionOptions,
    Interceptor,
    MeasurementModel,
    SingleShot,
    TimeAugmentation,
    VariableStructure,
    evaluate_grasp,
)
from thunder_py.manipulation.interception.runs import default_belt, default_planner
from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.motion.alignment import turns_from_start
from thunder_py.perception.pose_source import PoseMeasurement
from thunder_py.recordings.synthetic import daily_living

BELT, PLANNER = default_belt(), default_planner()
START = np.eye(4)
START[:3, :3] = np.diag([1.0, -1.0, -1.0])
START[:3, 3] = [0.45, 0.0, 0.5]
EXACT = MeasurementModel(noise=0.0, bias=0.0, outliers=0.0, dropout=0.0)
T = np.arange(0.0, 4.0, 1e-3)
STRATEGIES = [SingleShot(), VariableStructure(), TimeAugmentation()]
REPLANNING = STRATEGIES[1:]


def watched(camera=EXACT, *, duration=3.5, seed=0, **target):
    thing = BeltObject(BELT, **{"start": -0.55, "speed": 0.26, **target})
    return thing, camera.watch(thing, duration, np.random.default_rng(seed))


def run(feed, strategy=None, **options):
    """Interceptor at the end, and positions and velocities of its reference."""
    chosen = InterceptionOptions(strategy=strategy or TimeAugmentation(), **options)
    made = Interceptor(PLANNER, BELT, START, options=chosen)
    wanted = made.follow(feed)(T)
    assert all(np.isfinite(part).all() for part in wanted)
    return made, wanted


def grasp_of(made, wanted, thing):
    """The grasp of what the hand closes on."""
    closing = (made.arrival <= T) & (made.arrival + 0.25 > T)
    return evaluate_grasp(T[closing], wanted.p[closing], wanted.xi[closing, :3], thing)


def is_safe(made, wanted, reason):
    """Aborted for this reason, without a jump, and at rest in the end."""
    assert (made.phase, made.reason) == ("aborted", reason)
    p, v, a = wanted.p, wanted.xi[:, :3], wanted.xi_dot[:, :3]
    assert np.linalg.norm(np.diff(p, axis=0), axis=1).max() < 1.1e-3 * made.options.velocity_limit
    assert np.linalg.norm(v, axis=1).max() < 1.1 * made.options.velocity_limit
    assert np.linalg.norm(a, axis=1).max() < 2.0 * made.options.acceleration_limit
    assert not wanted.xi[-1].any()
    assert np.array_equal(p[-1], p[-100])
    return p


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
def test_meets_what_is_seen_exactly_in_spite_of_latency(strategy):
    """Old pictures of something that moves uniformly say where it is now."""
    thing, feed = watched(replace(EXACT, latency=0.15, jitter=0.1))
    made, wanted = run(feed, strategy, threshold=1e-6)
    grasp = grasp_of(made, wanted, thing)
    tolerance = 2e-3 if isinstance(strategy, SingleShot) else 2e-4  # what the first, zero velocity leaves
    assert made.phase == "finished"
    assert grasp.success
    assert max(grasp.horizontal, grasp.vertical) < tolerance
    assert grasp.speed < 5 * tolerance


@pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # no training motion ends at speed
def test_the_core_plans_as_the_planner_does():
    """The core plans what `HumanLikePlanner.plan` and `replan` plan in Python."""
    thing, feed = watched(MeasurementModel(), speed=0.2)
    order = np.argsort(feed.available)
    made = Interceptor(PLANNER, BELT, START, options=InterceptionOptions(strategy=VariableStructure()))
    plan, seen = None, 0
    for taken, available, p in zip(*(part[order] for part in feed), strict=True):
        made.advance(available)
        made.measure(available, taken, p)
        if len(made.plans) == seen or seen == 12:
            continue
        new, seen = made.plans[-1], len(made.plans)
        if plan is None:
            options = {"goal_velocity": new.velocity, "start_time": new.time}
            plan = PLANNER.plan(START[:3, 3], new.goal, new.arrival - new.time, **options)
        else:
            plan = PLANNER.replan(plan, new.time, new.goal, end_time=new.arrival, goal_velocity=new.velocity)
        assert np.allclose(plan.path.breaks, made.path.breaks, atol=1e-12)
        assert np.allclose(plan.path.points, made.path.points, atol=1e-9)
    assert seen == 12
    assert thing.speed == 0.2


@pytest.mark.parametrize(("continuity", "derivatives"), [("acceleration", 3), ("velocity", 2)])
def test_plans_go_on_where_they_meet(continuity, derivatives):
    _, feed = watched(MeasurementModel())
    made, wanted = run(feed, continuity=continuity)
    assert len(made.plans) > 5
    h = 1e-3
    for k, part in enumerate((wanted.p, wanted.xi[:, :3], wanted.xi_dot[:, :3])):
        for plan in made.plans[1:]:
            i = np.searchsorted(T, plan.time)
            step = np.linalg.norm(part[i] - part[i - 1])
            if k < derivatives:
                assert step < h * (1.5, 20.0, 300.0)[k]


def test_frozen_before_the_arrival():
    _, feed = watched(MeasurementModel(rate=60.0, dropout=0.0))
    made, _ = run(feed, freeze_time=0.14)
    assert made.plans[-1].time <= made.arrival - 0.14
    assert max(plan.time for plan in made.plans) > made.arrival - 0.6


def test_hand_goes_along_while_it_closes_and_lifts():
    _, feed = watched()
    made, wanted = run(feed, closing_time=0.3, lift=0.12, leave_time=0.4)
    closing = (made.arrival <= T) & (made.arrival + 0.299 > T)
    assert np.ptp(wanted.xi[closing, 1]) < 1e-12
    assert np.isclose(wanted.xi[closing, 1][0], 0.26, atol=1e-3)
    goal = made.goal[:3] + 0.3 * made.goal_velocity[:3]
    assert np.allclose(wanted.p[-1], goal + 0.2 * made.goal_velocity[:3] + [0, 0, 0.12], atol=5e-4)  # a period
    assert np.abs(np.diff(wanted.xi[:, :3], axis=0)).max() < 0.02


def test_waits_until_the_object_is_near_in_time():
    _, feed = watched(speed=0.16)
    made, wanted = run(feed, longest_reach=1.0)
    first = made.plans[0]
    assert first.arrival - first.time <= 1.0 < first.arrival - feed.available[5]
    assert np.array_equal(wanted.p[first.time > T], np.tile(START[:3, 3], (int((first.time > T).sum()), 1)))


@pytest.mark.parametrize("strategy", REPLANNING, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(("speed", "reason"), [(0.0, "stopped"), (-0.2, "reversed"), (0.9, "too fast")])
def test_what_stops_turns_back_or_runs_away_is_let_go(strategy, speed, reason):
    _, feed = watched(MeasurementModel(), change_time=0.9, change_speed=speed)
    made, wanted = run(feed, strategy)
    is_safe(made, wanted, reason)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ({"lateral": 0.4}, "out of reach"),
        ({"height": 0.4}, "out of reach"),
        ({"start": 0.5}, "too late"),
        ({"speed": 0.8}, "too fast"),
        ({"speed": 0.01}, "stopped"),
        ({"speed": -0.2}, "reversed"),
    ],
)
def test_what_cannot_be_grasped_is_not_reached_for(target, reason):
    _, feed = watched(duration=1.0, **target)
    made, wanted = run(feed)
    assert (made.phase, made.reason, made.plans) == ("waiting", reason, [])
    assert np.array_equal(wanted.p[-1], START[:3, 3])


def test_leaves_the_workspace_sideways():
    thing, feed = watched()
    away = feed.positions + np.maximum(feed.taken - 0.8, 0.0)[:, None] * [0.25, 0.0, 0.0]
    made, wanted = run(feed._replace(positions=away))
    is_safe(made, wanted, "out of reach")
    assert thing.lateral == 0.0


@pytest.mark.parametrize("strategy", REPLANNING, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("fault", ["nan", "gone", "frozen", "same picture"])
def test_a_source_that_says_nothing_more(strategy, fault):
    _, feed = watched()
    after = feed.taken > 1.0
    last = feed.positions[~after][-1]
    if fault == "nan":
        feed.positions[after] = np.nan
    elif fault == "gone":
        feed = Feed(*(part[~after] for part in feed))
    elif fault == "frozen":
        feed.positions[after] = last
    else:
        feed.positions[after], feed.taken[after] = last, feed.taken[~after][-1]
    made, wanted = run(feed, strategy)
    # the first repeats of a frozen source may look like something that stops
    reasons = ("silent", "stopped", "too late") if fault == "frozen" else ("silent",)
    assert made.reason in reasons
    is_safe(made, wanted, made.reason)


def test_a_short_gap_does_no_harm():
    thing, feed = watched(MeasurementModel(outliers=0.0))
    kept = (feed.taken < 1.0) | (feed.taken > 1.35)
    made, wanted = run(Feed(*(part[kept] for part in feed)))
    assert grasp_of(made, wanted, thing).success


def test_a_source_that_jumps():
    """One wrong picture is nothing; a place that stays elsewhere begins the estimate anew."""
    thing, feed = watched(MeasurementModel(outliers=0.0))
    k = np.searchsorted(feed.taken, 1.0)
    one = feed.positions.copy()
    one[k] += [0.0, 0.3, 0.2]
    made, wanted = run(feed._replace(positions=one))
    assert grasp_of(made, wanted, thing).success
    far = feed.positions.copy()
    far[k:] += [0.5, 0.3, 0.2]
    made, wanted = run(feed._replace(positions=far))
    is_safe(made, wanted, made.reason)
    assert made.reason in ("too late", "out of reach")


def test_without_any_measurement_it_waits():
    made, wanted = run(Feed(np.zeros(0), np.zeros(0), np.zeros((0, 3))))
    assert (made.phase, made.reason) == ("waiting", "no estimate")
    assert np.array_equal(wanted.p[-1], START[:3, 3])


def test_what_is_asked_of_the_hand_stays_within_its_limits():
    for seed in range(10):
        _, feed = watched(MeasurementModel(), seed=seed, speed=0.38)
        _, wanted = run(feed, velocity_limit=0.8, acceleration_limit=6.0)
        assert np.linalg.norm(wanted.xi[:, :3], axis=1).max() < 0.8 + 1e-9
    _, feed = watched(speed=0.38)
    made, wanted = run(feed, velocity_limit=0.3)
    assert made.phase in ("waiting", "aborted")
    assert made.reason in ("too fast", "out of reach", "too late")


def test_step_by_step_is_what_the_schedule_does():
    _, feed = watched(MeasurementModel())
    made, wanted = run(feed)
    again = Interceptor(PLANNER, BELT, START)
    order, k = np.argsort(feed.available, kind="stable"), 0
    p = np.empty_like(wanted.p)
    for i, t in enumerate(T):
        while k < len(order) and feed.available[order[k]] <= t:
            j = order[k]
            T_object = np.eye(4)
            T_object[:3, 3] = feed.positions[j]
            again.take(PoseMeasurement(feed.taken[j], feed.available[j], T_object))
            k += 1
        p[i] = again.reference(t).p
    assert np.array_equal(p, wanted.p)
    assert [plan.arrival for plan in made.plans] == [plan.arrival for plan in again.plans]
    assert again.take(PoseMeasurement(5.0, 5.1, None)) == "nothing seen"
    again.reset()
    assert again.phase == "waiting"
    assert again.plans == []
    assert not again.filter.started


def test_pictures_from_the_future_and_bad_times():
    made = Interceptor(PLANNER, BELT, START)
    assert made.measure(1.0, 1.1, [0, 0, 0]) == "invalid"
    assert made.measure(np.nan, 0.0, [0, 0, 0]) == "invalid"
    assert_refused(
        (lambda: made.advance(np.nan), "...now..."),
        (lambda: made.at(np.inf), "...t must be finite..."),
        (lambda: made.measure(1.0, 0.9, [0, 0]), "...position..."),
    )


def test_turns_the_hand_to_the_grasp():
    poses = HumanLikePlanner(
        FPCA(alignment="path", shrinkage=1.0).fit(turns_from_start(daily_living(20, seed=2, n_subjects=1)))
    )
    c, s = np.cos(0.6), np.sin(0.6)
    grasp = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ START[:3, :3]
    thing, feed = watched(MeasurementModel())
    made = Interceptor(poses, BELT, START, goal_rotation=grasp)
    wanted = made.follow(feed)(T)
    closing = (made.arrival <= T) & (made.arrival + 0.25 > T)
    assert np.allclose(wanted.R[closing], grasp, atol=1e-9)
    assert grasp_of(made, wanted, thing).success
    assert np.allclose(wanted.R[0], START[:3, :3])


def test_planners_that_do_not_fit():
    quick = HumanLikePlanner(PLANNER.fpca, constraints=("position", "velocity"))
    with pytest.raises(ThunderError, match="acceleration"):
        Interceptor(quick, BELT, START)
    Interceptor(quick, BELT, START, options=InterceptionOptions(continuity="velocity"))
    assert_refused(
        (lambda: Interceptor("planner", BELT, START), "...planner..."),
        (lambda: Interceptor(PLANNER, BELT, START, goal_rotation=np.eye(3)), "...goal_rotation..."),
        (lambda: Interceptor(PLANNER, BELT, np.full((4, 4), np.nan)), "...start..."),
    )


def test_measurements_before_the_last_period_are_planned_from_it():
    """A loop that polls now and then, or not in order, never moves the hand back to an older plan."""
    _, feed = watched(MeasurementModel(rate=60.0, jitter=0.1))
    made = Interceptor(PLANNER, BELT, START)
    p, v, seen = [], [], np.zeros(len(feed.taken), dtype=bool)
    for k, t in enumerate(T[:2400]):
        if k % 90 == 0:
            for i in np.flatnonzero(~seen & (feed.available <= t))[::-1]:  # the last ones first
                T_object = np.eye(4)
                T_object[:3, 3] = feed.positions[i]
                made.take(PoseMeasurement(feed.taken[i], feed.available[i], T_object))
                seen[i] = True
        reference = made.reference(t)
        p.append(reference.p)
        v.append(reference.xi[:3])
    steps = np.diff(p, axis=0) - 0.5e-3 * (np.array(v[1:]) + np.array(v[:-1]))  # by the trapezoidal rule
    assert len(made.plans) > 10
    assert np.abs(steps).max() < 2e-6
    assert all(plan.time >= T[0] for plan in made.plans)
    assert (np.diff([plan.time for plan in made.plans]) >= 0.0).all()


def test_a_loop_that_stalls_loses_nothing():
    _, feed = watched()
    ends = []
    for after in (1e-3, 3.0):
        made = Interceptor(PLANNER, BELT, START)
        source = made.follow(feed)
        source(T[T < 2.0])
        assert made.phase == "reaching"
        times = np.arange(2.0, 6.0, 1e-3) if after < 1.0 else np.array([2.0 + after])
        ends.append(np.asarray(source(times).p)[-1])
        made.advance(6.0)
        assert made.phase == "finished"
    assert np.allclose(ends[0], ends[1], atol=1e-12)


def test_time_never_goes_back():
    _, feed = watched()
    made, _ = run(feed)
    assert made.phase == "finished"
    made.advance(0.0)
    assert made.phase == "finished"
    assert made.measure(0.0, -1.0, [0.5, 0.0, 0.1]) != "invalid"  # counts as of now
    made.reset()
    assert made.measure(-1.0, -1.1, [0.5, 0.0, 0.1]) == "started"


def test_results_that_come_at_once_do_not_move_the_arrival():
    """The frequency in (116) has a bound of 100 Hz: two results a microsecond apart are none of a megahertz."""
    made = Interceptor(PLANNER, BELT, START, options=InterceptionOptions(threshold=1e-6))
    for k in range(24):
        taken = k / 15.0
        for late in (0.1, 0.100001):
            made.measure(taken + late, taken + 1e-3 * (late > 0.1), [0.5, -0.55 + 0.26 * taken, 0.1])
    assert len(made.plans) > 10
    assert np.ptp([plan.arrival for plan in made.plans[3:]]) < 0.1


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("gate", [0.999, None])
def test_whatever_comes_the_reference_is_within_limits(strategy, gate):
    rng = np.random.default_rng(3)
    for _ in range(15):
        camera = MeasurementModel(
            rate=rng.choice([5, 15, 60]), latency=rng.choice([0.0, 0.1, 1.5]), jitter=rng.choice([0.0, 0.3]),
            noise=rng.choice([0.0, 0.03]), outliers=rng.choice([0.0, 0.3]), outlier_size=rng.choice([0.06, 1e3]),
        )  # fmt: skip
        _, feed = watched(camera, change_time=rng.uniform(0.2, 2.5), change_speed=rng.uniform(-0.5, 0.8))
        k = rng.integers(1, len(feed.taken))
        spoilt = rng.choice([0.0, np.nan, -1e300, 1.7e308])
        feed.positions[k:] += spoilt if np.isnan(spoilt) else spoilt * (-1.0) ** np.arange(len(feed.taken) - k)[:, None]
        options, filter = InterceptionOptions(strategy=strategy), ConstantVelocityFilter(gate=gate)
        made = Interceptor(PLANNER, BELT, START, filter=filter, options=options)
        wanted = made.follow(feed)(T[::4])
        assert all(np.isfinite(part).all() for part in wanted)
        assert np.linalg.norm(wanted.xi[:, :3], axis=1).max() < 1.1
        assert np.linalg.norm(wanted.xi_dot[:, :3], axis=1).max() < 2.0 * 8.0
        assert wanted.p[:, 2].min() > BELT.low[2] - 0.01


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
def test_the_hand_must_have_closed_inside_the_box(strategy):
    """At p_ref it meets either object inside, but what it closes on at 0.5 m/s is then 2.5 cm outside."""
    short = Belt(BELT.reference, BELT.low, (0.6, 0.1, 0.35), offset=BELT.offset)
    for speed, reaches in ((0.3, True), (0.5, False)):
        _, feed = watched(speed=speed)
        made = Interceptor(PLANNER, short, START, options=InterceptionOptions(strategy=strategy, threshold=0.03))
        wanted = made.follow(feed)(T)
        assert bool(made.plans) is reaches
        if reaches:
            closing = (made.arrival <= T) & (made.arrival + 0.25 > T)
            assert closing.any()
            assert wanted.p[closing, 1].max() < 0.1
        else:
            assert (made.phase, made.reason) == ("waiting", "too late")
            assert np.array_equal(wanted.p[-1], START[:3, 3])
