import dataclasses

import numpy as np
import pytest

from thunder_py.errors import NoPathError
from thunder_py.geometry import Sphere
from thunder_py.motion.planning.obstacles import clearance
from thunder_py.papers.human_like.obstacles import (
    METHODS,
    HumanLikeObstacles,
    attempt,
    compare_gains,
    methods,
    run_human_like_obstacles,
)
from thunder_py.papers.human_like.planners import Learned, as_path, default_recordings
from thunder_py.papers.human_like.scenarios import FAMILIES, MARGIN, Scenario, scenarios
from thunder_py.trajectory import minimum_jerk

COUNT = 3
PLANNED = ("paper mode", "MAP", "minimum jerk, via", "(102), via as MAP", "MAP, via as paper")
PRIMITIVES = ("DMP mollifier", "DMP Gaussian")


@pytest.fixture(scope="module")
def learned() -> Learned:
    return Learned(default_recordings(quick=True))


@pytest.fixture(scope="module")
def found(learned: Learned) -> HumanLikeObstacles:
    return run_human_like_obstacles(COUNT, learned.recordings)


def table_cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


@pytest.mark.parametrize("name", METHODS)
def test_clearance_is_that_of_dense_samples(learned: Learned, name: str) -> None:
    method = methods(learned)[name]
    for family in FAMILIES:
        scene = scenarios(family, 1, seed=5)[0]
        measured, motion = attempt(method, scene)
        assert motion is not None
        sampled = scene.distance(motion.position(np.linspace(0.0, scene.duration, 20_001))).min()
        assert measured.clearance <= sampled + 1e-7
        assert measured.clearance == pytest.approx(sampled, abs=2e-4)


@pytest.mark.release
@pytest.mark.parametrize("name", PLANNED)
def test_planned_paths_are_proved_free_and_end_at_the_goal(found: HumanLikeObstacles, name: str) -> None:
    error, jerk, room, length, _ = found.values(name).T
    assert len(error) == COUNT * len(FAMILIES)
    assert error.max() < 1e-13
    assert room.min() > MARGIN - 1e-9
    straight = [scene.length for family in FAMILIES for scene in found.scenes[family]]
    assert (length > straight).all()
    assert (length < 2.0 * np.array(straight)).all()
    assert jerk.min() > 0.15


@pytest.mark.release
def test_the_straight_way_is_blocked_and_primitives_end_beside(found: HumanLikeObstacles) -> None:
    straight = found.values("minimum jerk")
    assert np.mean(straight[:, 2] < MARGIN) > 0.9
    for name in PRIMITIVES:
        error, _, room, _, _ = found.values(name).T
        assert error.min() > 1e-5
        assert error.max() < 0.05
        assert room.min() > MARGIN


@pytest.mark.release
def test_jerk_of_the_straight_quintic_is_known(found: HumanLikeObstacles) -> None:
    for family, scenes in found.scenes.items():
        known = [40.0 / 3.0 * np.sqrt(3.0) * s.length / s.duration**3 for s in scenes]
        np.testing.assert_allclose(found.values("minimum jerk", family)[:, 1], known, rtol=1e-4)


@pytest.mark.release
def test_no_path_is_counted_and_left_out(found: HumanLikeObstacles) -> None:
    def hopeless(scene: Scenario) -> None:
        raise NoPathError("none")

    nothing, motion = attempt(hopeless, found.scenes[1][0])
    assert motion is None
    assert not nothing.found
    attempts = dict(found.attempts)
    attempts["MAP", 1] = [nothing, *attempts["MAP", 1][1:]]
    with_failure = dataclasses.replace(found, attempts=attempts)
    cells = {row[0]: row for row in table_cells(with_failure._avoidance())}
    assert float(cells["MAP"][2]) == pytest.approx(100.0 / (COUNT * len(FAMILIES)), rel=1e-2)
    assert float(cells["paper mode"][2]) == 0.0
    pairs = [row[2] for row in table_cells(with_failure._tests()) if row[0] == "MAP / paper mode"]
    assert pairs == [str(COUNT - 1), *[str(COUNT)] * 3]


def test_quintics_in_between_meet_the_motion() -> None:
    motion = minimum_jerk([0.0, 0.1, 0.0], [1.0, -0.3, 0.4], 2.0, start_velocity=[0.0, 0.3, 0.1])
    path = as_path(motion, 3)
    t = np.linspace(0.0, 2.0, 101)
    for order in range(4):
        np.testing.assert_allclose(path.sample(t, order), motion.position(t, order), atol=1e-9)
    sphere = Sphere([0.5, 0.0, 0.2], 0.1)
    dense = sphere.distance(motion.position(np.linspace(0.0, 2.0, 5001))).min()
    assert clearance(path, [sphere]).distance == pytest.approx(dense, abs=1e-6)


@pytest.mark.release
def test_larger_gains_keep_farther_away(learned: Learned) -> None:
    for values in compare_gains(learned, 1, (0.0, 0.05, 0.5)).values():
        assert values.shape == (3, 3)
        assert values[0, 0] == 1.0 > values[1, 0] >= values[2, 0]
        assert values[0, 1] < 1e-3
