"""Tables, C3D and TRC files: units, rates, gaps, and what is wrong where."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_bvh, load_culm, load_kinesis, load_table, load_trc

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

XYZ = {"x": "X", "y": "Y", "z": "Z"}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_with_times(tmp_path):
    path = write(
        tmp_path / "reach.csv",
        "t;X;Y;Z\n0;1;2;3\n0.01;4;;6\n0.02;7;8;nan\n0.03;1.#QNAN;-1.#IND;-nan(ind)\n0.04;10;11;12\n\n",
    )
    (trial,) = load_table(path, time="t", columns=XYZ, unit="mm", subject="S1", task="reach", frame="lab")
    np.testing.assert_array_equal(trial.t, [0.0, 0.01, 0.02, 0.03, 0.04])
    expected = np.array([[1, 2, 3], [4, np.nan, 6], [7, 8, np.nan], [np.nan] * 3, [10, 11, 12]]) * 0.001
    np.testing.assert_array_equal(trial.x, expected)
    assert trial.gaps == [(0.0, 0.04)]
    assert trial.rate == pytest.approx(100.0)
    assert (trial.name, trial.subject, trial.task, trial.frame) == ("reach", "S1", "reach", "lab")


def test_ways_to_write_a_table(tmp_path):
    for text, options in (
        ("a,b\n1,2\n3,4\n", {}),
        ("a\tb\n1\t2\n3\t4\n", {}),
        ("a  b\n 1 2\n3   4 \n", {}),
        ("a|b\n1|2\n3|4\n", {"delimiter": "|"}),
        ('"a","b"\r\n"1",2\r\n3,4\r\n', {}),
        ("a;b\n1,0;2,0\n3,0;4,0\n", {"decimal": ","}),
        ("made by a machine\n\na,b\n1,2\n3,4", {"skip": 2}),
        ("\ufeffa,b\n1,2\n3,4", {}),
        ("1,2\n3,4", {"header": False, "columns": {"a": 1, "b": 2}}),
    ):
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
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,5\n", TIMED, "....csv:3: expected 4 cells, got 3"),
    ("t,X,Y,Z\n0,1,2,3\n\n0.1,4,5,6\n", TIMED, "....csv:3: expected 4 cells, got 1"),
    (
        "t,X,Y,Z\n0,1,2,3\n0.1,4,five,6\n",
        TIMED,
        "....csv:3: column 3 (Y): expected a number, got 'five'; pass missing=['five']...",
    ),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,inf,6\n", TIMED, "....csv:3: column 3 (Y): expected a number, got 'inf'; pass ..."),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,1_0,6\n", TIMED, "....csv:3: column 3 (Y): expected a number, got '1_0'"),
    ("t;X;Y;Z\n0;1,5;2;3\n1;4;5;6", TIMED, "....csv:2: column 2 (X): expected a number, got '1,5'; pass decimal=','"),
    ("t,X,Y,Z\n0,1,2,3\n,4,5,6\n", TIMED, "....csv:3: column 1 (t): expected a number, got ''"),
    ("t,X,Y,Z\n0,1,2,3\n0.1,4,5,6\n0.1,7,8,9\n", TIMED, "....csv:4: column 1 (t): times must increase, got 0.1 ..."),
    (GOOD, TIMED | {"rate": 20}, "...rate must agree with the times to 1%, got 20 Hz for the median step of 0.1 s"),
    (GOOD, TIMED | {"rate": -1}, "rate must be positive [Hz], got -1"),
    (GOOD, TIMED | {"time": "T"}, "....csv: no column 'T' among t, X, Y, Z..."),
    (GOOD, TIMED | {"time": 5}, "....csv: columns are numbered 1 to 4, got 5"),
    ("t,X,X,Z\n0,1,2,3\n0.1,4,5,6\n", TIMED, "....csv: more than one column 'X' among t, X, X, Z"),
    (GOOD, {"columns": XYZ, "unit": "m"}, "time (a column) or rate [Hz] must be given..."),
    (GOOD, TIMED | {"time_unit": "h"}, "time_unit must be one of s, ms, us, got 'h'"),
    (GOOD, TIMED | {"decimal": "'"}, "decimal must be '.' or ',', got ..."),
    (GOOD, TIMED | {"decimal": ","}, "delimiter must not be the decimal comma; name the delimiter"),
    (GOOD, TIMED | {"unit": "inch"}, "unit must be one of m, cm, mm, got 'inch'"),
    (GOOD, TIMED | {"unit": "rad"}, "unit must be one of m, cm, mm, got 'rad'"),
    (GOOD, TIMED | {"unit": {"x": "m"}}, "unit must name the unit of each of x, y, z, got {'x': 'm'}"),
    (GOOD, TIMED | {"columns": "XYZ"}, "columns must be {dof: column} or a sequence of names, got 'XYZ'"),
    (GOOD, TIMED | {"by": "X"}, "....csv:2: a trial must have two samples or more"),
    (GOOD, TIMED | {"euler": XYZ, "quaternion": XYZ}, "one of quaternion and euler must be given, got both"),
    (GOOD, TIMED | {"quaternion": ["t", "X", "Y", "Z"], "scalar_first": True}, "....csv: quaternion must have ..."),
    ("t,X,Y,Z\n0,1,2,3", TIMED, "....csv: expected 0 lines to skip, 1 of names and two of numbers or more, got 2 ..."),
    ("\n\n", TIMED, "....csv: file is empty"),
    ("t,X\0\n", TIMED, "....csv: expected text, got a binary file"),
]


def test_tables_that_are_wrong(tmp_path):
    def given(text, options):
        return load_table(write(tmp_path / "bad.csv", text), **options)

    assert_refused(*((partial(given, *case), message) for *case, message in BAD_TABLES))
    path = tmp_path / "bad.csv"
    path.write_bytes(b"t,X\n0,\xb5")
    assert_refused(
        (path, "...expected UTF-8 text, got byte 0xb5; pass encoding=...", FileFormatError),
        (tmp_path / "none.csv", "...", FileNotFoundError),
        call=partial(load_table, columns=["X"], unit="m", time="t"),
    )


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
    short = write(path, TRC.replace("\t100.00\t1\t4\nFrame", "\nFrame"))  # values that no one needs
    np.testing.assert_array_equal(load_trc(short)[0].position, hand.position)


def test_trc_that_is_wrong(tmp_path):
    def given(old, new):
        assert TRC.count(old) == 1
        return load_trc(write(tmp_path / "bad.trc", TRC.replace(old, new)))

    cases = (
        ("PathFileType", "Path", "....trc:1: expected a TRC file, whose first line begins with PathFileType"),
        ("\tUnits", "\tUnit", "....trc: Units: unit must be one of m, cm, mm, got none in the file; pass unit="),
        ("\tmm", "\tinches", "....trc: Units: unit must be one of m, cm, mm, got 'inches' in the file; pass unit="),
        ("\n100.00", "\nfast", "....trc:3: DataRate: expected a number, got 'fast'"),
        ("\t23\n", "\t23\t24\n", "....trc:9: expected 8 cells (or whole markers fewer), got 6"),
        ("\t35\t36\t\t\n", "\t35\t36\t37\n", "....trc:10: expected 11 cells (or whole markers fewer), got 9"),
        ("\t12\t", "\ttwelve\t", "....trc:8: column 4 (hand y): expected a number, got 'twelve'; pass ..."),
        ("0.02", "0.01", "....trc:9: column 2 (Time): times must increase, got 0.01 after 0.01; pass ..."),
        ("0.02", "", "....trc:9: column 2 (Time): expected a number, got ''"),
    )
    assert_refused(*((partial(given, *case), message) for *case, message in cases), error=errors.FileFormatError)


def trc_text(names, axes, count, values):
    """Return a file whose lines of names and axes are as given, with values (T, m, 3)."""
    head = f"PathFileType\t4\nDataRate\tNumFrames\tNumMarkers\tUnits\n100\t{len(values)}\t{count}\tmm\n"
    rows = ["\t".join([f"{k}", f"{k / 100}", *map(str, row.ravel())]) for k, row in enumerate(values)]
    return "\n".join([head + "Frame#\tTime\t" + names, axes, *rows])


@pytest.mark.parametrize(("count", "numbered"), [("all", True), ("named", True), ("named", False)])
@pytest.mark.parametrize("names", [["A", "", "B"], ["", "A", "", "", "B"], ["A", "B", "", "C", ""]])
def test_markers_without_a_name_do_not_shift_others(tmp_path, names, count, numbered):
    values = np.random.default_rng(len(names)).normal(size=(20, len(names), 3)).cumsum(axis=0).round(3) + 500.0
    axes = "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ") if numbered else "\tX"
    counted = len(names) if count == "all" else len(list(filter(None, names)))
    path = write(tmp_path / "a.trc", trc_text("\t\t\t".join(names), axes, counted, values))
    with pytest.warns(RecordingWarning, match=r"\d of \d markers have no name; they are called unnamed \d"):
        motions = load_trc(path)
    assert [trial.name for trial in motions] == [name or f"unnamed {k}" for k, name in enumerate(names, 1)]
    np.testing.assert_allclose(np.stack([trial.position for trial in motions], axis=1), 1e-3 * values)


def test_equal_names_other_counts_and_rates_of_trc(tmp_path):
    values = np.random.default_rng(1).normal(size=(20, 2, 3)).cumsum(axis=0).round(3) + 500.0
    path = write(tmp_path / "a.trc", trc_text("A\t\t\tA", "\t\tX1\tY1\tZ1", 7, values).replace("\n100\t20", "\n50\t9"))
    with pytest.warns(RecordingWarning) as told:
        motions = load_trc(path)
    texts = [str(each.message).partition("a.trc: ")[2] for each in told]
    assert [text.partition(",")[0] for text in texts] == [
        "expected 7 markers as in NumMarkers",
        "several markers are named A; they are told apart as A:1",
        "expected 9 frames as in NumFrames",
        "DataRate is 50 Hz",
    ]
    assert [(trial.name, trial.rate) for trial in motions] == [
        ("A:1", pytest.approx(100.0)),
        ("A:2", pytest.approx(100.0)),
    ]
    np.testing.assert_allclose(load_trc(path, rate=50)[1].t, np.arange(20) / 50.0)
    np.testing.assert_allclose(load_trc(path, rate=100)[1].t, np.arange(20) / 100.0)
    blanks = trc_text("A\t\t\tB", "X1\tY1\tZ1\tX2\tY2\tZ2", 2, values).replace("\t", "  ")
    motions = load_trc(write(path, blanks))
    assert [trial.name for trial in motions] == ["A", "B"]
    np.testing.assert_allclose(motions[1].position, 1e-3 * values[:, 1])


@pytest.mark.parametrize(("before", "between"), [("", "\t"), ("\t", "\t\t\t\t"), ("\t\t\t", "\t\t\t\t\t\t")])
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


# --- BVH: positions and orientations against a chain of homogeneous matrices written out here, and bad files ---
HIERARCHY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Shoulder
  {
    OFFSET 10.0 40.0 -3.0
    CHANNELS 3 Yrotation Xrotation Zrotation
    JOINT Hand
    {
      OFFSET 0 -55.5 1e0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 -8 2
      }
    }
  }
  JOINT Head {
    OFFSET 0 60 0
    CHANNELS 3 Xrotation Yrotation Zrotation
    End Site { OFFSET 0 20 0 }
  }
}
"""
#: joint: parent, offset, axes of rotation in the order of the channels, first column of these
JOINTS = {
    "Hips": (None, (0, 0, 0), "ZYX", 3),
    "Shoulder": ("Hips", (10, 40, -3), "YXZ", 6),
    "Hand": ("Shoulder", (0, -55.5, 1), "X", 9),
    "Hand:end": ("Hand", (0, -8, 2), "", 0),
    "Head": ("Hips", (0, 60, 0), "XYZ", 10),
    "Head:end": ("Head", (0, 20, 0), "", 0),
}
WIDTH = 13


