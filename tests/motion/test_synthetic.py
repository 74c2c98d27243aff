"""Generators: seeded, within their ranges, and the laws they are named after hold exactly."""

import numpy as np
import pytest
from scipy import stats

from tests.refusals import assert_refused
from thunder_py.recordings.synthetic import (
    SigmaLognormal,
    daily_living,
    minimum_jerk_reaches,
    power_law_curves,
    sigma_lognormal_reaches,
)
from thunder_py.trajectory.hermite import minimum_jerk

GENERATORS = [minimum_jerk_reaches, sigma_lognormal_reaches, power_law_curves, daily_living]


@pytest.mark.parametrize("generator", GENERATORS)
def test_seeded_and_of_several_subjects(generator):
    first, again, other = generator(12, 3), generator(12, 3), generator(12, 4)
    assert len(first) == 12
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        assert a.x.shape != c.x.shape or not np.allclose(a.x, c.x)
        assert a.uniform
        assert a.valid.all()
    assert 4 < len(first.subjects) < 7
    assert len({trial.duration for trial in first}) > 6
    assert len(generator(5, 0, n_subjects=1).subjects) == 1


@pytest.mark.parametrize("generator", GENERATORS)
def test_noise_is_white_and_of_the_size_asked_for(generator):
    clean, noisy = generator(8, 1), generator(8, 1, noise=1e-3)
    # the same motions, whatever their noise
    for a, b in zip(clean, noisy, strict=True):
        assert (b.position - a.position).std() == pytest.approx(1e-3, rel=0.25)
    first = np.vstack([b.position - a.position for a, b in zip(clean, noisy, strict=True)])
    assert first.std() == pytest.approx(1e-3, rel=0.06)
    lagged = np.mean(first[1:] * first[:-1]) / first.var()
    assert abs(lagged) < 4.0 / np.sqrt(first.size)


def one_stroke(turn=0.8):
    strokes = [[0.05, 0.3, -0.7, 0.3, 0.2, 0.2 + turn]]
    return SigmaLognormal(strokes, [0.1, 0.2, 0.3], [[1, 0, 0], [0, 0.6, 0.8]], 1.5)


def test_a_stroke_is_a_lognormal_along_an_arc():
    motion = one_stroke()
    t = np.linspace(0.06, 1.5, 200)
    v, a = motion.position(t, 1), motion.position(t, 2)
    speed = np.linalg.norm(v, axis=1)
    density = stats.lognorm(s=0.3, loc=0.05, scale=np.exp(-0.7)).pdf(t)
    np.testing.assert_allclose(speed, 0.3 * density, rtol=1e-9, atol=1e-14)
    # curvature of an arc of length D that turns by 0.8: 0.8 / D
    fast = speed > 0.05
    curvature = np.linalg.norm(np.cross(v, a), axis=1)[fast] / speed[fast] ** 3
    np.testing.assert_allclose(curvature, 0.8 / 0.3, rtol=1e-9)
    assert not motion.position(0.04, 1).any()


