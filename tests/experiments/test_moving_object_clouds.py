import numpy as np
import pytest

from thunder_py.manipulation.interception import InterceptionOptions, SingleShot
from thunder_py.papers.moving_objects import clouds
from thunder_py.papers.moving_objects.clouds import KINDS, OPENING, CloudTrial, MovingObjectClouds, run_trial


def trial(kind: str, speed: float, success: bool) -> CloudTrial:
    return CloudTrial(kind, speed, success, "grasped" if success else "beside", 40, 39, 0.003, 0.005, 0.01, 2)


@pytest.fixture(scope="module")
def found() -> MovingObjectClouds:
    kinds = tuple(KINDS)
    return MovingObjectClouds(
        trials=tuple(trial(kinds[k % 6], clouds.SPEEDS[k % 3], kinds[k % 6] != "cube, 6 cm") for k in range(12))
    )


@pytest.mark.parametrize("kind", KINDS.values())
def test_every_object_fits_between_aligned_fingers(kind):
    assert kind.extent(0.0) < OPENING


def test_width_is_that_of_the_turned_rectangle():
    kind = KINDS["carton, 16 x 6 x 6 cm"]
    angle = 0.4
    corners = np.array([[x, y] for x in (-0.08, 0.08) for y in (-0.03, 0.03)])
    across = np.array([np.sin(angle), np.cos(angle)])
    assert np.isclose(kind.extent(angle), np.ptp(corners @ across))
    assert kind.extent(0.2) < OPENING < kind.extent(0.4)
    assert KINDS["ball, 7 cm"].extent(1.0) == 0.07


@pytest.mark.parametrize(
    ("yaws", "truth", "turned"),
    [([0.1, np.nan], 0.3, 0.2), ([0.5, 3.3], 0.3, np.pi - 3.0), ([], 0.1, 0.1), ([1.0, 0.2], 0.9, 0.7)],
)
def test_orientation_is_compared_with_the_last_known_yaw(yaws, truth, turned):
    assert clouds._turned(np.array(yaws), truth, np.pi) == pytest.approx(turned)
    assert np.isnan(clouds._turned(np.array(yaws), truth, 0.0))


@pytest.mark.release
def test_a_trial_from_clouds_ends_with_a_grasp():
    result = run_trial(30, arm=False)
    assert result.kind == "carton, 16 x 6 x 6 cm"
    assert result.success
    assert result.outcome == "grasped"
    assert result.detections >= result.pictures - 2
    assert result.error < 0.012  # calibration error of millimeters included
    assert result.yaw_error < np.radians(3.0)
    assert result.plans >= 1


@pytest.mark.release
def test_the_outcome_depends_on_the_strategy():
    once = run_trial(2, InterceptionOptions(strategy=SingleShot()), arm=False)
    again = run_trial(2, arm=False)
    assert once.speed == again.speed == 0.38
    assert (once.error, once.detections) == (again.error, again.detections)
    assert once.plans == 1
    assert not once.success


def test_groups_of_figure_38(found):
    groups = found.groups()
    assert [len(groups[name]) for name in ("all", "box-like", "others")] == [12, 6, 6]
    assert clouds.rate(groups["cube, 6 cm"]) == 0.0
    assert clouds.rate(groups["others"]) == 1.0
