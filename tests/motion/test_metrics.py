"""Metrics against closed forms, quadrature and finite differences, and the invariances that they promise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from scipy.special import ellipe

from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.recordings.metrics import (
    jerk_summary,
    ldlj,
    mean_jerk,
    path_length,
    power_law,
    rms_distance,
    sparc,
    spectral_arc_length,
    speed_peaks,
    straightness,
)
from thunder_py.recordings.metrics.shape import _to_polyline
from thunder_py.recordings.synthetic import daily_living, power_law_curves
from thunder_py.recordings.trial import Trial
from thunder_py.trajectory.hermite import minimum_jerk

REACH = minimum_jerk([0.1, 0.0, 0.2], [0.4, 0.4, 0.2], 0.8)  # half a meter
CLEAN = math.inf  # a recording that needs no filter


class Harmonic:
    """Sums of sines in every column: c0 + sum_k A_k sin(w_k t + p_k)."""

    def __init__(self, A, w, p, duration=1.0):
        self.A, self.w, self.p, self.duration = (np.asarray(a, dtype=float) for a in (A, w, p, duration))
        self.duration = float(duration)

    def position(self, t, derivative=0):
        angle = np.asarray(t)[..., None, None] * self.w + self.p + 0.5 * np.pi * derivative
        return np.sum(self.A * self.w**derivative * np.sin(angle), axis=-1)


class Transformed:
    """size * R x(t / stretch) + shift."""

    def __init__(self, motion, size=1.0, R=None, shift=0.0, stretch=1.0):
        self.motion, self.size, self.R, self.shift, self.stretch = motion, size, R, shift, stretch
        self.duration = motion.duration * stretch

    def position(self, t, derivative=0):
        x = self.size * self.motion.position(np.asarray(t) / self.stretch, derivative) / self.stretch**derivative
        x = x if self.R is None else x @ self.R.T
        return x if derivative else x + self.shift


def ellipse(a=0.2, b=0.1, laps=1.0):
    return Harmonic([[a], [b]], [[2 * np.pi]] * 2, [[0.5 * np.pi], [0.0]], laps)


def wandering(seed=0, d=3):
    rng = np.random.default_rng(seed)
    return Harmonic(rng.normal(size=(d, 3)), rng.uniform(1.0, 8.0, (d, 3)), rng.uniform(0, 6, (d, 3)), 1.3)


def recorded(motion, rate=200.0, noise=0.0, **labels):
    t = np.arange(round(motion.duration * rate) + 1) / rate
    x = motion.position(t)
    return Trial(t, x + noise * np.random.default_rng(0).normal(size=x.shape), ("x", "y", "z")[: x.shape[1]], **labels)


# --- mean jerk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("D", "T"), [(0.5, 0.8), (0.46, 5.0), (1.2, 5.0)])
def test_mean_jerk_of_minimum_jerk(D, T):
    motion = minimum_jerk([0.0, 0.0, 0.0], [0.6 * D, 0.0, 0.8 * D], T)
    assert mean_jerk(motion) == pytest.approx(40.0 * math.sqrt(3.0) / 3.0 * D / T**3, rel=1e-6)
    assert 40.0 * math.sqrt(3.0) / 3.0 == pytest.approx(23.09, abs=5e-3)


def test_jerk_of_any_motion_is_its_integral():
    motion = wandering()
    norm = lambda t: float(np.linalg.norm(motion.position(t, 3)))  # noqa: E731
    summary = jerk_summary(motion)
    total = integrate.quad(norm, 0.0, 1.3, epsabs=1e-9, limit=200)[0]
    squared = integrate.quad(lambda t: norm(t) ** 2, 0.0, 1.3, epsabs=1e-9, limit=200)[0]
    assert summary.mean == pytest.approx(total / 1.3, rel=1e-9)
    assert summary.rms == pytest.approx(math.sqrt(squared / 1.3), rel=1e-9)
    assert summary.peak == pytest.approx(max(norm(t) for t in np.linspace(0.0, 1.3, 3001)), rel=1e-4)
    assert mean_jerk(motion) == summary.mean


def test_quadrature_sees_breaks():
    class Steps:
        duration, breaks = 1.0, (0.0, 0.3711, 1.0)

        def position(self, t, derivative=0):
            assert derivative == 3 or derivative < 3
            return np.where(np.asarray(t) < 0.3711, 1.0, 5.0)[..., None] * (derivative == 3)

    assert mean_jerk(Steps()) == pytest.approx(0.3711 + 5.0 * (1.0 - 0.3711), rel=1e-12)


def test_motions_that_start_later():
    class Later:
        start_time, duration = 7.0, REACH.duration

        def position(self, t, derivative=0):
            return REACH.position(np.asarray(t) - 7.0, derivative)

    assert mean_jerk(Later()) == pytest.approx(mean_jerk(REACH), rel=1e-9)
    assert sparc(Later()) == pytest.approx(sparc(REACH), rel=1e-9)
    assert straightness(Later()) == pytest.approx(1.0, rel=1e-12)
    assert rms_distance(Later(), REACH) < 1e-12


def test_mean_jerk_of_recordings():
    trial = recorded(REACH)
    assert mean_jerk(trial, cutoff=CLEAN) == pytest.approx(mean_jerk(REACH), rel=2e-4)
    assert mean_jerk((trial.t + 5.0, trial.x), cutoff=CLEAN) == pytest.approx(mean_jerk(trial, cutoff=CLEAN), rel=1e-7)
    noisy = recorded(REACH, noise=1e-4)
    assert mean_jerk(noisy, cutoff=CLEAN) > 20.0 * mean_jerk(REACH)
    assert mean_jerk(noisy, cutoff=8.0) == pytest.approx(mean_jerk(REACH), rel=0.15)


def test_parts_of_a_pose():
    motion = wandering(3, 6)
    translation = Harmonic(motion.A[:3], motion.w[:3], motion.p[:3], 1.3)
    assert mean_jerk(motion) == mean_jerk(translation)
    assert jerk_summary(motion, part="orientation").unit == "rad"
    seven = wandering(4, 7)
    each = [mean_jerk(Harmonic(seven.A[k : k + 1], seven.w[k : k + 1], seven.p[k : k + 1], 1.3)) for k in range(7)]
    assert jerk_summary(seven).part == "joints"
    assert mean_jerk(seven) == pytest.approx(np.mean(each), rel=1e-12)


def test_angular_jerk_by_finite_differences_of_rotations():
    motion = wandering(5, 6)
    h = 1e-3
    t = np.linspace(0.0, 1.3, 400)

    def velocity(t):
        R = [Rotation.from_rotvec(motion.position(t + s)[:, 3:]) for s in (-h, h)]
        return (R[1] * R[0].inv()).as_rotvec() / (2.0 * h)

    # second central difference of the angular velocity, which itself is one of the rotations
    jerk = (velocity(t + h) - 2.0 * velocity(t) + velocity(t - h)) / h**2
    expected = integrate.trapezoid(np.linalg.norm(jerk, axis=1), t) / 1.3
    assert mean_jerk(motion, part="orientation") == pytest.approx(expected, rel=1e-3)
    coordinates = Harmonic(motion.A[3:], motion.w[3:], motion.p[3:], 1.3)
    assert abs(mean_jerk(coordinates) / expected - 1.0) > 0.05


# --- smoothness -------------------------------------------------------------------------------------------------------


def test_ldlj_of_minimum_jerk():
    assert ldlj(REACH) == pytest.approx(-math.log(1024.0 / 5.0), rel=1e-9)
    assert ldlj(REACH, scaling="path_length") == pytest.approx(-math.log(720.0), rel=1e-9)
    assert ldlj(recorded(REACH, 400.0), cutoff=CLEAN) == pytest.approx(ldlj(REACH), abs=1e-3)


@pytest.mark.parametrize("scaling", ["peak_speed", "path_length"])
def test_ldlj_has_no_scale(scaling):
    motion = wandering(2)
    R = Rotation.from_rotvec([0.1, 2.0, 0.4]).as_matrix()
    moved = Transformed(motion, 3.7, R, [1.0, 2.0, 3.0], 0.4)
    assert ldlj(moved, scaling=scaling) == pytest.approx(ldlj(motion, scaling=scaling), abs=1e-9)


def test_ldlj_is_its_definition():
    motion = wandering(6)
    t = np.linspace(0.0, 1.3, 200_001)
    speed, jerk = (np.linalg.norm(motion.position(t, k), axis=1) for k in (1, 3))
    squared = integrate.trapezoid(jerk**2, t)
    assert ldlj(motion) == pytest.approx(-math.log(1.3**3 * squared / speed.max() ** 2), abs=1e-6)
    length = integrate.trapezoid(speed, t)
    assert ldlj(motion, scaling="path_length") == pytest.approx(-math.log(1.3**5 * squared / length**2), abs=1e-8)


def test_sparc_of_minimum_jerk_by_its_fourier_integral():
    """The spectrum of 30 tau^2 (1 - tau)^2 by quadrature, its length up to the last amplitude of 5 %."""
    f = np.linspace(0.0, 4.0, 1601)
    tau, w = np.polynomial.legendre.leggauss(80)
    tau, w = 0.5 * (tau + 1.0), 0.5 * w
    amplitude = np.abs((w * 30.0 * (tau * (1.0 - tau)) ** 2) @ np.exp(-2j * np.pi * np.outer(tau, f)))
    last = np.flatnonzero(amplitude >= 0.05)[-1] + 1
    expected = -np.hypot(np.diff(f[:last]) / f[last - 1], np.diff(amplitude[:last])).sum()
    motion = minimum_jerk([0.0, 0.0], [0.1, 0.3], 1.0)
    assert sparc(motion, padding=10, rate=2000.0) == pytest.approx(expected, abs=1e-3)
    assert sparc(motion) == pytest.approx(expected, abs=1e-2)


def test_submovements_make_motions_less_smooth():
    t = np.linspace(0.0, 1.0, 201)
    one = 30.0 * (t * (1.0 - t)) ** 2
    two = np.where(t < 0.5, 30.0 * (2 * t * (1 - 2 * t)) ** 2, 30.0 * ((2 * t - 1) * (2 - 2 * t)) ** 2)
    assert spectral_arc_length(one, 200.0) > spectral_arc_length(two, 200.0) + 0.3
    x = np.cumsum(two)[:, None] * [[0.3, 0.4, 0.0]]
    assert speed_peaks((t, x), cutoff=CLEAN) == 2
    assert speed_peaks(REACH) == 1
    assert ldlj((t, x), cutoff=20.0) < ldlj((t, np.cumsum(one)[:, None] * [[0.3, 0.4, 0.0]]), cutoff=20.0)


def test_speed_peaks_of_a_lissajous_and_their_prominence():
    # speed of an ellipse: two peaks a lap
    assert speed_peaks(ellipse(laps=3.0)) == 6
    assert speed_peaks(ellipse(0.2, 0.198), prominence=0.05) == 0
    assert speed_peaks(ellipse(0.2, 0.198), prominence=0.001) == 2


# --- paths ------------------------------------------------------------------------------------------------------------


def test_length_of_an_ellipse():
    exact = 4.0 * 0.2 * ellipe(1.0 - 0.25)
    assert path_length(ellipse()) == pytest.approx(exact, rel=1e-12)
    trial = recorded(ellipse(), 1000.0)
    assert path_length(trial) == pytest.approx(exact, rel=1e-5)
    assert straightness(trial) == pytest.approx(0.0, abs=1e-12)


def test_length_and_straightness_of_reaches():
    assert path_length(REACH) == pytest.approx(0.5, rel=1e-12)
    assert straightness(REACH) == pytest.approx(1.0, rel=1e-14)
    half = Harmonic([[0.2], [0.2]], [[np.pi]] * 2, [[0.5 * np.pi], [0.0]])  # half a circle
    assert straightness(half) == pytest.approx(2.0 / np.pi, rel=1e-9)
    assert straightness(recorded(half, 500.0)) == pytest.approx(2.0 / np.pi, rel=1e-5)
    noisy = recorded(REACH, noise=1e-3)
    assert path_length(noisy) > 0.6
    assert path_length(noisy, cutoff=8.0) == pytest.approx(0.5, rel=0.05)


def test_path_of_an_orientation():
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    first = Rotation.from_rotvec([0.4, 0.1, -0.3])
    angle = 1.2 * np.sin(np.linspace(0.0, 0.5 * np.pi, 100))
    R = Rotation.from_rotvec(np.outer(angle, axis)) * first
    trial = Trial.from_poses(np.arange(100) / 100.0, np.zeros((100, 3)), quaternion=R.as_quat(), scalar_first=False)
    assert path_length(trial, part="orientation") == pytest.approx(1.2, rel=1e-12)
    assert straightness(trial, part="orientation") == pytest.approx(1.0, abs=1e-12)
    pose = wandering(8, 6)
    t = np.linspace(0.0, 1.3, 20001)
    chain = Rotation.from_rotvec(pose.position(t)[:, 3:])
    expected = (chain[:-1].inv() * chain[1:]).magnitude().sum()
    assert path_length(pose, part="orientation") == pytest.approx(expected, rel=1e-6)


# --- distances --------------------------------------------------------------------------------------------------------


def test_distance_of_parallel_motions():
    shifted = minimum_jerk([0.1, 0.0, 0.25], [0.4, 0.4, 0.25], 2.0)
    for pairing in ("tau", "arc_length", "nearest"):
        assert rms_distance(REACH, shifted, pairing) == pytest.approx(0.05, rel=1e-9)
        assert rms_distance(REACH, recorded(REACH), pairing) < 1e-6


def test_timing_counts_in_tau_only():
    """The same line at constant speed: the difference of 10 tau^3 - ... and tau over the length of the path."""

    class Uniform:
        duration = 3.0

        def position(self, t, derivative=0):
            return np.array([0.1, 0.0, 0.2]) + np.asarray(t)[..., None] / 3.0 * np.array([0.3, 0.4, 0.0])

    squared = lambda u: (10 * u**3 - 15 * u**4 + 6 * u**5 - u) ** 2  # noqa: E731
    expected = 0.5 * math.sqrt(integrate.quad(squared, 0.0, 1.0)[0])
    assert rms_distance(REACH, Uniform(), "tau", n=4000) == pytest.approx(expected, rel=1e-3)
    assert rms_distance(REACH, Uniform(), "arc_length") < 1e-9
    assert rms_distance(REACH, Uniform(), "nearest") < 1e-9


def test_nearest_points_of_segments():
    line = np.array(
        [[0.0, 0.0], *([1.0, 0.01 * k] for k in range(6)), [1.0, 2.0], [4.0, 2.0]]
    )  # a long one, short ones
    points = np.array([[0.6, -0.1], [0.9, 0.3], [1.2, 0.4], [1.1, -0.2], [3.0, 2.5], [-3.0, 4.0], [0.4, 0.1]])
    s = np.linspace(0.0, 1.0, 4001)[:, None]
    everywhere = np.vstack([a + s * (b - a) for a, b in itertools.pairwise(line)])
    expected = cKDTree(everywhere).query(points)[0]
    np.testing.assert_allclose(np.sqrt(_to_polyline(points, line)), expected, rtol=0, atol=1e-6)


def test_distance_of_orientations_is_an_angle():
    trial = daily_living(1, 0)[0]
    turned = Trial.from_poses(
        trial.t,
        trial.position,
        quaternion=(trial.rotations * Rotation.from_rotvec([0.0, 0.3, 0.0])).as_quat(),
        scalar_first=False,
    )
    assert rms_distance(trial, turned, part="orientation") == pytest.approx(0.3, rel=1e-6)
    assert rms_distance(trial, turned) == 0.0


# --- power law --------------------------------------------------------------------------------------------------------


def test_harmonic_ellipse_obeys_the_law_exactly():
    law = power_law(ellipse())
    assert law.exponent == pytest.approx(-1.0 / 3.0, abs=1e-12)
    assert law.angular_exponent == pytest.approx(2.0 / 3.0, abs=1e-12)
    assert law.r_squared == pytest.approx(1.0, abs=1e-12)
    # v^3 times the curvature is w^3 a b everywhere
    assert law.gain == pytest.approx(2 * np.pi * (0.2 * 0.1) ** (1 / 3), rel=1e-10)


@pytest.mark.parametrize("exponent", [-1 / 3, 0.0, -0.5])
def test_exponent_of_curves(exponent):
    for trial in power_law_curves(3, 0, exponent=exponent):
        law = power_law(trial, cutoff=CLEAN)
        assert law.exponent == pytest.approx(exponent, abs=2e-3)
        assert exponent == 0.0 or law.r_squared > 0.999
    noisy = [power_law(m, cutoff=10.0).exponent for m in power_law_curves(5, 0, exponent=exponent, noise=2e-4)]
    assert np.median(noisy) == pytest.approx(exponent, abs=0.04)


# --- what is refused --------------------------------------------------------------------------------------------------


def gappy():
    x = REACH.position(np.linspace(0.0, 0.8, 50))
    x[10:13] = np.nan
    return Trial(np.linspace(0.0, 0.8, 50), x, ("x", "y", "z"))


def test_bad_input():
    assert_refused(
        (lambda: mean_jerk(recorded(REACH)), "...cutoff must be given for a recording..."),
        (lambda: mean_jerk(REACH, cutoff=10.0), "...cutoff must be None for a motion object, ... got 10..."),
        (lambda: mean_jerk(gappy(), cutoff=10.0), "...must have no gaps..."),
        (lambda: path_length(gappy()), "...must have no gaps..."),
        (lambda: mean_jerk(recorded(REACH), cutoff=150.0), "...above 1e-06 of the rate of the trial and below half..."),
        (lambda: mean_jerk(REACH, part="orientation"), "...part must be present ... got 'orientation' for dofs x, ..."),
        (lambda: mean_jerk(REACH, part="rotation"), "...part must be one of..."),
        (lambda: mean_jerk([1.0, 2.0]), "...a motion must be a Trial..."),
        (lambda: mean_jerk((np.arange(4.0), np.zeros((4, 3))), cutoff=CLEAN), "...six samples or more for ..."),
        (lambda: ldlj(REACH, scaling="speed"), "...scaling must be..."),
        (lambda: ldlj(minimum_jerk([0.0], [0.0], 1.0)), "...motion must move and have jerk..."),
        (lambda: sparc(minimum_jerk([0.0], [0.0], 1.0)), "...speed must be positive somewhere..."),
        (lambda: straightness(minimum_jerk([0.0], [0.0], 1.0)), "...motion must have a path of positive length..."),
        (lambda: sparc((np.cumsum(np.linspace(1, 2, 20)), np.zeros((20, 2))), cutoff=CLEAN), "...equal time steps..."),
        (lambda: rms_distance(REACH, REACH, "dtw"), "...pairing must be one of tau, arc_length, nearest, got 'dtw'..."),
        (lambda: rms_distance(REACH, ellipse()), "...a and b must have the same dofs..."),
        (lambda: power_law(minimum_jerk([0.0], [1.0], 1.0)), "...motion must have two or three dimensions..."),
        (lambda: power_law(REACH), "...ten moving samples on a curve or more, got 0..."),
        (lambda: power_law(ellipse(0.1, 0.1)), "...motion must have a varying curvature..."),
        (lambda: speed_peaks(REACH, prominence=2.0), "...prominence must be a number in [0, 1]..."),
    )


@pytest.mark.parametrize(("rate", "duration", "offset"), [(50, 0.5, 10.0), (50, 10.0, 0.0), (1000, 10.0, 10.0)])
def test_rounding_errors_are_no_jerk(rate, duration, offset):
    """Constant velocity and acceleration have no jerk; a reach of 22 mm far from the origin has that of a quintic."""
    t = np.arange(int(duration * rate) + 1) / rate
    for x in (np.outer(t, [0.2, 0.1, 0.0]), np.outer(t**2, [0.2, 0.1, 0.3])):
        with pytest.raises(ThunderError, match="motion must move and have jerk"):
            ldlj(Trial.from_positions(t, x + offset), cutoff=math.inf)
    s = t / duration
    reach = np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, [0.02, 0.01, 0.0]) + offset
    assert ldlj(Trial.from_positions(t, reach), cutoff=math.inf) == pytest.approx(-math.log(1024 / 5), abs=0.1)
