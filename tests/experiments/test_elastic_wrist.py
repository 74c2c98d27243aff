import numpy as np
import pytest

from tests import truth
from thunder_py.papers.elastic_wrist import run as elastic_wrist

pytestmark = pytest.mark.release  # what it computes is tested in tests/manipulation/test_wrist_*.py


@pytest.fixture(scope="module")
def found():
    """One good seed of the release is enough."""
    return elastic_wrist.run_elastic_wrist(
        seeds=(12,), sweep=13, cells=30, starts=1, plan_cells=60, turning=(False,), targets=(("iiwa14", "ur5e"), 1, 1)
    )


def test_cases_have_the_numbers_of_the_truth(found):
    """The first case is the first one of the truth vectors."""
    entry = truth.load("elastic_wrist")["physical"][0]
    case = found.cases[0]
    assert abs(case.throw.switches[0] - entry["t1_direct"]) < 1e-6
    assert abs(case.throw.speed - entry["qdT_direct"]) < 1e-6
    assert abs(case.printed.speed - entry["symmetric_u_qdT"]) < 1e-6
    np.testing.assert_allclose(case.simulated, [entry["nonlinear79_qT"], entry["nonlinear79_qdT"]], atol=1e-6)
    assert all(one.throw.agrees() for one in found.cases)


def test_sweep_parts_at_the_limit(found):
    within = found.times < np.pi + np.arccos(1.0 / 3.0) + 1e-9
    np.testing.assert_allclose(found.one[within], found.free[within], rtol=1e-10)
    past = ~within & np.isfinite(found.one)
    assert past.any()
    assert (found.free[past] > found.one[past]).all()
    assert (np.diff(found.free) > 0.0).all()


def test_ways_of_base_and_wrist_are_in_order(found):
    speeds = list(found.together.speeds.values())
    assert speeds[0] <= speeds[1] + 1e-9
    assert speeds[6] > speeds[4] > speeds[2]
    assert found.together.full.defect < 1e-4


def test_arm_gains_what_the_wrist_gives(found):
    arm = found.arms[0]
    linear = elastic_wrist.TIP * arm.rates["linear optimum (80), base at rest"]
    assert abs(arm.gain / linear - 1.0) < 0.05
    slower = [arm.releases[f"planned, motor at most {rate:g} rad/s"].speed for rate in (40.0, 20.0, 10.0)]
    assert np.all(np.diff([arm.releases["planned for the arm's motion"].speed, *slower]) < 0.0)
    assert arm.releases["planned, arm's torques clipped"].effort <= 1.0 + 1e-12


def test_throws_at_targets_are_in_the_table(found):
    assert [case.arm for case in found.targets] == ["iiwa14", "ur5e"]
    for case in found.targets:
        assert case.misses.max() < 0.03
        assert case.misses.max() < case.misses_nominal.max()
        assert max(case.efforts.max(), case.velocities.max()) < 1.0
    rows = found.table().split("Throws at targets")[1]
    assert all(case.arm in rows for case in found.targets)
    assert found.to_dict()["targets"][1]["misses"] == found.targets[1].misses.tolist()
