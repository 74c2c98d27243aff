"""Trials: units, gaps, orientations on a continuous branch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py import errors
from thunder_py.recordings import Trial

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


def test_what_comes_in_is_copied_and_what_is_held_is_read_only():
    p = ZEROS.copy()
    trial = Trial.from_positions(T, p)
    p[0] = 1.0
    assert trial.x[0, 0] == 0.0
    for held in (trial.t, trial.x):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 1.0


def test_units_of_joints_default_to_radians():
    trial = Trial(T, np.zeros((11, 2)), ["elbow", "grip"], ["rad", "1"])
    assert trial.units == ("rad", "1")
    assert Trial(T, np.zeros((11, 4)), ["x", "y", "z", "elbow"]).units == ("m", "m", "m", "rad")
    assert_refused(
        (lambda: trial.position, "no dof 'x' in this trial, which has elbow, grip"),
        (lambda: trial.select(["elbo"]), "...did you mean 'elbow'..."),
        error=errors.UnknownNameError,
    )


def test_gaps_reach_from_the_last_value_before_to_the_first_behind():
    x = ZEROS.copy()
    x[0, 1] = x[4:6] = x[10] = np.nan
    trial = Trial.from_positions(T, x)
    np.testing.assert_array_equal(np.flatnonzero(~trial.valid), [0, 4, 5, 10])
    np.testing.assert_allclose(trial.gaps, [(0.0, 0.1), (0.3, 0.6), (0.9, 1.0)], atol=1e-15)
    assert Trial.from_positions(T, ZEROS).gaps == []
    assert Trial.from_positions(T, ZEROS * np.nan).gaps == [(0.0, 1.0)]


def test_uniform_times():
    assert Trial.from_positions(1e5 + np.arange(11) / 120.0, ZEROS).uniform  # far from zero, where digits are few
    late = T.copy()
    late[5] += 1e-4
    assert not Trial.from_positions(late, ZEROS).uniform


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


def test_exactly_a_whole_turn_keeps_its_axis():
    angle = np.linspace(0.0, 2.0 * np.pi, 13)
    matrices = Rotation.from_rotvec(angle[:, None] * [1.0, 0.0, 0.0]).as_matrix()
    matrices[-1] = np.eye(3)
    vectors = Trial.from_poses(np.arange(13.0), np.zeros((13, 3)), matrix=matrices).rotation_vectors
    np.testing.assert_allclose(vectors[:, 0], angle, atol=1e-12)
    assert np.abs(vectors[:, 1:]).max() == 0.0


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


BAD = {
    r"^t must increase, got 0\.1 then 0\.1 s at index 2$": {"t": [0.0, 0.1, 0.1], "x": np.zeros((3, 1))},
    r"^t must hold two times or more, got 1$": {"t": [0.0], "x": np.zeros((1, 1))},
    r"^t must be finite \(below 1e\+100\), got nan at index 1$": {"t": [0.0, np.nan], "x": np.zeros((2, 1))},
    r"^t must have 1 dimension\(s\), got shape \(2, 1\)$": {"t": [[0.0], [1.0]], "x": np.zeros((2, 1))},
    r"^t must be numbers, got str: ": {"t": "now", "x": np.zeros((2, 1))},
    r"^x must be finite, or NaN in a gap, got infinity in row 1, column 0$": {"x": [[0.0], [np.inf]]},
    r"^x must have shape \(T, d\) = \(2, 1\) of t and dofs, got \(3, 1\)$": {"x": np.zeros((3, 1))},
    r"^dofs must be one or more distinct names, got \['a', 'a'\]$": {"dofs": ["a", "a"], "x": np.zeros((2, 2))},
    r"^units must be one of m, rad, 1 for each of 1 dofs .* got \['mm'\]$": {"units": ["mm"]},
    r"^rate, if there is one, must be a positive number \[Hz\], got 0$": {"rate": 0},
    r"^subject must be text, got 3$": {"subject": 3},
}


@pytest.mark.parametrize("message", BAD)
def test_trials_that_cannot_be(message):
    arguments = {"t": [0.0, 1.0], "x": np.zeros((2, 1)), "dofs": ["a"]} | BAD[message]
    with pytest.raises(errors.ThunderError, match=message):
        Trial(**arguments)


Q = np.tile([0.0, 0.0, 0.0, 1.0], (11, 1))
BAD_POSES = {
    "^one of quaternion, euler and matrix must be given, got none$": {},
    "got quaternion and euler$": {"quaternion": Q, "euler": ZEROS},
    "^scalar_first must be True for quaternions .* got None$": {"quaternion": Q},
    r"^quaternion must have unit length \(to 0.001\), got length 2 in row 0$": {
        "quaternion": 2 * Q,
        "scalar_first": True,
    },
    r"^quaternion must have shape \(T, 4\), got \(11, 3\)$": {"quaternion": ZEROS, "scalar_first": True},
    "^sequence must name three axes, .* got None$": {"euler": ZEROS},
    "^sequence must name three axes, .* got 'XxZ'$": {"euler": ZEROS, "sequence": "XxZ"},
    "^sequence must name three axes, .* got 'XXZ'$": {"euler": ZEROS, "sequence": "XXZ"},
    "^angle_unit must be one of rad, deg, got 'degrees'": {"euler": ZEROS, "sequence": "XYZ", "angle_unit": "degrees"},
    "^unit must be one of m, cm, mm, got 'inch'$": {"quaternion": Q, "scalar_first": False, "unit": "inch"},
    "^quaternion must have as many rows as p, 11, got 10$": {"quaternion": Q[1:], "scalar_first": False},
    r"^matrix must hold rotations \(to 0.001\), got .* in row 0$": {"matrix": np.tile(-np.eye(3), (11, 1, 1))},
    "^euler must be finite, or NaN in a gap, got infinity in row 0$": {"euler": ZEROS + np.inf, "sequence": "XYZ"},
}


@pytest.mark.parametrize("message", BAD_POSES)
def test_poses_that_cannot_be(message):
    with pytest.raises(errors.ThunderError, match=message):
        Trial.from_poses(T, ZEROS, **BAD_POSES[message])


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_times_in_other_units_are_told_from_seconds(factor):
    t = np.arange(20) * 0.01
    assert_refused((lambda: Trial(factor * t, np.zeros((20, 1)), ["x"], ["m"], 100.0), "t must be in seconds and ..."))
    assert Trial(t, np.zeros((20, 1)), ["x"], ["m"], 100.0).rate == 100.0
