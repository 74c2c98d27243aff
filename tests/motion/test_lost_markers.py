"""Lost markers written as 0, 0, 0 or held, in every loader of markers; movements through the origin are kept."""

import warnings

import numpy as np
import pytest

from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_c3d, load_folder, load_kinesis, load_table, load_trc
from thunder_py.recordings.loaders.lost import without_lost
from thunder_py.recordings.loaders.ulimb_mhh import MARKERS, read_mhh

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
    names = [f"m{k}" for k in range(p.shape[1])]
    head = f"DataRate\tNumFrames\tNumMarkers\tUnits\n{RATE:g}\t{len(p)}\t{len(names)}\tmm\n"
    rows = ["\t".join([f"{k + 1}\t{k / RATE:.4f}", *(f"{v:.9g}" for v in row.ravel())]) for k, row in enumerate(p)]
    path.write_text("PathFileType\t4\n" + head + "Frame#\tTime\t" + "\t\t\t".join(names) + "\n\tX\n" + "\n".join(rows))
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
@pytest.mark.parametrize("seed", range(3))
def test_lost_markers_become_gaps(tmp_path, write, seed):
    p = reaches(seed=seed)
    written, mask = lose(p, np.random.default_rng(seed))
    with pytest.warns(RecordingWarning, match=r"was lost and written as 0, 0, 0 in \d+ of 120 frames"):
        motions = write(tmp_path / "a", written)
    for k, trial in enumerate(motions):
        np.testing.assert_array_equal(trial.valid, ~mask[:, k])
        np.testing.assert_allclose(trial.x[trial.valid], 1e-3 * p[~mask[:, k], k], rtol=1e-6)


def test_folders_of_tables(tmp_path):
    p = reaches(count=1)
    written, mask = lose(p, np.random.default_rng(3))
    for name, values in (("good", p), ("lost", written)):
        np.savetxt(tmp_path / f"{name}.csv", values[:, 0], delimiter=",", header="x,y,z", comments="")
    with pytest.warns(RecordingWarning, match=r"lost\.csv: 'lost' was lost and written as 0, 0, 0 in"):
        motions = load_folder(tmp_path, "{task}.csv", columns=["x", "y", "z"], unit="mm", rate=RATE)
    np.testing.assert_array_equal(motions[1].valid, ~mask[:, 0])
    assert motions[0].valid.all()


def test_the_loaders_of_one_data_set(tmp_path):
    p = reaches(count=len(MARKERS), seed=5)
    written, mask = lose(p, np.random.default_rng(5))
    path = tmp_path / "mhh.csv"
    np.savetxt(path, written.reshape(len(p), -1), delimiter=",", header="MHH\nVicon", comments="")
    with pytest.warns(RecordingWarning, match="was lost"):
        recording = read_mhh(path, rate=RATE, unit="mm")
    np.testing.assert_array_equal(recording.positions.mask[..., 0], mask)
    names = ["subjName", "trialN", "globalTime", "fingersOccluded"]
    names += [f"{finger}{axis}raw" for finger in ("index", "thumb") for axis in "XYZ"]
    rows = [["s", "0", f"{10 * k}", "0", *(f"{v:.6f}" for v in written[k, :2].ravel())] for k in range(len(p))]
    path.write_text("\n".join("\t".join(row) for row in [names, *rows]))
    with pytest.warns(RecordingWarning, match="'thumb' was lost"):
        (trial,) = load_kinesis(path, "thumb")
    np.testing.assert_array_equal(trial.valid, ~mask[:, 1])


@pytest.mark.parametrize("seed", range(20))
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


@pytest.mark.parametrize("write", [as_trc, as_c3d])
def test_a_marker_at_the_origin_can_be_set_back(tmp_path, write):
    p = reaches(count=2)
    p[:, 1] = 0.0
    with pytest.warns(RecordingWarning, match=r"set them to 0 \(Trial\.with_values\)$"):
        _, origin = write(tmp_path / "a", p)
    assert not origin.valid.any()
    kept = origin.with_values(np.zeros_like(origin.x))
    assert kept.valid.all()
    assert not kept.position.any()


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
