"""The papers' closed loops on MuJoCo's plant: as on ours, and why not exactly."""

import numpy as np
import pytest

from thunder_py.control import Status
from thunder_py.papers.mujoco import run as mujoco_plants
from thunder_py.papers.mujoco.run import LAST, OURS, PLANTS, MujocoPlants, article_cases, joint_cases

from .quick import quick

pytestmark = pytest.mark.release  # all robots, on MuJoCo and on ours


@pytest.fixture(scope="module")
def found() -> MujocoPlants:
    return quick("mujoco")


def test_every_robot_agrees_to_1e_9(found: MujocoPlants) -> None:
    assert len(found.agreements) == 8
    for agreement in found.agreements.values():
        assert max(agreement.values()) < 1e-9


def test_loops_end_where_they_end_on_our_plant(found: MujocoPlants) -> None:
    assert [case.group for case in found.cases].count("D4.2 joints") == 4
    for k, case in enumerate(found.cases):
        ours, theirs = found.results[k][OURS], found.results[k][LAST]
        assert Status.diverged not in (ours.status[-1], theirs.status[-1])
        numbers = found.numbers(k, LAST)
        assert numbers["steady_state"] == pytest.approx(found.numbers(k, OURS)["steady_state"], rel=0.02)
        assert 0.0 < numbers["torque_difference"] < 0.1
        assert (numbers["estimate_difference"] is None) == (not case.adapts)
        np.testing.assert_allclose(theirs.q, ours.q, atol=0.05)  # a soft wrist with dry friction is farthest


def test_the_difference_is_the_integrators(found: MujocoPlants) -> None:
    """Half the step, half the difference; and with the same integrator nothing is left."""
    assert list(found.distances) == ["article, adaptive", "D4.2 joints, MACT"]
    for distances in found.distances.values():
        assert distances[1, 1] == pytest.approx(0.5 * distances[0, 1], rel=0.2)  # Coulomb friction is not smooth
        assert (distances[:, 0] < distances[:, 1]).all()
    rubbing = joint_cases()[3]
    ours, same = (mujoco_plants.run_case(rubbing, plant, 1.0) for plant in PLANTS[:2])
    assert np.abs(same.q - ours.q).max() < 2e-3  # stiff friction of a plant in Python is integrated explicitly
    case = article_cases()[0]
    ours, same, own = (mujoco_plants.run_case(case, plant, 1.0) for plant in PLANTS[:3])
    assert np.abs(same.q - ours.q).max() < 1e-9
    assert np.abs(own.q - ours.q).max() < 1e-9
