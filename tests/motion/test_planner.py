"""Boundary conditions in closed form: D4.2, eqs. (102) and (103)."""

from functools import partial

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.motion.alignment import path_frame, turns_from_start
from thunder_py.motion.planning.conditions import Constraint
from thunder_py.recordings import MotionSet, Trial
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
    five.component_coefficients_, five.explained_variance_ = (
        real.component_coefficients_[:5],
        real.explained_variance_[:5],
    )
    a, c = (plan(HumanLikePlanner(five, mode), b, 0.9).position(t) for mode in ("map", "exact"))
    np.testing.assert_allclose(a, c, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("kind", ["plain", "joint"])
def test_map_is_gaussian_conditioning(kind) -> None:
    fpca, T, kappa = fitted(kind), 1.1, 1e5
    b = boundary(np.random.default_rng(8))
    made = plan(HumanLikePlanner(fpca), b, T)
    n, d = len(fpca.explained_variance_), 3
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
    sigma = np.concatenate([np.full(d, kappa), fpca.explained_variance_.ravel()])
    gain = sigma[:, None] * A.T @ np.linalg.pinv(A * sigma @ A.T, rcond=1e-16, hermitian=True)
    alpha = (gain @ right)[d:].reshape(fpca.explained_variance_.shape)
    size = np.sqrt(fpca.explained_variance_)
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
@pytest.mark.parametrize("way", [(0.3, -0.2, 0.4), (0.0, 0.0, -0.5), (1e-8, 0.0, 0.5)])
def test_aligned_plans_are_those_of_the_canonical_frame(kind, way) -> None:
    """The frame that components are learned in, by NumPy, is the frame that they are planned in."""
    planner, T = HumanLikePlanner(fitted(kind)), 1.1
    start, t = np.array([0.2, 0.1, -0.3]), np.linspace(0.0, 1.1, 21)
    goal, rates = start + way, [0.3 * part for part in boundary(np.random.default_rng(3))[2:]]
    D, R = path_frame(start, goal)
    canonical = plan(planner, [np.zeros(3), np.eye(3)[0], *(R.T @ rate / D for rate in rates)], T)
    made = plan(planner, [start, goal, *rates], T)
    np.testing.assert_allclose(made.position(t), start + D * canonical.position(t) @ R.T, rtol=0.0, atol=1e-11)


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
        (lambda: given(duration=np.nan), "duration must be a finite number..."),
        (lambda: given(start=[0.0, np.nan, 0.0]), "...start must be finite, got nan at index..."),
        (lambda: given(goal=[1.0, 2.0]), "...goal must have shape (..., 3), got (2,)..."),
        (lambda: given(goal=np.zeros((2, 3))), "...goal..."),
        (lambda: given(goal_velocity=[np.inf, 0, 0]), "...goal_velocity must be finite..."),
        (lambda: given(start_acceleration="fast"), "...start_acceleration..."),
        (lambda: given(start_time=np.inf), "start_time must be a finite number..."),
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
        with pytest.raises(ValueError, match=f"{name} must"):
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
        (lambda: planner.plan_many(b[0], b[1][:2], T), "goals must have one row or 5, got 2"),
        (lambda: planner.plan_many(b[0], b[1], [1, 1, 0, 1, 1]), "...durations must be positive..."),
    )


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


# --- Constraints anywhere in time, samples and tubes ---
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
        ([*ends, Constraint(0.5, dofs="w")], "dofs must be one of x, y, z, got 'w'"),
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


# --- Orientation planned with position: rotation vectors about the start, world axes ---
KINDS = ("pose", "pose joint aligned")


def pose(rng, angle: float | None = None):
    T = np.eye(4)
    axis = rng.normal(size=3)
    turn = rng.uniform(0.2, 2.0) if angle is None else angle
    T[:3, :3] = Rotation.from_rotvec(turn * axis / np.linalg.norm(axis)).as_matrix()
    T[:3, 3] = rng.normal(size=3)
    return T


