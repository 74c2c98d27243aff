"""U-Limb of Zurich: .mvnx files made in its form, and what a file must not do."""

import numpy as np
import pytest
from motion.body import moving_body, pose_error
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings.loaders import load_ulimb_uzh

SIDES = ("Right", "Left")
pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

SEGMENTS = (
    *("Pelvis", "L5", "L3", "T12", "T8", "Neck", "Head"),
    *(side + part for side in SIDES for part in ("Shoulder", "UpperArm", "ForeArm", "Hand")),
)
JOINTS = (
    *("jL5S1", "jL4L3", "jL1T12", "jT9T8", "jT1C7", "jC1Head"),
    *(f"j{side}{part}" for side in SIDES for part in ("T4Shoulder", "Shoulder", "Elbow", "Wrist")),
)


def numbers(values):
    return " ".join(f"{v:.12f}" for v in np.ravel(values))


def mvnx(body, angles=None, *, rate=60, side="Right", trunk="T8", missing=(), head="", stamp=None, segments=SEGMENTS):
    """Return the text of a file in which `side` hand and the chest move as the body's."""
    n = len(body.p)
    rng = np.random.default_rng(1)
    p = rng.normal(size=(n, len(segments), 3))
    q = np.tile([1.0, 0.0, 0.0, 0.0], (n, len(segments), 1))
    for name, (place, R) in ((trunk, body.chest), (f"{side}Hand", body.hand)):
        if name in segments:
            p[:, segments.index(name)] = place
            q[:, segments.index(name)] = np.roll(R.as_quat(), 1, axis=1)
    angles = np.zeros((n, len(JOINTS), 3)) if angles is None else angles
    labels = [
        "".join(f'<{tag} label="{name}" id="{k + 1}"/>' for k, name in enumerate(names))
        for tag, names in (("segment", segments), ("joint", JOINTS))
    ]
    still = "<orientation>1 0 0 0</orientation><position>0 0 0</position>"
    frames = [f'<frame time="0" index="" type="{kind}">{still}</frame>' for kind in ("identity", "tpose", "tpose-isb")]
    for k in range(n):
        if k in missing:
            continue
        time = round(1000 * k / 60) if stamp is None else stamp(k)
        frames.append(
            f'<frame time="{time}" index="{k}" type="normal">'
            f"<orientation>{numbers(q[k])}</orientation><position>{numbers(p[k])}</position>"
            f"<velocity>0 0 0</velocity><jointAngle>0</jointAngle>"
            f"<jointAngleXZY>{numbers(angles[k])}</jointAngleXZY></frame>"
        )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{head}\n<mvnx version="4" xmlns="http://www.xsens.com/mvn/mvnx">\n'
        f'<subject label="P01" frameRate="{rate}" segmentCount="{len(segments)}">\n<segments>{labels[0]}</segments>\n'
        f"<joints>{labels[1]}</joints>\n<frames>\n" + "\n".join(frames) + "\n</frames></subject></mvnx>\n"
    )


def save(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_hand_seen_from_the_chest(tmp_path):
    right, left = moving_body(seed=1), moving_body(seed=2)
    save(tmp_path / "Healthies", "P01_T03_R1.mvnx", mvnx(right))
    save(tmp_path / "Strokes" / "P01", "P01_T30_L2.mvnx", mvnx(left, side="Left"))
    motions = load_ulimb_uzh(tmp_path)
    assert motions.subjects == ("Healthies/P01", "Strokes/P01")
    assert motions.tasks == ("T03", "T30")
    for trial, body in zip(motions, (right, left), strict=True):
        assert (trial.rate, trial.frame, len(trial)) == (60.0, "chest", 60)
        assert max(pose_error(trial, body)) < 1e-9
    assert [trial.name for trial in load_ulimb_uzh(tmp_path, task="T30")] == ["P01_T30_L2"]
    assert max(pose_error(load_ulimb_uzh(tmp_path, task="T03", side="R")[0], right)) < 1e-9


@pytest.mark.parametrize("attributes", ['index="" type="normal"', 'index="0" type="tpose"', 'type="normal"'])
def test_frames_of_the_calibration_are_skipped(tmp_path, attributes):
    body = moving_body(seed=6)
    still = f'<frame time="0" {attributes}><orientation>1 0 0 0</orientation><position>0 0 0</position></frame>'
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(body).replace("<frames>", f"<frames>{still}"))
    trial = load_ulimb_uzh(tmp_path)[0]
    assert len(trial) == 60
    assert max(pose_error(trial, body)) < 1e-9


