import matplotlib
import numpy as np
import pytest

from thunder_py.manipulation.interception import Conveyor, InterceptionOptions, TimeAugmentation
from thunder_py.manipulation.interception.runs import RunSummary, Scenario, run_conveyor
from thunder_py.papers.moving_objects.run import PRINTED_JERK, SPEEDS, VARIANTS, Cell, MovingObjects, run_moving_objects
from thunder_py.trajectory import minimum_jerk

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def found() -> MovingObjects:
    return run_moving_objects(arm_seeds=1, point_seeds=10, variant_seeds=1)


@pytest.mark.release
def test_intervals_of_replanning_and_not_do_not_overlap(found):
    for speed in SPEEDS:
        once = found.point["no replan", speed].interval
        for name in ("variable structure", "time augmentation"):
            assert found.point[name, speed].interval[0] > once[1]


@pytest.mark.release
def test_half_of_fast_objects_that_are_seen_late_are_missed():
    """As in Table 16; the report does not print where its camera sees an object first."""
    options = InterceptionOptions(strategy=TimeAugmentation())
    shares = []
    for speed in SPEEDS:
        scenario = Scenario(Conveyor(speed, entry=0.36), options=options)
        shares.append(np.mean([run_conveyor(seed, scenario).outcome == "grasped" for seed in range(12)]))
    assert min(shares[:2]) > 0.9
    assert 0.25 < shares[2] < 0.75


@pytest.mark.parametrize("hits", [0, 7, 10])
def test_wilson_interval_by_its_formula(hits):
    runs = tuple(RunSummary(k < hits, "", 1, 0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0) for k in range(10))
    z, p, n = 1.959963984540054, hits / 10, 10
    middle, half = (p + z * z / 2 / n), z * np.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    expected = np.array([middle - half, middle + half]) / (1 + z * z / n)
    assert np.allclose(Cell(runs).interval, expected, rtol=1e-9, atol=1e-15)
    assert Cell(runs).rate == p


def test_the_printed_filter_never_lets_the_hand_start():
    options, filter = VARIANTS["replan, noise as printed, P_v = 0"]
    for speed in SPEEDS:
        scenario = Scenario(Conveyor(speed), options=options, filter=tuple(filter.items()))
        assert [run_conveyor(seed, scenario).outcome for seed in range(4)] == ["stopped"] * 4


def test_printed_jerk_is_too_small_for_any_reach():
    """23.09 D / T^3 is the mean of a minimum-jerk reach, the motion with the least jerk in the mean square."""
    plan = minimum_jerk([0.0, 0.0, 0.0], [0.0, 0.0, 0.33], 2.0)
    t = np.linspace(0.0, 2.0, 4001)
    jerk = np.abs(plan.position(t, 3)[:, 2])
    assert np.isclose(jerk.mean(), 23.09 * 0.33 / 8.0, rtol=0.01)
    assert max(PRINTED_JERK.values()) < 0.01 * jerk.mean()
