"""Trials: units, gaps, orientations on a continuous branch."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.recordings import MotionSet, Trial
from thunder_py.recordings.loaders import load_npz

T = np.linspace(0.0, 1.0, 11)
ZEROS = np.zeros((11, 3))


def turning(axis=(0.0, 0.6, 0.8), end=1.0, samples=200):
    """Times, angles and rotations about a fixed axis."""
    t = np.linspace(0.0, 2.0, samples)
    angle = end * t / 2.0
    return t, angle, Rotation.from_rotvec(angle[:, None] * np.asarray(axis))


@pytest.mark.parametrize(("unit", "factor"), [("m", 1.0), ("cm", 0.01), ("mm", 0.001)])
def test_positions_become_metres(unit, factor):
    p = np.arange(33.0).reshape(11, 3)
    trial = Trial.from_positions(T, p, unit, rate=10.0, subject="S1", task="reach", frame="lab", name="one")
    np.testing.assert_array_equal(trial.position, p * factor)
    assert trial.dofs == ("x", "y", "z")
    assert trial.units == ("m", "m", "m")
    assert (trial.rate, trial.subject, trial.task, trial.frame, trial.name) == (10.0, "S1", "reach", "lab", "one")
    assert trial.duration == 1.0
    assert trial.uniform
    assert len(trial) == 11


def test_gaps_reach_from_the_value_before_to_that_behind():
    x = ZEROS.copy()
    x[0, 1] = x[4:6] = x[10] = np.nan
    trial = Trial.from_positions(T, x)
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [0, 4, 5, 10])
    np.testing.assert_allclose(trial.gaps, [(0.0, 0.1), (0.3, 0.6), (0.9, 1.0)], atol=1e-15)
    assert Trial.from_positions(T, ZEROS).gaps == []
    assert Trial.from_positions(T, ZEROS * np.nan).gaps == [(0.0, 1.0)]


@pytest.mark.parametrize("sequence", ["XYZ", "ZYX", "zyx", "ZXZ", "yzx"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_door_leads_back(sequence, seed):
    rotations = Rotation.random(11, random_state=seed)
    first = sequence[0].isupper()
    q = rotations.as_quat()
    trial = Trial.from_poses(
        T, ZEROS, quaternion=np.roll(q, 1, axis=1) if first else q, scalar_first=first, unit="mm", rate=10.0
    )
    assert trial.units == ("m",) * 3 + ("rad",) * 3
    assert (trial.rotations.inv() * rotations).magnitude().max() < 1e-12
    angles = trial.euler(sequence, unit="deg")
    again = Trial.from_poses(T, ZEROS, euler=angles, sequence=sequence, angle_unit="deg")
    assert (again.rotations.inv() * rotations).magnitude().max() < 1e-7  # angles near singularities have fewer digits
    other = Trial.from_poses(T, ZEROS, quaternion=trial.quaternions(scalar_first=True), scalar_first=True)
    assert (other.rotations.inv() * rotations).magnitude().max() < 1e-12
    by_matrix = Trial.from_poses(T, ZEROS, matrix=rotations.as_matrix())
    assert (by_matrix.rotations.inv() * rotations).magnitude().max() < 1e-12


@pytest.mark.parametrize("end", [1.0, 4.0, 9.0, 20.0])
def test_rotation_vectors_run_on_past_half_a_turn(end):
    t, angle, rotations = turning(end=end)
    trial = Trial.from_poses(t, np.zeros((200, 3)), quaternion=rotations.as_quat(), scalar_first=False)
    np.testing.assert_allclose(trial.rotation_vectors, angle[:, None] * [0.0, 0.6, 0.8], atol=1e-12)
    np.testing.assert_array_equal(trial.near_half_turn(0.05), angle > np.pi - 0.05)
    # quaternions follow: no sign flips, although w gets negative
    q = trial.quaternions(scalar_first=True)
    np.testing.assert_allclose(q[:, 0], np.cos(angle / 2), atol=1e-12)
    assert np.abs(np.diff(q, axis=0)).max() < 0.06


def test_a_branch_is_kept_across_a_gap():
    t, angle, rotations = turning(end=5.0)
    q = rotations.as_quat()
    q[90:110, 2] = np.nan
    trial = Trial.from_poses(t, np.zeros((200, 3)), quaternion=q, scalar_first=False)
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), np.arange(90, 110))
    np.testing.assert_allclose(trial.x[trial.valid, 3:], angle[trial.valid, None] * [0.0, 0.6, 0.8], atol=1e-12)
    assert np.isnan(trial.euler("ZYX")[90:110]).all()
    assert np.isnan(trial.quaternions(scalar_first=True)[90:110]).all()
    assert np.isnan(trial.rotations.as_quat()[95]).all()


def test_slices_selections_and_other_values():
    trial = Trial(T, np.arange(22.0).reshape(11, 2), ["a", "b"], rate=10.0, name="n")
    part = trial.slice(0.3, 0.65)
    np.testing.assert_allclose(part.t, [0.3, 0.4, 0.5, 0.6])
    np.testing.assert_array_equal(part.x, trial.x[3:7])
    assert (part.name, part.rate) == ("n", 10.0)
    assert trial.select(["b"]).dofs == ("b",)
    np.testing.assert_array_equal(trial.select(["b", "a"]).x, trial.x[:, ::-1])
    assert trial.with_values(np.ones((11, 2))).rate == 10.0
    assert trial.with_values(np.ones((3, 2)), [0.0, 0.5, 1.0]).rate == 2.0
    assert trial.with_values(np.ones((3, 2)), [0.0, 0.4, 1.0]).rate is None
    assert trial.with_values(np.ones((3, 2)), [0.0, 0.4, 1.0], rate=3.0).rate == 3.0
    assert trial.with_labels(subject="S9", rate=None).subject == "S9"
    assert_refused(
        (lambda: trial.slice(0.31, 0.41), "t0 and t1 must hold two samples or more of [0, 1] s, got 0.31..."),
        (lambda: trial.with_labels(speed=1.0), "labels must be frame, subject, task, name or rate, got speed"),
    )


def test_seen_from_another_frame():
    t, _, rotations = turning()
    p = np.column_stack([t, t**2, np.sin(t)])
    p[7, 1] = np.nan
    trial = Trial.from_poses(t, p, quaternion=rotations.as_quat(), scalar_first=False, frame="y up")
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    pose[:3, 3] = (0.1, 0.2, 0.3)
    moved = trial.moved(pose, "world")
    poses = np.tile(np.eye(4), (200, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = rotations.as_matrix(), p
    expected = pose @ poses
    np.testing.assert_allclose(moved.position, expected[:, :3, 3], atol=1e-14)
    np.testing.assert_allclose(moved.rotations.as_matrix(), expected[:, :3, :3], atol=1e-14)
    assert moved.frame == "world"
    assert Trial.from_positions(t, p).moved(pose).dofs == ("x", "y", "z")
    assert_refused((lambda: Trial(t, p[:, :1], ["a"]).moved(pose), "moved needs dofs x, y, z, got a"))


def test_trials_that_cannot_be():
    def given(**change):
        Trial(**{"t": [0.0, 1.0], "x": np.zeros((2, 1)), "dofs": ["a"]} | change)

    assert_refused(
        (lambda: given(t=[0.0, 0.1, 0.1], x=np.zeros((3, 1))), "t must increase, got 0.1 then 0.1 s at index 2"),
        (lambda: given(t=[0.0], x=np.zeros((1, 1))), "t must hold two times or more, got 1"),
        (lambda: given(t=[0.0, np.nan]), "t must be finite (below 1e+100), got nan at index 1"),
        (lambda: given(t=[[0.0], [1.0]]), "t must have 1 dimension(s), got shape (2, 1)"),
        (lambda: given(t="now"), "t must be numbers, got str: ..."),
        (lambda: given(x=[[0.0], [np.inf]]), "x must be finite, or NaN in a gap, got infinity in row 1, column 0"),
        (lambda: given(x=np.zeros((3, 1))), "x must have shape (T, d) = (2, 1) of t and dofs, got (3, 1)"),
        (lambda: given(dofs=["a", "a"], x=np.zeros((2, 2))), "dofs must be one or more distinct names, got ['a', 'a']"),
        (lambda: given(units=["mm"]), "units must be one of m, rad, 1, ... for each of 1 dofs ... got ['mm']"),
        (lambda: given(rate=0), "rate, if there is one, must be positive [Hz], got 0"),
        (lambda: given(subject=3), "subject must be text, got 3"),
    )


def test_poses_that_cannot_be():
    q = np.tile([0.0, 0.0, 0.0, 1.0], (11, 1))

    def given(p=ZEROS, **form):
        Trial.from_poses(T, p, **form)

    assert_refused(
        (given, "one of quaternion, euler, matrix must be given, got none"),
        (lambda: given(quaternion=q, euler=ZEROS), "...got quaternion and euler"),
        (lambda: given(quaternion=q), "scalar_first must be True for quaternions ... got None"),
        (lambda: given(quaternion=2 * q, scalar_first=True), "quaternion must have unit length (to 0.001), got ..."),
        (lambda: given(quaternion=ZEROS, scalar_first=True), "quaternion must have shape (T, 4), got (11, 3)"),
        (lambda: given(euler=ZEROS), "sequence must name three axes, ... got None"),
        (lambda: given(euler=ZEROS, sequence="XxZ"), "sequence must name three axes, ... got 'XxZ'"),
        (lambda: given(euler=ZEROS, sequence="XXZ"), "sequence must name three axes, ... got 'XXZ'"),
        (lambda: given(euler=ZEROS, sequence="XYZ", angle_unit="degrees"), "angle_unit must be one of rad, deg..."),
        (lambda: given(euler=ZEROS + 90.0, sequence="xyz"), "...angle_unit..."),
        (lambda: given(quaternion=q, scalar_first=False, unit="inch"), "unit must be one of m, cm, mm, got 'inch'"),
        (lambda: given(quaternion=q[1:], scalar_first=False), "quaternion must have as many rows as p, 11, got 10"),
        (lambda: given(matrix=np.tile(-np.eye(3), (11, 1, 1))), "matrix must hold rotations (to 0.001), got ..."),
        (
            lambda: given(euler=ZEROS + np.inf, sequence="XYZ"),
            "euler must be finite (at most 1e+100), or NaN in a gap, got ...",
        ),
        (lambda: given(ZEROS[:, :2], euler=ZEROS, sequence="XYZ"), "p must have shape (T, 3), got (11, 2)"),
    )


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_times_in_other_units_are_told_from_seconds(factor):
    t = np.arange(20) * 0.01
    assert_refused((lambda: Trial(factor * t, np.zeros((20, 1)), ["x"], ["m"], 100.0), "t must be in seconds and ..."))
    assert Trial(t, np.zeros((20, 1)), ["x"], ["m"], 100.0).rate == 100.0


# --- Sets of trials: choosing, splitting, resampling, files, figures ---
def trial(samples=20, subject="A", task="reach", rate=50.0, name="", duration=None, gap=None):
    t = np.arange(samples) / rate if duration is None else np.linspace(0.0, duration, samples)
    p = np.column_stack([t, t**2, t**3])
    if gap is not None:
        p[gap] = np.nan
    return Trial.from_positions(t, p, rate=rate, subject=subject, task=task, name=name)


@pytest.fixture
def motions():
    return MotionSet([trial(subject=s, task=k, name=s + k) for s in "ABC" for k in ("reach", "write")])


def names(motions):
    return [member.name for member in motions]


def test_a_sequence_of_trials(motions):
    assert (motions.subjects, motions.tasks, motions.dofs) == (("A", "B", "C"), ("reach", "write"), ("x", "y", "z"))
    assert motions[-1].name == "Cwrite"
    assert names(motions[1:3]) == ["Awrite", "Breach"]
    assert names(motions[[True, False, False, False, False, True]]) == ["Areach", "Cwrite"]
    assert names(motions[np.array([5, 0])]) == ["Cwrite", "Areach"]
    assert len(motions[[]]) == 0
    assert motions[0] in motions
    np.testing.assert_allclose(motions.durations, 0.38)


def test_choosing_and_mapping(motions):
    assert names(motions.filter(subject="A")) == ["Areach", "Awrite"]
    assert names(motions.filter(subject=["A", "C"], task="write")) == ["Awrite", "Cwrite"]
    assert names(motions.filter(lambda one: one.name.startswith("B"))) == ["Breach", "Bwrite"]
    renamed = motions.map(lambda one: one.with_labels(name="new") if one.subject == "A" else None)
    assert names(renamed) == ["new", "new"]
    halves = motions[:1].map(lambda one: [one.slice(0.0, 0.19), one.slice(0.19, 1.0)])
    assert [len(one) for one in halves] == [10, 10]
    assert names(motions[:1] + motions[1:2]) == names(motions[:1].concatenate(motions[1:2])) == ["Areach", "Awrite"]


def test_leave_one_subject_out(motions):
    folds = list(motions.leave_one_subject_out())
    assert [subject for subject, _, _ in folds] == ["A", "B", "C"]
    for subject, rest, held_out in folds:
        assert held_out.subjects == (subject,)
        assert subject not in rest.subjects
        assert len(rest) + len(held_out) == 6
    assert_refused((lambda: list(motions.filter(subject="A").leave_one_subject_out()), "leave_one_subject_out ..."))


def test_trials_of_unequal_length_at_equal_tau():
    short, long = trial(samples=9, duration=1.0), trial(samples=33, duration=2.0)
    values = MotionSet([short, long]).to_array(51)
    tau = np.linspace(0.0, 1.0, 51)
    assert values.shape == (2, 51, 3)
    for k, duration in enumerate((1.0, 2.0)):  # cubic splines reproduce cubics
        t = duration * tau
        np.testing.assert_allclose(values[k], np.column_stack([t, t**2, t**3]), atol=1e-13)
    shifted = MotionSet([short.with_values(short.x, short.t + 5.0)]).to_array(51)
    np.testing.assert_allclose(shifted[0], values[0], atol=1e-13)


def test_what_sets_of_trials_refuse(motions):
    other = Trial([0.0, 1.0], np.zeros((2, 1)), ["elbow"])
    assert_refused(
        (lambda: MotionSet([trial(), trial(gap=slice(3, 5), name="late")]).to_array(10), "trial 'late' must have..."),
        (lambda: motions.to_array(1), "n must be a whole number of at least 2, got 1"),
        (lambda: MotionSet([trial(), other]).to_array(10), "trials must share their dofs, got x, y, z and, at ..."),
        (lambda: MotionSet().to_array(10), "an empty MotionSet has no dofs"),
        (lambda: MotionSet([trial(), 3]), "trials must be Trials, got int at index 1"),
        (lambda: motions[[True, False]], "a mask must have 6 entries, one for each trial, got 2"),
        (lambda: motions["A"], "index must be an integer, a slice, a mask of bools or integers..."),
        (lambda: motions.filter(who="A"), "fields must be among frame, subject, task, name, got who"),
    )


def same(a, b):
    np.testing.assert_array_equal(a.t, b.t)
    np.testing.assert_array_equal(a.x, b.x)
    for field in ("dofs", "units", "rate", "frame", "subject", "task", "name"):
        assert getattr(a, field) == getattr(b, field)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_file_gives_back_what_was_saved(tmp_path_factory, data):
    numbers = st.floats(-1e6, 1e6) | st.just(float("nan"))
    members = []
    for _ in range(data.draw(st.integers(0, 4))):
        samples, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 3))
        x = data.draw(st.lists(numbers, min_size=samples * d, max_size=samples * d))
        rate = data.draw(st.none() | st.floats(1.0, 400.0))
        label = data.draw(st.text(max_size=5))
        dofs = ["x", "näme", "grip"][:d]
        members.append(
            Trial(np.arange(samples) * 0.1, np.reshape(x, (samples, d)), dofs, ["m", "rad", "1"][:d], rate, task=label)
        )
    path = tmp_path_factory.mktemp("npz") / "motions.npz"
    MotionSet(members).save(path)
    again = MotionSet.load(path)
    assert len(again) == len(members)
    for a, b in zip(members, again, strict=True):
        same(a, b)


def test_files_that_are_none(tmp_path, motions):
    text, pickled, other = (tmp_path / f"{name}.npz" for name in ("text", "pickled", "other"))
    text.write_text("t;x")
    np.savez(pickled, format=np.array([{}], dtype=object))
    np.savez(other, t=np.arange(3.0))
    assert_refused(
        (lambda: motions.save("motions.csv"), "path must end in .npz, got 'motions.csv'", ValueError),
        (lambda: load_npz(tmp_path / "none.npz"), "...", FileNotFoundError),
        (lambda: load_npz(text), "...text.npz: not a file of ..."),
        (lambda: load_npz(pickled), "...no archive of plain arrays"),
        (lambda: load_npz(other), "...save: format, sizes, x, trials missing"),
        error=errors.FileFormatError,
    )


def test_damaged_files(tmp_path, motions):
    path = tmp_path / "motions.npz"

    def given(**changes):
        motions[:1].save(path)
        with np.load(path) as file:
            arrays = dict(file) | changes
        np.savez(path, **arrays)
        return load_npz(path)

    assert_refused(
        (lambda: given(format=np.array("thunder_py motions 9")), "...: format must be 'thunder_py motions 1', got ..."),
        (lambda: given(x=np.zeros(7)), "...damaged file of MotionSet.save: ..."),
        (lambda: given(sizes=np.array([[20, 3]]), trials=np.array("[]")), "...damaged file of MotionSet.save: ..."),
        (lambda: given(sizes=np.zeros(2)), "...sizes must have shape (trials, 2), got (2,)"),
        (lambda: given(t=np.zeros(20)), "...t must increase, got 0 then 0 s at index 1"),
        (lambda: given(trials=np.array("{")), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array('"a"')), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array("[3]")), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array("[" * 100_000)), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array(json.dumps([{"dofs": ["x"]}]))), "...damaged file of MotionSet.save: 'units'"),
        error=errors.FileFormatError,
    )


def test_figures(motions):
    panels = motions.plot()
    assert [panel.get_ylabel() for panel in panels.values()] == ["x [m]", "y [m]", "z [m]"]
    np.testing.assert_array_equal(panels["y"].lines[0].get_ydata(), motions[0].x[:, 1])
    assert [text.get_text() for text in panels["x"].get_legend().get_texts()] == ["A", "B", "C"]
    assert_refused(
        (lambda: motions.plot(["w"]), "no dof 'w' in this trial, which has x, y, z..."),
        (lambda: motions.plot(axes={"w": panels["x"]}), "axes must be named x, y, z, got 'w'..."),
        (lambda: MotionSet().plot(["x"]), "plot needs one trial and one dof or more, got 0 and 1"),
    )
    plt.close("all")
