"""The rest of a motion: D4.2, eq. (115)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

from thunder_py import _core
from thunder_py.motion import HumanLikePlanner
from thunder_py.trajectory import minimum_jerk

from .planner_models import fitted, joints, polynomials, spline_rows

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2
KINDS = [("paper", "paper"), ("plain", "map"), ("joint", "map"), ("aligned", "map"), ("joint aligned", "map")]


@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_same_goal_changes_nothing_where_nothing_was_left_open(kind, mode) -> None:
    """The rest of the square system's motion is one of its motions: with all six conditions it is found again."""
    planner = HumanLikePlanner(fitted(kind), mode, max_condition_number=np.inf)
    made = planner.plan(START, GOAL, T, start_velocity=[0.1, 0.0, -0.2])
    rest = planner.replan(made, 0.3 * T, GOAL, continuity="acceleration")
    t = np.linspace(0.3 * T, T, 31)
    if mode == "paper":
        np.testing.assert_allclose(rest.position(t), made.position(t), rtol=0.0, atol=1e-6)
    assert rest.start_time == 0.3 * T
    assert rest.end_time == made.end_time


@pytest.mark.parametrize(("kind", "mode"), KINDS)
@pytest.mark.parametrize("part", [0.05, 0.4, 0.8])
def test_continuity_and_arrival(kind, mode, part) -> None:
    planner = HumanLikePlanner(fitted(kind), mode, max_condition_number=np.inf)
    made = planner.plan(START, GOAL, T, goal_velocity=[0.1, 0.1, 0.0])
    t, goal, end, v = part * T, GOAL + np.array([0.05, -0.1, 0.02]), 1.5, np.array([0.0, 0.2, 0.0])
    rest = planner.replan(made, t, goal, end_time=end, goal_velocity=v)
    assert rest.fallback is None
    for derivative in range(3 if mode == "map" else 2):
        x = made.position(t, derivative)
        np.testing.assert_allclose(rest.position(t, derivative), x, rtol=0.0, atol=1e-9 * (1.0 + np.abs(x).max()))
    np.testing.assert_allclose(rest.position(end), goal, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(rest.position(end, 1), v, rtol=0.0, atol=1e-9)
    again = planner.replan(rest, 0.5 * (t + end), goal + 0.01)
    np.testing.assert_allclose(again.position(end), goal + 0.01, rtol=0.0, atol=1e-12)
    assert again.condition > 1.0


def rest_system(fpca, tau, values, dof):
    """Eq. (115), corrected: values are x(t_k), x(t_f), v(t_k), v(t_f) in normalized time."""
    rows, right = [], []
    for r, value in enumerate(values):
        mean, parts = spline_rows(fpca, tau if r % 2 == 0 else 1.0, r // 2, dof)
        rows.append(np.concatenate([[float(r < 2)], parts[:3]]))
        right.append(value - mean)
    return np.array(rows), np.array(right)


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.7])
def test_paper_mode_is_eq_115_by_scipy(tau) -> None:
    fpca = fitted("paper")
    planner = HumanLikePlanner(fpca, "paper", max_condition_number=np.inf)
    made = planner.plan(START, GOAL, T)
    goal = GOAL + np.array([0.02, 0.05, -0.03])
    rest = planner.replan(made, tau * T, goal)
    grid = np.linspace(tau, 1.0, 31)
    for dof in range(3):
        now, v = made.position(tau * T)[dof], T * made.position(tau * T, 1)[dof]
        A, right = rest_system(fpca, tau, [now, goal[dof], v, 0.0], dof)
        unknowns = np.linalg.solve(A, right)
        coefficients = fpca.mean_coefficients_[:, dof] + unknowns[1:] @ fpca.component_coefficients_[:3, :, dof]
        expected = unknowns[0] + BSpline(fpca.basis_.knots, coefficients, fpca.basis_.degree)(grid)
        np.testing.assert_allclose(
            rest.position(grid * T)[:, dof], expected, rtol=0.0, atol=1e-8 * np.abs(coefficients).max()
        )
        np.testing.assert_allclose(rest.scores[:3, dof], unknowns[1:], rtol=1e-6, atol=1e-8)


def test_printed_system_115_misses_its_constraints() -> None:
    """D-23: S_3 stands in place of S_2 in row 2; on the right the rate of S_0 at t_f beside that of x at t_k."""
    fpca, tau = fitted("paper"), 0.4
    A, right = rest_system(fpca, tau, [0.1, 0.4, 0.3, 0.0], 0)
    assert np.abs(A @ np.linalg.solve(A, right) - right).max() < 1e-10
    printed = A.copy()
    printed[1, 2] = A[1, 3]
    missed = A @ np.linalg.solve(printed, right) - right
    assert np.abs(missed[1]) > 1e-3
    np.testing.assert_allclose(missed[[0, 2, 3]], 0.0, atol=1e-10)
    wrong_time = right.copy()
    wrong_time[2] += spline_rows(fpca, tau, 1, 0)[0] - spline_rows(fpca, 1.0, 1, 0)[0]
    assert np.abs((A @ np.linalg.solve(A, wrong_time) - right)[2]) > 1e-3


