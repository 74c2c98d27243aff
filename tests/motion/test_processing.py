"""Filters, gaps and sampling against SciPy and against signals whose result is known."""

from functools import partial

import numpy as np
import pytest
from scipy import signal
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from tests.refusals import assert_refused
from thunder_py.recordings import MotionSet, Trial, split_reaches
from thunder_py.recordings.processing import (
    NormalizedTrial,
    crop_to_movement,
    fill_gaps,
    half_path_time,
    landmark_map,
    low_pass,
    median_filter,
    moving_average,
    normalize_time,
    peak_speed_time,
    register,
    resample,
    speed,
    split_at_gaps,
)

RATE = 100.0


def noise(n=200, d=3, seed=0):
    return np.cumsum(np.random.default_rng(seed).normal(size=(n, d)), axis=0)


def positions(x, rate=RATE, **labels):
    return Trial.from_positions(np.arange(len(x)) / rate, x, rate=rate, **labels)


@pytest.mark.parametrize(("order", "cutoff"), [(1, 5.0), (2, 10.0), (5, 3.0)])
def test_low_pass_is_filtfilt(order, cutoff):
    x = noise()
    b, a = signal.butter(order, cutoff, fs=RATE)
    np.testing.assert_allclose(low_pass(positions(x), cutoff, order).x, signal.filtfilt(b, a, x, axis=0), atol=1e-8)


def test_steps_do_not_depend_on_the_frame_but_for_medians():
    rng = np.random.default_rng(5)
    phi, p = (scale * np.cumsum(rng.normal(size=(150, 3)), axis=0) for scale in (0.04, 0.01))
    frame = Rotation.from_rotvec([2.0, -1.0, 0.5])
    t, R = np.arange(150) / RATE, Rotation.from_rotvec(phi)
    here = Trial.from_poses(t, p, matrix=R.as_matrix())
    there = Trial.from_poses(t, frame.apply(p), matrix=(frame * R).as_matrix())
    steps = {
        "low_pass": lambda m: low_pass(m, 8.0), "moving_average": moving_average, "median_filter": median_filter,
        "resample": lambda m: resample(m, rate=0.7 * RATE), "crop_to_movement": crop_to_movement,
        "normalize_time": normalize_time,
    }  # fmt: skip
    depends = []
    for name, step in steps.items():
        a, b = step(here), step(there)
        assert ((frame * a.rotations).inv() * b.rotations).magnitude().max() < 1e-9
        if np.abs(frame.apply(a.position) - b.position).max() > 1e-9:
            depends.append(name)
    assert depends == ["median_filter"]


def test_median_removes_a_spike_and_keeps_an_edge():
    x = np.zeros((50, 1)) + np.arange(50)[:, None] // 25
    spiked = np.array(x)
    spiked[10] = 9.0
    trial = Trial(np.arange(50) / RATE, spiked, ("opening",), ("1",))
    np.testing.assert_array_equal(median_filter(trial, 5).x, x)


@pytest.mark.parametrize(("width", "weights"), [(5, np.ones(5)), (4, [0.5, 1, 1, 1, 0.5]), (1, [1.0])])
def test_moving_average_is_a_centered_convolution(width, weights):
    x = noise()
    half = len(weights) // 2
    got = moving_average(positions(x), width).x
    inner = slice(half, len(x) - half)
    for k in range(3):
        want = np.convolve(x[:, k], weights, mode="same") / np.sum(weights)
        np.testing.assert_allclose(got[inner, k], want[inner], atol=1e-12)


def cubic(t):
    return np.column_stack([1.0 + t - 2.0 * t**2 + t**3, t**3, 2.0 * t])


def with_holes(*holes, n=60):
    t = np.arange(n) / RATE
    x = cubic(t)
    for column, first, behind in holes:
        x[first:behind, column] = np.nan
    return Trial.from_positions(t, x, rate=RATE)


def test_gaps_of_a_cubic_are_filled_exactly():
    got = fill_gaps(with_holes((0, 10, 20), (1, 15, 30), (2, 40, 41)))
    np.testing.assert_allclose(got.x, cubic(got.t), atol=1e-12)
    straight = fill_gaps(with_holes((2, 40, 50)), method="linear")
    np.testing.assert_allclose(straight.x[:, 2], 2.0 * straight.t, atol=1e-12)


