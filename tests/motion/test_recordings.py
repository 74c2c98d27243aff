"""CULM and kinesis: small files in their form, and the recordings themselves where they lie beside the repository."""

from pathlib import Path

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings.loaders import load_culm, load_kinesis
from thunder_py.recordings.processing import fill_gaps, resample, segment_by_speed

DATA = Path(__file__).parents[2].parent / "shared" / "data"
CULM, KINESIS = DATA / "culm", DATA / "kinesis_rtg" / "rtgData.txt"
#: of ten frames, two of which are hidden, with numbers without meaning
unlikely = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")
needs_culm = pytest.mark.skipif(not CULM.is_dir(), reason="needs the CULM recordings")
needs_kinesis = pytest.mark.skipif(not KINESIS.is_file(), reason="needs the kinesis recording")


# --- CULM -------------------------------------------------------------------------------------------------------


def culm_file(root, name, n=1500, change=lambda lines: lines):
    """Write a recording; its times are printed with five digits, as the originals'."""
    k = np.arange(1, n + 1)
    p = 0.1 * np.column_stack([np.sin(0.01 * k), np.cos(0.02 * k), 1e-3 * k])
    rows = [f"{t / 120.0:.5g};{x:.9f};{y:.9f};{z:.9f}" for t, (x, y, z) in zip(k, p, strict=True)]
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(change(["t;X;Y;Z", *rows])) + "\n")
    return p


def test_times_of_culm_are_rebuilt(tmp_path):
    p = culm_file(tmp_path, "S02/Planned01.csv")
    printed = np.loadtxt(tmp_path / "S02/Planned01.csv", delimiter=";", skiprows=1)[:, 0]
    assert np.ptp(np.diff(printed)) > 5e-4  # what is printed would be a jitter of 12 %
    trial = load_culm(tmp_path)[0]
    assert trial.uniform
    np.testing.assert_allclose(trial.t, np.arange(1, 1501) / 120.0, atol=1e-12)
    np.testing.assert_allclose(trial.x, p, atol=1e-9)
    assert (trial.rate, trial.subject, trial.task, trial.name) == (120.0, "S02", "Planned", "S02/Planned01")


def test_tasks_and_order_of_culm(tmp_path):
    for name in ("S010/Planned01", "S02/Planned01", "S02/Planned02", "S02/Unplanned02"):
        culm_file(tmp_path, f"{name}.csv", n=5)
    assert [trial.name for trial in load_culm(tmp_path, "Planned")] == [
        "S02/Planned01",
        "S02/Planned02",
        "S010/Planned01",
    ]
    assert len(load_culm(tmp_path, "Planned01")) == 2
    assert len(load_culm(tmp_path)) == 4
    assert_refused((lambda: load_culm(tmp_path, "Circle"), "...of task 'Circle'..."), error=FileFormatError)


def swapped(lines):
    return [*lines[:800], lines[801], lines[800], *lines[802:]]


def test_damaged_culm(tmp_path):
    def given(change):
        culm_file(tmp_path, "S02/Planned01.csv", change=change)
        return load_culm(tmp_path)

    assert_refused(
        (lambda: given(lambda lines: ["time;x;y;z", *lines[1:]]), "...csv:1: expected the header 't;X;Y;Z'..."),
        (lambda: given(lambda lines: [*lines[:700], *lines[701:]]), "...csv:701: expected time 5.8333 s at 120 ..."),
        (lambda: given(swapped), "...csv:801: expected time 6.6667 s..."),
        (
            lambda: given(lambda lines: [*lines[:800], lines[800].replace("6.6667", "6.6668"), *lines[801:]]),
            "...csv:801: ...got 6.6668...",
        ),
        (lambda: given(lambda lines: [*lines[:9], "0.075;1;2", *lines[10:]]), "...four numbers in every row..."),
        (lambda: given(lambda lines: [*lines[:9], "0.075;1;2;x", *lines[10:]]), "...four numbers in every row..."),
        (lambda: given(lambda lines: lines[:2]), "...two rows..."),
        error=FileFormatError,
    )


@needs_culm
def test_planned_reaches_of_culm():
    recordings = load_culm(CULM, task="Planned01")
    assert (len(recordings), len(recordings.subjects)) == (10, 10)
    reaches = segment_by_speed(recordings)
    counts = {subject: len(reaches.filter(subject=subject)) for subject in recordings.subjects}
    assert counts == {
        **{"S02": 45, "S03": 45, "S04": 44, "S05": 45, "S06": 44, "S07": 45, "S08": 47, "S09": 43},
        **{"S010": 44, "S011": 45},
    }
    assert len(reaches) == 447
    span = {trial.subject: (trial.t[0], trial.t[-1]) for trial in recordings}
    assert all(span[r.subject][0] < r.t[0] and r.t[-1] < span[r.subject][1] for r in reaches)  # none is cut off
    distance = np.array([np.linalg.norm(trial.position[-1] - trial.position[0]) for trial in reaches])
    assert (distance.min() > 0.05, distance.max() < 1.2) == (True, True)
    assert 0.8 < np.median(reaches.durations) < 1.0


