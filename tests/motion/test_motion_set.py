"""Sets of trials: choosing, splitting, resampling, files, figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.recordings import MotionSet, Trial
from thunder_py.recordings.loaders import load_npz


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
    assert len(motions) == 6
    assert motions.subjects == ("A", "B", "C")
    assert motions.tasks == ("reach", "write")
    assert motions.dofs == ("x", "y", "z")
    assert motions[1].name == "Awrite"
    assert motions[-1].name == "Cwrite"
    assert names(motions[1:3]) == ["Awrite", "Breach"]
    assert names(motions[[True, False, False, False, False, True]]) == ["Areach", "Cwrite"]
    assert names(motions[np.array([5, 0])]) == ["Cwrite", "Areach"]
    assert len(motions[[]]) == 0
    assert motions[0] in motions
    assert repr(motions) == "<MotionSet of 6 trials, 3 subjects, 2 tasks>"
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


def test_what_to_array_refuses(motions):
    assert_refused(
        (lambda: MotionSet([trial(), trial(gap=slice(3, 5), name="late")]).to_array(10), "to_array needs trials ..."),
        (lambda: motions.to_array(1), "n must be a whole number of at least 2, got 1"),
    )
    other = Trial([0.0, 1.0], np.zeros((2, 1)), ["elbow"])
    assert_refused(
        (lambda: MotionSet([trial(), other]).to_array(10), "trials must share their dofs, got x, y, z and, at ..."),
        (lambda: MotionSet().to_array(10), "an empty MotionSet has no dofs"),
    )


def test_summary(motions):
    text = (motions + MotionSet([trial(subject="", rate=100.0, samples=51, gap=4)])).summary()
    assert str(text).splitlines() == [
        "subject  trials  tasks  duration [s]  rate [Hz]  gaps",
        "A             2      2  0.38 to 0.38         50     0",
        "B             2      2  0.38 to 0.38         50     0",
        "C             2      2  0.38 to 0.38         50     0",
        "-             1      1  0.50 to 0.50        100     1",
        "all           7      2  0.38 to 0.50    100, 50     1",
    ]
    assert MotionSet().summary().to_dict()["all"]["trials"] == 0


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
    assert_refused((lambda: motions.save("motions.csv"), "path must end in .npz, got 'motions.csv'"))
    with pytest.raises(FileNotFoundError):
        load_npz(tmp_path / "none.npz")
    text = tmp_path / "text.npz"
    text.write_text("t;x")
    assert_refused((lambda: load_npz(text), "...text.npz: not a file of ..."), error=errors.FileFormatError)
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, format=np.array([{}], dtype=object))
    assert_refused((lambda: load_npz(pickled), "...no archive of plain arrays"), error=errors.FileFormatError)
    other = tmp_path / "other.npz"
    np.savez(other, t=np.arange(3.0))
    assert_refused((lambda: load_npz(other), "...save: format, sizes, x, trials missing"), error=errors.FileFormatError)


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
        (lambda: given(x=np.zeros(7)), "...damaged file of MotionSet.save: sizes must fit t, x and trials"),
        (lambda: given(sizes=np.array([[20, 3]]), trials=np.array("[]")), "...sizes must fit t, x and trials"),
        (lambda: given(sizes=np.zeros(2)), "...sizes must have shape (trials, 2), got (2,)"),
        (lambda: given(t=np.zeros(20)), "...t must increase, got 0 then 0 s at index 1"),
        (lambda: given(trials=np.array("{")), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array('"a"')), "...damaged file of MotionSet.save: trials must be a list of objects"),
        (lambda: given(trials=np.array("[3]")), "...damaged file of MotionSet.save: trials must be a list of objects"),
        (lambda: given(trials=np.array("[" * 100_000)), "...damaged file of MotionSet.save: ..."),
        (lambda: given(trials=np.array(json.dumps([{"dofs": ["x"]}]))), "...damaged file of MotionSet.save: 'units'"),
        error=errors.FileFormatError,
    )


def test_figures(motions):
    import matplotlib.pyplot as plt

    panels = motions.plot()
    assert [panel.get_ylabel() for panel in panels.values()] == ["x [m]", "y [m]", "z [m]"]
    assert all(len(panel.lines) == 6 for panel in panels.values())
    assert [text.get_text() for text in panels["x"].get_legend().get_texts()] == ["A", "B", "C"]
    (one,) = motions.plot(axes={"y": plt.figure().add_subplot()}).values()
    np.testing.assert_array_equal(one.lines[0].get_ydata(), motions[0].x[:, 1])
    assert_refused(
        (lambda: motions.plot(["w"]), "no dof 'w' among x, y, z...", errors.UnknownNameError),
        (lambda: motions.plot(axes={"w": one}), "axes must be named x, y, z, got 'w'..."),
        (lambda: MotionSet().plot(["x"]), "plot needs one trial and one dof or more, got 0 and 1"),
    )
    plt.close("all")


def test_what_is_no_set_of_trials(motions):
    assert_refused(
        (lambda: MotionSet([trial(), 3]), "trials must be Trials, got int at index 1"),
        (lambda: motions[[True, False]], "a mask must have 6 entries, one for each trial, got 2"),
        (lambda: motions["A"], "index must be an integer, a slice, a mask of bools or integers..."),
        (lambda: motions.filter(who="A"), "fields must be among frame, subject, task, name, got who"),
    )