def test_long_gaps_stay_and_measured_values_are_kept():
    trial = with_holes((0, 10, 14), (1, 30, 45))
    got = fill_gaps(trial, longest=0.05, method="pchip")
    np.testing.assert_allclose(got.gaps, [(0.29, 0.45)])
    seen = ~np.isnan(trial.x)
    np.testing.assert_array_equal(got.x[seen], trial.x[seen])
    # 10 to 13 are missing: from sample 9 to sample 14
    np.testing.assert_allclose(fill_gaps(trial, longest=0.0499).gaps, [(0.09, 0.14), (0.29, 0.45)])


def test_gaps_at_the_ends_are_cut_off():
    # the second column has values before its first gap, which lie outside of what the first one covers
    got = fill_gaps(with_holes((0, 0, 5), (1, 4, 8), (2, 55, 60)))
    assert got.valid.all()
    assert (got.t[0], got.t[-1]) == (0.05, 0.54)
    np.testing.assert_allclose(got.x, cubic(got.t), atol=1e-12)


def test_orientation_in_a_gap_and_between_samples_turns_at_constant_rate():
    slerp = Slerp([0.0, 0.4], Rotation.from_rotvec([[0.1, 2.9, 0.2], [0.3, 3.6, -0.2]]))
    t = np.linspace(0.0, 0.4, 40)
    whole = Trial.from_poses(t, np.zeros((40, 3)), matrix=slerp(t).as_matrix())
    x = np.array(whole.x)
    x[12:25, 3:] = np.nan
    np.testing.assert_allclose(fill_gaps(whole.with_values(x)).x, whole.x, atol=1e-9)
    got = resample(whole, n=77)
    assert (slerp(got.t).inv() * got.rotations).magnitude().max() < 1e-9


def test_split_at_gaps():
    trial = with_holes((0, 10, 14), (1, 30, 31), (2, 32, 40))  # 31 is alone between two gaps
    parts = split_at_gaps(trial.with_labels(name="a"))
    assert [part.name for part in parts] == ["a/1", "a/2", "a/3"]
    spans = [(part.t[0], part.t[-1]) for part in parts]
    np.testing.assert_allclose(spans, [(0.0, 0.09), (0.14, 0.29), (0.4, 0.59)])
    assert len(split_at_gaps(trial, least_duration=0.1)) == 2
    assert split_at_gaps(with_holes())[0].name == ""


def test_resampled_cubic_is_exact():
    t = np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 50))
    trial = Trial.from_positions(t, cubic(t), name="uneven")
    for got in (resample(trial, rate=37.0), resample(trial, n=64)):
        np.testing.assert_allclose(got.x, cubic(got.t), atol=1e-10)
        assert got.uniform
    assert resample(trial, n=64).t[-1] == t[-1]
    by_rate = resample(trial, rate=37.0)
    assert by_rate.rate == 37.0
    assert 0.0 <= t[-1] - by_rate.t[-1] < 1.0 / 37.0


