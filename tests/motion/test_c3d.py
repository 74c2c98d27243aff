"""C3D dialects, against py-c3d, with files written here and public ones."""

import contextlib
import importlib
import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_c3d
from thunder_py.recordings.loaders.c3d_file import read_c3d

from .c3d_writer import C3D, DEC, INTEL, MIPS


def movement(frames=30, count=3, seed=0):
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.normal(size=(frames, count, 3)), axis=0)
    return np.float32(4.0 * steps + [300.0, -200.0, 900.0]).astype(np.float64)


def load(tmp_path, file, **options):
    path = tmp_path / "a.c3d"
    path.write_bytes(file.tobytes())
    return load_c3d(path, **options)


def positions(motions):
    return np.stack([trial.position for trial in motions], axis=1)


def from_ezc3d(path):
    """Return the points of ezc3d, or None where it cannot read a file or is not installed."""
    try:
        points = importlib.import_module("ezc3d").c3d(str(path))["data"]["points"]
    except Exception:
        return None
    return points[:3].transpose(2, 1, 0)


def from_py_c3d(path):
    """Return the points of py-c3d, or None where it cannot read a file."""
    c3d = pytest.importorskip("c3d")
    with open(path, "rb") as stream, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = np.array([points for _, points, _ in c3d.Reader(stream).read_frames()])
        except Exception:
            return None
    return np.where((values[..., 3] < 0.0)[..., None], np.nan, values[..., :3])


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
@pytest.mark.parametrize(("scale", "analog"), [(-1.0, 5), (0.125, 0), (-0.25, 5)])
def test_all_processors_and_types(tmp_path, processor, scale, analog):
    p = np.round(movement(seed=processor) / 0.125) * 0.125
    file = C3D(p, processor=processor, scale=scale, analog=analog, rate=125.0, first=11)
    file.residuals[4:7, 1] = -1.0
    motions = load(tmp_path, file)
    want = np.array(p)
    want[4:7, 1] = np.nan
    np.testing.assert_allclose(positions(motions), 1e-3 * want, rtol=1e-12)
    np.testing.assert_allclose(motions[0].t, (10 + np.arange(30)) / 125.0)
    theirs = from_py_c3d(tmp_path / "a.c3d")
    np.testing.assert_allclose(1e3 * positions(motions), theirs, rtol=1e-6)


@pytest.mark.parametrize("lost", [("ANALOG", "USED"), ("ANALOG", None), ("POINT", "USED"), ("POINT", "FRAMES")])
def test_parameters_that_are_missing(tmp_path, lost):
    seed = len("".join(map(str, lost)))
    rng = np.random.default_rng(seed)
    p = movement(int(rng.integers(10, 80)), int(rng.integers(1, 6)), seed)
    file = C3D(p, processor=[INTEL, MIPS][seed % 2], analog=int(rng.integers(1, 20)))
    group, name = lost
    if name is None:
        del file.groups[group]
    else:
        del file.groups[group][name]
    np.testing.assert_allclose(positions(load(tmp_path, file)), 1e-3 * p, rtol=1e-12)
    np.testing.assert_allclose(from_py_c3d(tmp_path / "a.c3d"), p, rtol=1e-6)


@pytest.mark.parametrize(
    "change", ["header analog", "used analog", "header points", "used points", "frames", "rate", "scale"]
)
def test_the_size_of_the_file_settles_contradictions(tmp_path, change):
    p = movement(200, 4)
    file = C3D(p, analog=6)
    where, _, what = change.partition(" ")
    if where == "header":
        file.header[what] += 3
    elif where == "used":
        file.groups["ANALOG" if what == "analog" else "POINT"]["USED"] += 3
    elif where == "frames":
        file.point["FRAMES"] = 190
    elif where == "scale":  # integers according to the parameters, reals according to the header
        file.point["SCALE"] = 0.1
    else:
        file.header["rate"] = 200.0
        assert_refused((lambda: load(tmp_path, file), "...header, 200 Hz, got 100 Hz; pass ..."), error=FileFormatError)
        assert load(tmp_path, file, rate=100)[0].rate == 100.0
        return
    if where == "frames":
        motions = load(tmp_path, file)
    else:
        with pytest.warns(RecordingWarning, match=r"contradict each other; read 200 frames of 4 points and 6 analog"):
            motions = load(tmp_path, file)
    np.testing.assert_allclose(positions(motions), 1e-3 * p, rtol=1e-12)


