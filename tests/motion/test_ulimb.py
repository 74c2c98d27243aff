"""U-Limb of Pisa: files made in its form give back the motion they were made from."""

import numpy as np
import pytest
from motion.body import CHEST, HAND, moving_body, placed, pose_error
from scipy.io import savemat

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings import RecordingWarning
from thunder_py.recordings.loaders import load_ulimb_mhh, load_ulimb_unipi, load_ulimb_uzh
from thunder_py.recordings.loaders.rigid_groups import group_template, rigid_poses
from thunder_py.recordings.loaders.ulimb_mhh import MARKERS, read_mhh
from thunder_py.recordings.loaders.ulimb_unipi import read_ids, read_unipi

CHEST_IDS, HAND_IDS = (20, 21, 22, 23), (4, 7, 5, 6)
pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

DEFINITION = """% markers of subject 2
ArmIDS = [8 9 10 11 12 13];
ForearmIDS = [14:19]; % a range
HandIDS = [4, 7, 5, 6];
%HandIDS = [1 2 3];
ReferenceIDS = [20 21 22 23];
l1 = 290; l2 = 230;
"""


def write(path, body, hidden=(), columns=6, order_seed=0):
    """Write a trial in mm; `hidden` are (frame, id). Rows of a frame are shuffled, as trackers do."""
    rng = np.random.default_rng(order_seed)
    points = np.concatenate([body.chest_markers, body.hand_markers], axis=1)
    ids = np.array(CHEST_IDS + HAND_IDS)
    cells = np.empty((len(points), 1), dtype=object)
    for k, frame in enumerate(points):
        rows = [[i, *(1e3 * p), 7.0, 7.0][:columns] for i, p in zip(ids, frame, strict=True) if (k, i) not in hidden]
        cells[k, 0] = rng.permutation(np.array(rows).reshape(-1, columns))
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"data": cells})


@pytest.fixture
def subject(tmp_path):
    (tmp_path / "ID_Definition_S2.m").write_text(DEFINITION)
    bodies = {f"S2_{task}_{rep}": moving_body(seed=10 * task + rep) for task in (2, 11) for rep in (1, 2)}
    for name, body in bodies.items():
        write(tmp_path / "S2" / f"{name}.mat", body)
    return tmp_path, bodies


def test_hand_seen_from_the_chest(subject):
    folder, bodies = subject
    motions = load_ulimb_unipi(folder)
    assert [trial.name for trial in motions] == ["S2_2_1", "S2_2_2", "S2_11_1", "S2_11_2"]
    assert motions.tasks == ("2", "11")
    assert motions.subjects == ("S2",)
    for trial in motions:
        assert (trial.rate, trial.frame, trial.dofs) == (100.0, "chest", ("x", "y", "z", "rx", "ry", "rz"))
        assert trial.duration == pytest.approx(0.59)
        assert trial.valid.all()
        assert max(pose_error(trial, bodies[trial.name])) < 1e-9
    assert len(load_ulimb_unipi(folder / "S2", task="11")) == 2  # the definition is one folder up


def test_gaps_are_where_fewer_than_three_markers_are_left(tmp_path):
    body = moving_body(seed=3)
    body.hand_markers[45, 2] += 0.2  # out of place
    hidden = {(k, 4) for k in range(10, 20)} | {(k, 7) for k in range(15, 20)} | {(30, i) for i in CHEST_IDS + HAND_IDS}
    write(tmp_path / "S2_1_1.mat", body, hidden)
    for ids in ({"hand": HAND_IDS, "chest": CHEST_IDS}, {"S2": {"hand": HAND_IDS, "chest": CHEST_IDS}}):
        trial = load_ulimb_unipi(tmp_path, ids=ids)[0]
        np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [15, 16, 17, 18, 19, 30, 45])
        assert max(pose_error(trial, body)) < 1e-9  # with one marker hidden the centroid stays where it was


def test_markers_are_keyed_by_id(tmp_path):
    body = moving_body(seed=5)
    write(tmp_path / "S12_30_3.mat", body, {(3, 7)}, columns=4)
    markers = {trial.name: trial for trial in read_unipi(tmp_path / "S12_30_3.mat")}
    assert list(markers) == ["4", "5", "6", "7", "20", "21", "22", "23"]
    assert {(trial.subject, trial.task, len(trial)) for trial in markers.values()} == {("S12", "30", 60)}
    np.testing.assert_allclose(markers["22"].position, body.chest_markers[:, 2], atol=1e-12)
    assert {name: np.flatnonzero(~trial.valid).tolist() for name, trial in markers.items() if trial.gaps} == {"7": [3]}