def test_refusals():
    x, tau = noise(), np.linspace(0.0, 1.0, 51)
    trial, gap, (reach, _) = positions(x, name="reach 7"), with_holes((0, 10, 14)), reaches([(0.3, 0.8)])
    hole, broken = np.array(x), np.array(reach.x)
    hole[50:60, 1] = broken[20:22] = np.nan
    hole, uneven, broken = (
        trial.with_values(hole),
        trial.with_values(x, trial.t + 1e-3 * np.sin(trial.t)),
        reach.with_values(broken),
    )
    one, other = Trial.from_positions(tau, movement(tau), name="one"), Trial(tau, movement(tau), ("a", "b", "c"))
    motions, mixed = MotionSet([one, one]), Trial(reach.t, reach.x, ("x", "y", "a"), ("m", "m", "rad"))
    filters = [partial(low_pass, cutoff=5.0), moving_average, median_filter, partial(resample, n=5)]
    assert len(low_pass(positions(x[:10]), 5.0)) == 10
    assert register(motions, "none") is motions
    assert_refused(
        *((partial(step, hole), "...reach 7...0.49 to 0.6 s...fill_gaps...") for step in filters),
        *((partial(step, uneven), "...resample...") for step in filters[:2]),
        *((partial(low_pass, trial, cutoff), "cutoff must be ...") for cutoff in (0.0, 50.0, np.nan)),
        *((partial(low_pass, trial, 5.0, order), "order must be ...") for order in (0, 2.0, True)),
        (lambda: low_pass(positions(x[:9]), 5.0), "...10 samples or more..."),
        (lambda: low_pass(x, 5.0), "...Trial or a MotionSet..."),
        *((partial(fill_gaps, gap, longest=longest), "longest must be ...") for longest in (0.0, -1.0, np.nan)),
        (lambda: fill_gaps(gap, method="spline"), "method must be ..."),
        (lambda: fill_gaps(with_holes((0, 0, 59))), "...two complete samples..."),
        *((partial(resample, trial, **given), "one of rate and n ...") for given in ({}, {"rate": 5.0, "n": 3})),
        *((partial(resample, trial, n=n), "n must be ...") for n in (1, 2.5, True)),
        *((partial(resample, trial, rate=rate), "rate must be ...") for rate in (-1.0, 0.0, np.nan, np.inf)),
        (lambda: resample(trial, rate=0.1), "...one step of 10 s or more, got 1.99 s..."),
        (lambda: split_reaches(broken), "...fill_gaps..."),
        (lambda: split_reaches(reach, threshold=-1.0), "...threshold..."),
        (lambda: split_reaches(reach, length="arc"), "...length must be..."),
        (lambda: crop_to_movement(reach, 1.0), "...fraction..."),
        (lambda: crop_to_movement(reach.with_values(np.zeros_like(reach.x))), "...no movement..."),
        (lambda: speed(mixed, dofs=("x", "a")), "...one unit..."),
        (lambda: median_filter(trial, 4), "...odd..."),
        (lambda: register(motions, "dtw"), "...method must be..."),
        (lambda: register(motions, landmarks="peak"), "...landmarks must be peak_speed or half_path..."),
        (lambda: register(one), "...motions must be a MotionSet, got Trial..."),
        (lambda: register(motions, "affine", reference=2), "...reference..."),
        (lambda: register(motions, "affine", stretches=(0.0, 1.0)), "...stretches..."),
        (lambda: register(motions, "affine", grid=(0, 3)), "...grid..."),
        (lambda: register(motions, landmarks=[0.5, 1.5]), "...inside of trial 'one' (index 1)..."),
        (lambda: register(motions, landmarks=[0.5, [0.2, 0.5]]), "...equally many..."),
        (lambda: register(motions, target=[0.2, 0.5]), "...one entry for each of 1 landmarks..."),
        (lambda: register(motions, target=1.5), "...target must be..."),
        (lambda: register(MotionSet([broken])), "...fill_gaps..."),
        (lambda: register(MotionSet([one, other]), "affine"), "...share their dofs..."),
    )


def test_normalized_time_knows_the_duration():
    trial = positions(noise(), name="a").slice(0.5, 1.5)
    got = normalize_time(trial)
    assert isinstance(got, NormalizedTrial)
    assert (got.t[0], got.t[-1]) == (0.0, 1.0)
    assert got.seconds == pytest.approx(1.0)
    assert got.real_duration == pytest.approx(trial.duration)
    np.testing.assert_array_equal(got.x, trial.x)
    half = normalize_time(resample(trial.slice(0.5, 1.0), n=11))
    assert half.rate == pytest.approx(10.0)
    assert half.slice(0.0, 0.5).real_duration == pytest.approx(0.25)
    back = half.real_time()
    assert type(back) is Trial
    assert (back.duration, back.rate) == pytest.approx((0.5, 20.0))
    assert normalize_time(half).real_duration == pytest.approx(0.5)
    # a derivative over tau is the one over time, times the duration
    tau_slope = CubicSpline(half.t, half.x)(0.3, 1)
    np.testing.assert_allclose(tau_slope, 0.5 * CubicSpline(back.t, back.x)(0.15, 1))


# --- Movements cut by their speed, and time scales that are recovered ---
FAST = 200.0


