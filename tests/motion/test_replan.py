"""The remaining motion: the motion so far plus a correction, D4.2, eq. (115) for the difference."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.interpolate import BSpline

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError, ThunderWarning
from thunder_py.geometry import Sphere
from thunder_py.motion import FPCA, HumanLikePlanner, SplineBasis
from thunder_py.motion.planning.model import Stretch
from thunder_py.motion.planning.plan import PlanDetails, make_plan
from thunder_py.spatial import exp
from thunder_py.trajectory import minimum_jerk

from .planner_models import fitted, joints, polynomials, spline_rows

pytestmark = pytest.mark.filterwarnings(
    "ignore::thunder_py.errors.ThunderWarning"
)  # late changes are far from the data

START, GOAL, T = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.0, 0.4]), 1.2
KINDS = [("paper", "paper"), ("plain", "map"), ("joint", "map"), ("aligned", "map"), ("joint aligned", "map")]


@cache
def published(seed: int = 6) -> FPCA:
    """Five exactly quartic splines that nearly span the quintics, as those of the paper's authors, in any order."""
    tau, basis = np.linspace(0.0, 1.0, 201), SplineBasis(15, degree=4)
    P = np.polynomial.legendre.legvander(2.0 * tau - 1.0, 5)[:, 1:] * np.sqrt(2.0 * np.arange(1, 6) + 1.0)
    mixed = P @ np.linalg.qr(np.random.default_rng(seed).normal(size=(5, 5)))[0]
    mean = 0.3 * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
    B = basis.evaluate(tau)
    S = B @ np.linalg.lstsq(B, np.column_stack([mean, mixed]), rcond=None)[0]
    fpca = FPCA.from_components(np.repeat(S[:, 1:].T[..., None], 3, axis=2), np.repeat(S[:, :1], 3, axis=1))
    assert fpca.residual_.max() < 1e-14
    return fpca


def model(kind: str) -> FPCA:
    """Components by name, fitted when they are needed."""
    others = {"published": published, "joints": joints}
    return others[kind]() if kind in others else fitted(kind)


#: every mode, plain and aligned, joint and not, of positions, poses and joints
MODELS = [*KINDS, ("published", "paper"), ("published", "map"), ("pose", "map"), ("joints", "map")]
numbered = pytest.mark.parametrize(("number", "kind", "mode"), [(k, *each) for k, each in enumerate(MODELS)])


@numbered
def test_the_same_goal_keeps_the_motion(number, kind, mode) -> None:
    planner, rng = HumanLikePlanner(model(kind), mode), np.random.default_rng(number)
    d = len(planner.dofs)
    for continuity in ("velocity", "acceleration", None):
        for _ in range(3):
            a, b, v = 0.3 * rng.normal(size=(3, d))
            v[3:6] = 0.0 if d == 6 else v[3:6]  # of poses, twists differ from rates of coordinates
            duration, part = rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.95)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ThunderWarning)  # of random states
                made = plan_between(planner, a, b, duration, 0.1 * v)
            t = np.linspace(part, 1.0, 21) * duration
            rest = planner.replan(made, t[0], goal_of(made), goal_velocity=0.1 * v, continuity=continuity)
            assert rest.fallback is None
            x = made.position(t)
            np.testing.assert_allclose(rest.position(t), x, rtol=0.0, atol=1e-9)
            dx = made.position(t, 1)
            np.testing.assert_allclose(rest.position(t, 1), dx, rtol=0.0, atol=1e-9 * np.abs(dx).max())
            np.testing.assert_allclose(rest.scores, made.scores, rtol=1e-9, atol=1e-9 * np.abs(made.scores).max())


@numbered
def test_a_goal_nearby_keeps_the_motion_nearby(number, kind, mode) -> None:
    """The deviation is at most twice the change of the goal, by the components or by Hermite's polynomial."""
    planner, rng = HumanLikePlanner(model(kind), mode, max_acceleration_ratio=np.inf), np.random.default_rng(number)
    d = len(planner.dofs)
    for continuity in ("velocity", "acceleration", None):
        for _ in range(3):
            a, b = 0.3 * rng.normal(size=(2, d))
            duration, part, shift = rng.uniform(0.5, 3.0), rng.uniform(0.01, 0.95), 10.0 ** rng.uniform(-4, -1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ThunderWarning)
                made = plan_between(planner, a, b, duration, np.zeros(d))
            t = np.linspace(part, 1.0, 101) * duration
            step = rng.normal(size=d)
            step *= shift / np.linalg.norm(step)
            rest = planner.replan(made, t[0], goal_of(made, step), continuity=continuity)
            away = np.linalg.norm(rest.position(t) - made.position(t), axis=1)
            assert away[0] < 1e-9
            np.testing.assert_allclose(away[-1], shift, rtol=1e-6)
            assert away.max() <= 2.0 * shift * (1.0 + 1e-9)


