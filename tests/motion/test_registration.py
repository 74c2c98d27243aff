"""Movements cut by their speed, and time scales that are recovered."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from thunder_py.errors import ThunderError
from thunder_py.recordings import MotionSet, Trial
from thunder_py.recordings.processing import (
    crop_to_movement,
    half_path_time,
    landmark_map,
    peak_speed_time,
    register,
    segment_by_speed,
    speed,
)

RATE = 200.0


def minimum_jerk(tau):
    s = np.clip(tau, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def reaches(moves, rests=0.5, rate=RATE):
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


# --- segments ---------------------------------------------------------------------------------------------------


def test_movements_are_found_where_the_speed_crosses_the_threshold():
    moves = [(0.3, 0.8), (-0.5, 1.2), (0.2, 0.6)]
    trial, starts = reaches(moves)
    found = segment_by_speed(trial, cutoff=np.inf)
    assert [part.name for part in found] == ["r/1", "r/2", "r/3"]
    for part, start, (distance, duration) in zip(found, starts, moves, strict=True):
        inside = crossing(0.03 * duration / (1.875 * abs(distance))) * duration
        assert part.t[0] == pytest.approx(start + inside, abs=1.5 / RATE)
        assert part.t[-1] == pytest.approx(start + duration - inside, abs=1.5 / RATE)
    filtered = segment_by_speed(trial)
    assert len(filtered) == 3
    np.testing.assert_array_equal(filtered[1].x, trial.slice(filtered[1].t[0], filtered[1].t[-1]).x)


def test_short_and_small_movements_are_dropped():
    trial, _ = reaches([(0.3, 0.8), (0.04, 0.5), (0.3, 0.8)])
    assert len(segment_by_speed(trial)) == 2
    assert len(segment_by_speed(trial, least_length=0.03)) == 3
    assert len(segment_by_speed(trial, least_duration=0.9)) == 0
    assert len(segment_by_speed(trial, threshold=0.1, least_length=0.01)) == 3
    assert len(segment_by_speed(trial, threshold=0.2, least_length=0.01)) == 2


def test_movements_to_and_fro_have_a_path_but_no_distance():
    t = np.arange(400) / RATE
    circle = 0.2 * np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t), 0.0 * t])
    trial = Trial.from_positions(t, circle)
    assert len(segment_by_speed(trial, cutoff=np.inf)) == 0
    assert len(segment_by_speed(trial, cutoff=np.inf, length="path")) == 1
    assert len(segment_by_speed(trial, cutoff=np.inf, length="path", whole=True)) == 0


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
    assert got.t[0] == pytest.approx(starts[1] + inside, abs=1.0 / RATE)
    assert got.t[-1] == pytest.approx(starts[1] + 1.0 - inside, abs=1.0 / RATE)
    both = crop_to_movement(trial, cutoff=np.inf, pauses=True)
    assert both.t[0] == pytest.approx(starts[0] + crossing(0.25), abs=1.0 / RATE)
    assert len(crop_to_movement(MotionSet([trial, trial]))) == 2


def test_segmentation_errors():
    trial, _ = reaches([(0.3, 0.8)])
    hole = np.array(trial.x)
    hole[20:22] = np.nan
    with pytest.raises(ThunderError, match="fill_gaps"):
        segment_by_speed(trial.with_values(hole))
    with pytest.raises(ThunderError, match="threshold"):
        segment_by_speed(trial, threshold=-1.0)
    with pytest.raises(ThunderError, match="length must be"):
        segment_by_speed(trial, length="arc")
    with pytest.raises(ThunderError, match="fraction"):
        crop_to_movement(trial, 1.0)
    with pytest.raises(ThunderError, match="no movement"):
        crop_to_movement(trial.with_values(np.zeros_like(trial.x)))
    mixed = Trial(trial.t, trial.x, ("x", "y", "a"), ("m", "m", "rad"))
    with pytest.raises(ThunderError, match="one unit"):
        speed(mixed, dofs=("x", "a"))


# --- registration -----------------------------------------------------------------------------------------------


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


def test_affine_holds_the_ends():
    tau = np.linspace(0.0, 1.0, 101)
    line = Trial.from_positions(tau, np.outer(tau, [1.0, 2.0, 3.0]))
    got = register(MotionSet([line, line]), "affine", grid=(1, 1), shifts=(0.1, 0.1), stretches=(0.5, 0.5), n=201)[1]
    s = np.linspace(0.0, 1.0, 201)
    np.testing.assert_allclose(got.x[:, 0], np.clip((s - 0.1) / 0.5, 0.0, 1.0), atol=1e-12)


def test_affine_takes_the_dof_that_fits_best():
    tau = np.linspace(0.0, 1.0, 301)
    noise = np.random.default_rng(0).normal(size=(301, 2))
    s, k = np.linspace(-0.1, 0.1, 10)[2], np.linspace(0.4, 1.1, 10)[7]
    still = np.zeros_like(tau)
    first = np.column_stack([movement(tau)[:, 0], noise[:, 0], still])
    other = np.column_stack([movement(k * tau + s)[:, 0], noise[:, 1], still])
    got = register(MotionSet([Trial.from_positions(tau, first), Trial.from_positions(tau, other)]), "affine")
    np.testing.assert_allclose(got[1].x[:, 0], first[:, 0], atol=1e-4)


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


def test_half_of_the_path_is_behind():
    t = np.linspace(0.0, 2.0, 801)
    angle = np.pi * (t / 2.0) ** 2
    arc = Trial.from_positions(t, np.column_stack([np.cos(angle), np.sin(angle), 0.0 * t]))
    assert half_path_time(arc) == pytest.approx(np.sqrt(2.0), abs=1e-5)
    with pytest.raises(ThunderError, match="must move to have a half path"):
        half_path_time(arc.with_values(np.zeros((801, 3))))


def test_trials_meet_halfway():
    tau = np.linspace(0.0, 1.0, 401)
    trials = [Trial.from_positions(tau, movement(landmark_map(place, 0.5)(tau))) for place in (0.4, 0.5, 0.55)]
    got = register(MotionSet(trials), landmarks="half_path")
    assert np.ptp([trial.x for trial in trials], axis=0).max() > 0.5
    assert np.ptp([trial.x for trial in got], axis=0).max() < 1e-3


def test_several_landmarks_are_met_monotonically():
    target, source = [0.2, 0.5, 0.8], [0.1, 0.7, 0.75]
    h = landmark_map(target, source)
    np.testing.assert_allclose(h(np.array(target)), source, atol=1e-15)
    fine = h(np.linspace(0.0, 1.0, 2001))
    assert (np.diff(fine) > 0.0).all()
    assert (fine[0], fine[-1]) == pytest.approx((0.0, 1.0), abs=1e-15)
    tau = np.linspace(0.0, 1.0, 101)
    straight = MotionSet([Trial.from_positions(tau, np.outer(tau, [1.0, 1.0, 1.0]))])
    got = register(straight, landmarks=[source], target=target)
    np.testing.assert_allclose(got[0].x[:, 0], h(tau), atol=1e-12)


def test_map_of_one_landmark_is_smooth_and_invertible():
    h, back = landmark_map(0.3, 0.6), landmark_map(0.6, 0.3)
    tau = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(back(h(tau)), tau, atol=1e-14)
    assert h(np.array(0.3)) == pytest.approx(0.6)
    a = 0.3 * 0.4 / (0.6 * 0.7)
    np.testing.assert_allclose(
        (h(tau[1:-1] + 1e-6) - h(tau[1:-1] - 1e-6)) / 2e-6, a / (tau[1:-1] + a * (1 - tau[1:-1])) ** 2, rtol=1e-8
    )


def test_registration_errors():
    tau = np.linspace(0.0, 1.0, 51)
    trial = Trial.from_positions(tau, movement(tau), name="one")
    motions = MotionSet([trial, trial])
    assert register(motions, "none") is motions
    with pytest.raises(ThunderError, match="method must be"):
        register(motions, "dtw")
    with pytest.raises(ThunderError, match="landmarks must be peak_speed or half_path"):
        register(motions, landmarks="peak")
    with pytest.raises(ThunderError, match="motions must be a MotionSet, got Trial"):
        register(trial)
    with pytest.raises(ThunderError, match="reference"):
        register(motions, "affine", reference=2)
    with pytest.raises(ThunderError, match="stretches"):
        register(motions, "affine", stretches=(0.0, 1.0))
    with pytest.raises(ThunderError, match="grid"):
        register(motions, "affine", grid=(0, 3))
    with pytest.raises(ThunderError, match=r"inside of trial 'one' \(index 1\)"):
        register(motions, landmarks=[0.5, 1.5])
    with pytest.raises(ThunderError, match="equally many"):
        register(motions, landmarks=[0.5, [0.2, 0.5]])
    with pytest.raises(ThunderError, match="one entry for each of 1 landmarks"):
        register(motions, target=[0.2, 0.5])
    with pytest.raises(ThunderError, match="target must be"):
        register(motions, target=1.5)
    hole = np.array(trial.x)
    hole[3] = np.nan
    with pytest.raises(ThunderError, match="fill_gaps"):
        register(MotionSet([trial.with_values(hole)]))
    other = Trial(tau, movement(tau), ("a", "b", "c"))
    with pytest.raises(ThunderError, match="share their dofs"):
        register(MotionSet([trial, other]), "affine")
