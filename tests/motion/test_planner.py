"""Boundary conditions in closed form: D4.2, eqs. (102) and (103)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline

from tests.refusals import assert_refused
from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.motion.alignment import path_frame
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.trajectory import minimum_jerk

from .planner_models import boundary, fitted, polynomials, reaches, spline_rows

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # states far from the training data

RATES = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")


def plan(planner, b, T, **options):
    return planner.plan(b[0], b[1], T, **dict(zip(RATES, b[2:], strict=True)), **options)


@pytest.mark.parametrize(
    ("kind", "mode", "count"),
    [("paper", "paper", 4_000), ("plain", "map", 4_000), ("aligned", "map", 1_000), ("joint aligned", "map", 1_000)],
)
def test_constraints_are_met_in_10_000_problems(kind, mode, count) -> None:
    planner, rng = HumanLikePlanner(fitted(kind), mode), np.random.default_rng(4)
    x0, x1, v0, v1, a0, a1 = boundary(rng, n=count)
    T = rng.uniform(0.4, 5.0, count)
    rates = {"start_velocities": v0, "goal_velocities": v1, "start_accelerations": a0, "goal_accelerations": a1}
    for derivative, wanted in enumerate(((x0, x1), (v0, v1), (a0, a1))):
        got = planner.plan_many(x0, x1, T, **rates, tau=[0.0, 1.0], derivative=derivative)
        assert got.found.all()
        errors = np.abs(got.x - np.stack(wanted, axis=1)).max(axis=2)
        assert errors.max() < 1e-10, derivative
    # and the motion between is one motion: no steps where pieces meet
    one = plan(planner, [b[0] for b in (x0, x1, v0, v1, a0, a1)], T[0])
    for break_ in one.path.breaks[1:-1]:
        for derivative in range(3):
            size = 1.0 + np.abs(one.position(np.linspace(0.0, T[0], 50), derivative)).max()
            before, after = one.position([break_ - 1e-11, break_ + 1e-11], derivative)
            np.testing.assert_allclose(before, after, rtol=0.0, atol=1e-8 * size)


def square_system(fpca, b, T, dof):
    """Eq. (102), corrected: matrix and right-hand side of one coordinate, time normalized."""
    rows, right = [], []
    for r, value in enumerate(b):
        derivative, tau = r // 2, float(r % 2)
        mean, parts = spline_rows(fpca, tau, derivative, dof)
        rows.append(np.concatenate([[1.0 if derivative == 0 else 0.0], parts[:5]]))
        right.append(value[dof] * T**derivative - mean)
    return np.array(rows), np.array(right)


def motion_of(fpca, unknowns, tau, dof):
    coefficients = fpca.mean_coefficients_[:, dof] + unknowns[1:] @ fpca.component_coefficients_[:5, :, dof]
    return unknowns[0] + BSpline(fpca.basis_.knots, coefficients, fpca.basis_.degree)(tau)


def test_paper_mode_is_the_square_system_by_least_squares() -> None:
    fpca, rng, T = fitted("paper"), np.random.default_rng(5), 1.3
    planner, tau = HumanLikePlanner(fpca, "paper"), np.linspace(0.0, 1.0, 41)
    b = boundary(rng)
    made = plan(planner, b, T)
    for dof in range(3):
        A, right = square_system(fpca, b, T, dof)
        unknowns = np.linalg.lstsq(A, right, rcond=None)[0]
        expected = motion_of(fpca, unknowns, tau, dof)
        np.testing.assert_allclose(made.position(tau * T)[:, dof], expected, rtol=0.0, atol=1e-8 * np.ptp(expected))
        np.testing.assert_allclose(made.scores[:5, dof], unknowns[1:], rtol=1e-7)
    assert not made.scores[5:].any()
    assert planner.condition_number > 1.0


def test_printed_system_102_misses_its_constraints() -> None:
    """D-22: row 3 ends with the derivative at t_f; right-hand sides of rows 2, 4 and 5 mix up times and orders."""
    fpca, T = fitted("paper"), 1.0
    b = boundary(np.random.default_rng(6))
    A, right = square_system(fpca, b, T, 0)
    exact = np.linalg.solve(A, right)
    np.testing.assert_allclose(A @ exact, right, atol=1e-10)
    printed = A.copy()
    printed[2, 5] = spline_rows(fpca, 1.0, 1, 0)[1][4]
    assert np.abs(A @ np.linalg.solve(printed, right) - right).max() > 1e-2
    second = [spline_rows(fpca, tau, 2, 0)[0] for tau in (0.0, 1.0)]
    velocity_of_goal_in_row_2 = b[3][0] - spline_rows(fpca, 1.0, 0, 0)[0]
    wrong = right.copy()
    wrong[1], wrong[3], wrong[4] = velocity_of_goal_in_row_2, b[3][0] - second[0], b[5][0] - second[0]
    reached = A @ np.linalg.solve(A, wrong)
    assert (np.abs(reached - right)[[1, 3, 4]] > 1e-2).all()


@pytest.mark.parametrize("joint", [False, True])
def test_map_of_as_many_components_is_the_square_system(joint) -> None:
    fpca, b = polynomials(joint=joint, mean=np.random.default_rng(7).normal(size=(9, 3))), None
    t = np.linspace(0.0, 0.9, 31)
    for seed in range(20):
        b = boundary(np.random.default_rng(seed))
        a, c = (plan(HumanLikePlanner(fpca, mode), b, 0.9) for mode in ("map", "exact"))
        for derivative in range(3):
            x = a.position(t, derivative)
            np.testing.assert_allclose(x, c.position(t, derivative), rtol=0.0, atol=1e-8 * np.abs(x).max())
    real = fitted("paper")
    five = polynomials()
    five.basis_, five.mean_coefficients_ = real.basis_, real.mean_coefficients_
    five.component_coefficients_, five.variances_ = real.component_coefficients_[:5], real.variances_[:5]
    a, c = (plan(HumanLikePlanner(five, mode), b, 0.9).position(t) for mode in ("map", "exact"))
    np.testing.assert_allclose(a, c, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("kind", ["plain", "joint"])
def test_map_is_gaussian_conditioning(kind) -> None:
    fpca, T, kappa = fitted(kind), 1.1, 1e5
    b = boundary(np.random.default_rng(8))
    made = plan(HumanLikePlanner(fpca), b, T)
    n, d = len(fpca.variances_), 3
    rows, right, kinds = [], [], []
    for r, value in enumerate(b):
        for dof in range(d):
            mean, parts = spline_rows(fpca, float(r % 2), r // 2, dof)
            row = np.zeros((1 + n, d)) if kind == "plain" else np.zeros(d + n)
            if kind == "plain":
                row[0, dof], row[1:, dof] = float(r < 2), parts
            else:
                row[dof], row[d:] = float(r < 2), parts
            rows.append(row.ravel())
            right.append(value[dof] * T ** (r // 2) - mean)
            kinds.append(r)
    A, right = np.array(rows), np.array(right)
    sigma = np.concatenate([np.full(d, kappa), fpca.variances_.ravel()])
    gain = sigma[:, None] * A.T @ np.linalg.pinv(A * sigma @ A.T, rcond=1e-16, hermitian=True)
    alpha = (gain @ right)[d:].reshape(fpca.variances_.shape)
    size = np.sqrt(fpca.variances_)
    assert np.abs((made.scores - alpha) / np.where(size > 0, size, 1.0)).max() < 2e-3 * np.abs(alpha / size).max()


@pytest.mark.parametrize("mode", ["map", "exact"])
def test_quintic_components_give_minimum_jerk(mode) -> None:
    b, t = boundary(np.random.default_rng(9)), np.linspace(0.0, 1.7, 41)
    made, quintic = (
        plan(HumanLikePlanner(polynomials(), mode), b, 1.7),
        minimum_jerk(b[0], b[1], 1.7, **dict(zip(RATES, b[2:], strict=True))),
    )
    for derivative in range(4):
        expected = quintic.position(t[1:-1], derivative)
        np.testing.assert_allclose(
            made.position(t[1:-1], derivative), expected, rtol=0.0, atol=1e-9 * (1.0 + np.abs(expected).max())
        )
    nodes, weights = np.polynomial.legendre.leggauss(200)
    jerk = np.linalg.norm(quintic.position(0.85 * (nodes + 1.0), 3), axis=1)
    assert made.mean_jerk(20_000) == pytest.approx(0.5 * weights @ jerk, rel=1e-4)


@pytest.mark.parametrize("kind", ["plain", "aligned", "joint aligned"])
def test_cost_of_jerk_is_its_integral(kind) -> None:
    planner, b, T = HumanLikePlanner(fitted(kind)), boundary(np.random.default_rng(10)), 1.4
    made = plan(planner, b, T)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    breaks = made.path.breaks
    t = breaks[:-1, None] + np.diff(breaks)[:, None] * (nodes + 1.0) / 2.0
    squares = (made.position(t, 3) ** 2).sum(axis=-1)
    expected = float(((weights * squares) * np.diff(breaks)[:, None] / 2.0).sum())
    H, linear = planner._core.jerk_cost(b[0], b[1], T)
    z = np.concatenate([b[2], b[4], b[3], b[5]])
    assert z @ H @ z + 2.0 * linear[:-1] @ z + linear[-1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("kind", ["aligned", "joint aligned"])
def test_aligned_plans_turn_shift_and_grow_with_start_and_goal(kind) -> None:
    planner, rng = HumanLikePlanner(fitted(kind)), np.random.default_rng(11)
    t = np.linspace(0.0, 1.0, 21)
    for _ in range(20):
        b = boundary(rng)
        angle, shift, size = rng.uniform(-3, 3), rng.normal(size=3), rng.uniform(0.2, 4.0)
        c, s = np.cos(angle), np.sin(angle)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        moved = [shift + size * R @ b[0], shift + size * R @ b[1], *(size * R @ rate for rate in b[2:])]
        x, y = plan(planner, b, 1.0).position(t), plan(planner, moved, 1.0).position(t)
        np.testing.assert_allclose(y, shift + size * x @ R.T, rtol=0.0, atol=1e-11 * (1.0 + size * np.abs(x).max()))


@pytest.mark.parametrize("kind", ["aligned", "joint aligned"])
@pytest.mark.parametrize(
    "way", [(0.3, -0.2, 0.4), (0.0, 0.0, 0.5), (0.0, 0.0, -0.5), (1e-8, 0.0, 0.5), (-0.6, 0.0, 0.0)]
)
def test_aligned_plans_are_those_of_the_canonical_frame(kind, way) -> None:
    """The frame that components are learned in, by NumPy, is the frame that they are planned in."""
    planner, T = HumanLikePlanner(fitted(kind)), 1.1
    start, t = np.array([0.2, 0.1, -0.3]), np.linspace(0.0, 1.1, 21)
    goal, rates = start + way, [0.3 * part for part in boundary(np.random.default_rng(3))[2:]]
    D, R = path_frame(start, goal)
    canonical = plan(planner, [np.zeros(3), np.eye(3)[0], *(R.T @ rate / D for rate in rates)], T)
    made = plan(planner, [start, goal, *rates], T)
    np.testing.assert_allclose(made.position(t), start + D * canonical.position(t) @ R.T, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("kind", ["plain", "joint", "paper"])
def test_plans_shift_with_start_and_goal(kind) -> None:
    planner = HumanLikePlanner(fitted(kind), "paper" if kind == "paper" else "map")
    b, shift, t = boundary(np.random.default_rng(12)), np.array([3.0, -2.0, 1.0]), np.linspace(0.0, 1.0, 21)
    moved = plan(planner, [b[0] + shift, b[1] + shift, *b[2:]], 1.0).position(t)
    x = plan(planner, b, 1.0).position(t)
    np.testing.assert_allclose(moved, x + shift, rtol=0.0, atol=1e-9 * (1.0 + np.abs(x).max()))


@pytest.mark.parametrize("kind", ["aligned", "joint aligned", "pose joint aligned"])
def test_start_and_goal_in_one_place(kind) -> None:
    planner = HumanLikePlanner(fitted(kind))
    pose = kind.startswith("pose")
    at = np.eye(4) if pose else np.array([0.3, 0.2, 0.1])
    t = np.linspace(0.0, 1.0, 21)
    still = planner.plan(at, at, 1.0)
    where = np.broadcast_to(at[:3, 3] if pose else at, (21, 3))
    np.testing.assert_allclose(still.position(t)[:, :3], where, rtol=0.0, atol=1e-12)
    # the limit of short ways is to stand still, too
    for way in (1e-6, 1e-4):
        goal = at.copy()
        if pose:
            goal[:3, 3] += [0.0, way, 0.0]
        else:
            goal = at + way * np.array([0.0, 1.0, 0.0])
        near = planner.plan(at, goal, 1.0).position(t)[:, :3]
        assert np.abs(near - where).max() < 10.0 * way
    v = np.array([0.2, -0.1, 0.3])
    moving = planner.plan(at, at, 1.0, start_velocity=np.concatenate([v, np.zeros(3)]) if pose else v)
    np.testing.assert_allclose(moving.position(0.0, 1)[:3], v, atol=1e-12)
    np.testing.assert_allclose(moving.position(1.0)[:3], where[0], atol=1e-12)


@pytest.mark.parametrize("constraints", [("position",), ("position", "velocity")])
def test_fewer_constraints(constraints) -> None:
    planner = HumanLikePlanner(fitted("plain"), constraints=constraints)
    made = planner.plan([0, 0, 0], [0.3, 0.1, 0.2], 1.0)
    np.testing.assert_allclose(made.position([0.0, 1.0]), [[0, 0, 0], [0.3, 0.1, 0.2]], atol=1e-12)
    if len(constraints) == 2:
        np.testing.assert_allclose(made.position([0.0, 1.0], 1), 0.0, atol=1e-11)
        with pytest.raises(ValueError, match="start_acceleration must be None for a planner with"):
            planner.plan([0, 0, 0], [1, 1, 1], 1.0, start_acceleration=[0, 0, 0])
    else:
        assert_refused(
            (lambda: planner.plan([0, 0, 0], [1, 1, 1], 1.0, goal_velocity=[0, 0, 0]), "...goal_velocity must be ..."),
            (lambda: planner.plan_many([0, 0, 0], [1, 1, 1], 1.0, goal_velocities=[0, 0, 0]), "...goal_velocities ..."),
        )


def test_bad_problems_say_what_came() -> None:
    def given(**change):
        arguments = {"start": [0.0, 0.0, 0.0], "goal": [1.0, 0.0, 0.0], "duration": 1.0, **change}
        return HumanLikePlanner(fitted("plain")).plan(**arguments)

    assert_refused(
        (lambda: given(duration=0.0), "...duration must be positive..."),
        (lambda: given(duration=-1.0), "...duration must be positive..."),
        (lambda: given(duration=np.nan), "...duration must be finite..."),
        (lambda: given(start=[0.0, np.nan, 0.0]), "...start must be finite, got nan at index..."),
        (lambda: given(goal=[1.0, 2.0]), "...goal must have shape (..., 3), got (2,)..."),
        (lambda: given(goal=np.zeros((2, 3))), "...goal..."),
        (lambda: given(goal_velocity=[np.inf, 0, 0]), "...goal_velocity must be finite..."),
        (lambda: given(start_acceleration="fast"), "...start_acceleration..."),
        (lambda: given(start_time=np.inf), "...start_time must be finite..."),
    )


def test_too_few_components_and_unknown_coordinates() -> None:
    assert_refused(
        (lambda: HumanLikePlanner(polynomials(powers=range(1, 5)), "paper"), "...need at least 5 components, the ..."),
        (lambda: HumanLikePlanner(polynomials(powers=range(1, 5), joint=True)), "...need at least 15 components, ..."),
    )
    HumanLikePlanner(polynomials(powers=range(1, 5)), constraints=("position", "velocity"))
    for dofs in (("x", "y"), ("y", "x", "z"), ("x", "y", "z", "q1"), tuple("abcdefghi")):
        model = polynomials(dofs)
        with pytest.raises(ValueError, match="dofs must be x, y, z"):
            HumanLikePlanner(model)
    assert_refused((lambda: HumanLikePlanner(polynomials(), "best"), "...mode must be..."))
    for name, value in (
        ("max_condition_number", 0.5),
        ("max_travel_ratio", 0.5),
        ("max_condition_number", np.nan),
        ("freeze_time", -0.1),
        ("freeze_time", np.inf),
    ):
        with pytest.raises(ValueError, match=f"{name} must be"):
            HumanLikePlanner(polynomials(), **{name: value})
    for constraints in ((), ("velocity",), ("position", "acceleration"), "position"):
        with pytest.raises(ValueError, match="constraints must be"):
            HumanLikePlanner(polynomials(), constraints=constraints)


@pytest.mark.parametrize("mode", ["map", "paper"])
def test_demonstrations_at_rest_cannot_start_in_motion(mode) -> None:
    """Finding 3: S_i' vanishes at the ends, and rounding must not be taken for a component."""
    fpca = FPCA.paper(minimum_jerk_reaches(30, seed=1))
    assert_refused((lambda: HumanLikePlanner(fpca, mode), "...shrinkage help..."))
    HumanLikePlanner(FPCA(shrinkage=0.1, alignment="none").fit(minimum_jerk_reaches(30, seed=1)), mode)


