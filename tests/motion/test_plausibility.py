"""Units, times and gaps that can hardly be right, spreadsheets, and folders with labels in the names of files."""

import ast
import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from tests.refusals import assert_refused
from thunder_py import recordings
from thunder_py.errors import FileFormatError, UnknownNameError
from thunder_py.motion import DMP, FPCA, ProMP
from thunder_py.recordings import RecordingWarning, Trial, check_plausible
from thunder_py.recordings.loaders import (
    load_bvh,
    load_c3d,
    load_culm,
    load_folder,
    load_kinesis,
    load_markers,
    load_opensim,
    load_table,
    load_trc,
    load_ulimb_mhh,
)
from thunder_py.recordings.loaders.lost import without_lost
from thunder_py.recordings.loaders.ulimb_mhh import read_mhh
from thunder_py.recordings.loaders.ulimb_unipi import read_unipi
from thunder_py.recordings.synthetic import minimum_jerk_reaches

from . import written
from .c3d_writer import C3D
from .written import bvh, csv, mhh, optitrack, qualisys, storage, trc, vicon

TAU = np.linspace(0.0, 1.0, 101)
REACH = [0.4, 0.2, 0.1] + np.outer(10 * TAU**3 - 15 * TAU**4 + 6 * TAU**5, [0.3, 0.1, 0.05])  # noqa: RUF005
PLAIN = {"alignment": "none", "shrinkage": 0.0, "smoothing": 0.0}
COLUMNS = {"x": "X", "y": "Y", "z": "Z"}


def reaches(count=5):
    return [Trial.from_positions(TAU, REACH + 0.01 * k, name=f"reach {k}") for k in range(count)]


def write(path, t=TAU, p=REACH):
    rows = "\n".join(";".join(f"{value:.6g}" for value in (a, *b)) for a, b in zip(t, p, strict=True))
    path.write_text(f"t;X;Y;Z\n{rows}\n")
    return path


def test_millimeters_as_meters(tmp_path):
    path = write(tmp_path / "reach.csv", p=1000.0 * REACH)
    with pytest.warns(
        RecordingWarning,
        match=r"trial 'reach': positions over 320 m, up to 776 m .* pass unit='cm' or 'mm'",
    ):
        load_table(path, columns=COLUMNS, unit="m", time="t")
    with pytest.warns(RecordingWarning, match=r"trial 'reach 2': positions over 320 m"):
        FPCA().fit([*reaches(2), Trial.from_positions(TAU, 1000.0 * REACH, name="reach 2")])


@pytest.mark.parametrize(("factor", "count"), [(1e-3, 1), (1e-3, 5), (1e2, 1), (1e2, 2)])
def test_one_trial_unlike_the_others(factor, count):
    odd = Trial.from_positions(TAU, factor * REACH / 20.0, name="odd")
    motions = [trial.with_values(trial.x / 20.0) for trial in reaches(count)]
    with pytest.warns(RecordingWarning, match=r"values up to .* in the others; check the unit of this trial") as caught:
        check_plausible([*motions, odd])
    assert len(caught) == 1
    assert ("'odd'" in str(caught[0].message)) is (count > 1 or factor > 1.0)  # of two trials the larger one is named


def test_a_gap_hides_no_other_trial():
    p = REACH.copy()
    p[30:68] = np.nan
    motions = [trial.with_values(trial.x / 20.0) for trial in reaches(3)]
    odd = Trial.from_positions(TAU, 100.0 * REACH / 20.0, name="odd")
    with pytest.warns(RecordingWarning) as caught:
        check_plausible([*motions, Trial.from_positions(TAU, p / 20.0, name="gap"), odd])
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert re.search(r"'gap': nothing measured.*split_at_gaps", texts[0])
    assert re.search(r"'odd': values up to 3.5 m, but .* in the others", texts[1])


