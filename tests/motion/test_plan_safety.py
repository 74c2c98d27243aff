"""Plans that tell how far they are from their training data, that stand still, and that search farther."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import NoPathError, ThunderWarning
from thunder_py.geometry import Box, Sphere
from thunder_py.motion import FPCA, Constraint, HumanLikePlanner, ViaSearch
from thunder_py.recordings.synthetic import sigma_lognormal_reaches

from .planner_models import fitted, joints

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2
KINDS = [("paper", "paper"), ("plain", "map"), ("joint", "map"), ("aligned", "map"), ("joint aligned", "map")]


def distance_of(plan) -> float:
    variances = plan._planner.fpca.variances_
    used = variances > 0.0
    return float(np.sqrt((plan.scores[used] ** 2 / variances[used]).sum()))


class TestMahalanobisDistance:
    @pytest.mark.parametrize(("kind", "mode"), KINDS)
    def test_is_that_of_the_scores(self, kind, mode) -> None:
        planner = HumanLikePlanner(fitted(kind), mode)
        plan = planner.plan(START, GOAL, T, start_velocity=[0.1, 0.0, -0.2])
        assert plan.mahalanobis_distance == pytest.approx(distance_of(plan), rel=1e-6)
        assert 0.0 < plan.mahalanobis_distance < planner.training_span
        rest = planner.replan(plan, 0.4, GOAL + 0.03)
        assert rest.mahalanobis_distance == pytest.approx(distance_of(rest), rel=1e-9)
        assert rest.mahalanobis_distance != pytest.approx(plan.mahalanobis_distance, rel=1e-6)

    def test_of_joints_conditions_and_batches(self) -> None:
        arm = HumanLikePlanner(joints()).plan(np.zeros(7), 0.5 * np.ones(7), 1.0)
        assert arm.mahalanobis_distance == pytest.approx(distance_of(arm), rel=1e-6)
        planner = HumanLikePlanner(fitted("plain"))
        ends = [Constraint(0.0, "position", START), Constraint(T, "position", GOAL)]
        likely = planner.condition(ends, T).plan()
        assert likely.mahalanobis_distance == pytest.approx(distance_of(likely), rel=1e-9)
        goals = [GOAL, GOAL + 0.1]
        batch = planner.plan_many(START, goals, T, n=3)
        assert batch.mahalanobis_distance.tolist() == [
            pytest.approx(planner.plan(START, goal, T).mahalanobis_distance) for goal in goals
        ]

    def test_of_via_points_is_that_of_the_worst_segment(self) -> None:
        planner = HumanLikePlanner(fitted("aligned"))
        wall = Box(0.5 * (START + GOAL), [0.1, 0.1, 0.1])
        plan = planner.plan(START, GOAL, T, obstacles=[wall], margin=0.01)
        assert len(plan.via_points) >= 1
        assert plan.mahalanobis_distance >= distance_of(plan) * (1.0 - 1e-9)
        batch = planner.plan_many(START, GOAL, T, obstacles=[wall], margin=0.01, n=3)
        assert batch.mahalanobis_distance[0] == pytest.approx(plan.mahalanobis_distance)

    def test_far_from_the_data_a_plan_warns(self) -> None:
        """Reaches that all start at rest: the square system needs scores of many standard deviations."""
        planner = HumanLikePlanner(FPCA.paper(sigma_lognormal_reaches(12, seed=1)), "paper", max_travel_ratio=np.inf)
        with pytest.warns(ThunderWarning, match=r"the plan is .* standard deviations .* training data span"):
            plan = planner.plan(START, GOAL, T, goal_velocity=[0.5, 0.0, 0.0])
        assert plan.mahalanobis_distance > planner.training_span
        with pytest.warns(ThunderWarning, match="the farthest plan is"):
            planner.plan_many(START, [GOAL, GOAL], T, goal_velocities=[0.5, 0.0, 0.0])

    def test_a_replanned_motion_warns_once_in_a_loop(self) -> None:
        planner = HumanLikePlanner(fitted("aligned"))
        plan, other = planner.plan(START, GOAL, T), GOAL + np.array([0.0, 0.1, 0.0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for k in range(4):
                rest = planner.replan(plan, 0.9 + 0.01 * k, other)
                assert rest.mahalanobis_distance > 2.0 * planner.training_span
        (one,) = caught
        assert one.filename == __file__
        assert str(one.message).startswith("the replanned motion is more than 15.7 standard deviations")
        with pytest.warns(ThunderWarning, match="the replanned motion is"):  # neither is a motion that is replanned
            rest = planner.replan(rest, 0.95, other, goal_velocity=[0.01, 0.0, 0.0])
        with pytest.warns(
            ThunderWarning, match="the replanned motion is"
        ):  # an end so late that the motion goes astray
            planner.replan(plan, 0.5, GOAL, end_time=5.0)
        assert HumanLikePlanner(planner.fpca, max_distance_ratio=np.inf).replan(plan, 0.9, GOAL + 0.1).end_time == T

    def test_segments_of_detours_may_be_farther(self) -> None:
        """They begin or end amid a reach: 2.5 times the distance is no warning, more is one."""
        planner = HumanLikePlanner(FPCA().fit(sigma_lognormal_reaches(40, seed=5)))
        rng, ratios, bound = np.random.default_rng(3), [], 2.0 * planner.training_span
        for _ in range(8):
            goal = START + rng.normal(size=3) * 0.2
            balls = [Sphere(START + 0.5 * (goal - START) + rng.normal(size=3) * 0.01, 0.04)]
            plan = planner.plan(START, goal, 1.0, obstacles=balls, margin=0.02)  # a warning is an error
            planner.replan(plan, 0.8, goal + 1e-4)
            ratios.append(plan.mahalanobis_distance / bound)
        assert 1.0 < max(ratios) < 2.5
        planner = HumanLikePlanner(FPCA().fit(sigma_lognormal_reaches(6, seed=2)))
        ball, fast = [Sphere([0.3, 0.1, 0.35], 0.04)], [2.0, 0.0, 0.0]
        message = f"is more than {5.0 * planner.training_span:.3g} standard"
        free = planner.plan(START, GOAL, 1.0)
        with pytest.warns(ThunderWarning, match=f"the plan {message}") as caught:
            plan = planner.plan(START, GOAL, 1.0, goal_velocity=fast, obstacles=ball, margin=0.02)
        with pytest.warns(ThunderWarning, match=f"the plan {message}") as again:
            rest = planner.replan(free, 0.01, GOAL, goal_velocity=fast, obstacles=ball, margin=0.02)
        with pytest.warns(ThunderWarning, match=f"the farthest plan {message}") as batch:
            planner.plan_many(START, GOAL, 1.0, goal_velocities=fast, obstacles=ball, margin=0.02)
        assert (len(plan.via_points), len(rest.via_points), rest.fallback) == (1, 1, "plan")
        assert [one.filename for one in (*caught, *again, *batch)] == [__file__] * 3

    def test_conditions_and_tubes_warn(self) -> None:
        planner = HumanLikePlanner(fitted("plain"))
        far = [Constraint(0.0, "position", START), Constraint(T, "position", GOAL + 9.0)]
        calls = (
            lambda: planner.condition(far, T),
            lambda: planner.tube(START, GOAL + 9.0, T, [0.5]),
            lambda: planner.sample(START, GOAL + 9.0, T, 1, seed=1),
        )
        for call in calls:
            with pytest.warns(ThunderWarning, match="the most likely motion is more than") as caught:
                call()
            assert caught[0].filename == __file__


class TestStandstill:
    @pytest.mark.parametrize(("kind", "mode"), [*KINDS, ("pose", "map"), ("pose joint aligned", "map")])
    def test_start_and_goal_alike(self, kind, mode) -> None:
        planner = HumanLikePlanner(fitted(kind), mode)
        p = START if len(planner.dofs) == 3 else (START, np.eye(3))
        plan = planner.plan(p, p, 1.0)
        t = np.linspace(0.0, 1.0, 21)
        assert np.abs(plan.position(t) - plan.position(0.0)).max() < 1e-12
        assert np.abs(plan.position(t, 1)).max() < 1e-9
        distance = [np.abs(planner.tube(p, p, 1.0, t)[0] - plan.position(0.0)).max()]
        assert max(distance) < 1e-9

    def test_joints_and_batches(self) -> None:
        planner = HumanLikePlanner(joints())
        q = np.linspace(-1.0, 1.0, 7)
        assert np.abs(planner.plan(q, q, 2.0).position([0.5, 1.0, 1.5]) - q).max() < 1e-12
        assert np.abs(planner.plan_many(q, q, 2.0, n=5).x - q).max() < 1e-12


class TestWiderSearch:
    def planner(self):
        return HumanLikePlanner(fitted("aligned"))

    def wall(self):
        """A wall whose edges a narrow search cannot reach."""
        return _plate(0.5 * (START + GOAL), GOAL - START, 0.9)

    def test_a_failed_search_is_widened(self) -> None:
        planner, narrow = self.planner(), ViaSearch(count=40, half_width=0.2, most=1)
        with pytest.raises(NoPathError, match="no path keeps"):
            planner.plan(
                START, GOAL, T, obstacles=[self.wall()], via=ViaSearch(40, half_width=0.2, most=1, widenings=0)
            )
        plan = planner.plan(
            START, GOAL, T, obstacles=[self.wall()], via=ViaSearch(40, half_width=0.2, most=1, widenings=3)
        )
        assert 1 <= plan.widenings <= 3
        assert plan.clearance >= 0.0
        assert plan._details.candidates > 40
        assert planner.plan(START, GOAL, T, obstacles=[], via=narrow).widenings == 0

    def test_in_batches(self) -> None:
        planner, search = self.planner(), ViaSearch(40, half_width=0.2, most=1, widenings=3)
        goals = [GOAL, START + 0.5 * (START - GOAL)]  # behind the wall, and on this side of it
        batch = planner.plan_many(START, goals, T, obstacles=[self.wall()], via=search, n=3)
        assert batch.found.all()
        assert batch.widenings[0] >= 1
        assert batch.widenings[1] == 0

    def test_settings(self) -> None:
        wide = ViaSearch(count=200, half_width=0.3, most=4).wider()
        assert (wide.count, wide.most) == (2000, 4)
        assert wide.half_width == pytest.approx(0.5)
        assert ViaSearch.paper().widenings == 0
        assert_refused((lambda: ViaSearch(widenings=5), "...widenings must be an integer from 0 to 4, got 5..."))


def _plate(center, normal, width):
    x = normal / np.linalg.norm(normal)
    y = np.cross([0.0, 0.0, 1.0], x)
    R = np.stack([x, y / np.linalg.norm(y), np.cross(x, y) / np.linalg.norm(y)], axis=1)
    return Box(center, [0.02, width, width], R)