@numbered
def test_too_little_time_is_refused_with_the_least_end_time(number, kind, mode) -> None:
    planner, rng = HumanLikePlanner(model(kind), mode), np.random.default_rng(number)
    d = len(planner.dofs)
    a, b = 0.3 * rng.normal(size=(2, d))
    made = plan_between(planner, a, b, 2.0, np.zeros(d))
    for continuity in ("velocity", "acceleration"):
        options = {"plan": made, "t": 1.0, "goal": goal_of(made), "continuity": continuity}
        with pytest.raises(ThunderError, match=r"end_time must be at least .* s for this goal, got 1\.02 s") as error:
            planner.replan(end_time=1.02, **options)
        least = float(str(error.value).split()[5])
        rest = planner.replan(end_time=least, **options)
        accelerations = [np.abs(x.position(np.linspace(x.start_time, x.end_time, 101), 2)) for x in (made, rest)]
        groups = [slice(0, 3), slice(3, 6)] if d == 6 else [slice(0, d)]
        own = max(float(accelerations[1][:, g].max() / accelerations[0][:, g].max()) for g in groups)
        assert own > 5.0  # the bound is not needlessly strict
        with pytest.raises(ThunderError, match="end_time must be at least"):
            planner.replan(end_time=1.0 + 0.99 * (least - 1.0), **options)
        free = HumanLikePlanner(planner.fpca, mode, max_acceleration_ratio=np.inf)
        assert free.replan(end_time=1.02, **options).end_time == 1.02


def test_the_bound_on_accelerations() -> None:
    """Ten times the plan's, minimum jerk's or the training motions', whichever is largest, also after replans."""
    planner = HumanLikePlanner(polynomials(), "exact")  # no training motions, mean zero
    made, goal = planner.plan(START, START, T), START + np.array([0.1, 0.0, 0.0])
    least = T * (1.0 - np.sqrt(0.1))  # a minimum-jerk motion in a share s of the time needs 1 / s^2 the acceleration
    rest = planner.replan(made, 0.99 * least, goal, continuity="acceleration")
    assert rest._pace is made._pace
    with pytest.raises(ThunderError, match=r"which requires .* m/s\^2, more than max_acceleration_ratio = 10 times"):
        planner.replan(made, 1.02 * least, goal, continuity="acceleration")
    for left in (0.3, 0.15, 0.08):  # replans do not raise the bound
        rest = planner.replan(rest, T - left, goal + np.array([0.0, 0.02 * left**2, 0.0]))
    with pytest.raises(ThunderError, match="end_time must be at least"):
        planner.replan(rest, T - 0.07, goal + np.array([0.0, 0.05, 0.0]))
    still = HumanLikePlanner(fitted("plain"))  # small compared with the training motions
    made = still.plan(START, START, T)
    assert still.replan(made, 0.8, START + 0.05).end_time == T
    second = still.fpca.inverse_transform(still.fpca.scores_, tau=np.linspace(0, 1, 101), derivative=2)
    peak = np.linalg.norm(second, axis=-1).max()
    np.testing.assert_allclose(still._training.acceleration, [peak], rtol=1e-12)
    assert_refused((lambda: HumanLikePlanner(still.fpca, max_acceleration_ratio=0.5), "...max_acceleration_ratio ..."))


def plan_between(planner, a, b, duration, v):
    if planner.kind != "pose":
        return planner.plan(a, b, duration, goal_velocity=v)
    path, *_ = planner._core.plan(a, b, duration, 0.0, None, v, None, None)
    segment = (path, 0.0)
    return make_plan(path, np.eye(3), planner, PlanDetails(Stretch(0.0, 0.0, duration), 1.0, segment=segment))


def goal_of(made, step=0.0):
    """The goal of a plan, moved in its coordinates."""
    x = made.position(made.end_time) + step
    return x if len(x) != 6 else (x[:3], exp(x[3:]))