def test_no_warning_for_what_is_right():
    """At rest, with gaps at the ends, slow; small, large and fast movements."""
    rest = Trial.from_positions(TAU, 1e-4 * np.random.default_rng(0).standard_normal((101, 3)) + REACH[0])
    ends = REACH.copy()
    ends[:40] = ends[90:] = np.nan  # gaps at the ends are cut off
    s = (REACH - REACH[0]) / np.ptp(REACH[:, 0])
    alone = [
        Trial.from_positions(0.4 * TAU, 0.02 * s),  # a stroke of a pen from the origin
        Trial.from_positions(8.0 * TAU, 0.02 * s + [0.2, 0.1, 0.0]),  # a finger, a walk, a throw, an arm
        Trial.from_positions(6.0 * TAU, np.column_stack([9.0 * TAU, 0.02 * np.sin(40.0 * TAU), 1.0 + 0.0 * TAU])),
        Trial.from_positions(2.0 * TAU, np.outer(2.0 * TAU**40, [1.0, 0.2, 0.3])),
        Trial(TAU, np.column_stack([3.0 * TAU - 3.0, 3.1 - 2.5 * TAU]), ("shoulder", "elbow")),
    ]
    together = [*reaches(), rest, Trial.from_positions(TAU, ends)], [Trial.from_positions(40.0 * TAU, REACH)] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for trials in (*together, minimum_jerk_reaches(20, seed=0), [], *([one] for one in alone)):
            check_plausible(trials)


def test_wrong_units_and_their_remedies():
    for length, time, message in (
        (1e-3, 1.0, r"positions within 0.000776 m of the origin can hardly be right; pass unit='m'"),
        (1e-2, 1.0, r"positions within 0.00776 m .* pass unit='m'"),
        (1e2, 1.0, r"positions over 32 m, .*pass unit='cm' or 'mm'"),
        (1.0, 100.0, r"time steps of 1 s can hardly be right; pass time_unit='ms' or 'us' where"),  # 1 kHz
        (1.0, 1e-3, r"time steps of 1e-05 s can hardly be right; pass time_unit='s' where they are read"),
    ):
        with pytest.warns(RecordingWarning, match=message) as caught:
            check_plausible([Trial.from_positions(time * TAU, length * REACH)])
        assert len(caught) == 1


@pytest.mark.filterwarnings("ignore:the learned motion:thunder_py.errors.ThunderWarning")  # of five functions
@pytest.mark.parametrize(
    "fit",
    [FPCA(1, **PLAIN).fit, ProMP(5).fit, lambda x: DMP(5).fit([(TAU, motion) for motion in x])],
    ids=["FPCA", "ProMP", "DMP"],
)
@pytest.mark.filterwarnings("ignore::thunder_py.errors.ThunderWarning")  # of fits to such numbers
def test_arrays_are_judged(fit):
    x = np.stack([REACH + 0.01 * k * TAU[:, None] for k in range(3)])
    with pytest.warns(RecordingWarning, match=r"trial 0: positions over 32\d m, .*; scale arrays to meters") as caught:
        fit(1e3 * x)
    assert caught[0].filename == __file__
    with pytest.warns(RecordingWarning, match=r"trial 0: positions within 0.000776 m .*; scale arrays"):
        fit(x / 1e3)
    x[1] *= 500.0
    with pytest.warns(RecordingWarning, match=r"trial 1: positions over 1\d\d m"):
        fit(x)
    with pytest.warns(RecordingWarning, match=r"trial 1: values up to 3\d\d can hardly be right, as meters or radians"):
        fit(np.concatenate([x, x[..., :1]], axis=2))


def test_capital_letters_are_no_joints(tmp_path):
    path = write(tmp_path / "reach.csv")
    assert_refused(
        (lambda: load_table(path, columns=["X", "Y", "Z"], unit="m", time="t"), "...dofs must be x, y, z ... got ..."),
        (lambda: Trial(TAU, REACH, ("Rx", "Ry", "Rz")), "...got 'Rx'..."),
    )


@pytest.mark.parametrize(("suffix", "engine"), [("xlsx", "openpyxl"), ("ods", "odf")])
def test_spreadsheets(tmp_path, suffix, engine):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip(engine)
    frame = pandas.DataFrame({"t": TAU[:20], "X": 1000 * REACH[:20, 0], "Y": 0, "Z": REACH[:20, 2]})
    frame.loc[4, "X"] = None
    path = tmp_path / f"book.{suffix}"
    with pandas.ExcelWriter(path, engine=engine) as book:
        frame.to_excel(book, sheet_name="reach", index=False)
        frame.rename(columns={"X": "x"}).to_excel(book, sheet_name="other", index=False)
    options = {"columns": COLUMNS, "unit": {"x": "mm", "y": "mm", "z": "m"}, "time": "t"}
    (trial,) = load_table(path, sheet="reach", **options)
    expected = np.column_stack([REACH[:20, 0], np.zeros(20), REACH[:20, 2]])
    expected[4, 0] = np.nan
    assert np.allclose(trial.x, expected, rtol=1e-12, equal_nan=True)
    assert trial.name == "book"
    assert_refused(
        (lambda: load_table(path, **options), "...sheet must be one of reach, other, got none...", FileFormatError),
        (lambda: load_table(path, sheet="reaches", **options), "...no sheet 'reaches' among ...", UnknownNameError),
        (lambda: load_table(path, sheet="other", **options), "...no column 'X' among...", FileFormatError),
    )
    (tmp_path / f"no.{suffix}").write_text("t;X\n")
    with pytest.raises(FileFormatError, match=f"not a spreadsheet of the format .{suffix}"):
        load_table(tmp_path / f"no.{suffix}", **options)


