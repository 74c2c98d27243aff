"""Table 16 over unprinted quantities, and readings of its single plan."""

import numpy as np
import pytest

from thunder_py.manipulation.interception import Conveyor, InterceptionOptions, SingleShot, TimeAugmentation
from thunder_py.manipulation.interception.runs import Scenario, run_conveyor
from thunder_py.papers.moving_objects.run import SPEEDS
from thunder_py.papers.moving_objects.sweeps import DEPARTURES, closes_on, grasped_once, plans_of, table_16


def single(speed: float, **options: float) -> Scenario:
    return Scenario(conveyor=Conveyor(speed), options=InterceptionOptions(strategy=SingleShot(), **options))


@pytest.mark.parametrize(("strategy", "entry", "pictures"), [(TimeAugmentation(), 0.36, 5), (SingleShot(), 0.55, 8)])
def test_grasps_follow_from_the_plans(strategy, entry, pictures):
    """The planned point moves with the planned velocity after the arrival, as in the whole run."""
    options = InterceptionOptions(strategy=strategy, least_updates=pictures)
    scenario = Scenario(conveyor=Conveyor(0.38, entry=entry), options=options)
    outcomes = []
    for seed in range(8):
        target, feed = scenario.world(seed)
        plans = plans_of(scenario, feed)
        outcomes.append(bool(plans) and closes_on(plans[-1], scenario, target))
        assert outcomes[-1] == run_conveyor(seed, scenario).success
    assert 0 < sum(outcomes) < 8


@pytest.mark.release
def test_the_framework_is_the_plan_after_five_pictures():
    scenario = single(0.38)
    assert [grasped_once(scenario, k) for k in range(10)] == [run_conveyor(k, scenario).success for k in range(10)]


@pytest.mark.release
def test_departures_make_a_difference():
    scenario = single(0.26)
    shares = {
        name: np.mean([grasped_once(scenario, seed, 0.25, name) for seed in range(8)])
        for name in DEPARTURES
        if name not in ("latency not compensated", "filter certain of v = 0")
    }
    assert shares["goal where the object is seen"] == 0.0
    assert shares["hand waits at rest"] < shares["hand waits at rest, tolerance 40 mm"]
    assert shares["arm late by 0.1 s"] < shares["none"]


@pytest.mark.release
def test_later_plans_of_slow_objects_are_better():
    """The error of the velocity times the time that is left."""
    shares = [np.mean([grasped_once(single(0.16, longest_reach=t), k) for k in range(8)]) for t in (2.0, 1.25, 0.75)]
    assert shares[0] < shares[1] <= shares[2]


@pytest.mark.release
def test_a_short_view_or_a_late_plan_moves_the_table():
    cells = table_16(runs=3, entry=0.3)
    assert list(cells) == [f"{row}, {speed:g} m/s [%]" for row in ("replan", "no replan") for speed in SPEEDS]
    assert cells["replan, 0.38 m/s [%]"] < 50.0 < cells["replan, 0.16 m/s [%]"]
    late = table_16(runs=3, wait=1.0)
    assert late["no replan, 0.16 m/s [%]"] > cells["no replan, 0.16 m/s [%]"]
