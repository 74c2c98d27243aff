import pickle
from dataclasses import replace

import numpy as np
import pytest

from thunder_py.manipulation.interception import (
    BeltObject,
    ConstantVelocityFilter,
    InterceptionOptions,
    Interceptor,
    MeasurementModel,
    SingleShot,
)
from thunder_py.manipulation.interception.runs import default_belt, default_planner
from thunder_py.manipulation.interception.verdict import Sighting, _Track

BELT, PLANNER = default_belt(), default_planner()
START = np.eye(4)
START[:3, :3] = np.diag([1.0, -1.0, -1.0])
START[:3, 3] = [0.45, 0.0, 0.5]
END = np.array([0.0, 5.0])  # of the times of a run [s]
# speeds and rates other than those with which the rule was developed (0.26 m/s, 15 Hz)
CAMERAS = [(0.2, 8.0), (0.33, 40.0)]


def run(feed, **options):
    made = Interceptor(PLANNER, BELT, START, options=InterceptionOptions(**options))
    made.follow(feed)(END)
    return made


def watched(speed, rate, seed, **target):
    thing = BeltObject(BELT, start=-0.55, speed=speed, ripple=0.03, **target)
    camera = MeasurementModel(rate=rate, dropout=0.1, outliers=0.02)
    return camera.watch(thing, 5.0, np.random.default_rng(seed))


def before_contact(speed, rate, seed):
    return run(watched(speed, rate, seed)).arrival - 0.1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("speed", "rate"), CAMERAS)
@pytest.mark.parametrize(("after", "reason"), [(-1.0, "reversed"), (0.0, "stopped")])
def test_reverses_or_stops_just_before_contact(speed, rate, seed, after, reason):
    t = before_contact(speed, rate, seed)
    made = run(watched(speed, rate, seed, change_time=t, change_speed=after * speed))
    assert (made.phase, made.reason) == ("missed", reason)


@pytest.mark.parametrize(("speed", "rate"), CAMERAS)
@pytest.mark.parametrize("fault", ["nan", "gone", "frozen"])
def test_vanishes_just_before_contact(speed, rate, fault):
    feed, t = watched(speed, rate, 0), before_contact(speed, rate, 0)
    late = feed.taken > t
    if fault == "gone":
        feed = feed._replace(taken=feed.taken[~late], available=feed.available[~late], positions=feed.positions[~late])
    else:
        feed.positions[late] = np.nan if fault == "nan" else feed.positions[~late][-1]
    made = run(feed)
    assert (made.phase, made.reason) == ("missed", "silent")
    covered = run(feed, longest_silence=np.inf)  # the hand covers the camera's view
    assert (covered.phase, covered.reason) == ("finished", "none")


def test_moves_sideways_just_before_contact():
    feed, t = watched(0.33, 40.0, 0), before_contact(0.33, 40.0, 0)
    feed.positions[:] += np.maximum(feed.taken - t, 0.0)[:, None] * [0.3, 0.0, 0.0]
    made = run(feed)
    assert (made.phase, made.reason) == ("missed", "elsewhere")


def test_a_single_plan_that_misses():
    """Without replanning the hand closes where a bad first estimate led it; the later pictures show that."""
    made = run(watched(0.33, 40.0, 1, change_time=0.8, change_speed=0.25), strategy=SingleShot())
    assert (made.phase, made.reason) == ("missed", "elsewhere")


@pytest.mark.parametrize(("speed", "rate"), CAMERAS)
@pytest.mark.parametrize("carried", [False, True])
def test_no_false_alarm(speed, rate, carried):
    """Objects that go on as before, or that move with the hand once it has closed, with slip and outliers."""
    for seed in range(3):
        feed = watched(speed, rate, seed)
        made = run(feed)
        if carried:
            after = feed.taken > made.arrival + 0.25
            hand = made.path.sample(np.minimum(feed.taken[after], made.path.end))
            expected = (
                made.goal + 0.25 * made.goal_velocity + (feed.taken[after, None] - made.arrival - 0.25) * [0, speed, 0]
            )
            feed.positions[after] += hand - expected + [0.015, -0.01, 0.0]
            made = run(feed)
        assert (made.phase, made.reason) == ("finished", "none")


def test_one_wrong_picture_is_an_outlier_two_that_agree_are_not():
    camera = MeasurementModel(rate=15.0, dropout=0.0, outliers=0.0)
    feed = camera.watch(BeltObject(BELT, start=-0.55, speed=0.26), 5.0, np.random.default_rng(0))
    t = run(feed).arrival
    closing = np.flatnonzero((feed.taken > t) & (feed.taken < t + 0.25))
    wrong = feed.positions.copy()
    wrong[closing[0]] += [0.1, -0.2, 0.05]
    wrong[closing[2]] += [-0.1, -0.1, -0.05]
    assert run(feed._replace(positions=wrong)).reason == "none"
    gone = feed.taken > t - 0.05
    back = feed.positions - 0.52 * np.maximum(feed.taken - t + 0.05, 0.0)[:, None] * [0.0, 1.0, 0.0]
    back[closing[2] :] = np.nan
    assert gone[closing].all()
    made = run(feed._replace(positions=back))
    assert (made.phase, made.reason) == ("missed", "reversed")


def test_measured_by_hand_as_by_a_schedule_and_copied():
    t = before_contact(0.26, 15.0, 0)
    feed = watched(0.26, 15.0, 0, change_time=t, change_speed=-0.26)
    made = Interceptor(PLANNER, BELT, START)
    events = sorted(zip(feed.available, feed.taken, feed.positions, strict=True), key=lambda event: event[0])
    reasons = {}
    for available, taken, position in events:
        made.advance(available)
        reasons[made.phase.value] = made.reason.value
        made.measure(available, taken, position)
    assert reasons["reaching"] == reasons["closing"] == "none"
    assert reasons["missed"] == "reversed"
    again = pickle.loads(pickle.dumps(made))
    assert (again.phase, again.reason) == ("missed", "reversed")
    again.reset()
    assert (again.phase, again.reason) == ("waiting", "no estimate")


@pytest.mark.parametrize("process", ["continuous", "discrete", "paper"])
def test_track_is_the_filter(process):
    """An independent filter, in NumPy, agrees with the core's to rounding."""
    rng = np.random.default_rng(0)
    R = np.diag([1e-5, 2e-5, 3e-5])
    core = ConstantVelocityFilter(R, process=process, intensity=0.02, gate=None)
    core.update(0.0, [0.0, 0.0, 0.0])
    core.update(0.1, [0.01, 0.02, 0.0])
    track = _Track(core, core.time, *core.estimate())
    for t in (0.13, 0.21, 0.4):
        z = np.array([0.1, 0.2, 0.0]) * t + 0.003 * rng.standard_normal(3)
        track = track.after(Sighting(t, t, z))
        core.update(t, z)
    for made, wanted in zip((track.to(0.3).x, track.to(0.3).P), core.estimate(0.3), strict=True):
        assert np.allclose(made, wanted, rtol=1e-9, atol=1e-14)


def test_a_picture_far_away_costs_no_more_than_an_outlier():
    core = ConstantVelocityFilter(0.004)
    core.update(0.0, [0.0, 0.0, 0.0])
    track = _Track(core, core.time, *core.estimate())
    wild = track.after(Sighting(0.1, 0.1, np.array([9.0, 9.0, 9.0])))
    assert np.array_equal(wild.x, track.x)
    assert replace(wild, cost=0.0).time == 0.0
    assert np.isclose(wild.cost, 16.266)
