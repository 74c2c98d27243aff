"""Files of Qualisys, Vicon, OptiTrack and OpenSim; public TRC and BVH files against independent readers."""

import io
import re
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_bvh, load_markers, load_opensim, load_trc

from .written import optitrack, qualisys, storage, vicon

RNG = np.random.default_rng(0)
P = 800.0 + np.cumsum(RNG.normal(size=(30, 3, 3)), axis=0).round(3)
P[4:8, 1] = np.nan
TURN = Rotation.from_rotvec(np.linspace(0.0, 4.0, 30)[:, None] * [0.0, 0.6, 0.8])


def told(loader, path, text, **options):
    """Return trials and warnings."""
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motions = loader(path, **options)
    return motions, [str(each.message).removeprefix(f"{path}: ") for each in caught]


def check(motions, points, names, rate=100.0):
    assert [trial.name for trial in motions] == list(names)
    assert {trial.rate for trial in motions} == {rate}
    np.testing.assert_allclose(np.stack([trial.position for trial in motions], axis=1), points, rtol=1e-9)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("names", [True, False])
def test_qualisys(tmp_path, timed, names):
    p = P.copy()
    p[0, 0] = np.nan  # an empty cell at the start of the first line of numbers
    motions, texts = told(load_markers, tmp_path / "a.tsv", qualisys(p, timed, names=names), subject="S1")
    check(motions, 1e-3 * p, ["m0", "m1", "m2"])
    assert texts == []
    assert motions[0].subject == "S1"
    np.testing.assert_allclose(motions[0].t, np.arange(30) / 100.0, atol=1e-9)


def test_qualisys_without_columns_of_time_counts_frames_without_a_marker(tmp_path):
    p = P.copy()
    p[10] = np.nan
    motions, _ = told(load_markers, tmp_path / "a.tsv", qualisys(p, False).replace("NULL", ""))
    check(motions, 1e-3 * p, ["m0", "m1", "m2"])


@pytest.mark.parametrize(("mark", "first"), [(",", 1), ("\t", 41), (";", 1)])
def test_vicon(tmp_path, mark, first):
    pandas = pytest.importorskip("pandas")
    text = vicon(P, first, mark=mark)
    motions, texts = told(load_markers, tmp_path / "a.csv", text + "Model Outputs\n100\n,,S1:Knee\n", markers=["S1:m1"])
    section = text.partition("Trajectories\n")[2]
    table = pandas.read_csv(io.StringIO(section), sep=mark, skiprows=[0, 1, 3], header=0)
    check(motions, 1e-3 * table.iloc[:, 5:8].to_numpy()[:, None], ["S1:m1"])
    np.testing.assert_allclose(motions[0].t, (table["Frame"] - 1) / 100.0)
    assert texts == ["Devices, Model Outputs were left out; only trajectories are read"]


def test_vicon_of_other_versions(tmp_path):
    old = vicon(P, before="").replace("Frame,Sub Frame", "Field #,Sub").replace("\n100\n", "\n100,Hz\n")
    old = old.replace("Trajectories", "TRAJECTORIES").replace("S1:m2", "S1:m1")
    motions, texts = told(load_markers, tmp_path / "a.csv", old)
    check(motions, 1e-3 * P, ["S1:m0", "S1:m1:1", "S1:m1:2"])
    assert texts == ["several markers are named S1:m1; they are told apart as S1:m1:1, S1:m1:2"]
    faster = re.sub(r"X,Y,Z$", "X,Y,Z,X',Y',Z'", vicon(P[:, :1], before="\n\n"), count=1, flags=re.MULTILINE)
    lines = faster.splitlines()
    lines = [*lines[:6], lines[6] + ",mm/s,mm/s,mm/s", *(f"{line},1,2,3" for line in lines[7:-1])]
    motions, _ = told(load_markers, tmp_path / "a.csv", "\n".join(lines))
    check(motions, 1e-3 * P[:, :1], ["S1:m0"])


