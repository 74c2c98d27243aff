"""Tables, C3D and TRC files: units, rates, gaps, and what is wrong where."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_c3d, load_table, load_trc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ezc3d = pytest.importorskip("ezc3d")

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

XYZ = {"x": "X", "y": "Y", "z": "Z"}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# --- tables -------------------------------------------------------------------------------------------------------


def test_a_table_with_times(tmp_path):
    path = write(tmp_path / "reach.csv", "t;X;Y;Z\n0;1;2;3\n0.01;4;;6\n0.02;7;8;nan\n0.03;10;11;12\n\n")
    (trial,) = load_table(path, time="t", columns=XYZ, unit="mm", subject="S1", task="reach", frame="lab")
    np.testing.assert_array_equal(trial.t, [0.0, 0.01, 0.02, 0.03])
    expected = np.array([[1, 2, 3], [4, np.nan, 6], [7, 8, np.nan], [10, 11, 12]]) * 0.001
    np.testing.assert_array_equal(trial.x, expected)
    assert trial.gaps == [(0.0, 0.03)]
    assert trial.rate == pytest.approx(100.0)
    assert (trial.name, trial.subject, trial.task, trial.frame) == ("reach", "S1", "reach", "lab")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1,2\n3,4\n", {}),
        ("a\tb\n1\t2\n3\t4\n", {}),
        ("a  b\n 1 2\n3   4 \n", {}),
        ("a|b\n1|2\n3|4\n", {"delimiter": "|"}),
        ('"a","b"\r\n"1",2\r\n3,4\r\n', {}),
        ("a;b\n1,0;2,0\n3,0;4,0\n", {"decimal": ","}),
        ("made by a machine\n\na,b\n1,2\n3,4", {"skip": 2}),
        ("\ufeffa,b\n1,2\n3,4", {}),
        ("1,2\n3,4", {"header": False, "columns": {"a": 1, "b": 2}}),
    ],
)
def test_ways_to_write_a_table(tmp_path, text, options):
    path = write(tmp_path / "table.txt", text)
    (trial,) = load_table(path, **{"columns": ["a", "b"], "unit": "rad", "rate": 10.0} | options)
    np.testing.assert_array_equal(trial.x, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(trial.t, [0.0, 0.1])
    assert trial.dofs == ("a", "b")
    assert trial.rate == 10.0


def test_units_of_each_dof_and_of_time(tmp_path):
    path = write(tmp_path / "table.csv", "ms,elbow,z,grip\n0,90,100,0.5\n10,180,200,1\n")
    (trial,) = load_table(
        path,
        time="ms",
        time_unit="ms",
        columns={"elbow": "elbow", "z": "z", "grip": 4},
        unit={"elbow": "deg", "z": "cm", "grip": "1"},
        rate=100,
    )
    np.testing.assert_allclose(trial.x, [[np.pi / 2, 1.0, 0.5], [np.pi, 2.0, 1.0]], rtol=1e-15)
    np.testing.assert_array_equal(trial.t, [0.0, 0.01])
    assert trial.units == ("rad", "m", "1")


@pytest.mark.parametrize("door", ["quaternion", "euler"])
def test_orientations_in_a_table(tmp_path, door):
    rotations = Rotation.from_rotvec(np.linspace(0.0, 5.0, 30)[:, None] * [0.6, 0.0, 0.8])
    if door == "quaternion":
        values = np.roll(rotations.as_quat(), 1, axis=1)
        options = {"quaternion": ["w", "i", "j", "k"], "scalar_first": True}
    else:
        values = rotations.as_euler("ZYX", degrees=True)
        options = {"euler": ["yaw", "pitch", "roll"], "sequence": "ZYX", "angle_unit": "deg"}
    names = next(iter(options.values()))
    rows = "\n".join(",".join(f"{v:.12f}" for v in [1, 2, 3, *row]) for row in values)
    path = write(tmp_path / "pose.csv", ",".join(["X", "Y", "Z", *names]) + "\n" + rows)
    (trial,) = load_table(path, columns=XYZ, unit="m", rate=30, **options)
    assert trial.dofs == ("x", "y", "z", "rx", "ry", "rz")
    expected = np.linspace(0.0, 5.0, 30)[:, None] * [0.6, 0.0, 0.8]
    np.testing.assert_allclose(trial.rotation_vectors, expected, atol=1e-9)


def test_several_trials_in_a_table(tmp_path):
    path = write(tmp_path / "all.csv", "n,t,a\n1,0,0\n1,1,1\n1,2,2\n2,0,3\n2,1,4\n")
    first, second = load_table(path, columns=["a"], unit="rad", time="t", by="n")
    assert (first.name, second.name) == ("all:1", "all:2")
    np.testing.assert_array_equal(second.t, [0.0, 1.0])
    np.testing.assert_array_equal(second.x[:, 0], [3.0, 4.0])


def test_rates_that_fit_by_one_of_the_two_steps(tmp_path):
    k = np.arange(1, 1300)
    quantized = [f"{v:.5g}" for v in k / 120.0]  # as CULM prints them: past 10 s steps of 8 and 9 ms, median 8
    path = write(tmp_path / "quantized.csv", "t,a\n" + "\n".join(f"{v},0" for v in quantized))
    assert load_table(path, columns=["a"], unit="1", time="t", rate=120)[0].rate == 120.0
    dropped = [v / 85.0 for v in range(200) if not 50 < v < 90]
    path = write(tmp_path / "dropped.csv", "t,a\n" + "\n".join(f"{v},0" for v in dropped))
    assert load_table(path, columns=["a"], unit="1", time="t", rate=85)[0].rate == 85.0
    assert load_table(path, columns=["a"], unit="1", time="t")[0].rate is None


@settings(max_examples=20, deadline=None)
@given(
    values=st.lists(st.lists(st.floats(-1e3, 1e3) | st.just(np.nan), min_size=2, max_size=2), min_size=2, max_size=9),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_a_table_gives_back_what_was_written(tmp_path_factory, values, delimiter):
    rows = [delimiter.join("" if np.isnan(v) else repr(v) for v in row) for row in values]
    path = write(tmp_path_factory.mktemp("t") / "t.txt", delimiter.join("ab") + "\n" + "\n".join([*rows, ""]))
    if not rows[-1].strip():  # a line of blanks at the end is no sample
        return
    (trial,) = load_table(path, columns=["a", "b"], unit="1", rate=1)
    np.testing.assert_array_equal(trial.x, values)


GOOD = "t,X,Y,Z\n0,1,2,3\n0.1,4,5,6\n0.2,7,8,9\n"
TIMED = {"time": "t", "columns": XYZ, "unit": "m"}
BAD_TABLES = [
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,5\n", TIMED, r"\.csv:3: expected 4 cells, got 3$"),
    ("t,X,Y,Z\n0,1,2,3\n\n0.1,4,5,6\n", TIMED, r"\.csv:3: expected 4 cells, got 1$"),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,five,6\n", TIMED, r"\.csv:3: column 3 \(Y\): expected a number, got 'five'$"),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,inf,6\n", TIMED, r"\.csv:3: column 3 \(Y\): expected a number, got 'inf'$"),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,1_0,6\n", TIMED, r"\.csv:3: column 3 \(Y\): expected a number, got '1_0'$"),
    (
        "t;X;Y;Z\n0;1,5;2;3\n1;4;5;6",
        TIMED,
        r"\.csv:2: column 2 \(X\): expected a number, got '1,5'; pass decimal=','$",
    ),
    ("t,X,Y,Z\n0,1,2,3\n,4,5,6\n", TIMED, r"\.csv:3: column 1 \(t\): a time is missing$"),
    (
        "t,X,Y,Z\n0,1,2,3\n0.1,4,5,6\n0.1,7,8,9\n",
        TIMED,
        r"\.csv:4: column 1 \(t\): times must increase, got 0.1 after 0.1$",
    ),
    (
        GOOD,
        TIMED | {"rate": 20},
        r"rate must agree with the times to 1%, got 20 Hz, but mean and median steps mean 10 and 10 Hz$",
    ),
    (GOOD, TIMED | {"rate": -1}, r"^rate must be a positive number \[Hz\], got -1$"),
    (GOOD, TIMED | {"time": "T"}, r"\.csv:1: no column 'T' among t, X, Y, Z"),
    (GOOD, TIMED | {"time": 5}, r"\.csv: columns are numbered 1 to 4, got 5$"),
    ("t,X,X,Z\n0,1,2,3\n0.1,4,5,6\n", TIMED, r"\.csv:1: more than one column 'X' among t, X, X, Z$"),
    (GOOD, {"columns": XYZ, "unit": "m"}, r"^time \(a column\) or rate \[Hz\] must be given"),
    (GOOD, TIMED | {"time_unit": "h"}, r"^time_unit must be one of s, ms, us, got 'h'$"),
    (GOOD, TIMED | {"decimal": "'"}, r"^decimal must be '.' or ',', got "),
    (GOOD, TIMED | {"decimal": ","}, r"^delimiter must not be the decimal comma; name the delimiter$"),
    (GOOD, TIMED | {"unit": "inch"}, r"^unit must be one of m, cm, mm, got 'inch'$"),
    (GOOD, TIMED | {"unit": "rad"}, r"^unit must be one of m, cm, mm, got 'rad'$"),
    (GOOD, TIMED | {"unit": {"x": "m"}}, r"^unit must name the unit of each of x, y, z, got {'x': 'm'}$"),
    (GOOD, TIMED | {"columns": "XYZ"}, r"^columns must be \{dof: column\} or a sequence of names, got 'XYZ'$"),
    (GOOD, TIMED | {"by": "X"}, r"\.csv:2: a trial must have two samples or more$"),
    (GOOD, TIMED | {"euler": XYZ, "quaternion": XYZ}, r"^one of quaternion and euler must be given, got both$"),
    (
        GOOD,
        TIMED | {"quaternion": ["t", "X", "Y", "Z"], "scalar_first": True},
        r"\.csv: quaternion must have unit length",
    ),
    (
        "t,X,Y,Z\n0,1,2,3",
        TIMED,
        r"\.csv: expected 0 lines to skip, 1 of names and two of numbers or more, got 2 lines$",
    ),
    ("\n\n", TIMED, r"\.csv: file is empty$"),
    ("t,X\0\n", TIMED, r"\.csv: expected text, got a binary file$"),
]


@pytest.mark.parametrize(("text", "options", "message"), BAD_TABLES)
def test_tables_that_are_wrong(tmp_path, text, options, message):
    with pytest.raises(errors.ThunderError, match=message):
        load_table(write(tmp_path / "bad.csv", text), **options)


def test_a_table_that_is_no_text(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"t,X\n0,\xb5")
    with pytest.raises(errors.FileFormatError, match=r"expected UTF-8 text, got byte 0xb5$"):
        load_table(path, columns=["X"], unit="m", time="t")
    with pytest.raises(FileNotFoundError):
        load_table(tmp_path / "none.csv", columns=["X"], unit="m", time="t")


# --- C3D ----------------------------------------------------------------------------------------------------------


def write_c3d(path, points, labels, unit="mm", rate=120.0, unseen=(), first_frame=0):
    """Write points (T, markers, 3); `unseen` are (frame, marker) with residual -1."""
    content = ezc3d.c3d()
    count, markers, _ = points.shape
    content["parameters"]["POINT"]["RATE"]["value"] = [rate]
    content["parameters"]["POINT"]["UNITS"]["value"] = [unit] if unit else []
    content["parameters"]["POINT"]["LABELS"]["value"] = labels
    content["header"]["points"]["first_frame"] = first_frame
    data = np.ones((4, markers, count))
    data[:3] = np.moveaxis(points, (0, 1, 2), (2, 1, 0))
    residuals = np.zeros((1, markers, count))
    for frame, marker in unseen:
        residuals[0, marker, frame] = -1.0
    content["data"]["points"] = data
    content["data"]["meta_points"]["residuals"] = residuals
    content.write(str(path))
    return path


@pytest.fixture
def points():
    return np.random.default_rng(0).uniform(-900.0, 900.0, (20, 3, 3)).astype(np.float32).astype(np.float64)


def test_c3d_gives_back_what_was_written(tmp_path, points):
    path = write_c3d(tmp_path / "a.c3d", points, ["hand", "elbow", "chest"], unseen=[(4, 1), (5, 1)])
    motions = load_c3d(path, subject="S1", task="reach", frame="lab")
    assert [trial.name for trial in motions] == ["hand", "elbow", "chest"]
    for k, trial in enumerate(motions):
        seen = np.ones(20, dtype=bool)
        if k == 1:
            seen[4:6] = False
        np.testing.assert_array_equal(trial.valid, seen)
        np.testing.assert_allclose(trial.position[seen], 0.001 * points[seen, k], rtol=1e-15)
        np.testing.assert_allclose(trial.t, np.arange(20) / 120.0, rtol=1e-15)
        assert (trial.rate, trial.subject, trial.task, trial.frame) == (120.0, "S1", "reach", "lab")
    chosen = load_c3d(path, markers=["chest", "hand"], unit="mm", rate=120)
    assert [trial.name for trial in chosen] == ["chest", "hand"]
    np.testing.assert_array_equal(chosen[0].x, motions[2].x)


def test_c3d_units_and_first_frame(tmp_path, points):
    path = write_c3d(tmp_path / "m.c3d", points, list("abc"), unit="m", first_frame=30)
    trial = load_c3d(path)[0]
    np.testing.assert_array_equal(trial.position, points[:, 0])
    np.testing.assert_allclose(trial.t, (30 + np.arange(20)) / 120.0, rtol=1e-15)
    bare = write_c3d(tmp_path / "bare.c3d", points, list("abc"), unit="")
    np.testing.assert_allclose(load_c3d(bare, unit="cm")[0].position, 0.01 * points[:, 0], rtol=1e-15)
    assert_refused((lambda: load_c3d(bare), "...UNITS: unit must be one of m, cm, ..."), error=errors.FileFormatError)


def test_c3d_with_more_markers_than_one_parameter_holds(tmp_path):
    many = np.random.default_rng(1).uniform(size=(3, 300, 3)).astype(np.float32).astype(np.float64)
    path = write_c3d(tmp_path / "many.c3d", many, [f"m{k}" for k in range(300)], unit="m")
    motions = load_c3d(path)
    assert [motions[k].name for k in (0, 254, 255, 299)] == ["m0", "m254", "m255", "m299"]
    np.testing.assert_array_equal(load_c3d(path, markers=["m299"])[0].position, many[:, 299])


@pytest.mark.parametrize(
    ("written", "options", "message"),
    [
        ({}, {"unit": "m"}, r"\.c3d: POINT:UNITS: unit must be 'mm' as in the file, got 'm'$"),
        ({}, {"rate": 100}, r"\.c3d: POINT:RATE: rate must be 120 Hz as in the file, got 100 Hz$"),
        ({"unit": "in"}, {}, r"\.c3d: POINT:UNITS: unit must be one of m, cm, mm, got 'in' in the file; pass unit=$"),
        ({}, {"markers": ["hnad"]}, r"no marker 'hnad' among hand, elbow, chest; did you mean 'hand'\?$"),
        ({"labels": ["a", "a", "b"]}, {"markers": ["a"]}, r"no marker 'a' among a:1, a:2, b"),
        ({}, {"markers": "hand"}, r"markers must be a sequence of names, got 'hand'$"),
    ],
)
def test_c3d_that_is_not_what_was_asked_for(tmp_path, points, written, options, message):
    path = write_c3d(tmp_path / "a.c3d", points, **{"labels": ["hand", "elbow", "chest"]} | written)
    with pytest.raises(errors.FileFormatError, match=message):
        load_c3d(path, **options)


def test_c3d_cut_off(tmp_path, points):
    path = write_c3d(tmp_path / "a.c3d", points, ["hand", "elbow", "chest"])
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content[:-200])
    assert_refused((lambda: load_c3d(path), "...expected 20 frames of 3 points and ..."), error=errors.FileFormatError)
    for size in (512, 514, 700, 1024):
        path.write_bytes(content[:size])
        with pytest.raises(errors.FileFormatError, match=rf"\.c3d: cut off before its data: {size} bytes$"):
            load_c3d(path)
    write_c3d(path, points[:1], ["hand", "elbow", "chest"])
    assert_refused((lambda: load_c3d(path), "....c3d: expected two frames of points ..."), error=errors.FileFormatError)


# --- TRC ----------------------------------------------------------------------------------------------------------

TRC = """PathFileType\t4\t(X/Y/Z)\treach.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100.00\t100.00\t4\t2\tmm\t100.00\t1\t4
Frame#\tTime\thand\t\t\telbow\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

