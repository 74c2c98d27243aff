import numpy as np
import pytest

from thunder_py.motion.planning.obstacles import ViaSearch
from thunder_py.papers.human_like.planners import Learned, default_recordings
from thunder_py.papers.human_like.sampling import HumanLikeSampling, Samples, run_human_like_sampling
from thunder_py.papers.human_like.scenarios import FAMILIES, scenarios
from thunder_py.recordings.metrics import mean_jerk

COUNTS = (3, 30, 300)
SETTINGS = 12


@pytest.fixture(scope="module")
def learned() -> Learned:
    return Learned(default_recordings(quick=True))


@pytest.fixture(scope="module")
def found(learned: Learned) -> HumanLikeSampling:
    return run_human_like_sampling(SETTINGS, counts=COUNTS, recordings=learned.recordings)


@pytest.mark.release
def test_more_candidates_fail_less_and_have_less_jerk(found: HumanLikeSampling) -> None:
    every = [found.samples["paper mode", family] for family in FAMILIES]
    failures = np.mean([one.failures for one in every], axis=0)
    assert failures[0] > failures[2] == 0.0
    assert np.median([np.median(one.solved[2] / one.solved[0]) for one in every]) < 0.9


@pytest.mark.release
def test_failures_are_at_most_one_in_five_hundred(learned: Learned) -> None:
    once = run_human_like_sampling(150, seed=9, counts=(1000,), searches=("MAP",), recordings=learned.recordings)
    assert all(once.samples["MAP", family].failures[0] <= 0.002 for family in FAMILIES)


@pytest.mark.release
def test_jerk_is_that_of_the_planner(learned: Learned, found: HumanLikeSampling) -> None:
    scene = scenarios(2, 1)[0]
    plan = learned.paper.plan(
        scene.start, scene.goal, scene.duration, obstacles=scene.spheres, margin=scene.margin, via=ViaSearch.paper(300)
    )
    assert plan.clearance > scene.margin - 1e-9
    assert found.samples["paper mode", 2].jerk[2, 0] == pytest.approx(mean_jerk(plan), rel=1e-3)


def test_failures_and_what_all_solve() -> None:
    nan = float("nan")
    jerk = np.array([[nan, 1.0, nan, 2.0], [3.0, 4.0, nan, 5.0]])
    one = Samples(counts=(1, 2), seconds=np.ones((2, 4)), jerk=jerk, tried=np.ones((2, 4), dtype=np.int64))
    np.testing.assert_array_equal(one.failures, [0.5, 0.25])
    np.testing.assert_array_equal(one.solved, [[1.0, 2.0], [4.0, 5.0]])