def test_quintic_components_replan_minimum_jerk() -> None:
    planner = HumanLikePlanner(polynomials(), "exact", max_condition_number=np.inf)
    made = planner.plan(START, GOAL, T)
    goal, now = GOAL + 0.1, 0.5
    rest = planner.replan(made, now, goal, end_time=1.4, continuity="acceleration")
    quintic = minimum_jerk(
        made.position(now),
        goal,
        0.9,
        start_velocity=made.position(now, 1),
        start_acceleration=made.position(now, 2),
    )
    s = np.linspace(0.05, 0.85, 17)
    np.testing.assert_allclose(rest.position(now + s), quintic.position(s), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(rest.position(now + s, 2), quintic.position(s, 2), rtol=0.0, atol=1e-6)


def test_bad_condition_gives_a_polynomial() -> None:
    planner = HumanLikePlanner(fitted("plain"), max_condition_number=1.0)
    made, goal = planner.plan(START, GOAL, T), GOAL + 0.05
    rest = planner.replan(made, 0.6, goal)
    assert rest.fallback == "hermite"
    assert rest.condition > 1.0
    assert rest.scores is None
    quintic = minimum_jerk(
        made.position(0.6),
        goal,
        0.6,
        start_velocity=made.position(0.6, 1),
        start_acceleration=made.position(0.6, 2),
    )
    s = np.linspace(0.05, 0.55, 11)
    np.testing.assert_allclose(rest.position(0.6 + s), quintic.position(s), rtol=0.0, atol=1e-11)
    cubic = planner.replan(made, 0.6, goal, continuity="velocity")
    assert cubic.fallback == "hermite"
    assert cubic.path.degree == 3
    np.testing.assert_allclose(cubic.position(0.6, 1), made.position(0.6, 1), atol=1e-12)
    again = planner.replan(rest, 0.9, goal)  # a polynomial has no place in the components' time
    assert again.fallback == "plan"
    np.testing.assert_allclose(again.position(0.9, 2), rest.position(0.9, 2), atol=1e-8)


def test_condition_grows_towards_the_end_and_is_watched() -> None:
    planner = HumanLikePlanner(fitted("paper"), "paper")
    made = planner.plan(START, GOAL, T)
    conditions = [planner.replan(made, part * T, GOAL + 0.01).condition for part in (0.0, 0.75, 0.94)]
    assert conditions[0] < conditions[1] < conditions[2]
    six = planner.replan(made, 0.94 * T, GOAL + 0.01, continuity="acceleration")
    assert six.condition > planner.max_condition_number
    assert six.fallback == "hermite"
    reckless = HumanLikePlanner(fitted("paper"), "paper", max_condition_number=np.inf)
    hopeless = reckless.replan(made, 0.95 * T, GOAL + 0.01, continuity="acceleration")
    assert np.isinf(hopeless.condition)
    assert hopeless.fallback == "hermite"


def test_frozen_at_the_end() -> None:
    planner = HumanLikePlanner(fitted("plain"), freeze_time=0.1)
    made = planner.plan(START, GOAL, T)
    assert planner.replan(made, T - 0.09, GOAL + 1.0) is made
    assert planner.replan(made, T - 0.11, GOAL + 0.01) is not made
    assert planner.replan(made, T, GOAL) is made


def test_many_small_changes_follow_a_moving_goal() -> None:
    planner = HumanLikePlanner(fitted("aligned"))
    made = planner.plan(START, GOAL, T)
    velocity = np.array([0.0, 0.1, 0.0])
    for k in range(1, 17):
        t = T * k / 17
        goal = GOAL + velocity * t
        new = planner.replan(made, t, goal, goal_velocity=velocity)
        for derivative in range(2):
            gap = np.abs(new.position(t, derivative) - made.position(t, derivative)).max()
            assert gap < 1e-9
        made = new
    np.testing.assert_allclose(made.position(T, 1), velocity, atol=1e-9)


def test_joints_are_replanned() -> None:
    planner = HumanLikePlanner(joints())
    made = planner.plan(np.zeros(7), np.ones(7), 2.0)
    rest = planner.replan(made, 1.0, 1.1 * np.ones(7))
    np.testing.assert_allclose(rest(1.0).q, made(1.0).q, atol=1e-12)
    np.testing.assert_allclose(rest(2.0).q, 1.1, atol=1e-12)


def test_bad_input() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    made = planner.plan(START, GOAL, T)
    for change, message in (
        ({"t": 1.3}, "t must lie within the plan"),
        ({"t": np.nan}, "t must be finite"),
        ({"end_time": 0.4}, "end_time must come after"),
        ({"continuity": "jerk"}, "continuity must be"),
        ({"goal": [1.0]}, "goal must have shape"),
        ({"goal": [1.0, np.inf, 0.0]}, "goal must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            planner.replan(**{"plan": made, "t": 0.5, "goal": GOAL, **change})
    with pytest.raises(ValueError, match="plan must be a plan of "):
        HumanLikePlanner(joints()).replan(made, 0.5, np.zeros(7))
    slow = HumanLikePlanner(fitted("plain"), constraints=("position",))
    made = slow.plan(START, GOAL, T)
    with pytest.raises(ValueError, match="constraints of the planner must include position and velocity"):
        slow.replan(made, 0.5, GOAL)


@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_two_solvers_find_one_motion(kind, mode) -> None:
    """`replan` solves coordinates one by one on the stack; conditioning takes them all together."""
    planner = HumanLikePlanner(fitted(kind), mode)
    made = planner.plan(START, GOAL, T)
    rest = planner.replan(made, 0.5, GOAL + 0.05, end_time=1.4)
    stretch = rest._details.stretch
    rows = [
        [tau, derivative, dof, value, 0.0]
        for derivative in range(stretch.order)
        for tau, t in ((stretch.tau, 0.5), (1.0, 1.4))
        for dof, value in enumerate(rest.position(t, derivative))
    ]
    core = _core.ConditionedMotion(planner._core, START, GOAL + 0.05, stretch.duration, rows)
    whole = core.path(0.5 - stretch.tau * stretch.duration)
    t = np.linspace(0.5, 1.4, 41)
    np.testing.assert_allclose(whole.sample(t), rest.position(t), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(whole.sample(t, 2), rest.position(t, 2), rtol=0.0, atol=1e-5)
