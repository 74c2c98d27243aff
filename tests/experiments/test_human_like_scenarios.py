from itertools import combinations

import numpy as np
import pytest

from thunder_py.papers.human_like.scenarios import FAMILIES, MARGIN, REACH, ROOM, Scenario, scenarios

COUNT = 30
NUMBER = {1: 1, 2: 2, 3: 3, 4: 5}


def straight(scenario: Scenario) -> np.ndarray:
    """Points of the straight line, (201, 3)."""
    return scenario.start + np.linspace(0.0, 1.0, 201)[:, None] * (scenario.goal - scenario.start)


@pytest.mark.parametrize("family", FAMILIES)
class TestFamily:
    def test_ends_are_free_and_reach_is_as_long_as_said(self, family: int) -> None:
        for s in scenarios(family, COUNT, seed=1):
            assert REACH[0] <= s.length <= REACH[1]
            assert s.distance(np.stack([s.start, s.goal])).min() > MARGIN + ROOM
            assert np.linalg.norm([s.start, s.goal], axis=1).max() < 0.5 * REACH[1] + 0.1 + 1e-12
            assert (s.duration, s.margin, s.family) == (5.0, 0.05, family)

    def test_spheres_are_as_said_and_do_not_overlap(self, family: int) -> None:
        largest = max(p.radius[1] for p in FAMILIES[family].placements)
        for s in scenarios(family, COUNT, seed=2):
            assert len(s.spheres) == NUMBER[family]
            assert all(0.05 <= o.radius <= largest for o in s.spheres)
            for a, b in combinations(s.spheres, 2):
                assert np.linalg.norm(a.center - b.center) > a.radius + b.radius

    def test_draws_are_reproducible_whatever_the_count(self, family: int) -> None:
        few, many = scenarios(family, 3, seed=7), scenarios(family, 5, seed=7)
        for a, b in zip(few, many[:3], strict=True):
            np.testing.assert_array_equal(a.start, b.start)
            np.testing.assert_array_equal([o.center for o in a.spheres], [o.center for o in b.spheres])
        assert not np.allclose(few[0].start, few[1].start)
        assert not np.allclose(few[0].start, scenarios(family, 1, seed=8)[0].start)


def test_the_straight_line_is_blocked() -> None:
    assert all(s.distance(straight(s)).min() <= 0.0 for family in (1, 2, 4) for s in scenarios(family, COUNT))
    near = [sphere.distance(straight(s)).min() for s in scenarios(3, COUNT) for sphere in s.spheres]
    assert 0.5 < np.mean(np.array(near) < MARGIN) < 0.95  # the line may pass by some of these
    assert max(near) < 0.1


def test_lone_sphere_is_on_the_line() -> None:
    for s in scenarios(1, 50):
        way = (s.goal - s.start) / s.length
        assert np.linalg.norm(np.cross(way, s.spheres[0].center - s.start)) < 1e-12


def test_directions_have_no_preference() -> None:
    ways = np.array([(s.goal - s.start) / s.length for s in scenarios(2, 1000)])
    assert np.abs(ways.mean(axis=0)).max() < 4.0 / np.sqrt(3 * 1000)  # four standard errors
    np.testing.assert_allclose(np.cov(ways.T), np.eye(3) / 3.0, atol=0.04)


def test_distance_is_to_the_nearest_surface() -> None:
    s = scenarios(4, 1)[0]
    points = np.random.default_rng(0).normal(size=(20, 3))
    expected = np.min([np.linalg.norm(points - o.center, axis=1) - o.radius for o in s.spheres], axis=0)
    np.testing.assert_allclose(s.distance(points), expected, atol=1e-15)