@pytest.mark.parametrize("left", ["Type,Name,ID,", "Type,Name,ID,Parent,", ",,,"])
def test_optitrack(tmp_path, left):
    turn = TURN.as_quat()
    turn[20:22] = 0.0
    text = optitrack(1e-3 * P, turn, left=left.replace("Parent,", ""))
    if "Parent" in left:
        text = re.sub("^(,ID.*)$", r"\1\n,Parent" + ",Root" * 20, text, count=1, flags=re.MULTILINE)
    motions, texts = told(load_markers, tmp_path / "a.csv", text)
    assert texts == []
    check(motions, 1e-3 * P[:, [0, 0, 0, 1, 2]], ["Cup", "m0 (Rigid Body Marker)", "m0 (Marker)", "m1", "m2"])
    assert np.flatnonzero(~motions[0].valid).tolist() == [20, 21]
    vectors = np.linspace(0.0, 4.0, 30)[:, None] * [0.0, 0.6, 0.8]
    np.testing.assert_allclose(motions[0].rotation_vectors[motions[0].valid], vectors[motions[0].valid], atol=1e-6)
    motions, texts = told(
        load_markers, tmp_path / "a.csv", optitrack(P, rotation="XYZ", unit="Millimeters"), markers=["Cup"]
    )
    assert motions[0].dofs == ("x", "y", "z")
    assert texts == ["rotations are angles (XYZ) and were left out; export quaternions"]


@pytest.mark.parametrize("write", [qualisys, partial(vicon, before=""), partial(optitrack, unit="Millimeters")])
def test_lost_markers_and_counts_of_exports(tmp_path, write):
    p = P.copy()
    p[12:15, 0] = 0.0
    text = write(p)
    counted = re.sub(r"(NO_OF_FRAMES\t|Total Exported Frames,)30", r"\g<1>60", text)
    motions, texts = told(load_markers, tmp_path / "a", counted)
    *_, first, second, third = motions
    assert (first.gaps, second.gaps, third.gaps) == ([(first.t[11], first.t[15])], [(first.t[3], first.t[8])], [])
    assert "was lost and written as 0, 0, 0 in 3 of 30 frames (13 to 15)" in texts[-1]
    assert [each.rpartition(": ")[2] for each in texts[:-1]] == ["the file was trimmed, or is cut off"] * (
        counted != text
    )


COLUMNS = {
    "pelvis_tx": np.linspace(0.0, 1.0, 20),
    "elbow_r": np.linspace(0.0, 90.0, 20),
    "elbow_r_u": np.linspace(0.0, 1.0, 20),
}


@pytest.mark.parametrize("sep", ["\t", "   "])
def test_opensim(tmp_path, sep):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "walk.mot"
    (trial,), texts = told(load_opensim, path, storage(COLUMNS, sep=sep), task="walk")
    skip = path.read_text().splitlines().index("endheader") + 1
    table = pandas.read_csv(path, sep=r"\s+", skiprows=skip)
    assert (trial.name, trial.task, trial.rate) == ("walk", "walk", pytest.approx(100.0))
    assert (trial.dofs, trial.units) == (("pelvis_tx", "elbow_r"), ("m", "rad"))
    np.testing.assert_allclose(trial.x, table[["pelvis_tx", "elbow_r"]] * [1.0, np.pi / 180.0])
    np.testing.assert_allclose(trial.t, table["time"])
    assert len(texts) == 1
    (trial,), texts = told(
        load_opensim,
        path,
        storage(COLUMNS, "no", sep=sep),
        columns=["elbow_r_u", "elbow_r"],
        unit={"elbow_r_u": "1", "elbow_r": "deg"},
    )
    assert (trial.units, texts) == (("1", "rad"), [])
    np.testing.assert_allclose(trial.x, table[["elbow_r_u", "elbow_r"]] * [1.0, np.pi / 180.0])


