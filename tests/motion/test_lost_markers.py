"""Lost markers written as 0, 0, 0 or held, in every loader of markers; movements through the origin are kept."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_c3d, load_kinesis, load_table, load_trc
from thunder_py.recordings.loaders.lost import without_lost
from thunder_py.recordings.loaders.ulimb_mhh import MARKERS, read_mhh

from . import written
from .c3d_writer import C3D

RATE = 100.0


def reaches(frames=120, count=2, seed=0):
    """Return smooth movements (T, m, 3) [mm], half a meter from the origin or more."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / RATE
    waves = rng.uniform(50.0, 200.0, (4, count, 3)) / np.arange(1, 5)[:, None, None]
    phase = rng.uniform(0.0, 6.0, (4, count, 3))
    angles = 2.0 * np.pi * np.arange(1, 5)[:, None, None, None] * 0.5 * t[:, None, None] + phase[:, None]
    return 900.0 + (waves[:, None] * np.sin(angles)).sum(axis=0)


def lose(p, rng, most=10):
    """Return points with stretches at 0, 0, 0, and the mask of these."""
    mask = np.zeros(p.shape[:2], dtype=bool)
    for k in range(p.shape[1]):
        for first in rng.integers(0, len(p), 3):
            mask[first : first + rng.integers(1, most), k] = True
    return np.where(mask[..., None], 0.0, p), mask


def as_trc(path, p):
    path.write_text(written.trc(p, rate=RATE))
    return load_trc(path)


def as_c3d(path, p):
    path.write_bytes(C3D(p).tobytes())
    return load_c3d(path)


def as_table(path, p):
    columns = [f"m{k}_{axis}" for k in range(p.shape[1]) for axis in "xyz"]
    rows = [",".join(f"{v:.9g}" for v in row.ravel()) for row in p]
    path.write_text("\n".join([",".join(columns), *rows]))
    (trial,) = load_table(path, columns=columns, unit="mm", rate=RATE)
    return [trial.select(columns[3 * k : 3 * k + 3]) for k in range(p.shape[1])]


@pytest.mark.parametrize("write", [as_trc, as_c3d, as_table])
@pytest.mark.parametrize("seed", [1])
def test_lost_markers_become_gaps(tmp_path, write, seed):
    p = reaches(seed=seed)
    lost, mask = lose(p, np.random.default_rng(seed))
    with pytest.warns(RecordingWarning, match=r"was lost and written as 0, 0, 0 in \d+ of 120 frames"):
        motions = write(tmp_path / "a", lost)
    for k, trial in enumerate(motions):
        np.testing.assert_array_equal(trial.valid, ~mask[:, k])
        np.testing.assert_allclose(trial.x[trial.valid], 1e-3 * p[~mask[:, k], k], rtol=1e-6)


def test_the_loaders_of_one_data_set(tmp_path):
    p = reaches(count=len(MARKERS), seed=5)
    lost, mask = lose(p, np.random.default_rng(5))
    path = tmp_path / "mhh.csv"
    path.write_text(written.mhh(lost))
    with pytest.warns(RecordingWarning, match="was lost"):
        recording = read_mhh(path, rate=RATE, unit="mm")
    np.testing.assert_array_equal(recording.positions.mask[..., 0], mask)
    path.write_text(written.kinesis(lost))
    with pytest.warns(RecordingWarning, match="'thumb' was lost"):
        (trial,) = load_kinesis(path, "thumb")
    np.testing.assert_array_equal(trial.valid, ~mask[:, 1])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_movements_at_the_origin_are_kept(seed):
    """Minimum-jerk movements that start, end or pass at the origin, at rest there or not, and displacements."""
    rng = np.random.default_rng(seed)
    tau = np.linspace(0.0, 1.0, int(rng.integers(20, 200)))
    s = tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2)
    direction = rng.normal(size=3)
    start = rng.integers(0, len(s))
    p = (s - s[start])[:, None] * direction  # exactly 0 at one sample
    still = int(rng.integers(0, 30))
    p = np.concatenate([np.repeat(p[:1], still, axis=0), p, np.repeat(p[-1:], still, axis=0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(without_lost(p[:, None], ["hand"], "f")[:, 0], p)


def test_a_marker_that_stays_at_the_origin():
    p = 1e-3 * reaches(count=2)
    p[:, 1] = 0.0
    with pytest.warns(RecordingWarning) as told:
        result = without_lost(p, ["a", "b"], "f")
    (text,) = (str(warning.message) for warning in told)
    assert text.startswith("f: 'b' is at 0, 0, 0 whenever it is measured, as if never seen, in 120 of 120 frames (1 to")
    assert text.endswith("for a marker at the origin, set them to 0 (Trial.with_values)")
    assert np.isnan(result[:, 1]).all()
    np.testing.assert_array_equal(result[:, 0], p[:, 0])
    with pytest.warns(RecordingWarning, match=r"'b' is at 0, 0, 0 whenever it is measured in 120 of 120"):
        np.testing.assert_array_equal(without_lost(p[:, 1:], ["b"], "f"), p[:, 1:])


def test_numbers_of_ndi_and_markers_not_asked_for():
    p = 1e-3 * reaches(count=2)
    p[10:15, 0] = -3.697314e28
    p[30:33, 1] = 0.0
    with pytest.warns(RecordingWarning) as told:
        result = without_lost(p, ["a", "b"], "f", [0])
    assert [str(warning.message).partition(";")[0] for warning in told] == [
        "f: 'a' was lost and written as a number above 1e20 in 5 of 120 frames (11 to 15)"
    ]
    assert np.flatnonzero(np.isnan(result[:, 0, 0])).tolist() == [10, 11, 12, 13, 14]
    assert np.isnan(result[30:33, 1]).all()


def test_positions_that_are_held():
    p = 1e-3 * reaches(count=1, seed=2)
    held = p.copy()
    held[60:] = held[60]
    with pytest.warns(RecordingWarning, match=r"f: 'a' repeats a position exactly in 59 of 120 frames \(62 to 120\)"):
        np.testing.assert_array_equal(without_lost(held, ["a"], "f"), held)
    tau = np.linspace(0.0, 1.0, 100)
    s = tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2)
    resting = np.round(np.concatenate([s, np.ones(50)]) * 0.3 + 0.2, 3)[:, None, None] * np.ones(3)  # printed in mm
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without_lost(resting, ["a"], "f")
