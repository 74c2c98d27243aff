"""Public recordings, where they lie beside the repository, and the numbers that pages print from them."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from thunder_py.motion import FPCA
from thunder_py.recordings import Trial, check_plausible, split_reaches
from thunder_py.recordings.loaders import load_culm, load_kinesis
from thunder_py.recordings.metrics import straightness
from thunder_py.recordings.processing import fill_gaps, low_pass, register, resample

DATA = Path(__file__).parents[2].parent / "shared" / "data"
CULM, KINESIS = DATA / "culm", DATA / "kinesis_rtg" / "rtgData.txt"
needs_culm = pytest.mark.skipif(not CULM.is_dir(), reason="needs the CULM recordings")
needs_kinesis = pytest.mark.skipif(not KINESIS.is_file(), reason="needs the kinesis recording")


@pytest.mark.release
@needs_culm
def test_planned_reaches_of_culm():
    recordings = load_culm(CULM, task="Planned01")
    assert (len(recordings), len(recordings.subjects)) == (10, 10)
    reaches = split_reaches(recordings)
    counts = {subject: len(reaches.filter(subject=subject)) for subject in recordings.subjects}
    assert counts == {
        **{"S02": 45, "S03": 45, "S04": 44, "S05": 47, "S06": 44, "S07": 45, "S08": 47, "S09": 43},
        **{"S010": 44, "S011": 45},
    }
    assert len(reaches) == 449  # S05 turns twice without a rest
    assert len(split_reaches(recordings, turn=np.inf)) == 447
    span = {trial.subject: (trial.t[0], trial.t[-1]) for trial in recordings}
    assert all(span[r.subject][0] < r.t[0] and r.t[-1] < span[r.subject][1] for r in reaches)  # none is cut off
    distance = np.array([np.linalg.norm(trial.position[-1] - trial.position[0]) for trial in reaches])
    assert (distance.min() > 0.05, distance.max() < 1.2) == (True, True)
    assert 0.8 < np.median(reaches.durations) < 1.0


@pytest.mark.release
@needs_culm
def test_free_movements_of_culm_are_cut_where_they_turn():
    movements = load_culm(CULM, task="Randomness")
    reaches = split_reaches(movements)
    assert len(movements) == 30
    assert 700 < len(reaches) < 900
    assert min(straightness(low_pass(trial, 10.0)) for trial in reaches) > 0.4
    assert FPCA().fit(reaches).alignment_ == "path"  # without a warning


@pytest.mark.release
@needs_culm
def test_long_reaches_of_culm_meet_halfway_but_not_at_their_peaks():
    """The numbers in docs/motion_data.md: standard deviation between trials, in parts of the distance."""
    reaches = split_reaches(low_pass(load_culm(CULM, task="Planned01"), 10.0), turn=np.inf, cutoff=np.inf).map(
        unit_reach
    )
    assert len(reaches) == 148
    spread = {
        name: register(reaches, **how).to_array(101)[:, :, 1].std(axis=0).mean()
        for name, how in {
            "none": {"method": "none"},
            "affine": {"method": "affine"},
            "peak_speed": {"landmarks": "peak_speed"},
            "half_path": {"landmarks": "half_path"},
        }.items()
    }
    assert spread == pytest.approx({"none": 0.039, "affine": 0.024, "peak_speed": 0.088, "half_path": 0.015}, abs=5e-4)


def unit_reach(trial):
    """Scale a reach along y to start at 0 and end at 1; drop it if it is shorter than 0.5 m or 0.5 s."""
    distance = trial.x[-1, 1] - trial.x[0, 1]
    if trial.duration <= 0.5 or abs(distance) <= 0.5:
        return None
    return trial.with_values((trial.x - trial.x[0]) / distance)


@needs_kinesis
def test_reaches_of_kinesis():
    motions = load_kinesis(KINESIS, drop_start=0.15)
    assert len(motions) == 45
    assert motions.subjects == ("cc25",)
    frozen = motions[0].valid
    assert 0 < np.count_nonzero(~frozen) < 40
    # the longest gap, of nearly a second, is too long to be closed
    assert max(end - start for trial in motions for start, end in trial.gaps) == pytest.approx(0.906, abs=1e-3)
    ready = resample(fill_gaps(motions.filter(lambda trial: not trial.gaps or trial.name == "cc25/0")), rate=85.0)
    assert all(trial.uniform and trial.valid.all() for trial in ready)
    # the way out: a third of a meter or more in one movement
    for trial in ready:
        assert len(split_reaches(trial, threshold=0.05, least_length=0.3)) >= 1


#: factors of x and t for a recording in meters, radians and seconds that is read in a wrong unit, and the remedy
LENGTHS = {
    "mm as m": (1e3, 1.0, "'mm'"),
    "cm as m": (1e2, 1.0, "'cm'"),
    "m as mm": (1e-3, 1.0, "unit='m'"),
    "m as cm": (1e-2, 1.0, "unit='m'"),
    "ms as s": (1.0, 1e3, "time_unit='ms'"),
    "s as ms": (1.0, 1e-3, "time_unit='s'"),
}
ANGLES = {
    "deg as rad": (180.0 / np.pi, 1.0, "unit 'deg'"),
    "rad as deg": (np.pi / 180.0, 1.0, "unit 'rad'"),
    "ms as s": LENGTHS["ms as s"],
    "s as ms": LENGTHS["s as ms"],
}


def angles(trial):
    """Return azimuth and elevation of the hand and the angle of the elbow, for a shoulder behind the movement."""
    p = trial.x - np.nanmean(trial.x, axis=0)
    p[:, 1] += 1.1 * np.nanmax(np.linalg.norm(p, axis=1))
    distance = np.linalg.norm(p, axis=1)
    length = 0.51 * np.nanmax(distance)
    elbow = np.pi - np.arccos(1.0 - distance**2 / (2.0 * length**2))
    q = np.column_stack([np.arctan2(p[:, 1], p[:, 0]), np.arcsin(p[:, 2] / distance), elbow])
    return Trial(trial.t, q, ("azimuth", "elevation", "elbow"), name=trial.name)


def variants(trials):
    """Return trials and wrong units: as recorded, from their starts, and as joint angles of an arm."""
    starts = [trial.with_values(trial.x - trial.x[np.isfinite(trial.x[:, 0])][0]) for trial in trials]
    return [(trials, LENGTHS), (starts, LENGTHS), (list(map(angles, trials)), ANGLES)]


def messages(trials):
    """Return the warnings about trials."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_plausible(trials)
    return [str(warning.message) for warning in caught]


def counts(trials, units):
    """Return the number of trials with a warning as they are, and of those with the right remedy in each wrong unit.

    Each trial is judged alone. Together they must give no warning as they are, and one in a wrong unit.
    """
    assert not messages(trials)
    result = [sum(bool(messages([trial])) for trial in trials)]
    for x, t, remedy in units.values():
        wrong = [Trial(t * trial.t, x * trial.x, trial.dofs, trial.units, name=trial.name) for trial in trials]
        assert [remedy in text for text in messages(wrong)] == [True]
        result.append(sum([remedy in text for text in messages([trial])] == [True] for trial in wrong))
    return result


@pytest.mark.release
@needs_culm
@needs_kinesis
def test_units_of_real_recordings():
    """The tables of docs/motion_data.md, for subjects and trials with which no rule was chosen."""
    for trials in (load_culm(CULM, "Randomness01")[5:], load_kinesis(KINESIS)[::4]):
        for group, units in variants(trials):
            assert counts(group, units) == [0, *[len(group)] * len(units)]
