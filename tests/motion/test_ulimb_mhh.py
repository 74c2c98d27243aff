"""U-Limb of Hannover: tables made in its form."""

import numpy as np
import pytest
from motion.body import moving_body, placed, pose_error

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.recordings.loaders import load_ulimb_mhh
from thunder_py.recordings.loaders.ulimb_mhh import MARKERS, read_mhh

pytestmark = pytest.mark.filterwarnings("ignore::thunder_py.recordings.RecordingWarning")  # numbers without meaning

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


def test_empty_cells_are_gaps_where_too_few_are_left(tmp_path):
    body = moving_body(seed=2)
    hidden = {(5, "CS_1"), (6, "CS_1"), (6, "CS_2"), (7, "WRA"), (7, "H_3")}
    save(tmp_path, "a.txt", table(body, hidden=hidden))
    trial = load_ulimb_mhh(tmp_path, rate=100.0, unit="mm", subject="s", task="t")[0]
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [6])
    assert (trial.subject, trial.task, trial.name) == ("s", "t", "a")
    assert max(pose_error(trial, body)) < 1e-7
    recording = read_mhh(tmp_path / "a.txt", rate=100.0, unit="mm")
    assert recording.markers == MARKERS
    assert recording.positions.mask.sum() == 3 * len(hidden)
    assert recording["H_3"].mask[7].all()


def test_columns_are_found_by_their_names(tmp_path):
    body = moving_body(seed=3)
    order = MARKERS[::-1]
    by_name = save(tmp_path, "names.csv", table(body, mark=",", order=order))
    vicon = ",".join(f"arm:{name},," for name in order)
    by_subject = save(tmp_path, "vicon.csv", table(body, mark=",", order=order, header=vicon))
    by_place = save(tmp_path, "places.csv", table(body, mark=",", header="trial 1"))
    for path in (by_name, by_subject, by_place):
        got = read_mhh(path, rate=100.0, unit="mm")
        np.testing.assert_allclose(got["CS_3"], body.chest_markers[:, 2], atol=1e-12)


def test_other_groups(tmp_path):
    body = moving_body(seed=4)
    path = save(tmp_path, "a.csv", table(body))
    swapped = load_ulimb_mhh(path, rate=100.0, unit="mm", limb=("CS_1", "CS_2", "CS_3"), chest=MARKERS[:3])[0]
    own = load_ulimb_mhh(path, rate=100.0, unit="mm", limb=MARKERS[:3], chest=("CS_1", "CS_2", "CS_3"))[0]
    product = own.rotations * swapped.rotations
    assert product.magnitude().max() < 1e-7
    np.testing.assert_allclose(own.rotations.apply(np.array(swapped.position)) + own.position, 0.0, atol=1e-9)


def test_what_is_wrong_is_said(tmp_path):
    assert_refused((lambda: load_ulimb_mhh(tmp_path, rate=100.0, unit="mm"), "...found none..."), error=FileFormatError)
    text = table(moving_body(), mark=",")
    path = save(tmp_path, "a.csv", text)
    assert_refused(
        (lambda: load_ulimb_mhh(path, rate=100.0, unit="m"), "...unit must be m, got an extent ...", FileFormatError),
        (lambda: load_ulimb_mhh(path, rate=100.0, unit="inch"), "...unit..."),
        (lambda: load_ulimb_mhh(path, rate=0.0, unit="mm"), "...rate..."),
        (lambda: load_ulimb_mhh(path, rate=100.0, unit="mm", limb=("WRA", "WRB", "thumb")), "...got 'thumb'..."),
        (
            lambda: load_ulimb_mhh(path, rate=100.0, unit="mm", limb=("WRA", "WRB")),
            "...three markers...",
            FileFormatError,
        ),
    )
    lines = text.splitlines()
    lines[5] = lines[5] + ",1.0"
    path.write_text("\n".join(lines))
    assert_refused((lambda: read_mhh(path, rate=100.0, unit="mm"), "...a.csv:6: expected ..."), error=FileFormatError)
    lines[5] = "x" + lines[4]
    path.write_text("\n".join(lines))
    assert_refused((lambda: read_mhh(path, rate=100.0, unit="mm"), "...a.csv:6: column 1: ..."), error=FileFormatError)
    path.write_text("\n".join(lines[:3]))
    assert_refused((lambda: read_mhh(path, rate=100.0, unit="mm"), "...two rows of data..."), error=FileFormatError)