def minimum_jerk(tau):
    s = np.clip(tau, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def reaches(moves, rests=0.5, rate=FAST):
    """Minimum-jerk movements along x, given as (distance, duration), with rests around them; and their starts."""
    starts, clock = [], rests
    for _, duration in moves:
        starts.append(clock)
        clock += duration + rests
    t = np.arange(round(clock * rate) + 1) / rate
    x = sum(d * minimum_jerk((t - s) / T) for s, (d, T) in zip(starts, moves, strict=True))
    p = np.column_stack([x, np.zeros_like(x), np.zeros_like(x)])
    return Trial.from_positions(t, p, rate=rate, name="r"), starts


def crossing(fraction):
    """First tau at which the speed of minimum jerk is this fraction of its peak: 16 (tau (1 - tau))^2 = fraction."""
    return 0.5 - np.sqrt(0.25 - np.sqrt(fraction) / 4.0)


def test_movements_are_where_the_speed_crosses_the_threshold():
    moves = [(0.3, 0.8), (-0.5, 1.2), (0.2, 0.6)]
    trial, starts = reaches(moves)
    found = split_reaches(trial, cutoff=np.inf)
    assert [part.name for part in found] == ["r/1", "r/2", "r/3"]
    for part, start, (distance, duration) in zip(found, starts, moves, strict=True):
        inside = crossing(0.03 * duration / (1.875 * abs(distance))) * duration
        assert part.t[0] == pytest.approx(start + inside, abs=1.5 / FAST)
        assert part.t[-1] == pytest.approx(start + duration - inside, abs=1.5 / FAST)
    filtered = split_reaches(trial)
    assert len(filtered) == 3
    np.testing.assert_array_equal(filtered[1].x, trial.slice(filtered[1].t[0], filtered[1].t[-1]).x)


def test_short_and_small_movements_are_dropped():
    trial, _ = reaches([(0.3, 0.8), (0.04, 0.5), (0.3, 0.8)])
    assert len(split_reaches(trial)) == 2
    assert len(split_reaches(trial, least_length=0.03)) == 3
    assert len(split_reaches(trial, least_duration=0.9)) == 0
    assert len(split_reaches(trial, threshold=0.1, least_length=0.01)) == 3
    assert len(split_reaches(trial, threshold=0.2, least_length=0.01)) == 2


def test_speed_is_that_of_the_motion():
    trial, starts = reaches([(0.4, 1.0)])
    v = speed(trial, cutoff=np.inf)
    tau = np.clip(trial.t - starts[0], 0.0, 1.0)
    np.testing.assert_allclose(v, 0.4 * 30.0 * (tau * (1.0 - tau)) ** 2, atol=2e-4)
    joints = Trial(trial.t, trial.x[:, :1], ("shoulder",), ("rad",))
    np.testing.assert_allclose(speed(joints, cutoff=np.inf, dofs=("shoulder",)), v)


def test_crop_keeps_what_is_faster_than_a_fraction_of_the_peak():
    trial, starts = reaches([(0.1, 1.0), (0.5, 1.0)])
    got = crop_to_movement(trial, cutoff=np.inf)
    inside = crossing(0.05)
    assert got.t[0] == pytest.approx(starts[1] + inside, abs=1.0 / FAST)
    assert got.t[-1] == pytest.approx(starts[1] + 1.0 - inside, abs=1.0 / FAST)
    both = crop_to_movement(trial, cutoff=np.inf, pauses=True)
    assert both.t[0] == pytest.approx(starts[0] + crossing(0.25), abs=1.0 / FAST)
    assert len(crop_to_movement(MotionSet([trial, trial]))) == 2


def movement(tau):
    """Rest, a curved movement from 0.3 to 0.7, rest."""
    s = minimum_jerk((tau - 0.3) / 0.4)
    return np.column_stack([s, 0.5 * s**2, -s])


def test_affine_recovers_shift_and_stretch_of_its_grid():
    tau = np.linspace(0.0, 1.0, 301)
    shifts, stretches = np.linspace(-0.1, 0.1, 10), np.linspace(0.4, 1.1, 10)
    chosen = [(shifts[7], stretches[6]), (shifts[1], stretches[8]), (shifts[4], stretches[7])]
    trials = [Trial.from_positions(2.0 * tau, movement(tau))]
    trials += [Trial.from_positions(5.0 + 3.0 * tau, movement(k * tau + s)) for s, k in chosen]
    got = register(MotionSet(trials), "affine")
    np.testing.assert_allclose(got[0].x, trials[0].x, atol=1e-12)
    assert got[0].duration == pytest.approx(2.0)
    for trial, (_, stretch) in zip(got[1:], chosen, strict=True):
        assert trial.duration == pytest.approx(3.0 / stretch)  # speeds stay what they were
        assert trial.t[0] == 5.0
        np.testing.assert_allclose(trial.x, movement(tau), atol=1e-4)


def test_landmarks_undo_a_warp_of_the_same_family():
    tau = np.linspace(0.0, 1.0, 401)
    trials, landmarks = [], []
    for k, place in enumerate((0.3, 0.5, 0.62)):
        # the movement's own 0.5 happens at `place`
        trials.append(Trial.from_positions(k + 2.0 * tau, movement(landmark_map(place, 0.5)(tau))))
        landmarks.append(k + 2.0 * place)
    got = register(MotionSet(trials), "landmark", landmarks=landmarks, target=0.5)
    for k, trial in enumerate(got):
        np.testing.assert_allclose(trial.x, movement(tau), atol=1e-6)
        assert (trial.t[0], trial.duration) == pytest.approx((k, 2.0))


def test_half_of_the_path_is_behind():
    t = np.linspace(0.0, 2.0, 801)
    angle = np.pi * (t / 2.0) ** 2
    arc = Trial.from_positions(t, np.column_stack([np.cos(angle), np.sin(angle), 0.0 * t]))
    assert half_path_time(arc) == pytest.approx(np.sqrt(2.0), abs=1e-5)
    assert_refused((lambda: half_path_time(arc.with_values(np.zeros((801, 3)))), "...must move to have a half path..."))


def turning(angles, axis, frame=None, rate=RATE):
    """A trial that stands still and turns about a fixed axis, seen from a turned frame."""
    R = Rotation.from_rotvec(np.outer(angles, axis))
    R = R if frame is None else frame * R
    p = np.zeros((len(angles), 3))
    return Trial.from_poses(np.arange(len(angles)) / rate, p, matrix=R.as_matrix(), rate=rate)


def test_rotation_about_a_fixed_axis_is_filtered_as_its_angle():
    angles = 0.3 * noise(d=1, seed=3)[:, 0] / 5.0 + 2.5  # on both sides of half a turn
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    assert angles.min() < np.pi < angles.max()
    got = low_pass(turning(angles, axis), 6.0)
    want = low_pass(positions(angles[:, None] * axis), 6.0).x
    # the mean orientation is not exactly the mean angle, and rests of a filter are linear in it
    error = (Rotation.from_rotvec(np.array(want)).inv() * got.rotations).magnitude()
    assert error.max() < 1e-9


@pytest.mark.parametrize("width", [4, 7, 10])
def test_moving_average_keeps_straight_lines_to_the_ends(width):
    x = 3.0 + np.outer(np.arange(40), [1.0, -2.0, 0.5])
    np.testing.assert_allclose(moving_average(positions(x), width).x, x, atol=1e-12)


def legs(points, rest, overlap=0.0, noise=0.0):
    """Minimum-jerk movements of 0.8 s from point to point, with a rest or an overlap in between."""
    t = np.arange(round(FAST * (0.6 + (0.8 + rest) * (len(points) - 1)))) / FAST
    x = points[0] + noise * np.random.default_rng(0).normal(size=(len(t), 3))
    for k, way in enumerate(np.diff(points, axis=0)):
        s = np.clip((t - 0.3 - k * (0.8 * (1.0 - overlap) + rest)) / 0.8, 0.0, 1.0)
        x += np.outer(s**3 * (10 - 15 * s + 6 * s**2), way)
    return Trial.from_positions(t, x, rate=FAST, name="r")


OUT_AND_BACK = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [0.01, 0.0, 0.0]])
ZIGZAG = np.array([[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [0.0, 0.2, 0.1], [0.4, 0.2, 0.2], [0.1, 0.3, 0.1]])
ALONG = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.4, 0.05, 0.0]])