def test_folders(tmp_path):
    for subject in ("S1", "S2"):
        (tmp_path / subject).mkdir()
        for task in ("near", "far"):
            write(tmp_path / subject / f"{task}_{subject}_1.csv")
    options = {"columns": COLUMNS, "unit": "m", "time": "t", "frame": "table"}
    motions = load_folder(tmp_path, "{subject}/{task}_{subject}_{}.csv", **options)
    assert [(trial.subject, trial.task, trial.name, trial.frame) for trial in motions][:2] == [
        ("S1", "far", "S1/far_S1_1", "table"),
        ("S1", "near", "S1/near_S1_1", "table"),
    ]
    assert len(motions) == 4
    write(tmp_path / "S2" / "notes.csv", p=1000.0 * REACH)
    with pytest.warns(RecordingWarning, match="1 files of .* have other names .* such as S2/notes.csv"):
        load_folder(tmp_path, "{subject}/{task}_{subject}_{}.csv", **options)
    with pytest.warns(RecordingWarning, match="trial 'S2/notes': positions over 320 m"):
        load_folder(tmp_path, "{subject}/{}.csv", **options)
    assert_refused(
        (
            lambda: load_folder(tmp_path, "{subject}.txt", **options),
            "...expected files {subject}.txt, found none...",
            FileFormatError,
        ),
        (lambda: load_folder(tmp_path, "{subjects}.csv", **options), "...fields of pattern must be ... got ..."),
        (lambda: load_folder(tmp_path, "{frame}/{}.csv", **options), "...frame must be given once..."),
        (lambda: load_folder(tmp_path, "{subject}", **options), "...pattern must be a path with a suffix..."),
    )


# --- Lost markers written as 0, 0, 0 or held, in every loader of markers; movements through the origin are kept ---
RATE = 100.0


def waves(frames=120, count=2, seed=0):
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


def as_c3d(path, p):
    file = C3D(np.nan_to_num(p))
    file.residuals[np.isnan(p).any(axis=2)] = -1.0
    path.write_bytes(file.tobytes())
    return load_c3d(path)


def as_table(path, p):
    columns = [f"m{k}_{axis}" for k in range(p.shape[1]) for axis in "xyz"]
    rows = [
        ",".join(f"{v:.9g}".replace("nan", ("NULL", "null")[k % 2]) for k, v in enumerate(row.ravel())) for row in p
    ]
    path.write_text("\n".join([",".join(columns), *rows]))
    (trial,) = load_table(path, columns=columns, unit="mm", rate=RATE)
    return [trial.select(columns[3 * k : 3 * k + 3]) for k in range(p.shape[1])]


def as_culm(path, p):
    rows = [f"{k / 120.0:.5g};{';'.join(f'{1e-3 * v:.9g}' for v in row)}" for k, row in enumerate(p[:, 0])]
    (path.parent / "S01").mkdir()
    (path.parent / "S01" / "Planned01.csv").write_text("\n".join(["t;X;Y;Z", *rows]))
    return load_culm(path.parent)


def as_unipi(path, p):
    cells = np.empty((len(p), 1), dtype=object)
    for k, row in enumerate(p):
        cells[k, 0] = np.column_stack([np.arange(len(row)), row])
    savemat(path.with_name("S2_1_1.mat"), {"data": cells})
    return read_unipi(path.with_name("S2_1_1.mat"))


def as_text(write, load, **options):
    def read(path, p):
        path.write_text(write(p))
        return load(path, **options)

    return read


