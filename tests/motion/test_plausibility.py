"""Units, times and gaps that can hardly be right, spreadsheets, and folders with labels in the names of files."""

import re
import warnings

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.checks import numbers
from thunder_py.errors import FileFormatError, UnknownNameError
from thunder_py.motion import DMP, FPCA, ProMP
from thunder_py.recordings import RecordingWarning, Trial, check_plausible
from thunder_py.recordings.loaders import load_folder, load_table
from thunder_py.recordings.synthetic import minimum_jerk_reaches

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
        match=r"trial 'reach': positions over 320 m, up to 776 m from the origin, can hardly be right; pass unit='mm'",
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


def test_times_unlike_the_others():
    with pytest.warns(RecordingWarning, match=r"trial 'odd': time steps of 0.0003 s, but 0.01 s in the others"):
        check_plausible([*reaches(), Trial.from_positions(0.03 * TAU, REACH / 1000.0 + REACH[0], name="odd")])


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


def test_many_problems_are_one_warning():
    with pytest.warns(RecordingWarning, match=r"'a0'.*'a1'.*'a2'.*\(and 3 more\); pass unit") as caught:
        check_plausible([Trial.from_positions(TAU, 1e3 * REACH, name=f"a{k}") for k in range(6)])
    assert len(caught) == 1


def test_no_warning_for_what_is_right():
    rest = Trial.from_positions(TAU, 1e-4 * np.random.default_rng(0).standard_normal((101, 3)) + REACH[0])
    ends = REACH.copy()
    ends[:40] = ends[90:] = np.nan  # gaps at the ends are cut off
    sets = [*reaches(), rest, Trial.from_positions(TAU, ends)], [Trial.from_positions(40.0 * TAU, REACH)] * 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for trials in (*sets, minimum_jerk_reaches(20, seed=0), []):
            check_plausible(trials)


def test_small_large_slow_and_fast_movements_are_right():
    s = (REACH - REACH[0]) / np.ptp(REACH[:, 0])
    pen = Trial.from_positions(0.4 * TAU, 0.02 * s)  # a stroke from the origin
    finger = Trial.from_positions(8.0 * TAU, 0.02 * s + [0.2, 0.1, 0.0])
    walk = Trial.from_positions(6.0 * TAU, np.column_stack([9.0 * TAU, 0.02 * np.sin(40.0 * TAU), 1.0 + 0.0 * TAU]))
    throw = Trial.from_positions(2.0 * TAU, np.outer(2.0 * TAU**40, [1.0, 0.2, 0.3]))  # 40 m/s at its end
    arm = Trial(TAU, np.column_stack([3.0 * TAU - 3.0, 3.1 - 2.5 * TAU]), ("shoulder", "elbow"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for trial in (pen, finger, walk, throw, arm):
            check_plausible([trial])


@pytest.mark.parametrize(
    ("length", "time", "message"),
    [
        (1e-3, 1.0, r"positions within 0.000776 m of the origin can hardly be right; pass unit='m'"),
        (1e-2, 1.0, r"positions within 0.00776 m .* pass unit='m'"),
        (1e2, 1.0, r"positions over 32 m, .*pass unit='mm' or 'cm'"),
        (1.0, 100.0, r"time steps of 1 s can hardly be right; pass times in seconds, or time_unit='ms'"),  # 1 kHz
        (1.0, 1e-3, r"time steps of 1e-05 s can hardly be right; pass times in seconds, or time_unit='s'"),
    ],
)
def test_wrong_units_and_their_remedies(length, time, message):
    with pytest.warns(RecordingWarning, match=message) as caught:
        check_plausible([Trial.from_positions(time * TAU, length * REACH)])
    assert len(caught) == 1


def test_a_high_speed_over_a_short_way_is_of_the_times():
    t = 1e-3 * np.linspace(0.0, 4.0, 12)  # seconds as milliseconds
    with pytest.warns(RecordingWarning, match=r"a speed of .* m/s can hardly be right; pass times in seconds"):
        check_plausible([Trial.from_positions(t, REACH[::9])])


@pytest.mark.parametrize(
    "fit",
    [FPCA(1, **PLAIN).fit, ProMP(5).fit, lambda x: DMP(5).fit([(TAU, motion) for motion in x])],
    ids=["FPCA", "ProMP", "DMP"],
)
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


def test_arrays_of_different_lengths():
    assert_refused(
        (lambda: FPCA().fit([REACH, REACH[:50]]), "...equal shapes, got (50, 3) and (101, 3); pass motions of ..."),
        (lambda: Trial.from_positions([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0]]), "...p must have rows of equal ..."),
        (lambda: numbers([[1.0, "a"], [2.0, "b"]], "p"), "...must be numbers..."),
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