# --- kinesis ----------------------------------------------------------------------------------------------------

COLUMNS = (
    *("subjName", "IOD", "trialN", "time", "globalTime", "frameN"),
    *(f"{marker}{axis}raw" for marker in ("index", "thumb") for axis in "XYZ"),
    *("fingersOccluded", "framesOccluded"),
)


def kinesis_file(path, change=lambda lines: lines):
    """Write two trials of ten frames; in the second, frames 4 and 5 are flagged (5 moves), frame 7 only repeats 6."""
    lines = ["\t".join(COLUMNS)]
    for trial in (0, 1):
        places = 10.0 * np.arange(60.0).reshape(10, 6) + trial
        if trial == 1:
            places[4] = places[3]
            places[7] = places[6]
        for k, place in enumerate(places):
            clock = 20.0 + 11.8 * k + 20.0 * (k > 4)
            occluded = int(trial == 1 and k in (4, 5))
            row = ["cc1", "61", trial, clock % 50.0, clock, k + 1, *place, occluded, 0]
            lines.append("\t".join(map(str, row)))
    path.write_text("\n".join(change(lines)) + "\n")
    return path


@unlikely
def test_kinesis_in_metres_by_its_global_clock(tmp_path):
    motions = load_kinesis(kinesis_file(tmp_path / "rtg.txt"))
    assert [trial.name for trial in motions] == ["cc1/0", "cc1/1"]
    first = motions[0]
    np.testing.assert_allclose(first.t, 1e-3 * (11.8 * np.arange(10) + 20.0 * (np.arange(10) > 4)), atol=1e-12)
    np.testing.assert_allclose(first.x[3], [0.18, 0.19, 0.2])
    assert (first.rate, first.subject, first.task, first.gaps) == (85.0, "cc1", "reach-to-grasp", [])


@unlikely
def test_frozen_frames_of_kinesis_are_gaps(tmp_path):
    trial = load_kinesis(kinesis_file(tmp_path / "rtg.txt"))[1]
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [4, 5, 7])
    filled = resample(fill_gaps(trial, longest=0.1), rate=85.0)
    assert filled.uniform
    assert filled.valid.all()


@unlikely
def test_fingers_of_kinesis(tmp_path):
    path = kinesis_file(tmp_path / "rtg.txt")
    index, thumb, both = (load_kinesis(path, marker)[0] for marker in ("index", "thumb", "both"))
    np.testing.assert_array_equal(both.x, np.hstack([index.x, thumb.x]))
    assert both.dofs[::3] == ("index_x", "thumb_x")
    assert both.units == ("m",) * 6
    np.testing.assert_allclose(thumb.x - index.x, 0.03)


@unlikely
def test_start_of_kinesis_can_be_dropped(tmp_path):
    path = kinesis_file(tmp_path / "rtg.txt")
    whole, rest = load_kinesis(path)[0], load_kinesis(path, drop_start=0.03)[0]
    np.testing.assert_array_equal(rest.t, whole.t[3:])


@unlikely
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0].replace("globalTime", "clock"), *lines[1:]], r"txt:1: .*among them globalTime"),
        (lambda lines: [*lines[:4], lines[4] + "\t1", *lines[5:]], r"txt:5: expected 14 columns, got 15"),
        (lambda lines: [*lines[:4], lines[4].replace("\t4\t", "\tfour\t"), *lines[5:]], None),
        (lambda lines: [*lines[:4], lines[4].replace("180.0", "left"), *lines[5:]], r"txt:5: expected a number"),
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], r"txt:6: globalTime must increase in trial 0"),
        (lambda lines: lines[:1], "rows below the header"),
        (lambda lines: lines[:2], "one row"),
    ],
)
def test_damaged_kinesis(tmp_path, change, message):
    path = kinesis_file(tmp_path / "rtg.txt", change)
    if message is None:  # columns that are not read may hold anything
        assert len(load_kinesis(path)) == 2
        return
    with pytest.raises(FileFormatError, match=message):
        load_kinesis(path)


def test_questions_to_kinesis_that_make_no_sense(tmp_path):
    path = kinesis_file(tmp_path / "rtg.txt")
    assert_refused(
        (lambda: load_kinesis(path, "middle"), "...marker..."),
        (lambda: load_kinesis(path, drop_start=-1.0), "...drop_start..."),
    )


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
        assert len(segment_by_speed(trial, threshold=0.05, least_length=0.3)) >= 1
