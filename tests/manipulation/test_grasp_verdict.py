import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.manipulation import GraspFailure, GraspJudge

DT = 0.01


def judged(rows, **options):
    """Return the verdict on (seconds, height, contacts) one after the other, above a surface at 0.2 m."""
    judge, t = GraspJudge(0.2, **options), 0.0
    for seconds, height, touching in rows:
        for _ in range(round(seconds / DT)):
            judge.update(t, 0.2 + height, touching)
            t += DT
    return judge.verdict


LYING, BOTH = (0.5, 0.0, {"belt"}), (0.2, 0.0, {"belt", "hand"})


@pytest.mark.parametrize(
    ("rows", "failure"),
    [
        ([LYING], GraspFailure.missed),
        ([LYING, BOTH, LYING], GraspFailure.not_lifted),
        ([LYING, BOTH, (2.0, 0.05, {"hand"})], GraspFailure.too_low),
        ([LYING, BOTH, (0.5, 0.12, {"hand"}), (0.5, 0.05, set()), LYING], GraspFailure.dropped),
        ([LYING, BOTH, (0.5, 0.12, {"hand"})], GraspFailure.too_short),
        ([LYING, BOTH, (2.0, 0.12, {"hand", "shelf"})], GraspFailure.not_lifted),
        ([LYING, BOTH, (0.9, 0.12, {"hand"}), (0.05, 0.12, set()), (0.9, 0.12, {"hand"})], GraspFailure.too_short),
    ],
)
def test_failures(rows, failure):
    verdict = judged(rows)
    assert not verdict.success
    assert verdict.failure is failure
    assert np.isnan(verdict.time)


def test_success_is_a_whole_hold_by_the_hand_alone():
    verdict = judged([LYING, BOTH, (0.2, 0.05, {"hand"}), (1.1, 0.12, {"hand"}), (1.0, -0.5, set())])
    assert verdict.success
    assert verdict.failure is None
    assert verdict.lift == pytest.approx(0.12)
    assert verdict.held == pytest.approx(1.09)
    assert verdict.time == pytest.approx(0.5 + 0.2 + 0.2 + 1.0)
    assert judged([BOTH, (0.6, 0.06, {"hand"})], lift=0.05, hold=0.5).success


def test_a_lost_contact_of_one_sample_does_not_interrupt_a_hold():
    rows = [LYING, BOTH, *[(0.1, 0.12, {"hand"}), (DT, 0.12, set())] * 10]
    assert judged(rows).success


def test_refusals():
    assert_refused(
        (lambda: GraspJudge(0.0, lift=0.0), "...lift..."),
        (lambda: GraspJudge(float("nan")), "...surface..."),
    )