@pytest.mark.parametrize(
    ("points", "how", "count"),
    [
        (OUT_AND_BACK, {"rest": 0.4}, 2),
        (OUT_AND_BACK, {"rest": 0.0}, 2),
        (OUT_AND_BACK, {"rest": 0.0, "overlap": 0.2}, 2),
        (OUT_AND_BACK, {"rest": 0.0, "noise": 1e-3}, 2),
        (ZIGZAG, {"rest": 0.0, "overlap": 0.1}, 4),
        (ALONG, {"rest": 0.0, "overlap": 0.3}, 1),  # slower on the way, but in one direction
        (np.vstack([OUT_AND_BACK[:2], OUT_AND_BACK[1] - 0.02]), {"rest": 0.0, "overlap": 0.4}, 1),  # a correction
    ],
)
def test_reaches_end_where_they_turn(points, how, count):
    found = split_reaches(legs(points, **how))
    assert len(found) == count
    if count == len(points) - 1:
        for part, start, end in zip(found, points[:-1], points[1:], strict=True):
            np.testing.assert_allclose(part.position[[0, -1]], [start, end], atol=0.03)


def test_loops_have_a_path_but_no_distance():
    t = np.arange(400) / RATE
    circle = Trial.from_positions(t, 0.2 * np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t), 0.0 * t]))
    flat = circle.with_values(circle.x * [1.0, 0.3, 1.0])
    assert len(split_reaches(circle, cutoff=np.inf)) == 0
    assert len(split_reaches(circle, cutoff=np.inf, length="path")) == 1
    assert len(split_reaches(circle, cutoff=np.inf, length="path", whole=True)) == 0
    assert len(split_reaches(flat, cutoff=np.inf)) == 4  # from turn to turn, half a round each