def test_beyond_the_bound_a_polynomial_takes_over() -> None:
    """Components that overshoot by half of the change of the goal."""
    planner = HumanLikePlanner(published(0), "paper", max_deviation_ratio=1.2)
    made = planner.plan(START, GOAL, 2.0)
    t, goal = np.linspace(1.05, 2.0, 61), GOAL + np.array([0.01, 0.0, 0.0])
    rest = planner.replan(made, 1.05, goal)
    assert rest.fallback == "hermite"
    assert rest.mahalanobis_distance is None
    s = (t - 1.05) / 0.95
    cubic = (3 * s**2 - 2 * s**3)[:, None] * [0.01, 0.0, 0.0]
    np.testing.assert_allclose(rest.position(t), made.position(t) + cubic, rtol=0.0, atol=1e-12)
    free = HumanLikePlanner(planner.fpca, "paper").replan(made, 1.05, goal)
    assert free.fallback is None
    assert np.abs(free.position(t) - made.position(t)).max() > 0.015
    assert_refused((lambda: HumanLikePlanner(planner.fpca, max_deviation_ratio=0.5), "...max_deviation_ratio must ..."))


def test_a_motion_around_obstacles_keeps_its_detour() -> None:
    planner, ball = HumanLikePlanner(fitted("aligned")), Sphere([0.3, 0.1, 0.35], 0.06)
    made = planner.plan(START, GOAL, T, obstacles=[ball], margin=0.02)
    t = np.linspace(0.1, T, 41)
    assert len(made.via_points) == 1
    for obstacles in ([], [ball]):
        rest = planner.replan(made, 0.1, GOAL, obstacles=obstacles, margin=0.02)
        assert rest.fallback is None
        np.testing.assert_allclose(rest.position(t), made.position(t), rtol=0.0, atol=1e-9)
    after = planner.replan(made, float(made.via_times[-1]) + 0.05, GOAL + 0.01)
    assert after.scores is not None
    assert planner.replan(made, 0.1, GOAL + 0.01).scores is None  # several segments


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
    """Planned with position and velocity, as the report replans, the remaining motion is that of (115)."""
    fpca = fitted("paper")
    planner = HumanLikePlanner(fpca, "paper", ("position", "velocity"), max_condition_number=np.inf)
    made = planner.plan(START, GOAL, T)
    goal = GOAL + np.array([0.02, 0.05, -0.03])
    rest = planner.replan(made, tau * T, goal)
    grid = np.linspace(tau, 1.0, 31)
    for dof in range(3):
        now, v = made.position(tau * T)[dof], T * made.position(tau * T, 1)[dof]
        unknowns = np.linalg.solve(*rest_system(fpca, tau, [now, goal[dof], v, 0.0], dof))
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
    quintic = minimum_jerk(np.zeros(3), goal - GOAL, 0.6)
    s = np.linspace(0.0, 0.6, 11)
    for derivative, tolerance in enumerate((1e-11, 1e-9, 1e-7)):
        added = rest.position(0.6 + s, derivative) - made.position(0.6 + s, derivative)
        np.testing.assert_allclose(added, quintic.position(s, derivative), rtol=0.0, atol=tolerance)
    cubic = planner.replan(made, 0.6, goal, continuity="velocity")
    assert cubic.fallback == "hermite"
    np.testing.assert_allclose(cubic.position(0.6, 1), made.position(0.6, 1), atol=1e-12)
    again = HumanLikePlanner(planner.fpca).replan(rest, 0.9, goal)  # components add to polynomials, too
    assert again.fallback is None
    np.testing.assert_allclose(again.position(0.9 + s / 2), rest.position(0.9 + s / 2), rtol=0.0, atol=1e-12)


def test_bad_input() -> None:
    planner = HumanLikePlanner(fitted("plain"))
    made = planner.plan(START, GOAL, T)
    slow = HumanLikePlanner(fitted("plain"), constraints=("position",))
    positions = slow.plan(START, GOAL, T)

    def replan(**change):
        planner.replan(**{"plan": made, "t": 0.5, "goal": GOAL, **change})

    assert_refused(
        (lambda: replan(t=1.3), "t must lie within the plan..."),
        (lambda: replan(t=np.nan), "t must be a finite number..."),
        (lambda: replan(end_time=0.4), "end_time must come after..."),
        (lambda: replan(continuity="jerk"), "continuity must be..."),
        (lambda: replan(goal=[1.0]), "goal must have shape..."),
        (lambda: replan(goal=[1.0, np.inf, 0.0]), "goal must be finite..."),
        (lambda: HumanLikePlanner(joints()).replan(made, 0.5, np.zeros(7)), "plan must be a plan of ..."),
        (lambda: slow.replan(positions, 0.5, GOAL), "constraints of the planner must include position and velocity..."),
    )


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
