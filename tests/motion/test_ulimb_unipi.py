"""U-Limb of Pisa: files made in its form give back the motion they were made from."""

import numpy as np
import pytest
from motion.body import CHEST, HAND, moving_body, pose_error
from scipy.io import savemat

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError, UnknownNameError
from thunder_py.recordings.loaders import load_ulimb_unipi
from thunder_py.recordings.loaders.rigid_groups import group_template, rigid_poses
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


def test_occlusions_become_gaps_only_where_fewer_than_three_markers_are_left(tmp_path):
    body = moving_body(seed=3)
    hidden = {(k, 4) for k in range(10, 20)} | {(k, 7) for k in range(15, 20)} | {(30, i) for i in CHEST_IDS + HAND_IDS}
    write(tmp_path / "S2_1_1.mat", body, hidden)
    trial = load_ulimb_unipi(tmp_path, ids={"hand": HAND_IDS, "chest": CHEST_IDS})[0]
    missing = np.flatnonzero(~trial.valid)
    np.testing.assert_array_equal(missing, [15, 16, 17, 18, 19, 30])
    assert max(pose_error(trial, body)) < 1e-9  # with one marker hidden the centroid stays where it was


def test_a_marker_out_of_place_is_a_gap(tmp_path):
    body = moving_body(seed=4)
    body.hand_markers[12, 2] += 0.2
    write(tmp_path / "S2_1_1.mat", body)
    trial = load_ulimb_unipi(tmp_path, ids={"S2": {"hand": HAND_IDS, "chest": CHEST_IDS}})[0]
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [12])
    assert max(pose_error(trial, body)) < 1e-9


def test_a_trial_without_the_chest_is_one_gap(subject):
    folder, bodies = subject
    write(folder / "S2" / "S2_2_2.mat", bodies["S2_2_2"], {(k, i) for k in range(60) for i in CHEST_IDS})
    motions = load_ulimb_unipi(folder)
    assert [trial.valid.any() for trial in motions] == [True, False, True, True]
    assert max(pose_error(motions[0], bodies["S2_2_1"])) < 1e-9


def test_markers_are_keyed_by_id(tmp_path):
    body = moving_body(seed=5)
    write(tmp_path / "S12_30_3.mat", body, {(3, 7)}, columns=4)
    recording = read_unipi(tmp_path / "S12_30_3.mat")
    assert recording.markers == (4, 5, 6, 7, 20, 21, 22, 23)
    assert (recording.subject, recording.task) == ("S12", "30")
    assert recording.positions.shape == (60, 8, 3)
    np.testing.assert_allclose(recording[22], body.chest_markers[:, 2], atol=1e-12)
    np.testing.assert_array_equal(np.flatnonzero(recording[7].mask.all(axis=1)), [3])
    assert recording.positions.mask.sum() == 3
    assert_refused((lambda: recording[99], "...99..."), error=UnknownNameError)


def test_markers_at_zero_were_not_seen(tmp_path):
    body = moving_body(seed=6)
    body.hand_markers[8, 1] = 0.0
    body.hand_markers[9, 1, 2] = np.nan
    write(tmp_path / "S2_1_1.mat", body)
    np.testing.assert_array_equal(np.flatnonzero(read_unipi(tmp_path / "S2_1_1.mat")[7].mask.any(axis=1)), [8, 9])


def test_definitions_of_ids(tmp_path):
    (tmp_path / "ID_Definition_S2.m").write_text(DEFINITION)
    want = {
        "arm": [8, 9, 10, 11, 12, 13],
        "forearm": [14, 15, 16, 17, 18, 19],
        "hand": [4, 7, 5, 6],
        "chest": [20, 21, 22, 23],
    }
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
        (
            lambda: load_ulimb_unipi(tmp_path, ids={"hand": (4, 5, 6, 90), "chest": CHEST_IDS}),
            "...limb must have a frame with all of its 4...",
        ),
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


def test_files_that_are_none(tmp_path):
    file = tmp_path / "S2_1_1.mat"
    file.write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    assert_refused((lambda: read_unipi(file), "...not a MATLAB file of version 4 to 7..."), error=FileFormatError)
    savemat(file, {"data": np.eye(3)})
    assert_refused((lambda: read_unipi(file), "...cell array..."), error=FileFormatError)
    empty = np.empty((2, 1), dtype=object)
    empty[:] = [[np.empty((0, 0))], [np.empty((0, 0))]]
    savemat(file, {"data": empty})
    assert_refused(
        (lambda: read_unipi(file), "...found none in any frame..."),
        (lambda: read_unipi(tmp_path / "other.mat"), "...S<subject>..."),
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


def test_three_markers_in_line_have_no_orientation():
    line = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.05, 0.1, 0.0], [0.2, 0.0, 0.0]])
    body = moving_body(n=3, seed=1, hand=line)
    shape = group_template(body.hand_markers)
    body.hand_markers[1, 2] = np.nan
    p, R = rigid_poses(body.hand_markers, shape)
    np.testing.assert_array_equal(np.isnan(p).all(axis=1), [False, True, False])
    np.testing.assert_array_equal(np.isnan(R).all(axis=(1, 2)), [False, True, False])