def test_one_demonstration_suffices_with_shrinkage() -> None:
    planner = HumanLikePlanner(FPCA(shrinkage=0.5, alignment="none").fit(reaches()[:1]))
    made = planner.plan([0, 0, 0], [0.4, 0, 0.1], 1.0)
    np.testing.assert_allclose(made.position(1.0), [0.4, 0, 0.1], atol=1e-12)


def test_batch_is_the_plans_one_by_one() -> None:
    planner, rng = HumanLikePlanner(fitted("aligned")), np.random.default_rng(13)
    b = boundary(rng, n=5)
    T = rng.uniform(0.5, 2.0, 5)
    names = ("start_velocities", "goal_velocities", "start_accelerations", "goal_accelerations")
    batch = planner.plan_many(b[0], b[1], T, **dict(zip(names, b[2:], strict=True)), n=11, derivative=1)
    for i in range(5):
        one = plan(planner, [part[i] for part in b], T[i])
        np.testing.assert_array_equal(batch.x[i], one.position(batch.tau * T[i], 1))
    same = planner.plan_many([0, 0, 0], b[1], 1.0, n=3)
    np.testing.assert_array_equal(same.x[2], planner.plan([0, 0, 0], b[1][2], 1.0).position([0.0, 0.5, 1.0]))
    assert_refused(
        (lambda: planner.plan_many(b[0], b[1][:2], T), "...goals must have shape (5, 3)..."),
        (lambda: planner.plan_many(b[0], b[1], [1, 1, 0, 1, 1]), "...durations must be positive..."),
    )