def test_definitions_of_ids(tmp_path):
    (tmp_path / "ID_Definition_S2.m").write_text(DEFINITION)
    want = {"arm": [*range(8, 14)], "forearm": [*range(14, 20)], "hand": [4, 7, 5, 6], "chest": [20, 21, 22, 23]}
    assert read_ids(tmp_path / "ID_Definition_S2.m") == want
    savemat(tmp_path / "ID_Definition_S3.mat", {"HandIDS": np.array([[4, 7, 5, 6]]), "ChestIDS": np.arange(20, 24)})
    assert read_ids(tmp_path / "ID_Definition_S3.mat") == {"hand": want["hand"], "chest": want["chest"]}


def test_what_is_wrong_is_said(tmp_path):
    ids = {"hand": HAND_IDS, "chest": CHEST_IDS}
    assert_refused((lambda: load_ulimb_unipi(tmp_path), "...found none..."), error=FileFormatError)
    file = tmp_path / "S2_1_1.mat"
    write(file, moving_body())
    assert_refused(
        (lambda: load_ulimb_unipi(tmp_path), "...ID_Definition_S2.m..."),
        (lambda: load_ulimb_unipi(tmp_path, ids={"hand": HAND_IDS}), "...ids of the chest..."),
        (lambda: load_ulimb_unipi(tmp_path, ids=ids | {"hand": (4, 5, 6, 90)}), "...a frame with all of its 4..."),
        (lambda: load_ulimb_unipi(tmp_path, ids={"hand": (4, 7, 7), "chest": CHEST_IDS}), "...in line..."),
        error=FileFormatError,
    )
    body = moving_body(chest=1e-3 * CHEST, hand=1e-3 * HAND)  # somebody wrote meters
    write(file, body)
    assert_refused((lambda: load_ulimb_unipi(tmp_path, ids=ids), "...unit must be mm, got ..."), error=FileFormatError)


def test_damaged_frames(tmp_path):
    cells = np.empty((2, 1), dtype=object)

    def given(cell):
        cells[0, 0], cells[1, 0] = np.array([[1.0, 5.0, 6.0, 7.0]]), cell
        savemat(tmp_path / "S2_1_1.mat", {"data": cells})
        return read_unipi(tmp_path / "S2_1_1.mat")

    assert_refused(
        (lambda: given(np.ones((2, 3))), "...marker_id x y z...frame 2..."),
        (lambda: given(np.array([[1.0, 0, 0, 1], [1.0, 0, 0, 2]])), "...distinct whole ids..."),
        (lambda: given(np.array([[1.5, 0, 0, 1]])), "...distinct whole ids..."),
        (lambda: given(np.array(["a"])), "...marker_id x y z..."),
        error=FileFormatError,
    )


def test_rigid_fit_is_least_squares():
    rng = np.random.default_rng(8)
    body = moving_body(n=20, seed=8)
    noisy = body.hand_markers + 2e-3 * rng.normal(size=body.hand_markers.shape)
    shape = group_template(body.hand_markers)
    p, R = rigid_poses(noisy, shape)
    assert np.abs(np.linalg.det(R) - 1.0).max() < 1e-12

    def cost(p, R):
        return np.sum((noisy - p[:, None] - np.einsum("tij,kj->tki", R, shape)) ** 2, axis=(1, 2))

    best = cost(p, R)
    for _ in range(200):  # every other pose nearby is worse
        turn = np.linalg.qr(np.eye(3) + 1e-3 * rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.diag(turn))
        assert (cost(p + 1e-4 * rng.normal(size=3), R @ turn) >= best).all()


def test_flat_groups_are_not_mirrored():
    flat = CHEST * [1.0, 1.0, 0.0]
    body = moving_body(seed=9, chest=flat)
    p, R = rigid_poses(body.chest_markers, group_template(body.chest_markers))
    np.testing.assert_allclose(R, body.chest[1].as_matrix(), atol=1e-9)
    np.testing.assert_allclose(p, body.chest[0], atol=1e-9)


# --- U-Limb of Hannover: tables made in its form ---
FOREARM = np.array(
    [[0.0, 0.0, 0.0], [0.05, 0.0, 0.0], [0.0, 0.06, 0.0], [0.05, 0.08, 0.01], [0.02, 0.12, 0.02], [0.0, 0.15, 0.01]]
)


def table(body, *, mark="\t", header=None, factor=1e3, order=MARKERS, hidden=()):
    """Return the text of a trial; `hidden` are (row, marker) with empty cells."""
    points = np.random.default_rng(0).normal(size=(len(body.p), 21, 3))
    points[:, :6] = placed(*body.hand, FOREARM)
    points[:, 17:] = body.chest_markers
    cells = []
    for k, row in enumerate(points):
        line = []
        for name in order:
            place = row[MARKERS.index(name)]
            line += [""] * 3 if (k, name) in hidden else [f"{factor * v:.10f}" for v in place]
        cells.append(mark.join(line))
    names = header or mark.join(f"{name}{mark}{mark}" for name in order)
    return "\n".join([names, mark.join("XYZ" * 21), *cells]) + "\n"