def test_contradictions_that_nothing_settles(tmp_path):
    file = C3D(movement(100), analog=6)
    file.header["analog"], file.groups["ANALOG"]["USED"] = 2, 3
    assert_refused((lambda: load(tmp_path, file), "...expected 100 frames of 3 points and ..."), error=FileFormatError)
    file = C3D(movement(12), analog=2)  # both fit in one block
    file.header["analog"] = 3
    assert_refused((lambda: load(tmp_path, file), "...header and parameters contradict ..."), error=FileFormatError)
    file = C3D(movement(100), analog=6)
    file.header["analog"] = file.groups["ANALOG"]["USED"] = 9
    with pytest.warns(RecordingWarning, match=r"the first 9\d were read: the file was cut off, or is damaged|speed of"):
        load(tmp_path, file)
    file = C3D(movement(300, 9), analog=40)
    file.header["analog"] = file.groups["ANALOG"]["USED"] = 0
    with pytest.warns(RecordingWarning) as told:  # of the garbage as well
        load(tmp_path, file)
    assert re.search(r"got room for 6\d\d\.\d+; the first 300 were read: the file was short", str(told[0].message))


def test_more_frames_and_markers_than_numbers_hold(tmp_path):
    p = np.float32(np.random.default_rng(1).uniform(1.0, 9.0, (70_000, 1, 3))).astype(np.float64)
    file = C3D(p, unit="cm")
    file.point["FRAMES"] = 70_000 & 0xFFFF
    file.groups["TRIAL"] = {"ACTUAL_START_FIELD": (1, 0), "ACTUAL_END_FIELD": (70_000 & 0xFFFF, 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)  # no movement
        np.testing.assert_allclose(positions(load(tmp_path, file)), 1e-2 * p, rtol=1e-12)
    many, labels = movement(count=300), [f"m{k}" for k in range(300)]
    file = C3D(many, labels[:255])
    file.point["LABELS2"] = labels[255:]
    assert [trial.name for trial in load(tmp_path, file)] == labels
    np.testing.assert_array_equal(load(tmp_path, file, markers=["m299"])[0].position, 1e-3 * many[:, 299])


def test_labels_and_arguments_are_those_of_the_trials(tmp_path):
    motions = load(tmp_path, C3D(movement(), ["hand", "elbow", "chest"]), subject="S1", task="reach", frame="lab")
    assert [trial.name for trial in motions] == ["hand", "elbow", "chest"]
    assert {(trial.rate, trial.subject, trial.task, trial.frame) for trial in motions} == {
        (100.0, "S1", "reach", "lab")
    }
    chosen = load(tmp_path, C3D(movement(), ["hand", "elbow", "chest"]), markers=["chest", "hand"], unit="mm", rate=100)
    assert [trial.name for trial in chosen] == ["chest", "hand"]
    np.testing.assert_array_equal(chosen[0].x, motions[2].x)


def test_points_that_are_no_positions(tmp_path):
    p = np.float32(0.2 * movement(count=6)).astype(np.float64)
    labels = ["hand", "ElbowAngles", "GRF", "chest", "HipPower", "Index"]
    file = C3D(p, labels)
    file.point |= {"ANGLES": ["ElbowAngles"], "FORCES": ["GRF"], "ANGLE_UNITS": ["deg"], "TYPE_GROUPS": ["SCORES"]}
    file.point |= {"SCORES": ["Index"], "MODELED_MARKERS": ["chest"]}
    with pytest.warns(RecordingWarning) as told:
        motions = load(tmp_path, file)
    assert [trial.name for trial in motions] == ["hand", "chest", "HipPower"]
    np.testing.assert_allclose(positions(motions), 1e-3 * p[:, [0, 3, 4]], rtol=1e-12)
    texts = [str(warning.message) for warning in told]
    assert "3 points that are no positions (ANGLES, FORCES, SCORES) were left out: ElbowAngles, GRF, Index" in texts[0]
    assert "1 points were read as positions, but are hardly any: HipPower" in texts[1]
    (hand,) = load(tmp_path, file, markers=["hand"])  # no warning
    np.testing.assert_allclose(hand.position, 1e-3 * p[:, 0], rtol=1e-12)
    assert_refused((lambda: load(tmp_path, file, markers=["GRF"]), "...markers must be ..."), error=FileFormatError)
    units = {"ANGLES": "", "forces": "N/kg", "HipPower": "W", "SCORES": "1"}
    with pytest.raises(
        FileFormatError,
        match=r"the unit of SCORES must be one of .*; pass the right one, or quantities=\{'SCORES': '1'\}",
    ):
        load(tmp_path, file, quantities=["SCORES"], markers=["Index"])
    motions = load(tmp_path, file, quantities=units)
    assert [trial.name for trial in motions] == labels
    assert [(trial.dofs[0], trial.units[0]) for trial in motions][1:] == [
        ("angle_x", "rad"),
        ("force_x", "N/kg"),
        ("x", "m"),
        ("power_x", "W"),
        ("value_x", "1"),
    ]
    scaled = p * np.array([1e-3, np.pi / 180.0, 1.0, 1e-3, 1.0, 1.0])[:, None]
    np.testing.assert_allclose(np.stack([trial.x for trial in motions], axis=1), scaled, rtol=1e-12)
    (moment,) = load(tmp_path, file, quantities={"HipPower": "N.mm"}, markers=["HipPower"])
    assert moment.units == ("Nm",) * 3
    file.point["POWERS"] = ["hand", "chest", "HipPower"]
    assert_refused((lambda: load(tmp_path, file), "...POINT:LABELS: expected positions, ..."), error=FileFormatError)


def test_labels_that_are_numbered_or_have_a_subject(tmp_path):
    for labels, groups, read in (
        (["hand", "LKneeAngles", "LKneeAngles"], {"ANGLES": ["LKneeAngles", "LKneeAngles"]}, ["hand"]),
        (["hand", "Index", "chest", "Index"], {"TYPE_GROUPS": ["SCORES"], "SCORES": ["Index"]}, ["hand", "chest"]),
        (["S1:hand", "S1:Knee", "S2:hand", "S2:Knee"], {"ANGLES": ["Knee"]}, ["S1:hand", "S2:hand"]),
        (["S1:hand", "S1:Knee", "S2:Knee"], {"ANGLES": ["S1:Knee"]}, ["S1:hand", "S2:Knee"]),
        (["hand", "Knee"], {"ANGLES": ["S1:Knee"]}, ["hand"]),
        (["hand", "", "hand"], {"ANGLES": ["", ""]}, ["hand:1", "unnamed", "hand:2"]),
        (["hand", "elbow", "hand", "hand"], {}, ["hand:1", "elbow", "hand:2", "hand:3"]),
    ):
        p = movement(count=len(labels))
        file = C3D(p, labels)
        file.point |= groups
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            motions = load(tmp_path, file)
        assert [trial.name for trial in motions] == read
        bare = [re.sub(r":\d$", "", name) for name in read]
        places = [k for k, label in enumerate(labels) if (label or "unnamed") in bare]
        np.testing.assert_allclose(positions(motions), 1e-3 * p[:, places], rtol=1e-12)
        left = [str(warning.message) for warning in told if "were left out" in str(warning.message)]
        assert len(left) == (len(read) < len(labels))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            load(tmp_path, file, markers=read)  # as the warning proposes
        assert not any("left out" in str(warning.message) for warning in told)


def test_units_that_are_spelt_out(tmp_path):
    units = {"meters": 1.0, "mete": 1.0, "Metres": 1.0, "millimeters": 1e-3, "CM": 1e-2, "centimetre": 1e-2}
    for unit, factor in units.items():
        p = movement() / 1e3 / factor
        assert np.allclose(positions(load(tmp_path, C3D(p, unit=unit))), factor * p, rtol=1e-6)


def test_units_and_rates_that_are_not_known(tmp_path):
    p = movement()
    for unit, others in (("inches", ("unit 'inches'",)), ("m", ("unit 'm'", "rate 100 Hz"))):
        with pytest.warns(RecordingWarning) as told:
            motions = load(tmp_path, C3D(p, unit=unit), unit="mm", rate=50 * (3 - len(others)))
        replaced = [str(warning.message).partition(" of the file was replaced by ")[0] for warning in told]
        assert [text.rpartition(": ")[2] for text in replaced] == [*others[::-1]]
        np.testing.assert_allclose(positions(motions), 1e-3 * p, rtol=1e-12)
    assert motions[0].t[1] == 1.0 / 50.0
    file = C3D(p, rate=0.0)
    assert load(tmp_path, file, rate=50.0)[0].rate == 50.0
    file.header["rate"] = 80.0
    assert load(tmp_path, file)[0].rate == 80.0


@pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")
def test_what_is_not_in_the_file_or_cut_off_is_refused(tmp_path):
    def given(written=(), size=None, frames=20, **options):
        content = C3D(movement(frames), **{"labels": ["hand", "elbow", "chest"], "rate": 120.0, **dict(written)})
        path = tmp_path / "a.c3d"
        path.write_bytes(content.tobytes() if size is None else content.tobytes().rstrip(b"\0")[:size])
        return load_c3d(path, **options)

    assert_refused(
        ({"unit": "inch"}, "unit must be one of m, cm, mm, got 'inch'", ValueError),
        (
            {"written": {"unit": "in"}},
            "....c3d: POINT:UNITS: unit must be one of m, ..., got 'in' in ...",
        ),
        ({"written": {"rate": 0.0}}, "...POINT:RATE: rate must be positive ..."),
        ({"markers": ["hnad"]}, "...no marker 'hnad' among hand, elbow, chest; did you mean 'hand'?"),
        ({"written": {"labels": "aab"}, "markers": ["a"]}, "...no marker 'a' among a:1, a:2, b..."),
        ({"markers": "hand"}, "...markers must be a sequence of names, got 'hand'"),
        ({"quantities": ["ANGLES"]}, "...no quantity 'ANGLES' among none..."),
        ({"quantities": "ANGLES"}, "...quantities must be a sequence of names or {name: unit}, got 'ANGLES'"),
        ({"quantities": ["hand"]}, "...the unit of hand must be one of ..., got ''; pass the right one, or ..."),
        ({"size": 0}, "...file is empty"),
        *(({"size": size}, f"....c3d: cut off before its data: {size} bytes") for size in (512, 514, 700)),
        ({"frames": 1}, "....c3d: expected two frames of points ... loaders.c3d_file.read_c3d returns its points"),
        call=given,
        error=FileFormatError,
    )
    assert read_c3d(tmp_path / "a.c3d").points.shape == (1, 3, 3)
    with pytest.warns(RecordingWarning, match=r"got room for 18\.\d+; the first 18 were read: the file was cut off"):
        np.testing.assert_allclose(positions(given(size=-80)), 1e-3 * movement(20)[:18], rtol=1e-12)


def test_a_header_alone(tmp_path):
    p = movement()
    file = C3D(p, analog=3, rate=50.0, first=5)
    file.groups.clear()
    with pytest.warns(RecordingWarning, match="several points are named unnamed; they are told apart as unnamed:1"):
        motions = load(tmp_path, file, unit="mm")
    assert [trial.name for trial in motions] == ["unnamed:1", "unnamed:2", "unnamed:3"]
    np.testing.assert_allclose(positions(motions), 1e-3 * p, rtol=1e-12)
    assert (motions[0].rate, motions[0].t[0]) == (50.0, 0.08)
    content = bytearray(C3D(p).tobytes())
    content[content.index(b"LABELS") + 8] = 9  # a type that there is not
    (tmp_path / "a.c3d").write_bytes(content)
    with pytest.warns(RecordingWarning) as told:
        motions = load_c3d(tmp_path / "a.c3d")
    assert re.search(r"the parameters are damaged; those from byte \d+ on were left out: type 9", str(told[0].message))
    np.testing.assert_allclose(positions(motions), 1e-3 * p, rtol=1e-12)


DATA = Path(__file__).parents[2].parent / "shared" / "data" / "motions" / "c3d"


def test_names_of_angles_that_are_numbered(tmp_path):
    labels = ["hand", "LKneeAngles", "LKneeAngles", "S1:HipPower", "S2:HipPower"]
    with pytest.warns(RecordingWarning) as told:
        load(tmp_path, C3D(movement(count=5), labels))
    named = {"quantities": {"LKneeAngles:2": "1"}, "markers": ["LKneeAngles:2"]}
    with pytest.warns(RecordingWarning, match="several points are named LKneeAngles"):
        (left,) = load(tmp_path, C3D(movement(count=5), labels), **named)
    assert (left.name, left.units, left.dofs[0]) == ("LKneeAngles:2", ("1",) * 3, "value_x")
    assert [str(warning.message).partition("c3d: ")[2][:42] for warning in told] == [
        "several points are named LKneeAngles; they",
        "4 points were read as positions, but are h",
    ]


@pytest.mark.release
@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_public_files():
    compared = 0
    for path in sorted(DATA.iterdir()):
        theirs = from_py_c3d(path)
        theirs = from_ezc3d(path) if theirs is None else theirs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)
            try:
                ours = read_c3d(path).points
            except FileFormatError:
                assert theirs is None or not theirs.size, path
                continue
            options = {}
            while len(ours) > 1:
                try:
                    load_c3d(path, **options)
                    break
                except FileFormatError as error:  # its remedy works
                    groups = re.search(r"pass quantities=\[(.*)\]", str(error))
                    remedy = {"quantities": re.findall(r"'(\w+)'", groups[1])} if groups else {"unit": "mm"}
                    if options.keys() >= remedy.keys():
                        raise
                    options |= remedy
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-3, err_msg=str(path))
            compared += 1
    assert compared > 20