@pytest.mark.parametrize(
    ("names", "title", "units"),
    [
        (["pelvis_tilt", "pelvis_ty"], "Coordinates", {"pelvis_tilt": "rad", "pelvis_ty": "m"}),
        (["ground_force_vx", "ground_force_px", "ground_torque_x"], "grf", {"ground_force_px": "m"}),
        (
            ["/jointset/hip_r/flexion/value", "/jointset/hip_r/flexion/speed"],
            "states",
            {"/jointset/hip_r/flexion/value": "rad"},
        ),
        (["hand_X", "hand_Y", "hand_Z"], "Positions", {"hand_X": "m", "hand_Y": "m", "hand_Z": "m"}),
        (["hand_X", "hand_Y"], "Velocities", {}),
        (["hip_moment", "pelvis_tx_force"], "Inverse Dynamics Generalized Forces", {}),
        (["soleus_r", "soleus_l"], "results", {}),
    ],
)
def test_units_of_columns_of_opensim(tmp_path, names, title, units):
    text = storage({name: np.linspace(0.1, 0.9, 20) for name in names}, "no", title)
    if not units:
        path = tmp_path / "a.sto"
        path.write_text(text)
        assert_refused(
            (path, "...the unit of ... is not known; pass unit={..."), call=load_opensim, error=FileFormatError
        )
        return
    (trial,), _ = told(load_opensim, tmp_path / "a.sto", text)
    assert dict(zip(trial.dofs, trial.units, strict=True)) == units