def test_derivatives_of_sigma_lognormal_by_finite_differences():
    strokes = [[0.0, 0.3, -1.2, 0.3, 0.1, 0.7], [0.15, 0.05, -1.6, 0.25, -0.2, 0.4], [0.3, 0.04, -1.7, 0.3, 0.5, 0.0]]
    motion = SigmaLognormal(strokes, np.zeros(3), [[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], 1.0)
    t, h = np.linspace(0.1, 0.7, 13), 1e-5
    for k in range(3):
        difference = (motion.position(t + h, k) - motion.position(t - h, k)) / (2 * h)
        scale = np.abs(difference).max()
        np.testing.assert_allclose(motion.position(t, k + 1), difference, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("exponent", [-1 / 3, 0.0, -0.6])
def test_curves_obey_their_law(exponent):
    """Speed over curvature^exponent, both from central differences, is one number along each curve."""
    for trial in power_law_curves(4, 1, exponent=exponent, rate=1000.0, lap_duration=(1.0, 1.2), laps=1.0):
        x, h = trial.x, 1e-3
        v, a = (x[2:] - x[:-2]) / (2 * h), (x[2:] - 2 * x[1:-1] + x[:-2]) / h**2
        speed = np.linalg.norm(v, axis=1)
        curvature = np.linalg.norm(np.cross(v, a), axis=1) / speed**3
        gain = speed / curvature**exponent
        assert np.ptp(gain) < 2e-3 * gain.mean()
        assert np.ptp(curvature) > 0.5 * curvature.mean()


def test_daily_living_goes_out_and_returns():
    motions = daily_living(60, 1, n_subjects=2)
    assert motions.dofs == ("x", "y", "z", "rx", "ry", "rz")
    assert motions.tasks[:3] == ("intransitive 1", "transitive 1", "tool 1")
    assert len(motions.tasks) == 30
    for trial in motions:
        away = np.linalg.norm(trial.position - trial.position[0], axis=1)
        assert away[-1] < 0.2
        assert away.max() > away[-1]
        rate = np.diff(trial.x, axis=0) * trial.rate
        assert np.abs(rate[[0, -1]]).max() < 0.05
        assert not trial.near_half_turn().any()


def test_bad_input():
    assert_refused(
        (lambda: minimum_jerk_reaches(0), "...n must be a whole number of at least 1, got 0..."),
        (lambda: minimum_jerk_reaches(3, duration=(2.0, 1.0)), "...duration must be (least, largest)..."),
        (lambda: minimum_jerk_reaches(3, noise=-1.0), "...noise must not be negative..."),
        (lambda: sigma_lognormal_reaches(3, rate=0), "...rate must be positive..."),
        (lambda: power_law_curves(3, eccentricity=1.0), "...eccentricity must be a number in [0, 1)..."),
        (lambda: power_law_curves(3, exponent=-1.0), "...exponent must be a number in (-1, 10)..."),
        (lambda: daily_living(3, n_subjects=1.5), "...n_subjects must be a whole number..."),
        (lambda: one_stroke().position(0.0, 4), "...derivative must be 0, 1, 2 or 3..."),
        (lambda: SigmaLognormal([[0, 1, 0, 0, 0, 0]], [0, 0, 0], np.eye(3)[:2], 1.0), "...sigma of every stroke..."),
    )


# --- Minimum-jerk motions: boundary conditions, derivatives, closed forms, and that nothing has less squared jerk ---
START, GOAL, T = np.array([0.3, -0.2, 0.1]), np.array([0.7, 0.1, 0.4]), 0.8


def moving(seed=0, d=3):
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(6, d))
    names = ["start_velocity", "goal_velocity", "start_acceleration", "goal_acceleration"]
    return state, minimum_jerk(state[0], state[1], 1.7, **dict(zip(names, state[2:], strict=True)))


def test_rest_to_rest_is_the_polynomial_of_flash_and_hogan():
    tau = np.linspace(0.0, 1.0, 11)
    motion = minimum_jerk(START, GOAL, T)
    expected = START + np.outer(10 * tau**3 - 15 * tau**4 + 6 * tau**5, GOAL - START)
    np.testing.assert_allclose(motion.position(tau * T), expected, rtol=0, atol=1e-15)
    peak = np.linalg.norm(motion.position(T / 2, 1))
    assert peak == pytest.approx(15 / 8 * np.linalg.norm(GOAL - START) / T, rel=1e-14)
    assert motion.squared_jerk() == pytest.approx(720 * np.sum((GOAL - START) ** 2) / T**5, rel=1e-14)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_boundary_conditions(d):
    state, motion = moving(d, d)
    ends = [motion.position(t, k) for k in range(3) for t in (0.0, motion.duration)]
    np.testing.assert_allclose(ends, state, rtol=0, atol=2e-13)
    assert motion.dimension == d


def test_derivatives_by_finite_differences():
    _, motion = moving()
    t, h = np.linspace(0.1, 1.6, 9), 1e-5
    for k in range(5):
        difference = (motion.position(t + h, k) - motion.position(t - h, k)) / (2 * h)
        scale = np.abs(motion.position(t, k + 1)).max()
        np.testing.assert_allclose(motion.position(t, k + 1), difference, rtol=0, atol=1e-8 * scale)


def test_rests_outside_and_keeps_shapes():
    motion = minimum_jerk(START, GOAL, T)
    np.testing.assert_array_equal(motion.position([-1.0, 0.0]), [START, START])
    np.testing.assert_allclose(motion.position(5.0), GOAL, rtol=0, atol=1e-15)
    assert not motion.position([-0.1, T + 0.1], 3).any()
    assert all(not moving()[1].position([-0.1, 10.0], derivative).any() for derivative in range(1, 6))
    assert motion.position(np.zeros((2, 4)), 2).shape == (2, 4, 3)
    far = minimum_jerk(START + 1e3, GOAL + 1e3, T).position(T, 2)
    np.testing.assert_allclose(far, 0.0, atol=1e-12)


def test_bad_input_of_min_jerk():
    assert_refused(
        (lambda: minimum_jerk(START, GOAL, 0.0), "...duration must be positive [s], got 0.0..."),
        (lambda: minimum_jerk(START, GOAL[:2], 1.0), "...goal must have shape (3,), got (2,)..."),
        (lambda: minimum_jerk(START, GOAL, 1.0, goal_velocity=[np.nan, 0, 0]), "...goal_velocity must be finite..."),
        (
            lambda: minimum_jerk(START, GOAL, 1.0).position(0.5, 6),
            "...derivative must be a whole number from 0 to 5, got 6...",
        ),
    )


def test_reaches_without_curvature_are_minimum_jerk():
    for trial in minimum_jerk_reaches(6, 2, curvature=0.0):
        exact = minimum_jerk(trial.x[0], trial.x[-1], trial.duration)
        np.testing.assert_allclose(trial.x, exact.position(trial.t), rtol=0, atol=1e-14)
        assert 0.15 <= np.linalg.norm(trial.x[-1] - trial.x[0]) <= 0.45


def test_boundary_velocity_and_acceleration():
    still, moving = minimum_jerk_reaches(40, 5), minimum_jerk_reaches(40, 5, boundary_velocity=0.1, rate=2000.0)
    start = lambda motions: np.array([(m.x[1] - m.x[0]) / (m.t[1] - m.t[0]) for m in motions])  # noqa: E731
    assert np.abs(start(still)).max() < 0.02
    assert start(moving).std() == pytest.approx(0.1, rel=0.2)
    pushed = minimum_jerk_reaches(40, 5, boundary_acceleration=1.0, rate=2000.0)
    second = np.array([np.diff(m.x[:3], n=2, axis=0)[0] * 2000.0**2 for m in pushed])
    assert second.std() == pytest.approx(1.0, rel=0.25)


def test_bow_of_a_reach():
    """The largest distance from the chord has the size that was asked for."""
    bows = []
    for trial in minimum_jerk_reaches(200, 7, n_subjects=100, curvature=0.1):
        chord = trial.x[-1] - trial.x[0]
        off = trial.x - trial.x[0] - np.outer((trial.x - trial.x[0]) @ chord / (chord @ chord), chord)
        bows.append(np.linalg.norm(off, axis=1).max() / np.linalg.norm(chord))
    # subjects' and trials' deviations add up, and their sum is normal
    assert np.mean(np.square(bows)) == pytest.approx(2 * 0.1**2, rel=0.25)


def test_tasks_stay_while_trials_vary():
    a, b = daily_living(30, 1, n_subjects=1, variability=0.0), daily_living(30, 2, n_subjects=1, variability=0.0)
    repeated = daily_living(60, 1, n_subjects=1, variability=0.0)
    for k in range(30):
        np.testing.assert_array_equal(repeated[k].x, repeated[k + 30].x)
        assert a[k].task == b[k].task
    middle = lambda trial: trial.position[len(trial) // 2]  # noqa: E731
    between = np.std([middle(m) for m in a], axis=0).sum()
    same = np.mean([np.linalg.norm(middle(p) - middle(q)) for p, q in zip(a, b, strict=True)])
    assert same < 0.6 * between
