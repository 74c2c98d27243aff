"""The experiment of the elastic wrist: its numbers hang together, its table and figures show them."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests import truth
from thunder_py.errors import ThunderError
from thunder_py.papers.elastic_wrist import run as elastic_wrist
from thunder_py.papers.registry import REGISTRY


@pytest.fixture(scope="module")
def found():
    """One good seed of the release is enough."""
    return elastic_wrist.run_elastic_wrist(seeds=(12,), sweep=13, cells=30, starts=1, plan_cells=60, turning=(False,))


def test_is_registered():
    assert REGISTRY["elastic-wrist"] == "elastic_wrist.run"


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


def test_table_and_results(found):
    table = found.table()
    for text in ("22.8", "23.52", "one switch until T", "Panda and elastic wrist", "hand fixed", "(D-18)"):
        assert text in table
    results = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert results["arm"][0]["gain"] == found.arms[0].gain
    assert len(results["sweep"]["omega0_T"]) == found.times.size


def test_figures(found):
    for figure, panels in ((found.plot(), 6), (found.plot_arms(), 3 * len(found.arms))):
        assert len(figure.axes) == panels
        assert all(panel.has_data() for panel in figure.axes)
    titles = {name: ax.get_title() for name, ax in found.beyond.plot().items()}
    assert titles == {"control": "motor and switching function", "motion": "motion", "phase": "phase portrait"}
    plt.close("all")


def test_a_sweep_has_at_least_two_times():
    with pytest.raises(ThunderError, match="sweep must be a whole number of at least 2, got -3"):
        elastic_wrist.run_elastic_wrist(sweep=-3)