#: writer and loader of every format of markers
MARKERS_OF = {
    "c3d": as_c3d,
    "table": as_table,
    "trc": as_text(trc, load_trc),
    "qualisys": as_text(qualisys, load_markers),
    "vicon": as_text(vicon, load_markers),
    "culm": as_culm,
    "kinesis": as_text(written.kinesis, load_kinesis),
    "mhh": as_text(lambda p: mhh(np.tile(p, (1, 7, 1))), read_mhh, rate=RATE, unit="mm"),
    "unipi": as_unipi,
}


@pytest.mark.parametrize("name", MARKERS_OF)
def test_one_rule_for_what_was_not_measured(tmp_path, name):
    """NaN, blanks or negative residuals, exact zeros, positions held: in every loader, with marker and frames."""
    p = waves(count=3, seed=len(name))
    lost, mask = lose(p, np.random.default_rng(len(name)))
    lost[20:24, 0], mask[20:24, 0] = np.nan, True
    held = [k for k in range(100, 112) if not mask[k, 0]]
    lost[100:112, 0] = np.where(mask[100:112, 0, None], lost[100:112, 0], lost[held[0], 0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        motions = list(MARKERS_OF[name](tmp_path / "a.txt", lost))[:3]
    texts = [str(warning.message) for warning in told]
    zeros = np.flatnonzero((lost[:, 0] == 0.0).all(axis=1)) + 1
    places = [f"0, 0, 0 in {len(zeros)} of 120 frames ({zeros[0]} to {zeros[-1]})"]
    places += [f"repeats a position exactly in {len(held) - 1} of 120 frames"]
    if name == "kinesis":  # whose files repeat the position of a finger that is hidden: these are gaps
        places, mask[held[1:], 0] = ["0, 0, 0"], True
    assert all(place in " ".join(texts) for place in places), texts
    for k, trial in enumerate(motions):
        np.testing.assert_array_equal(trial.valid, ~mask[:, k])
        np.testing.assert_allclose(trial.x[trial.valid], 1e-3 * lost[~mask[:, k], k], rtol=1e-6)


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
    p = 1e-3 * waves(count=2)
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


def test_zeros_between_long_gaps():
    p = 1e-3 * waves(frames=800, count=1) / 3.0
    p[100:700] = np.nan
    p[400:405] = 0.0
    with pytest.warns(RecordingWarning, match=r"'a' was lost and written as 0, 0, 0 in 5 of 800 frames \(401 to 405\)"):
        assert np.isnan(without_lost(p, ["a"], "f")[100:700]).all()


def test_numbers_of_ndi_and_markers_not_asked_for():
    p = 1e-3 * waves(count=2)
    p[10:15, 0] = -3.697314e28
    p[30:33, 1] = 0.0
    with pytest.warns(RecordingWarning) as told:
        result = without_lost(p, ["a", "b"], "f", [0])
    assert [str(warning.message).partition(";")[0] for warning in told] == [
        "f: 'a' was lost and written as a number above 1e20 in 5 of 120 frames (11 to 15)"
    ]
    assert np.flatnonzero(np.isnan(result[:, 0, 0])).tolist() == [10, 11, 12, 13, 14]
    assert np.isnan(result[30:33, 1]).all()


@pytest.mark.parametrize(("first", "after"), [(60, 120), (60, 65), (60, 64), (0, 5)])
def test_positions_that_are_held(first, after):
    """Five frames in the middle of a movement, at its start or to its end; four are none."""
    held = 1e-3 * waves(count=1, seed=2)
    held[first:after] = held[first]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(without_lost(held, ["a"], "f"), held)
    text = f"f: 'a' repeats a position exactly in {after - first - 1} of 120 frames ({first + 2} to {after})"
    assert [str(each.message).partition(";")[0] for each in told] == [text] * (after - first > 4)


def test_a_marker_that_comes_to_rest_is_not_held():
    tau = np.linspace(0.0, 1.0, 100)
    s = tau**3 * (10.0 - 15.0 * tau + 6.0 * tau**2)
    resting = np.round(np.concatenate([s, np.ones(50)]) * 0.3 + 0.2, 3)[:, None, None] * np.ones(3)  # printed in mm
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without_lost(resting, ["a"], "f")


# --- What a message of a loader proposes exists in that loader, and works ---
P = waves(count=1)
XYZ = {"columns": ["x", "y", "z"], "time": "t", "unit": "mm"}
HEIGHT = {"columns": {"z": 2}, "unit": "mm", "time": "t"}
WIDE = "t;Höhe\n0.00;1000\n0.01;1100\n"
ELBOW = {"pelvis_tx": np.linspace(0.0, 1.0, 50), "elbow_r": np.linspace(0.0, 90.0, 50)}


def c3d(points=P, **options):
    return C3D(points, **options).tobytes()


def again(text, old, new):
    """Return a text with another one, which must be there, in one place."""
    assert old in text
    return text.replace(old, new, 1)


def lost(text, k=3, mark="lost"):
    """Return a text whose numbers in one line from the third of a frame on are a word."""
    head, line, tail = text.rpartition("\n" + text.splitlines()[-k])
    cells = re.split("([;,\t])", line)
    return head + "".join([*cells[:4], *(mark if k % 2 == 0 else cell for k, cell in enumerate(cells[4:]))]) + tail


def quoted(text):
    """Return a text with decimal commas in quotation marks."""
    return re.sub(r"(-?\d+)\.(\d+)", r'"\1,\2"', text)


def in_folder(path, **options):
    return load_folder(path.parent, "{name}.txt", **options)


def angles():
    file = C3D(waves(), labels=["hand", "knee"])
    file.point["ANGLES"] = ["knee"]
    return file.tobytes()


#: loader, content, arguments, and values for proposals without one
CASES = [
    (load_trc, trc(P, mark=","), {}, {}),
    (load_trc, trc(P, unit=""), {}, {"unit": "mm"}),
    (load_trc, trc(P, unit="inches"), {}, {"unit": "mm"}),
    (load_trc, again(trc(P), "\n100\t", "\n25\t"), {}, {}),
    (load_trc, again(trc(P), "0.0100", "0.0000"), {}, {"rate": 100.0}),
    (load_trc, lost(trc(P)), {}, {}),
    (load_trc, again(trc(P), "m0", "Höhe").encode("latin-1"), {}, {}),
    (load_trc, again(trc(P), "\n100\t", "\n0\t"), {}, {}),
    (load_bvh, bvh(0.1 * P, "0"), {"unit": "cm"}, {"rate": 100.0}),
    (load_bvh, bvh(0.1 * P, mark=","), {"unit": "cm"}, {}),
    (load_bvh, bvh(0.1 * P, "10"), {"unit": "cm"}, {}),
    (load_bvh, bvh(0.1 * P), {"unit": "m"}, {}),
    (load_bvh, again(bvh(0.1 * P), "OFFSET 0 0 0", "OFFSET 0 9 0"), {"unit": "cm"}, {}),
    (load_bvh, again(bvh(0.1 * P), "Hand", "Große Hand").encode("latin-1"), {"unit": "cm"}, {}),
    (load_table, csv(P, mark=","), XYZ, {}),
    (load_table, lost(csv(P)), XYZ, {}),
    (load_table, csv(P).partition("\n")[2], {"columns": {"x": 2, "y": 3, "z": 4}, "time": 1, "unit": "mm"}, {}),
    (load_table, quoted(csv(P, delimiter=",")), XYZ, {}),
    (load_table, csv(P), XYZ | {"unit": "m"}, {}),
    (load_table, csv(1e-4 * P), XYZ | {"unit": "cm"}, {}),
    (load_table, csv(P, rate=0.1), XYZ, {}),
    (load_table, csv(0.1 * P), {"columns": {"elbow": "x"}, "unit": "rad", "time": "t"}, {}),
    (load_table, csv(0.1 * P), XYZ | {"euler": ["x", "y", "z"], "sequence": "ZYX"}, {}),
    (load_table, "FREQUENCY;100\nMARKERS;a;b;c\n" + csv(P), XYZ, {}),
    (load_table, WIDE.encode("latin-1"), HEIGHT, {}),
    (load_table, WIDE.encode("utf-16-le"), HEIGHT, {}),
    (in_folder, csv(P, mark=","), XYZ, {}),
    (load_markers, lost(qualisys(P)), {}, {}),
    (load_markers, again(qualisys(P, timed=False), "FREQUENCY\t100", "FREQUENCY\t0"), {}, {"rate": 100.0}),
    (load_markers, again(vicon(P, before=""), "S1:m0", "Höhe").encode("latin-1"), {}, {}),
    (load_markers, again(vicon(P, before=""), "mm,mm,mm", "in,in,in"), {}, {"unit": "mm"}),
    (load_markers, again(optitrack(1e-3 * P), "Length Units,Meters,", ""), {}, {"unit": "m"}),
    (load_opensim, storage(ELBOW, None), {}, {}),
    (load_opensim, storage({"soleus_r": ELBOW["elbow_r"]}, "no", "Muscles"), {}, {}),
    (load_opensim, storage(ELBOW | {"elbow_r_u": ELBOW["elbow_r"]}), {}, {}),
    (load_opensim, storage(ELBOW, "no"), {}, {}),
    (load_c3d, angles(), {"quantities": ["ANGLES"]}, {}),
    (load_c3d, c3d(unit=""), {}, {"unit": "mm"}),
    (load_c3d, c3d(unit="feet"), {}, {"unit": "mm"}),
    (load_c3d, c3d(rate=0.0), {}, {"rate": 100.0}),
    (load_c3d, c3d(rate=0.1), {}, {"rate": 100.0}),
    (load_c3d, c3d(unit="m"), {}, {}),
    (load_trc, trc(P, unit="m"), {}, {}),
]
#: problems that no argument of the loader solves
STUCK = [
    (load_c3d, c3d(points=1e3 * P), {}),
    (load_trc, trc(1e3 * P), {}),
    (load_trc, trc(P, rate=0.1), {}),
    (load_markers, vicon(1e3 * P), {}),
    (load_markers, again(qualisys(P), "3D", "6D"), {}),
    (load_markers, optitrack(1e-3 * P, rotation="XYZ"), {}),
    (load_markers, optitrack(1e-3 * P).replace("Space,Global", "Space,Local"), {}),
    (load_markers, trc(P), {}),
    (load_ulimb_mhh, mhh(P, mark=","), {"rate": 100.0, "unit": "mm"}),
    (load_table, csv(P, mark="#"), XYZ),
    (load_table, csv(P).replace("\n", "\n'", 3), XYZ),
    (load_bvh, bvh(P, mark="#"), {"unit": "cm"}),
    (load_bvh, bvh(P[:1]), {"unit": "cm"}),
    (load_kinesis, "subjName", {}),
]
PROPOSAL = re.compile(r"\b([a-z_]+)=('[^']*'|\[[^]]*\]|\{[^}]*\}|[\d.]+|False)?")


def said(loader, path, options):
    """Return trials, if there are any, and all errors and warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            motions = loader(path, **options)
        except FileFormatError as error:
            return None, [str(error)]
    return motions, [str(warning.message) for warning in told]


def proposals(path, loader, content, options):
    """Yield the messages with the arguments that they propose, which the loader has, as well as what they name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    _, texts = said(loader, path, options)
    assert texts
    known = inspect.signature(load_table if loader is in_folder else loader).parameters
    for text in texts:
        advice = re.sub("pass the (unit) ", r"\1=", text)
        found = [(name, value and ast.literal_eval(value)) for name, value in PROPOSAL.findall(advice)]
        assert {name for name, _ in found} <= set(known), text
        for place, name in re.findall(r"\b(Trial|MotionSet|processing)\.(\w+)", text):
            assert hasattr(getattr(recordings, place), name), text
        yield text, found


def test_remedies_work(tmp_path):
    path, seen = tmp_path / "file.txt", set()
    for loader, content, options, values in CASES:
        for text, found in proposals(path, loader, content, options):
            assert found, text
            for name, value in found:
                seen.add(name)
                motions, after = said(loader, path, options | {name: values[name] if value == "" else value})
                assert motions is not None, after
                assert text not in after
    for loader, content, options in STUCK:
        for text, found in proposals(path, loader, content, options):
            assert not found, text
    folder = Path(recordings.__file__).parent
    source = "".join(file.read_text() for file in (*folder.glob("loaders/*.py"), folder / "plausibility.py"))
    assert set(re.findall(r"pass (\w+)=", source)) <= seen
    for loader, content, positions, times in (
        (load_c3d, c3d(1e3 * P), 1e-3, 1.0),
        (load_trc, trc(P, rate=0.1), 1.0, 1e-3),
    ):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.warns(RecordingWarning, match=r"can hardly be right; scale the \w+ \(Trial\.with_values\)$"):
            (trial,) = loader(path)
        check_plausible([trial.with_values(positions * trial.x, times * trial.t)])
