"""Constraints anywhere in time, samples and tubes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.motion import HumanLikePlanner
from thunder_py.motion.planning.conditions import Constraint

from .planner_models import boundary, fitted, polynomials

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2


def test_the_scale_is_a_millimeter_at_least() -> None:
    """The width of the tube of an aligned model is in proportion to the distance, or to 1 mm."""
    planner = HumanLikePlanner(fitted("aligned"))
    half, one, two = (planner.tube(START, START + d * np.eye(3)[0], T, [0.5 * T])[1] for d in (5e-4, 1e-3, 2e-3))
    np.testing.assert_allclose(two, 2.0 * one, rtol=1e-6)
    np.testing.assert_allclose(half, one, rtol=1e-6)


@pytest.mark.parametrize("kind", ["plain", "joint", "aligned", "joint aligned"])
def test_any_constraints_at_any_times(kind) -> None:
    planner = HumanLikePlanner(fitted(kind))
    via = [0.3, 0.25, 0.5]
    motion = planner.condition(
        [
            Constraint(2.0, "position", START),
            Constraint(3.2, "position", GOAL),
            Constraint(2.5, "position", via),
            Constraint(2.9, "velocity", [0.4, -0.2], dofs=("x", "z")),
            Constraint(2.0, "jerk", 0.0),
            Constraint(3.2, "acceleration", 0.3, dofs="y"),
        ],
        T,
        start_time=2.0,
    )
    for made in (motion.plan(), *motion.sample(3, seed=1)):
        np.testing.assert_allclose(made.position([2.0, 3.2, 2.5]), [START, GOAL, via], rtol=0.0, atol=1e-10)
        np.testing.assert_allclose(made.position(2.9, 1)[[0, 2]], [0.4, -0.2], rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(made.position(2.0, 3), 0.0, atol=1e-6)
        assert made.position(3.2, 2)[1] == pytest.approx(0.3, abs=1e-8)
    assert motion.condition_number > 1.0


@pytest.mark.parametrize("kind", ["plain", "joint aligned"])
def test_boundary_conditions_are_the_plan(kind) -> None:
    planner, b = HumanLikePlanner(fitted(kind)), boundary(np.random.default_rng(1))
    names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
    made = planner.plan(b[0], b[1], T, **dict(zip(names, b[2:], strict=True)))
    kinds = ("position", "position", "velocity", "velocity", "acceleration", "acceleration")
    constraints = [Constraint(T * (r % 2), kind_, b[r]) for r, kind_ in enumerate(kinds)]
    other = planner.condition(constraints, T).plan()
    t = np.linspace(0.0, T, 25)
    x = made.position(t)
    np.testing.assert_allclose(other.position(t), x, rtol=0.0, atol=1e-9 * np.abs(x).max())
    size = np.abs(made.scores).max()
    np.testing.assert_allclose(other.scores, made.scores, rtol=0.0, atol=1e-6 * size)


@pytest.mark.parametrize("kind", ["plain", "joint", "aligned"])
def test_samples_have_mean_and_covariance_of_the_tube(kind) -> None:
    planner, n = HumanLikePlanner(fitted(kind)), 2000
    t = np.linspace(0.0, T, 7)
    samples = planner.sample(START, GOAL, T, n, seed=3)
    for derivative in (0, 1):
        mean, deviation, covariance = planner.tube(START, GOAL, T, t, derivative)
        x = np.array([each.position(t, derivative) for each in samples])
        error = np.abs(x.mean(axis=0) - mean) / np.maximum(deviation, 1e-9) * np.sqrt(n)
        assert error[1:-1].max() < 5.0  # standard errors
        for k in range(1, 6):
            scale = np.outer(deviation[k], deviation[k])
            assert (np.abs(np.cov(x[:, k].T) - covariance[k]) / scale).max() < 5.0 * np.sqrt(2.0 / n)
        assert deviation[[0, -1]].max() < 1e-9
        assert deviation[3].min() > 1e-4
    again = planner.sample(START, GOAL, T, 2, seed=3)
    np.testing.assert_array_equal(again[1].position(t), samples[1].position(t))
    for each in samples[:20]:
        for derivative in range(3):
            wanted = [START, GOAL] if derivative == 0 else np.zeros((2, 3))
            np.testing.assert_allclose(each.position([0.0, T], derivative), wanted, rtol=0.0, atol=1e-8)


def test_square_system_leaves_nothing_open() -> None:
    planner = HumanLikePlanner(fitted("paper"), "paper")
    _, deviation, _ = planner.tube(START, GOAL, T, [0.3, 0.6])
    assert deviation.max() < 1e-9
    via = planner.condition(
        [Constraint(0.0, "position", START), Constraint(0.5, "position", START), Constraint(T, "position", GOAL)], T
    )
    np.testing.assert_allclose(via.plan().position(0.5), START, atol=1e-11)
    assert not via.scores[2:].any()
    assert_refused(
        (
            lambda: planner.condition([Constraint(0.0), Constraint(T), Constraint(0.5, dofs="x")], T),
            "...as many constraints on every degree of freedom...",
        ),
        (lambda: planner.condition([Constraint(0.06 * k) for k in range(20)], T), "...need 19 components, the ..."),
    )


def test_noise_lets_go() -> None:
    """One coordinate, one component: the posterior by hand."""
    planner = HumanLikePlanner(polynomials(("q",), powers=(1,)), constraints=("position",))
    assert planner.kind == "joints"
    sigma, width = 0.3, 2.0 * np.sqrt(3.0)  # S_1 goes from -sqrt(3) to sqrt(3), its score has variance 1
    motion = planner.condition([Constraint(0.0, value=0.0), Constraint(1.0, value=1.0, noise=sigma)], 1.0)
    gain = width / (width**2 + sigma**2)
    assert motion.scores[0, 0] == pytest.approx(gain, rel=1e-12)
    mean, deviation, _ = motion.tube([0.0, 1.0])
    np.testing.assert_allclose(mean[:, 0], [0.0, gain * width], atol=1e-14)
    np.testing.assert_allclose(deviation[:, 0], [0.0, width * np.sqrt(1.0 - gain * width)], atol=1e-12)


def test_bad_constraints() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    ends = [Constraint(0.0, value=START), Constraint(T, value=GOAL)]
    cases = (
        ([], "sequence of Constraint"),
        (["start"], "sequence of Constraint"),
        ([*ends, Constraint(2.0)], "within the motion, 0 to 1.2 s, got 2"),
        ([*ends, Constraint(0.5, "postion")], "did you mean 'position'"),
        ([*ends, Constraint(0.5, dofs="w")], "dofs must be among x, y, z, got 'w'"),
        ([*ends, Constraint(0.5, value=[1.0, 2.0])], "value must have shape (3,)"),
        ([*ends, Constraint(0.5, noise=-1.0)], "noise must not be negative"),
        ([*ends, Constraint(0.0, value=GOAL)], "repeat or contradict"),
        ([Constraint(0.0, "velocity")], "without any position"),
        ([Constraint(0.0, dofs=("x", "y"))], "without any position"),
    )
    aligned = HumanLikePlanner(fitted("aligned"))
    assert_refused(
        *((partial(planner.condition, constraints, T), f"...{message}...") for constraints, message in cases),
        (lambda: planner.condition(ends, 0.0), "duration must be positive..."),
        (lambda: aligned.condition(ends[:1], T), "constraints must fix the whole position at the start and at ..."),
        (lambda: planner.sample(START, GOAL, T, -1), "n must be a whole number..."),
        (lambda: planner.tube(START, GOAL, T, [1.3]), "t must lie within..."),
        (lambda: planner.tube(START, GOAL, T, [1.0], derivative=4), "derivative must be 0 to 3..."),
    )