def test_affine_takes_the_dof_that_fits_best():
    tau = np.linspace(0.0, 1.0, 301)
    noise = np.random.default_rng(0).normal(size=(301, 2))
    s, k = np.linspace(-0.1, 0.1, 10)[2], np.linspace(0.4, 1.1, 10)[7]
    still = np.zeros_like(tau)
    first = np.column_stack([movement(tau)[:, 0], noise[:, 0], still])
    other = np.column_stack([movement(k * tau + s)[:, 0], noise[:, 1], still])
    got = register(MotionSet([Trial.from_positions(tau, first), Trial.from_positions(tau, other)]), "affine")
    np.testing.assert_allclose(got[1].x[:, 0], first[:, 0], atol=1e-4)


def test_instants_of_peak_speed_coincide():
    tau = np.linspace(0.0, 1.0, 301)
    trials = [
        Trial.from_positions(T * tau, movement(landmark_map(place, 0.5)(tau))) for T, place in ((1.0, 0.4), (2.0, 0.55))
    ]
    peaks = [(peak_speed_time(trial) - trial.t[0]) / trial.duration for trial in trials]
    assert abs(peaks[0] - peaks[1]) > 0.1
    goal = np.mean(peaks)
    got = register(MotionSet(trials), n=1001)
    for trial, before, peak in zip(got, trials, peaks, strict=True):
        now = CubicSpline(trial.t, trial.x)(trial.t[0] + goal * trial.duration)
        then = CubicSpline(before.t, before.x)(before.t[0] + peak * before.duration)
        np.testing.assert_allclose(now, then, atol=1e-8)


def test_peak_speed_lies_between_samples():
    t = np.linspace(0.0, 1.0, 98)  # no sample at 0.5
    trial = Trial.from_positions(t, np.outer(minimum_jerk(t), [1.0, 0.0, 0.0]))
    assert peak_speed_time(trial) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("target", "source"), [([0.3], [0.6]), ([0.2, 0.5, 0.8], [0.1, 0.7, 0.75])], ids=["one", "three"]
)
def test_landmarks_are_met_monotonically(target, source):
    h, tau = landmark_map(target, source), np.linspace(0.0, 1.0, 2001)
    np.testing.assert_allclose(h(np.array(target)), source, atol=1e-15)
    assert (np.diff(h(tau)) > 0.0).all()
    assert (h(tau)[0], h(tau)[-1]) == pytest.approx((0.0, 1.0), abs=1e-15)
    straight = MotionSet([Trial.from_positions(tau[::20], np.outer(tau[::20], [1.0, 1.0, 1.0]))])
    got = register(straight, landmarks=[source], target=target)
    np.testing.assert_allclose(got[0].x[:, 0], h(tau[::20]), atol=1e-12)
    if len(target) == 1:
        np.testing.assert_allclose(landmark_map(source, target)(h(tau)), tau, atol=1e-14)