def rotation(axis, degrees):
    """Rotation matrix about one axis, from its definition."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        {
            "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def pose(name, row):
    """Pose (4, 4) of a joint in one frame, joint by joint from the root."""
    parent, offset, axes, column = JOINTS[name]
    local = np.eye(4)
    local[:3, 3] = row[:3] if parent is None else offset
    for k, axis in enumerate(axes):
        local[:3, :3] = local[:3, :3] @ rotation(axis, row[column + k])
    return local if parent is None else pose(parent, row) @ local


def motion(values, step=0.01):
    rows = "\n".join(" ".join(f"{v:.10f}" for v in row) for row in values)
    return f"MOTION\nFrames: {len(values)}\nFrame Time: {step}\n{rows}\n"


@pytest.fixture
def values():
    return np.random.default_rng(3).uniform(-170.0, 170.0, (12, WIDTH)).round(8)


def test_every_joint_against_the_chain(tmp_path, values):
    path = write(tmp_path / "walk.bvh", HIERARCHY + motion(values))
    motions = load_bvh(path, unit="cm", subject="S1", task="walk", frame="studio")
    assert [trial.name for trial in motions] == list(JOINTS)
    for trial in motions:
        expected = np.array([pose(trial.name, row) for row in values])
        np.testing.assert_allclose(trial.position, 0.01 * expected[:, :3, 3], atol=1e-12)
        np.testing.assert_allclose(trial.rotations.as_matrix(), expected[:, :3, :3], atol=1e-12)
        assert (trial.rate, trial.subject, trial.task, trial.frame) == (100.0, "S1", "walk", "studio")
        assert trial.units == ("m",) * 3 + ("rad",) * 3
        np.testing.assert_allclose(trial.t, 0.01 * np.arange(12), rtol=1e-15)
    end, hips = load_bvh(path, unit="mm", joints=["Hand:end", "Hips"])
    assert (end.name, hips.name) == ("Hand:end", "Hips")
    np.testing.assert_allclose(hips.position, 0.001 * values[:, :3], rtol=1e-15)


def test_the_order_of_channels_is_that_of_the_file(tmp_path, values):
    other = HIERARCHY.replace(
        "Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        "Xrotation Zposition Yrotation Xposition Zrotation Yposition",
    )
    (hips,) = load_bvh(write(tmp_path / "a.bvh", other + motion(values)), unit="m", joints=["Hips"])
    np.testing.assert_array_equal(hips.position, values[:, [3, 5, 1]])
    expected = [rotation("X", r[0]) @ rotation("Y", r[2]) @ rotation("Z", r[4]) for r in values]
    np.testing.assert_allclose(hips.rotations.as_matrix(), expected, atol=1e-14)


def test_position_channels_beside_an_offset(tmp_path, values):
    text = HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 1 2 3") + motion(values)
    path = write(tmp_path / "a.bvh", text)
    assert_refused(
        (lambda: load_bvh(path, unit="m"), "...a.bvh:2: joint 'Hips' has an OFFSET ..."), error=errors.FileFormatError
    )
    (added,) = load_bvh(path, unit="m", joints=["Hips"], positions="add")
    np.testing.assert_allclose(added.position, values[:, :3] + [1.0, 2.0, 3.0], rtol=1e-13)
    (replaced,) = load_bvh(path, unit="m", joints=["Hips"], positions="replace")
    np.testing.assert_array_equal(replaced.position, values[:, :3])


@pytest.mark.parametrize(
    ("step", "rate", "expected"),
    [
        ("0.008333", None, 120.0),
        ("0.0083333", 120, 120.0),
        ("0.0333333", None, 30.0),
        ("0.0134", None, 1 / 0.0134),
        ("0", 50, 50.0),
    ],
)
def test_rates(tmp_path, values, step, rate, expected):
    path = write(tmp_path / "a.bvh", HIERARCHY + motion(values, step))
    trial = load_bvh(path, unit="m", rate=rate)[0]
    assert trial.rate == pytest.approx(expected, rel=1e-12)
    assert trial.t[-1] == pytest.approx(11.0 / expected, rel=1e-12)


def test_a_deep_chain_needs_no_recursion(tmp_path):
    depth = 1200
    text = "HIERARCHY\nROOT j0 { OFFSET 1 0 0 CHANNELS 0\n"
    text += "".join(
        f"JOINT j{k} {{ OFFSET 1 0 0 CHANNELS {1 if k == 1 else 0} {'Zrotation' * (k == 1)}\n" for k in range(1, depth)
    )
    text += "}" * depth + "\nMOTION\nFrames: 2\nFrame Time: 1\n0\n90\n"
    (last,) = load_bvh(write(tmp_path / "deep.bvh", text), unit="m", joints=[f"j{depth - 1}"])
    np.testing.assert_allclose(last.position, [[depth, 0, 0], [2, depth - 2, 0]], atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ([("JOINT Head", "JOINT Bip Head 2")], {"Head": "Bip Head 2", "Head:end": "Bip Head 2:end"}),
        ([("Frames: 12", "Frames:12"), ("Frame Time: ", "Frame Time:\t")], {}),
        ([("End Site", "End site"), ("OFFSET", "Offset"), ("CHANNELS", "Channels"), ("rotation", "Rotation")], {}),
        ([("\n", "\n\n")], {}),
        ([("\n", "\r\n")], {}),
        ([(" Yrotation Xrotation", "\n    Yrotation Xrotation"), ("\n  {", " {"), ("\n{", "{")], {}),
        ([("JOINT Head", "JOINT Hand")], {"Hand": "Hand:1", "Hand:end": "Hand:end:1", "Head": "Hand:2"}),
        ([("Frames: 12", "Frames: 20")], {}),
    ],
)
def test_dialects_of_bvh(tmp_path, values, changes, named):
    text = HIERARCHY + motion(values)
    expected = load_bvh(write(tmp_path / "a.bvh", text), unit="cm")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "b.bvh").write_bytes(text.encode())
    motions = load_bvh(tmp_path / "b.bvh", unit="cm")
    names = [trial.name for trial in motions]
    assert names[:5] == [named.get(trial.name, trial.name) for trial in expected][:5]
    for trial, other in zip(motions, expected, strict=True):
        np.testing.assert_array_equal(trial.x, other.x)


BAD = [
    ("HIERARCHY", "TREE", "....bvh:1: expected HIERARCHY and ROOT, got 'TREE'"),
    ("ROOT Hips", "JOINT Hips", "....bvh:2: expected HIERARCHY and ROOT, got 'JOINT Hips..."),
    ("JOINT Shoulder", "ROOT Shoulder", "....bvh:6: expected JOINT, End Site or }, got 'ROOT Shoulder..."),
    ("OFFSET 10.0 40.0 -3.0", "OFFSET 10.0 40.0", "....bvh:6: Shoulder: expected OFFSET x y z, and ..."),
    ("OFFSET 10.0 40.0 -3.0", "OFFSET 10.0 40.0 -3.O", "....bvh:6: OFFSET of Shoulder: expected a number, got '-3.O'"),
    *(
        ("CHANNELS 1 Xrotation", f"CHANNELS {channels}", f"....bvh:10: Hand: expected OFFSET ..., got '...{channels}'")
        for channels in ("1 Wrotation", "2 Xrotation Xrotation", "7 Xrotation", "1.5 Xrotation", "")
    ),
    ("MOTION", "MOTIONS", "....bvh:...: expected HIERARCHY, and then MOTION, Frames: and Frame Time:"),
    (
        "Frame Time: 0.01",
        "Frame Time: 0",
        "....bvh: Frame Time: rate must be positive [Hz], got 0 in the file; pass rate=",
    ),
    ("Frame Time: 0.01", "Frame Time: fast", "....bvh:28: Frame Time: expected a number, got 'fast'"),
    ("Frame Time: 0.01", "Frame Time: 0.01\n1 2 3", "....bvh:29: expected 13 cells, got 3"),
]


def test_files_that_are_wrong(tmp_path, values):
    def given(old, new):
        text = HIERARCHY + motion(values)
        assert text.count(old) == 1
        return load_bvh(write(tmp_path / "bad.bvh", text.replace(old, new)), unit="m")

    assert_refused(*((partial(given, *case), message) for *case, message in BAD), error=errors.FileFormatError)


def test_numbers_that_are_wrong(tmp_path, values):
    lines = (HIERARCHY + motion(values)).splitlines()
    short, strange = [*lines], [*lines]
    short[30] = "1 2 3"
    strange[30] = strange[30].replace(strange[30].split()[4], "nan")
    assert_refused(
        (lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(short)), unit="m"), "....bvh:31: expected 13 ..."),
        (
            lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(strange)), unit="m"),
            "....bvh:31: column 5 (Hips Yrotation): ...",
        ),
        (lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(lines[:4]) + "\n "), unit="m"), "....bvh:4: ..."),
        error=errors.FileFormatError,
    )


def test_what_must_be_said(tmp_path, values):
    path = write(tmp_path / "a.bvh", HIERARCHY + motion(values))
    assert_refused(
        (lambda: load_bvh(path), "...unit...", TypeError),
        (lambda: load_bvh(path, unit="inch"), "unit must be one of m, cm, mm, got 'inch'"),
        (lambda: load_bvh(path, unit="m", positions="both"), "positions must be 'add' or 'replace', got 'both'"),
        (lambda: load_bvh(path, unit="m", joints=["Hip"]), "...no joint 'Hip' among Hips, ...", errors.FileFormatError),
    )
    with pytest.warns(RecordingWarning, match=r"Frame Time: rate 100 Hz of the file was replaced by 90 Hz$"):
        assert load_bvh(path, unit="m", rate=90)[0].t[1] == 1.0 / 90.0


# --- CULM ---
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
        (lambda: given(lambda lines: [*lines[:9], "0.075;1;2", *lines[10:]]), "...csv:10: expected 4 cells, got 3"),
        (
            lambda: given(lambda lines: [*lines[:9], "0.075;1;2;x", *lines[10:]]),
            "...csv:10: column 4 (Z): expected a number, got 'x'",
        ),
        (lambda: given(lambda lines: lines[:2]), "...two rows..."),
        error=FileFormatError,
    )


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


def test_kinesis_in_metres_by_its_global_clock(tmp_path):
    motions = load_kinesis(kinesis_file(tmp_path / "rtg.txt"))
    assert [trial.name for trial in motions] == ["cc1/0", "cc1/1"]
    first = motions[0]
    np.testing.assert_allclose(first.t, 1e-3 * (11.8 * np.arange(10) + 20.0 * (np.arange(10) > 4)), atol=1e-12)
    np.testing.assert_allclose(first.x[3], [0.18, 0.19, 0.2])
    assert (first.rate, first.subject, first.task, first.gaps) == (85.0, "cc1", "reach-to-grasp", [])


def test_fingers_frozen_frames_and_starts_of_kinesis(tmp_path):
    path = kinesis_file(tmp_path / "rtg.txt")
    index, thumb, both = (load_kinesis(path, marker)[0] for marker in ("index", "thumb", "both"))
    np.testing.assert_array_equal(both.x, np.hstack([index.x, thumb.x]))
    assert both.dofs[::3] == ("index_x", "thumb_x")
    np.testing.assert_allclose(thumb.x - index.x, 0.03)
    frozen, rest = load_kinesis(path)[1], load_kinesis(path, drop_start=0.03)[0]
    np.testing.assert_array_equal(np.flatnonzero(~frozen.valid), [4, 5, 7])
    np.testing.assert_array_equal(rest.t, index.t[3:])


def test_damaged_kinesis(tmp_path):
    def given(change):
        return load_kinesis(kinesis_file(tmp_path / "rtg.txt", change))

    # columns that are not read may hold anything
    assert len(given(lambda lines: [*lines[:4], lines[4].replace("\t4\t", "\tfour\t"), *lines[5:]])) == 2
    cases = (
        (lambda lines: [lines[0].replace("globalTime", "clock"), *lines[1:]], "txt:1: ...among them globalTime"),
        (lambda lines: [*lines[:4], lines[4] + "\t1", *lines[5:]], "txt:5: expected 14 cells, got 15"),
        (
            lambda lines: [*lines[:4], lines[4].replace("180.0", "left"), *lines[5:]],
            "txt:5: column 7 (indexXraw): expected a number",
        ),
        (
            lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
            "txt:6: globalTime of trial 0: times must increase",
        ),
        (lambda lines: lines[:1], "rows below the header"),
        (lambda lines: lines[:2], "one row"),
    )
    assert_refused(*((partial(given, change), f"...{message}...") for change, message in cases), error=FileFormatError)
    assert_refused(
        (lambda: load_kinesis(tmp_path / "rtg.txt", "middle"), "...marker..."),
        (lambda: load_kinesis(tmp_path / "rtg.txt", drop_start=-1.0), "...drop_start..."),
    )