def save(folder, name, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(("mark", "factor", "unit"), [("\t", 1e3, "mm"), (";", 1.0, "m"), (",", 1e2, "cm")])
def test_wrist_seen_from_the_chest(tmp_path, mark, factor, unit):
    body = moving_body(seed=1)
    save(tmp_path / "M04", "T12.csv", table(body, mark=mark, factor=factor))
    trial = load_ulimb_mhh(tmp_path, rate=200.0, unit=unit)[0]
    assert (trial.rate, trial.frame, trial.subject, trial.task) == (200.0, "chest", "M04", "T12")
    assert trial.duration == pytest.approx(59 / 200.0)
    assert max(pose_error(trial, body)) < 1e-7


def test_columns_are_found_by_their_names(tmp_path):
    body = moving_body(seed=3)
    order = MARKERS[::-1]
    by_name = save(tmp_path, "names.csv", table(body, mark=",", order=order))
    vicon = ",".join(f"arm:{name},," for name in order)
    by_subject = save(tmp_path, "vicon.csv", table(body, mark=",", order=order, header=vicon))
    by_place = save(tmp_path, "places.csv", table(body, mark=",", header="trial 1"))
    for path in (by_name, by_subject, by_place):
        got = {trial.name: trial.position for trial in read_mhh(path, rate=100.0, unit="mm")}
        np.testing.assert_allclose(got["CS_3"], body.chest_markers[:, 2], atol=1e-12)


def test_what_is_wrong_is_said_mhh(tmp_path):
    lines = table(moving_body(), mark=",").splitlines()

    def given(lines, unit="mm", rate=100.0, load=load_ulimb_mhh, **options):
        return load(save(tmp_path, "a.csv", "\n".join(lines)), rate=rate, unit=unit, **options)

    assert_refused(
        (lambda: load_ulimb_mhh(tmp_path, rate=100.0, unit="mm"), "...found none...", FileFormatError),
        (lambda: given(lines, "m"), "...unit must be m, got an extent ...", FileFormatError),
        (lambda: given(lines, "inch"), "...unit..."),
        (lambda: given(lines, rate=0.0), "...rate..."),
        (lambda: given(lines, limb=("WRA", "WRB", "thumb")), "...got 'thumb'..."),
        (lambda: given(lines, limb=("WRA", "WRB")), "...three markers..."),
        (lambda: given([*lines[:5], lines[5] + ",1.0"], load=read_mhh), "...a.csv:6: expected ...", FileFormatError),
        (lambda: given([*lines[:5], "x" + lines[4]], load=read_mhh), "...a.csv:6: column 1: ...", FileFormatError),
        (lambda: given(lines[:3], load=read_mhh), "...two rows of data...", FileFormatError),
    )


# --- U-Limb of Zurich: .mvnx files made in its form, and what a file must not do ---
SIDES = ("Right", "Left")

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


def test_hand_seen_from_the_chest_uzh(tmp_path):
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


def test_calibration_missing_frames_and_another_chest(tmp_path):
    body = moving_body(seed=3)
    segments = tuple(name for name in SEGMENTS if name != "T8")
    text = mvnx(body, missing=(20, 21), trunk="T12", segments=segments)
    for attributes in ('index="" type="normal"', 'index="0" type="tpose"', 'type="normal"'):
        still = f'<frame time="0" {attributes}><orientation>1 0 0 0</orientation><position>0 0 0</position></frame>'
        save(tmp_path, "P05_T01_R1.mvnx", text.replace("<frames>", f"<frames>{still}"))
        trial = load_ulimb_uzh(tmp_path)[0]
        np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [20, 21])
        assert (len(trial), trial.subject) == (60, "P05")
        assert max(pose_error(trial, body)) < 1e-9


def test_angles_of_the_arm(tmp_path):
    rng = np.random.default_rng(0)
    angles = rng.uniform(-80.0, 80.0, (60, len(JOINTS), 3))
    turning = np.linspace(150.0, 210.0, 60)  # printed between -180 and 180
    angles[:, JOINTS.index("jRightElbow"), 1] = (turning + 180.0) % 360.0 - 180.0
    save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body(), angles))
    trial = load_ulimb_uzh(tmp_path, "joints")[0]
    parts = {"shoulder": ("abduction", "rotation", "flexion"), "elbow": ("pronation", "flexion")}
    parts["wrist"] = ("deviation", "flexion")
    assert trial.dofs == tuple(f"{joint}_{part}" for joint, names in parts.items() for part in names)
    assert trial.units == ("rad",) * 7
    shoulder, wrist = JOINTS.index("jRightShoulder"), JOINTS.index("jRightWrist")
    np.testing.assert_allclose(trial.x[:, :3], np.radians(angles[:, shoulder]), atol=1e-12)
    np.testing.assert_allclose(trial.x[:, 5:], np.radians(angles[:, wrist][:, [0, 2]]), atol=1e-12)
    np.testing.assert_allclose(trial.x[:, 3], np.radians(turning), atol=1e-9)
    left = load_ulimb_uzh(tmp_path, "joints", side="L")[0]
    np.testing.assert_allclose(left.x[:, 0], np.radians(angles[:, JOINTS.index("jLeftShoulder"), 0]), atol=1e-12)