def test_missing_frames_are_gaps(tmp_path):
    body = moving_body(seed=3)
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(body, missing=(20, 21)))
    trial = load_ulimb_uzh(tmp_path)[0]
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [20, 21])
    assert len(trial) == 60
    assert trial.subject == "P05"
    assert max(pose_error(trial, body)) < 1e-9


def test_angles_of_the_arm(tmp_path):
    rng = np.random.default_rng(0)
    angles = rng.uniform(-80.0, 80.0, (60, len(JOINTS), 3))
    turning = np.linspace(150.0, 210.0, 60)  # printed between -180 and 180
    angles[:, JOINTS.index("jRightElbow"), 1] = (turning + 180.0) % 360.0 - 180.0
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body(), angles))
    trial = load_ulimb_uzh(tmp_path, "joints")[0]
    assert trial.dofs == (
        "shoulder_abduction",
        "shoulder_rotation",
        "shoulder_flexion",
        "elbow_pronation",
        "elbow_flexion",
        "wrist_deviation",
        "wrist_flexion",
    )
    assert trial.units == ("rad",) * 7
    shoulder, wrist = JOINTS.index("jRightShoulder"), JOINTS.index("jRightWrist")
    np.testing.assert_allclose(trial.x[:, :3], np.radians(angles[:, shoulder]), atol=1e-12)
    np.testing.assert_allclose(trial.x[:, 5:], np.radians(angles[:, wrist][:, [0, 2]]), atol=1e-12)
    np.testing.assert_allclose(trial.x[:, 3], np.radians(turning), atol=1e-9)
    left = load_ulimb_uzh(tmp_path, "joints", side="L")[0]
    np.testing.assert_allclose(left.x[:, 0], np.radians(angles[:, JOINTS.index("jLeftShoulder"), 0]), atol=1e-12)


def test_chest_is_the_uppermost_segment_of_the_trunk(tmp_path):
    body = moving_body(seed=4)
    segments = tuple(name for name in SEGMENTS if name != "T8")
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(body, trunk="T12", segments=segments))
    assert max(pose_error(load_ulimb_uzh(tmp_path)[0], body)) < 1e-9


def test_sign_of_a_quaternion_does_not_matter(tmp_path):
    body = moving_body(seed=5)
    flipped = body.hand[1].as_quat() * np.where(np.arange(60) % 2, 1.0, -1.0)[:, None]
    body.hand = (body.hand[0], Rotation.from_quat(flipped, scalar_first=False))
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(body))
    trial = load_ulimb_uzh(tmp_path)[0]
    assert np.abs(np.diff(trial.x[:, 3:], axis=0)).max() < 0.2


def test_what_does_not_fit_is_said(tmp_path):
    def given(**change):
        save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body(), **change))
        return load_ulimb_uzh(tmp_path)

    assert_refused(
        (lambda: given(rate=120), "...expected 60 Hz, got 120..."),
        (lambda: given(rate="fast"), "...frameRate...expected a number..."),
        (lambda: given(stamp=lambda k: 10 * k), "...frame 1 must be stamped 0.01667 s after the first, got 0.01 s..."),
        (lambda: given(segments=("T8", "LeftHand")), "...segments RightHand..."),
        (lambda: given(segments=()), "...for each of 0 labels..."),
        (lambda: given(missing=range(59)), "...two frames..."),
        error=FileFormatError,
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</frames>", "", "not well-formed"),
        ('index="7"', 'index="5"', "increasing numbers of frames, got 5 after 6"),
        ('index="7"', 'index="seven"', "expected a number, got 'seven'"),
        ("<position>", "<position>1 ", "<position>: expected 3 finite numbers for each of 15"),
        ("<orientation>", "<orientation>nan ", "<orientation>"),
        ("position>", "place>", "expected one <position> in frame 0"),
        ('label="T8"', 'name="T8"', "expected a label"),
        ("<orientation>", "<orientation>0.5 </orientation><orientation>", "<orientation>"),
    ],
)
def test_damaged_files(tmp_path, old, new, message):
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body()).replace(old, new))
    with pytest.raises(FileFormatError, match=message):
        load_ulimb_uzh(tmp_path)


def test_document_types_are_refused_before_they_act(tmp_path):
    bomb = '<!DOCTYPE mvnx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"> <!ENTITY f SYSTEM "file:///etc/hostname">]>'
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body(), head=bomb))
    assert_refused((lambda: load_ulimb_uzh(tmp_path), "...R1.mvnx:1: document type ..."), error=FileFormatError)


def test_questions_that_make_no_sense(tmp_path):
    assert_refused(
        (lambda: load_ulimb_uzh(tmp_path, "foot"), "...quantity..."),
        (lambda: load_ulimb_uzh(tmp_path, side="right"), "...side..."),
        (lambda: load_ulimb_uzh(tmp_path), "...found none...", FileFormatError),
    )
