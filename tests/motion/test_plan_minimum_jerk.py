"""A full share of the minimum-jerk prior plans minimum jerk, whatever the states at the ends."""

import numpy as np
import pytest

from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.trajectory import minimum_jerk

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

DURATION = 1.7
TIMES = np.linspace(0.0, DURATION, 101)


@pytest.mark.parametrize("joint", [True, False])
def test_full_share_is_the_quintic(joint: bool) -> None:
    motions = minimum_jerk_reaches(12, seed=3, boundary_velocity=0.1, boundary_acceleration=0.5, noise=1e-4)
    planner = HumanLikePlanner(FPCA(joint=joint, alignment="path", shrinkage=1.0).fit(motions))
    assert planner.training_span == np.inf
    for a, b, v, w, c, d in np.random.default_rng(4).normal(scale=0.4, size=(20, 6, 3)):
        rates = {"start_velocity": v, "goal_velocity": w, "start_acceleration": c, "goal_acceleration": d}
        plan, quintic = planner.plan(a, b, DURATION, **rates), minimum_jerk(a, b, DURATION, **rates)
        np.testing.assert_allclose(plan.position(TIMES), quintic.position(TIMES), atol=1e-7)
        np.testing.assert_allclose(plan.position(TIMES, 3), quintic.position(TIMES, 3), atol=1e-3)