def test_exports_that_are_wrong(tmp_path):
    def given(loader, text, old, new):
        assert old in text
        path = tmp_path / "a"
        path.write_text(text.replace(old, new, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)
            loader(path)

    tsv, csv, take, mot = qualisys(P), vicon(P, before=""), optitrack(P, unit="Meters"), storage(COLUMNS)
    cases = (
        (load_markers, tsv, "FREQUENCY", "FREQ", "...the header must hold FREQUENCY; ..."),
        (load_markers, tsv, "3D", "6D", "...:10: expected 3D data, got 6D; export 3D data, ..."),
        (load_markers, tsv, "\t0.00000\t", "\tsoon\t", "...:14: column 2 (Time): expected a number, got 'soon'"),
        (
            load_markers,
            tsv,
            "0.01000",
            "0.00000",
            "...:15: column 2 (Time): times must increase, got 0 after 0; pass ...",
        ),
        (load_markers, tsv, "\n9\t", "\n9\t1\t", "...:22: expected 11 cells (or whole markers fewer), got 12"),
        (load_markers, csv, "Trajectories", "Joints", "...expected the section Trajectories, got Joints; ..."),
        (load_markers, csv, "mm,mm", "mm,cm", "...: units: unit must be one of m, cm, mm, got ... in the file; ..."),
        (load_markers, csv, "\n3,0", "\n2,0", "...:8: column 1 (Frame): times must increase, got 2 after 2"),
        (load_markers, csv, "100", "hundred", "...expected NO_OF_FRAMES (Qualisys), ..."),
        (load_markers, take, ",Name", "", "...expected equal lines of types, names, ..."),
        (load_markers, take, ",1,", ",2,", "...quaternion must have unit length ..."),
        (load_opensim, mot, "endheader", "end", "...expected a file .mot or .sto of OpenSim, ..."),
        (load_opensim, mot, "time\t", "t\t", "...:10: expected one column time, got t, pelvis_tx, ..."),
        (load_opensim, mot, "inDegrees=yes", "DataType=Vec3", "...got DataType=Vec3; ..."),
        (load_opensim, mot, "0.010000\t", "0.010000\t1\t", "...:12: expected 4 cells ..., got 5"),
    )
    assert_refused(*((partial(given, *case), message) for *case, message in cases), error=ValueError)
    _, texts = told(load_opensim, tmp_path / "a.mot", mot, unit="rad")
    assert any("inDegrees=yes is replaced by unit='rad'" in text for text in texts)
    for key, new in (("nRows=20", "nRows=30"), ("nColumns=4", "nColumns=9")):
        _, texts = told(load_opensim, tmp_path / "a.mot", mot.replace(key, new))
        assert sum(f"as in {key[:5]}" in text for text in texts) == 1


# --- public files -----------------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "motions"


def read_trc(path):
    """Return times, points (T, m, 3) and names of a TRC file, in its own unit."""
    lines = path.read_bytes().decode("latin-1").splitlines()
    names = [cell.strip() for cell in lines[3].split("\t")[2:] if cell.strip()]
    rows = [line.rstrip().split("\t") for line in lines[5:] if line.strip()]
    width = max(3 * len(names) + 2, *map(len, rows))
    rows = [[float(cell) if cell.strip() else np.nan for cell in row] + [np.nan] * (width - len(row)) for row in rows]
    values = np.array(rows)
    unit = {"mm": 1e-3, "m": 1.0, "cm": 1e-2}[re.search(r"\b(mm|cm|m|meters)\b", lines[2])[1].replace("meters", "m")]
    return values[:, 1], unit * values[:, 2:].reshape(len(rows), -1, 3), names


@pytest.mark.parametrize("path", sorted(DATA.glob("trc/*.trc")), ids=lambda path: path.stem[-30:])
@pytest.mark.release
def test_public_trc(path):
    t, points, names = read_trc(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        motions = load_trc(path)
    assert [re.sub(r":\d$", "", trial.name) for trial in motions][: len(names)] == [
        re.sub(r":\d$", "", name) for name in names
    ]
    assert len(motions) == points.shape[1]
    for k, trial in enumerate(motions):
        lost = np.isnan(points[:, k]).any(axis=1) | (points[:, k] == 0.0).all(axis=1)
        assert not (~trial.valid & ~lost).any()  # gaps only where the file has none or 0, 0, 0
        np.testing.assert_allclose(trial.x[trial.valid], points[trial.valid, k], atol=1e-9)
        np.testing.assert_allclose(trial.t, t)


def forward(path, replace):
    """Return {joint: positions (T, 3)} of a BVH file, in its own unit, by recursion and matrices."""
    hierarchy, _, motion = path.read_bytes().decode("latin-1").partition("MOTION")
    words = hierarchy.replace("{", " { ").replace("}", " } ").split()
    values = np.array([list(map(float, line.split())) for line in motion.splitlines()[3:] if line.strip()])
    found, column = {}, 0

    def read(place, name, p, R):
        nonlocal column
        offset, place = np.array(list(map(float, words[place + 2 : place + 5]))), place + 5
        channels = []
        if words[place] == "CHANNELS":
            count = int(words[place + 1])
            channels, place = words[place + 2 : place + 2 + count], place + 2 + count
        local, turn = np.tile(offset, (len(values), 1)), np.tile(np.eye(3), (len(values), 1, 1))
        for channel in channels:
            axis, angle = "XYZ".index(channel[0]), values[:, column]
            if channel.endswith("position"):
                local[:, axis] = angle + (0.0 if replace else offset[axis])
            else:
                i, j = (axis + 1) % 3, (axis + 2) % 3
                matrix = np.tile(np.eye(3), (len(values), 1, 1))
                matrix[:, i, i] = matrix[:, j, j] = np.cos(np.radians(angle))
                matrix[:, j, i] = np.sin(np.radians(angle))
                matrix[:, i, j] = -matrix[:, j, i]
                turn = turn @ matrix
            column += 1
        found[name] = p + np.einsum("tij,tj->ti", R, local)
        R, p = R @ turn, found[name]
        while words[place] != "}":
            end = words[place] == "End"
            child = f"{name}:end" if end else " ".join(words[place + 1 : words.index("{", place)])
            place = read(words.index("{", place), child, p, R)
        return place + 1

    place = words.index("ROOT")
    start = words.index("{", place)
    read(start, " ".join(words[place + 1 : start]), np.zeros((len(values), 3)), np.tile(np.eye(3), (len(values), 1, 1)))
    return found


@pytest.mark.parametrize("path", sorted(DATA.glob("bvh/*.bvh")), ids=lambda path: path.stem[-30:])
@pytest.mark.release
def test_public_bvh(path):
    options, motions = {"unit": "cm"}, ()
    if re.search(r"Frames:\s*1\s", path.read_text()):
        return assert_refused(
            (lambda: load_bvh(path, unit="cm"), "...got 1: a pose is no motion"), error=FileFormatError
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        with suppress(FileFormatError):
            motions = load_bvh(path, **options)
        if not motions:
            options["positions"] = "replace"
            motions = load_bvh(path, **options)
    expected = forward(path, "positions" in options)
    assert [trial.name for trial in motions] == list(expected)
    for trial in motions:
        np.testing.assert_allclose(trial.position, 0.01 * expected[trial.name], atol=1e-9)