def test_what_does_not_fit_is_said(tmp_path):
    bomb = '<!DOCTYPE mvnx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"> <!ENTITY f SYSTEM "file:///etc/hostname">]>'

    def given(old="", new="", **change):
        save(tmp_path, "P05_T01_R1.mvnx", mvnx(moving_body(), **change).replace(old, new))
        return load_ulimb_uzh(tmp_path)

    assert_refused(
        (lambda: load_ulimb_uzh(tmp_path, "foot"), "...quantity...", ValueError),
        (lambda: load_ulimb_uzh(tmp_path, side="right"), "...side...", ValueError),
        (lambda: load_ulimb_uzh(tmp_path), "...found none..."),
        error=FileFormatError,
    )
    assert_refused(
        ({"rate": 120}, "...expected 60 Hz, got 120..."),
        (("<subject", "<person"), "...mismatched tag..."),
        ({"rate": "fast"}, "...'frameRate' must be a finite number, got 'fast'"),
        ({"stamp": lambda k: 10 * k}, "...frame 1 must be stamped 0.01667 s after the first, got 0.01 s..."),
        ({"segments": ("T8", "LeftHand")}, "...segments RightHand..."),
        ({"segments": ()}, "...for each of 0 labels..."),
        ({"missing": range(59)}, "...two frames..."),
        ({"head": bomb}, "...R1.mvnx:1: document type ..."),
        (("</frames>", ""), "...not well-formed..."),
        (('index="7"', 'index="5"'), "...'index' must be whole and increase, ... got 5 after 6"),
        (('index="7"', 'index="seven"'), "...'index' must be a finite number, got 'seven'"),
        (("<position>", "<position>1 "), "...<position>: expected 3 finite numbers for each of 15..."),
        (("<orientation>", "<orientation>nan "), "...<orientation>..."),
        (("position>", "place>"), "...needs a <position> element"),
        (('label="T8"', 'name="T8"'), "...needs the attribute 'label'"),
        (("<orientation>", "<orientation>0.5 </orientation><orientation>"), "...<orientation>..."),
        call=given,
        error=FileFormatError,
    )


def test_empty_cells_are_gaps_where_too_few_are_left(tmp_path):
    body = moving_body(seed=2)
    hidden = {(5, "CS_1"), (6, "CS_1"), (6, "CS_2"), (7, "WRA"), (7, "H_3")}
    save(tmp_path, "a.txt", table(body, hidden=hidden))
    trial = load_ulimb_mhh(tmp_path, rate=100.0, unit="mm", subject="s", task="t")[0]
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [6])
    assert (trial.subject, trial.task, trial.name) == ("s", "t", "a")
    assert max(pose_error(trial, body)) < 1e-7
    recording = read_mhh(tmp_path / "a.txt", rate=100.0, unit="mm")
    assert tuple(trial.name for trial in recording) == MARKERS
    assert {(k, trial.name) for trial in recording for k in np.flatnonzero(~trial.valid)} == hidden


def test_markers_at_zero_were_not_seen(tmp_path):
    body = moving_body(seed=6)
    body.hand_markers[8, 1] = 0.0
    body.hand_markers[9, 1, 2] = np.nan
    write(tmp_path / "S2_1_1.mat", body)
    with pytest.warns(RecordingWarning, match=r"'7' was lost and written as 0, 0, 0 in 1 of 60 frames \(9 to 9\)"):
        markers = {trial.name: trial for trial in read_unipi(tmp_path / "S2_1_1.mat")}
    np.testing.assert_array_equal(np.flatnonzero(~markers["7"].valid), [8, 9])


def test_three_markers_in_line_have_no_orientation():
    line = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.05, 0.1, 0.0], [0.2, 0.0, 0.0]])
    body = moving_body(n=3, seed=1, hand=line)
    shape = group_template(body.hand_markers)
    body.hand_markers[1, 2] = np.nan
    p, R = rigid_poses(body.hand_markers, shape)
    np.testing.assert_array_equal(np.isnan(p).all(axis=1), [False, True, False])
    np.testing.assert_array_equal(np.isnan(R).all(axis=(1, 2)), [False, True, False])