def test_clock_of_a_plan() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    late, early = (planner.plan([0, 0, 0], [1, 1, 1], 2.0, start_time=t) for t in (5.0, 0.0))
    assert (late.start_time, late.end_time, late.duration) == (5.0, 7.0, 2.0)
    np.testing.assert_allclose(late.position([5.5, 6.5]), early.position([0.5, 1.5]), atol=1e-13)
    np.testing.assert_array_equal(late.position(4.0), late.position(5.0))
    assert not late.position([4.0, 8.0], 1).any()
    assert late.position(np.zeros((2, 4)) + 6.0, 3).shape == (2, 4, 3)


@pytest.mark.parametrize("kind", ["plain", "aligned"])
def test_shape_from_rest_does_not_depend_on_the_duration(kind) -> None:
    planner, tau = HumanLikePlanner(fitted(kind)), np.linspace(0.0, 1.0, 21)
    start, goal, velocity = [0.1, 0.0, 0.2], [0.4, -0.1, 0.3], [0.3, 0.2, 0.0]

    def difference(**rates) -> float:
        shapes = [planner.plan(start, goal, T, **rates).position(T * tau) for T in (0.8, 3.0)]
        return float(np.abs(shapes[1] - shapes[0]).max())

    assert difference() < 1e-12
    assert difference(start_velocity=velocity) > 1e-2  # a velocity enters multiplied by T


@pytest.mark.parametrize("joint", [True, False])
def test_full_share_of_minimum_jerk_is_the_quintic(joint: bool) -> None:
    """Whatever the states at the ends."""
    motions = minimum_jerk_reaches(12, seed=3, boundary_velocity=0.1, boundary_acceleration=0.5, noise=1e-4)
    planner = HumanLikePlanner(FPCA(joint=joint, alignment="path", shrinkage=1.0).fit(motions))
    assert planner.training_span == np.inf
    t = np.linspace(0.0, 1.7, 101)
    for b in np.random.default_rng(4).normal(scale=0.4, size=(20, 6, 3)):
        made, quintic = plan(planner, b, 1.7), minimum_jerk(b[0], b[1], 1.7, **dict(zip(RATES, b[2:], strict=True)))
        np.testing.assert_allclose(made.position(t), quintic.position(t), atol=1e-7)
        np.testing.assert_allclose(made.position(t, 3), quintic.position(t, 3), atol=1e-3)
