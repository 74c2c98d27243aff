"""Movements cut by their speed, and time scales that are recovered."""

import numpy as np
import pytest

from tests.refusals import assert_refused
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
    assert_refused(
        (lambda: segment_by_speed(trial.with_values(hole)), "...fill_gaps..."),
        (lambda: segment_by_speed(trial, threshold=-1.0), "...threshold..."),
        (lambda: segment_by_speed(trial, length="arc"), "...length must be..."),
        (lambda: crop_to_movement(trial, 1.0), "...fraction..."),
        (lambda: crop_to_movement(trial.with_values(np.zeros_like(trial.x))), "...no movement..."),
    )
    mixed = Trial(trial.t, trial.x, ("x", "y", "a"), ("m", "m", "rad"))
    assert_refused((lambda: speed(mixed, dofs=("x", "a")), "...one unit..."))


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


def test_peak_speed_lies_between_samples():
    t = np.linspace(0.0, 1.0, 98)  # no sample at 0.5
    trial = Trial.from_positions(t, np.outer(minimum_jerk(t), [1.0, 0.0, 0.0]))
    assert peak_speed_time(trial) == pytest.approx(0.5, abs=1e-6)


def test_half_of_the_path_is_behind():
    t = np.linspace(0.0, 2.0, 801)
    angle = np.pi * (t / 2.0) ** 2
    arc = Trial.from_positions(t, np.column_stack([np.cos(angle), np.sin(angle), 0.0 * t]))
    assert half_path_time(arc) == pytest.approx(np.sqrt(2.0), abs=1e-5)
    assert_refused((lambda: half_path_time(arc.with_values(np.zeros((801, 3)))), "...must move to have a half path..."))


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


def test_registration_errors():
    tau = np.linspace(0.0, 1.0, 51)
    trial = Trial.from_positions(tau, movement(tau), name="one")
    motions = MotionSet([trial, trial])
    assert register(motions, "none") is motions
    assert_refused(
        (lambda: register(motions, "dtw"), "...method must be..."),
        (lambda: register(motions, landmarks="peak"), "...landmarks must be peak_speed or half_path..."),
        (lambda: register(trial), "...motions must be a MotionSet, got Trial..."),
        (lambda: register(motions, "affine", reference=2), "...reference..."),
        (lambda: register(motions, "affine", stretches=(0.0, 1.0)), "...stretches..."),
        (lambda: register(motions, "affine", grid=(0, 3)), "...grid..."),
        (lambda: register(motions, landmarks=[0.5, 1.5]), "...inside of trial 'one' (index 1)..."),
        (lambda: register(motions, landmarks=[0.5, [0.2, 0.5]]), "...equally many..."),
        (lambda: register(motions, target=[0.2, 0.5]), "...one entry for each of 1 landmarks..."),
        (lambda: register(motions, target=1.5), "...target must be..."),
    )
    hole = np.array(trial.x)
    hole[3] = np.nan
    assert_refused((lambda: register(MotionSet([trial.with_values(hole)])), "...fill_gaps..."))
    other = Trial(tau, movement(tau), ("a", "b", "c"))
    assert_refused((lambda: register(MotionSet([trial, other]), "affine"), "...share their dofs..."))
