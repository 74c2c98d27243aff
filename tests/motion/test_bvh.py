"""BVH: positions and orientations against a chain of homogeneous matrices written out here, and bad files."""

from __future__ import annotations

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.recordings.loaders import load_bvh

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

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


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


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


def test_chosen_joints_and_units(tmp_path, values):
    path = write(tmp_path / "walk.bvh", HIERARCHY + motion(values))
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


def test_a_spin_of_several_turns_stays_on_its_branch(tmp_path):
    values = np.zeros((200, WIDTH))
    values[:, 4] = np.linspace(0.0, 1000.0, 200)  # about y
    (hips,) = load_bvh(write(tmp_path / "a.bvh", HIERARCHY + motion(values)), unit="m", joints=["Hips"])
    np.testing.assert_allclose(hips.rotation_vectors[:, 1], np.radians(values[:, 4]), atol=1e-9)


def test_position_channels_beside_an_offset(tmp_path, values):
    text = HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 1 2 3") + motion(values)
    path = write(tmp_path / "a.bvh", text)
    assert_refused((lambda: load_bvh(path, unit="m"), "...a.bvh:2: positions must ..."), error=errors.FileFormatError)
    (added,) = load_bvh(path, unit="m", joints=["Hips"], positions="add")
    np.testing.assert_allclose(added.position, values[:, :3] + [1.0, 2.0, 3.0], rtol=1e-13)
    (replaced,) = load_bvh(path, unit="m", joints=["Hips"], positions="replace")
    np.testing.assert_array_equal(replaced.position, values[:, :3])


@pytest.mark.parametrize(
    ("step", "rate", "expected"),
    [("0.008333", None, 120.0), ("0.0083333", 120, 120.0), ("0.0333333", None, 30.0), ("0.0134", None, 1 / 0.0134)],
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


BAD = [
    ("HIERARCHY", "TREE", r"\.bvh:1: expected HIERARCHY, got 'TREE'$"),
    ("ROOT Hips", "JOINT Hips", r"\.bvh:2: expected ROOT or MOTION, got 'JOINT'$"),
    ("JOINT Shoulder", "ROOT Shoulder", r"\.bvh:6: expected JOINT, End Site or }, got 'ROOT'$"),
    ("JOINT Head", "JOINT Hand", r"\.bvh:20: names of joints must be distinct, got 'Hand' twice$"),
    ("OFFSET 10.0 40.0 -3.0", "OFFSET 10.0 40.0", r"\.bvh:9: OFFSET z: expected a number, got 'CHANNELS'$"),
    (
        "CHANNELS 1 Xrotation",
        "CHANNELS 1 Wrotation",
        r"\.bvh:13: channels must be distinct .*, got 'Wrotation'$",
    ),
    ("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation Xrotation", r"\.bvh:13: channels must .*, got 'Xrotation'$"),
    ("CHANNELS 1 X", "CHANNELS 7 X", r"\.bvh:13: number of channels must be 0 to 6, got 7$"),
    ("CHANNELS 1 X", "CHANNELS 1.5 X", r"\.bvh:13: number of channels must be 0 to 6, got 1.5$"),
    ("End Site\n", "End Sight\n", r"\.bvh:14: expected Site after End, got 'Sight'$"),
    ("Frames: 12", "Frames: 13", r"\.bvh:28: expected 13 frames \(two or more\) as in Frames, got 12$"),
    ("Frame Time: 0.01", "Frame Time: 0", r"\.bvh:28: Frame Time must be positive \[s\], got 0$"),
    ("Frame Time: 0.01", "Frame Time: fast", r"\.bvh:28: Frame Time: expected a number, got 'fast'$"),
    (
        "Frame Time: 0.01",
        "Frame Time: 0.01\n1 2 3",
        r"\.bvh:28: expected 12 frames \(two or more\) as in Frames, got 13$",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_files_that_are_wrong(tmp_path, values, old, new, message):
    text = HIERARCHY + motion(values)
    assert text.count(old) == 1
    with pytest.raises(errors.FileFormatError, match=message):
        load_bvh(write(tmp_path / "bad.bvh", text.replace(old, new)), unit="m")


def test_numbers_that_are_wrong(tmp_path, values):
    lines = (HIERARCHY + motion(values)).splitlines()
    short, strange = [*lines], [*lines]
    short[30] = "1 2 3"
    strange[30] = strange[30].replace(strange[30].split()[4], "nan")
    assert_refused(
        (lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(short)), unit="m"), "....bvh:31: expected 13 ..."),
        (lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(strange)), unit="m"), "....bvh:31: column 5: ..."),
        (
            lambda: load_bvh(write(tmp_path / "bad.bvh", "\n".join(lines[:4]) + "\n "), unit="m"),
            "....bvh:4: expected CHANNELS, got the end of the file",
        ),
        error=errors.FileFormatError,
    )


def test_what_must_be_said(tmp_path, values):
    path = write(tmp_path / "a.bvh", HIERARCHY + motion(values))
    assert_refused(
        (lambda: load_bvh(path), "...unit...", TypeError),
        (lambda: load_bvh(path, unit="inch"), "unit must be one of m, cm, mm, got 'inch'"),
        (lambda: load_bvh(path, unit="m", positions="both"), "positions must be 'add' or 'replace', got 'both'"),
        (lambda: load_bvh(path, unit="m", joints=["Hip"]), "...no joint 'Hip' among Hips, ...", errors.FileFormatError),
        (lambda: load_bvh(path, unit="m", rate=90), "...Frame Time: rate must be 100 Hz ...", errors.FileFormatError),
    )