def turned(T, rng, angle: float):
    """A pose that differs by a turn of this angle."""
    other = pose(rng, angle)
    other[:3, :3] = other[:3, :3] @ T[:3, :3]
    return other


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [1e-9, 3.0])
def test_poses_twists_and_their_derivatives_at_the_ends(kind, angle) -> None:
    planner, rng = HumanLikePlanner(fitted(kind)), np.random.default_rng(int(100 * angle))
    start = pose(rng)
    goal = turned(start, rng, angle)
    rates = [0.5 * rng.normal(size=6) for _ in range(4)]
    names = ("start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration")
    made = planner.plan(start, goal, 1.3, **dict(zip(names, rates, strict=True)))
    for t, T, xi, xi_dot in ((0.0, start, rates[0], rates[2]), (1.3, goal, rates[1], rates[3])):
        here = made(t)
        np.testing.assert_allclose(here.p, T[:3, 3], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(here.R, T[:3, :3], rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(here.xi, xi, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(here.xi_dot, xi_dot, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("angle", [1e-6, 1.5])
def test_twists_are_derivatives_of_poses(kind, angle) -> None:
    planner, rng = HumanLikePlanner(fitted(kind)), np.random.default_rng(2)
    start = pose(rng)
    made, h = planner.plan(start, turned(start, rng, angle), 1.0), 1e-5
    for t in np.linspace(0.02, 0.98, 25):
        before, here, after = made(t - h), made(t), made(t + h)
        w = Rotation.from_matrix(after.R @ before.R.T).as_rotvec() / (2 * h)
        np.testing.assert_allclose(here.xi[3:], w, rtol=0.0, atol=1e-6 * (1.0 + np.abs(w).max()))
        np.testing.assert_allclose(here.xi[:3], (after.p - before.p) / (2 * h), rtol=0.0, atol=1e-6)
        xi_dot = (after.xi - before.xi) / (2 * h)
        np.testing.assert_allclose(here.xi_dot, xi_dot, rtol=0.0, atol=1e-5 * (1.0 + np.abs(xi_dot).max()))
        np.testing.assert_allclose(here.R.T @ here.R, np.eye(3), atol=1e-13)


def test_half_a_turn_is_refused() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(3)
    start = pose(rng)
    assert_refused((lambda: planner.plan(start, turned(start, rng, np.pi - 1e-4), 1.0), "...less than half a ..."))
    goal = start.copy()
    goal[:3, :3] *= -1.0
    assert_refused((lambda: planner.plan(start, goal, 1.0), "...goal must hold a rotation, got a reflection..."))


def test_pairs_of_position_and_rotation() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(4)
    a, b = pose(rng), pose(rng)
    t = np.linspace(0.0, 1.0, 7)
    one = planner.plan(a, b, 1.0)
    other = planner.plan((a[:3, 3], a[:3, :3]), (b[:3, 3], b[:3, :3]), 1.0)
    np.testing.assert_array_equal(one(t).R, other(t).R)
    assert one.position(t).shape == (7, 6)
    assert_refused((lambda: planner.plan(a[:3, 3], b, 1.0), "...start must have shape (4, 4)..."))


def test_aligned_poses_turn_with_the_world_about_the_vertical() -> None:
    planner, rng = HumanLikePlanner(fitted("pose joint aligned")), np.random.default_rng(5)
    start = pose(rng)
    goal = turned(start, rng, 1.0)
    world = np.eye(4)
    world[:3, :3] = Rotation.from_rotvec([0.0, 0.0, 1.1]).as_matrix()
    world[:3, 3] = [1.0, -2.0, 0.5]
    t = np.linspace(0.0, 1.0, 11)
    here, there = planner.plan(start, goal, 1.0)(t), planner.plan(world @ start, world @ goal, 1.0)(t)
    np.testing.assert_allclose(there.p, here.p @ world[:3, :3].T + world[:3, 3], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(there.R, world[:3, :3] @ here.R, rtol=0.0, atol=1e-11)


def test_replanned_poses() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(6)
    start = pose(rng)
    goal = turned(start, rng, 1.0)
    made = planner.plan(start, goal, 1.0)
    other = turned(goal, rng, 0.3)
    twist = np.array([0.1, 0.0, 0.0, 0.0, 0.2, 0.3])
    rest = planner.replan(made, 0.4, other, goal_velocity=twist)
    assert rest.fallback is None
    for name, atol in (("p", 1e-11), ("R", 1e-11), ("xi", 1e-9), ("xi_dot", 1e-7)):
        np.testing.assert_allclose(getattr(rest(0.4), name), getattr(made(0.4), name), rtol=0.0, atol=atol)
    np.testing.assert_allclose(rest(1.0).R, other[:3, :3], atol=1e-11)
    np.testing.assert_allclose(rest(1.0).xi, twist, rtol=0.0, atol=1e-9)


def test_positions_keep_the_orientation_they_are_given() -> None:
    planner, rng = HumanLikePlanner(fitted("plain")), np.random.default_rng(7)
    start = pose(rng)
    goal = start.copy()
    goal[:3, 3] += 0.3
    made = planner.plan(start, goal, 1.0)
    np.testing.assert_array_equal(made(0.3).R, start[:3, :3])
    np.testing.assert_array_equal(planner.plan(start, goal[:3, 3], 1.0).position(0.4), made.position(0.4))
    assert not made(0.3).xi[3:].any()
    assert_refused(
        (lambda: planner.plan(start, turned(start, rng, 0.1), 1.0), "goal must have the same orientation..."),
        (lambda: planner.replan(made, 0.4, turned(start, rng, 0.1)), "goal must have the same orientation..."),
    )


def turning(start, axis, angles, **options) -> Trial:
    """A hand that turns about one axis of the world."""
    R = Rotation.from_rotvec(angles[:, None] * axis) * Rotation.from_matrix(start)
    t = np.linspace(0.0, 1.0, len(angles))
    return Trial.from_poses(t, np.zeros((len(t), 3)), quaternion=R.as_quat(), scalar_first=False, **options)


def test_turns_from_the_start_are_straight_for_one_axis() -> None:
    rng, angles = np.random.default_rng(9), np.linspace(0.0, 4.5, 60)
    axis = np.array([0.6, 0.0, 0.8])
    trials = [turning(pose(rng)[:3, :3], axis, angles, name=f"turn {k}") for k in range(3)]
    for trial in turns_from_start(MotionSet(trials)):
        np.testing.assert_allclose(trial.rotation_vectors, angles[:, None] * axis, atol=1e-9)
    x = np.array(trials[0].x)
    x[[0, 1, 30]] = np.nan
    holes = turns_from_start(trials[0].with_values(x))
    np.testing.assert_allclose(holes.rotation_vectors[2:30], (angles - angles[2])[2:30, None] * axis, atol=1e-9)
    assert np.isnan(holes.x[[0, 1, 30]]).all()
    assert_refused(
        (lambda: turns_from_start(trials[0].with_values(np.full_like(x, np.nan))), "...must have samples with ..."),
        (lambda: turns_from_start(trials[0].select(("x", "y", "z"))), "...must have coordinates rx, ry, rz, got ..."),
    )


def test_clock_of_a_plan() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    late, early = (planner.plan([0, 0, 0], [1, 1, 1], 2.0, start_time=t) for t in (5.0, 0.0))
    assert (late.start_time, late.end_time, late.duration) == (5.0, 7.0, 2.0)
    np.testing.assert_allclose(late.position([5.5, 6.5]), early.position([0.5, 1.5]), atol=1e-13)
    np.testing.assert_array_equal(late.position(4.0), late.position(5.0))
    assert not late.position([4.0, 8.0], 1).any()
    assert late.position(np.zeros((2, 4)) + 6.0, 3).shape == (2, 4, 3)


@pytest.mark.parametrize("demean", [False, True])
def test_offsets_have_no_prior(demean) -> None:
    """Far from all demonstrations the motion is the same."""
    from thunder_py.motion import FPCA

    planner = HumanLikePlanner(FPCA(shrinkage=0.1, alignment="none", demean=demean).fit(reaches()))
    reach, far, t = np.array([0.3, 0.0, 0.1]), np.array([30.0, -20.0, 10.0]), np.linspace(0.0, 1.0, 11)
    here, there = (planner.plan(s, s + reach, 1.0).position(t) - s for s in (np.zeros(3), far))
    np.testing.assert_allclose(there, here, rtol=0.0, atol=1e-9)


def test_samples_of_poses() -> None:
    planner, rng = HumanLikePlanner(fitted("pose")), np.random.default_rng(8)
    start = pose(rng)
    goal = turned(start, rng, 0.8)
    for each in planner.sample(start, goal, 1.0, 3, seed=1):
        np.testing.assert_allclose(each(0.0).R, start[:3, :3], atol=1e-9)
        np.testing.assert_allclose(each(1.0).R, goal[:3, :3], atol=1e-9)