1\t0.00\t1\t2\t3\t4\t5\t6
2\t0.01\t11\t12\t13\t\t\t
3\t0.02\t21\t22\t23
4\t0.03\t\t32\t33\t34\t35\t36\t\t
"""


def test_trc(tmp_path):
    path = write(tmp_path / "reach.trc", TRC)
    hand, elbow = load_trc(path, subject="S1")
    assert (hand.name, elbow.name, hand.rate, hand.subject) == ("hand", "elbow", 100.0, "S1")
    np.testing.assert_array_equal(hand.t, [0.0, 0.01, 0.02, 0.03])
    np.testing.assert_array_equal(hand.valid, [True, True, True, False])  # half a point is none
    np.testing.assert_array_equal(hand.position[:3], 0.001 * np.array([[1, 2, 3], [11, 12, 13], [21, 22, 23.0]]))
    np.testing.assert_array_equal(elbow.valid, [True, False, False, True])
    np.testing.assert_array_equal(elbow.position[3], 0.001 * np.array([34.0, 35.0, 36.0]))
    assert [trial.name for trial in load_trc(path, markers=["elbow"], unit="mm", rate=100)] == ["elbow"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PathFileType", "Path", r"\.trc:1: expected a TRC file, whose first line begins with PathFileType$"),
        ("\tUnits", "\tUnit", r"\.trc:2: the header must hold Units$"),
        ("\t100.00\t1\t4\nFrame", "\nFrame", r"\.trc:3: expected a value for each of DataRate, .*, got 5$"),
        ("\tmm", "\tinches", r"\.trc: Units: unit must be one of m, cm, mm, got 'inches' in the file; pass unit=$"),
        ("\n100.00", "\nfast", r"\.trc:3: DataRate: expected a number, got 'fast'$"),
        (
            "\n100.00",
            "\n120.00",
            r"rate must agree with the times to 1%, got 120 Hz, but mean and median steps mean 100 and 100",
        ),
        ("\thand\t\t\telbow", "\thand\t\t\t", r"\.trc:4: expected 2 markers as in NumMarkers, got 1: hand$"),
        ("\t23\n", "\t23\t24\n", r"\.trc:9: expected 8 cells \(or whole markers fewer\), got 6$"),
        ("\t35\t36\t\t\n", "\t35\t36\t37\n", r"\.trc:10: expected 8 cells \(or whole markers fewer\), got 9$"),
        ("\t12\t", "\ttwelve\t", r"\.trc:8: column 4 \(hand Y\): expected a number, got 'twelve'$"),
        ("0.02", "0.01", r"\.trc:9: column 2 \(Time\): times must increase, got 0.01 after 0.01$"),
        ("0.02", "", r"\.trc:9: column 2 \(Time\): expected a number, got ''$"),
    ],
)
def test_trc_that_is_wrong(tmp_path, old, new, message):
    assert TRC.count(old) == 1
    with pytest.raises(errors.FileFormatError, match=message):
        load_trc(write(tmp_path / "bad.trc", TRC.replace(old, new)))


def trc_text(names, axes, count, values):
    """Return a file whose lines of names and axes are as given, with values (T, m, 3)."""
    head = f"PathFileType\t4\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t{len(values)}\t{count}\tmm\n"
    rows = ["\t".join([f"{k}", f"{k / 100}", *map(str, row.ravel())]) for k, row in enumerate(values)]
    return "\n".join([head + "Frame#\tTime\t" + names, axes, *rows])


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("count", ["all", "named"])
@pytest.mark.parametrize("names", [["A", "", "B"], ["", "A", "", "", "B"], ["A", "B", "", "C", ""], ["", "A"]])
def test_markers_without_a_name_do_not_shift_others(tmp_path, names, count, numbered):
    values = np.random.default_rng(len(names)).normal(size=(20, len(names), 3)).cumsum(axis=0).round(3) + 500.0
    axes = "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ") if numbered else "\tX"
    known = [name for name in names if name]
    counted = len(names if names[-1] else names[:-1]) if count == "all" else len(known)
    path = write(tmp_path / "a.trc", trc_text("\t\t\t".join(names), axes, counted, values))
    with pytest.warns(RecordingWarning, match=r"\d markers without a name, before others, were left out$"):
        motions = load_trc(path)
    assert [trial.name for trial in motions] == known
    for trial in motions:
        np.testing.assert_allclose(trial.position, 1e-3 * values[:, names.index(trial.name)])


@pytest.mark.parametrize("between", ["\t", "\t\t", "\t\t\t\t", "\t\t\t\t\t\t"])
@pytest.mark.parametrize("before", ["", "\t", "\t\t\t"])
def test_names_with_other_tabs_between_them(tmp_path, before, between):
    values = np.random.default_rng(0).normal(size=(20, 4, 3)).cumsum(axis=0).round(3) + 500.0
    axes = "\t\t" + before + "\t".join(f"{axis}{k}" for k in range(1, 5) for axis in "XYZ")
    path = tmp_path / "a.trc"
    motions = load_trc(write(path, trc_text(before + between.join("ABCD"), axes, 4, values)))
    assert [trial.name for trial in motions] == list("ABCD")
    np.testing.assert_allclose(np.stack([trial.position for trial in motions], axis=1), 1e-3 * values)
    if (before, between) != ("\t\t\t", "\t\t\t\t\t\t"):
        bad = trc_text(before + between.join("ABD"), axes, 4, values)
        assert_refused((lambda: load_trc(write(path, bad)), "...a.trc:4: ..."), error=errors.FileFormatError)
