"""Simulated sources of poses: what they tell, when, with which faults; measurements."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from tests.refusals import assert_refused
from thunder_py.perception import PoseFault, PoseMeasurement, PoseSource, SimulatedPoseSource
from thunder_py.perception.pose_source import measurement_times
from thunder_py.spatial import pose_from_rpy


def _truth(t: float) -> npt.NDArray[np.float64]:
    return pose_from_rpy((0.3 + 0.2 * t, -0.1, 0.4), (0.1, -0.2, t))


def _source(**options: Any) -> SimulatedPoseSource:
    return SimulatedPoseSource(_truth, **({"rate": 25.0} | options))


def test_without_faults_it_tells_the_truth_late() -> None:
    source = _source(latency=0.1)
    assert isinstance(source, PoseSource)
    assert source.poll(0.05) == []
    seen = [m for t in np.arange(0.06, 1.0, 0.01) for m in source.poll(t)]
    assert [m.time for m in seen] == [k / 25.0 for k in range(len(seen))]
    assert len(seen) == 23
    for m in seen:
        assert m.available == m.time + 0.1
        np.testing.assert_allclose(m.pose, _truth(m.time), atol=1e-15)


def test_what_is_measured_does_not_depend_on_when_it_is_asked() -> None:
    options = {"latency": 0.05, "jitter": 0.2, "position_noise": 0.01, "rotation_noise": 0.1, "dropout": 0.2}
    often, once = _source(**options, seed=4), _source(**options, seed=4)
    one_by_one = [m for t in np.linspace(0.0, 2.0, 777) for m in often.poll(t)]
    assert one_by_one == once.poll(2.0)
    available = [m.available for m in one_by_one]
    assert available == sorted(available)
    assert [m.time for m in one_by_one] != sorted(m.time for m in one_by_one)
    once.reset()
    assert once.poll(2.0) == one_by_one
    assert _source(**options, seed=5).poll(2.0) != one_by_one


def test_noise_has_the_deviations_that_are_given() -> None:
    source = _source(position_noise=(0.01, 0.02, 0.03), rotation_noise=0.05, rate=1000.0)
    shifts, turns = [], []
    for m in source.poll(1.5):
        truth = _truth(m.time)
        shifts.append(m.pose[:3, 3] - truth[:3, 3])
        turns.append(Rotation.from_matrix(truth[:3, :3].T @ m.pose[:3, :3]).as_rotvec())
    np.testing.assert_allclose(np.std(shifts, axis=0), (0.01, 0.02, 0.03), rtol=0.08)
    np.testing.assert_allclose(np.std(turns, axis=0), 0.05, rtol=0.08)
    np.testing.assert_allclose(np.mean(turns, axis=0), 0.0, atol=4 * 0.05 / np.sqrt(1501))


def test_dropouts_and_occlusions_leave_the_others_alone() -> None:
    def by_time(found: list[PoseMeasurement]) -> dict[float, PoseMeasurement]:
        return {m.time: m for m in found}

    every = by_time(_source(position_noise=0.01).poll(20.0))
    some = by_time(_source(position_noise=0.01, dropout=0.5).poll(20.0))
    assert 150 < len(some) < 350
    assert all(every[t] == m for t, m in some.items())
    hidden = by_time(_source(position_noise=0.01, occlusions=[(0.2, 0.4), (1.0, 1.2)]).poll(20.0))
    for t, m in hidden.items():
        if 0.2 <= t < 0.4 or 1.0 <= t < 1.2:
            assert m.pose is None
        else:
            assert every[t] == m


def test_faults() -> None:
    offset = pose_from_rpy((0.0, 0.0, 1.0))
    faults = [PoseFault("freeze", 0.2, 0.4), PoseFault("jump", 0.6, 0.8, offset=offset), PoseFault("nan", 1.0)]
    found = {round(m.time, 6): m for m in _source(faults=faults).poll(1.5)}
    for t, m in found.items():
        if 0.2 <= t < 0.4:
            np.testing.assert_allclose(m.pose, _truth(0.16), atol=1e-15)
        elif 0.6 <= t < 0.8:
            np.testing.assert_allclose(m.pose, offset @ _truth(m.time), atol=1e-15)
        elif t >= 1.0:
            assert np.isnan(m.pose).all()
            assert not m.usable
        else:
            np.testing.assert_allclose(m.pose, _truth(m.time), atol=1e-15)


def test_nonsense_is_refused() -> None:
    source = _source()
    source.poll(1.0)
    assert_refused(
        ({"rate": 0.0}, "...rate must be positive..."),
        ({"latency": -0.1}, "...latency must not be negative..."),
        ({"jitter": np.nan}, "...jitter must not be negative..."),
        ({"position_noise": -1.0}, "...position_noise must not be negative..."),
        ({"rotation_noise": (1.0, 2.0)}, "...rotation_noise must have shape (3,)..."),
        ({"dropout": 2.0}, "...dropout must be a number in [0, 1]..."),
        ({"occlusions": [(1.0, 0.5)]}, "...an occlusion must start..."),
        ({"occlusions": [3.0]}, "...an occlusion must be an interval..."),
        ({"occlusions": 3.0}, "...occlusions must be a sequence..."),
        ({"faults": 3.0}, "...faults must be a sequence..."),
        ({"faults": ["freeze"]}, "...every fault must be a PoseFault..."),
        ({"seed": -1}, "...seed must be a whole number..."),
        ({"start": np.inf}, "...start must be a finite number..."),
        call=_source,
    )
    assert_refused(
        ((np.nan, 1.0, None), "...time must be a finite number..."),
        ((0.0, np.inf, None), "...available must be a finite number..."),
        ((1.0, 0.9, None), "...available must not be before time..."),
        ((0.0, 0.0, np.eye(3)), "...pose must have shape (4, 4)..."),
        ((0.0, 0.0, "here"), "...pose must be numbers..."),
        ((0.0, 0.0, None, -1.0), "...quality must not be negative..."),
        call=PoseMeasurement,
    )
    assert_refused(
        (lambda: source.poll(0.5), "...t must not be before the last time, 1 s, got 0.5 s..."),
        (lambda: source.poll(np.nan), "...t must be a finite number..."),
        (lambda: _source(rate=30.0).poll(1.7e9), "...t must not be more than 100000 pictures after ..."),
        (lambda: SimulatedPoseSource(lambda t: np.eye(3)).poll(0.0), "...true_pose(t) must have shape..."),
        (lambda: SimulatedPoseSource(np.eye(4)), "...true_pose must be callable..."),
        (lambda: PoseFault("melt", 0.0), "...kind of a fault must be one of freeze, jump, nan, got 'melt'"),
        (lambda: PoseFault("jump", 0.0, offset=np.diag([2.0, 1.0, 1.0, 1.0])), "...offset of a fault ..."),
    )
    assert len(_source(rate=30.0, start=1.7e9).poll(1.7e9 + 0.05)) == 2
    bad = {"duration": (-1.0, np.inf), "rate": (0.0, np.nan), "latency": (-0.1,), "jitter": (np.nan,), "rng": (3,)}
    bad["dropout"] = (1.1, "some")
    given = {"duration": 1.0, "rate": 10.0, "rng": np.random.default_rng(0)}
    cases = [(given | {name: value}, f"{name} must...") for name, values in bad.items() for value in values]
    assert_refused(*cases, call=measurement_times)


# --- pose_source ---
_POSE = pose_from_rpy((0.1, 0.2, 0.3), (0.4, -0.5, 0.6))


def test_a_measurement_keeps_a_copy_that_nobody_can_change() -> None:
    pose = _POSE.copy()
    seen = PoseMeasurement(0.5, 0.6, pose)
    pose[0, 3] = 9.0
    assert seen.pose[0, 3] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        seen.pose[0, 3] = 1.0
    assert pickle.loads(pickle.dumps(seen)) == seen
    assert seen != PoseMeasurement(0.5, 0.7, _POSE)


def test_usable_is_a_finite_rigid_transform_only() -> None:
    def with_entry(row: int, column: int, value: float) -> PoseMeasurement:
        pose = _POSE.copy()
        pose[row, column] = value
        return PoseMeasurement(0.0, 0.0, pose)

    assert PoseMeasurement(0.0, 0.0, _POSE).usable
    assert not PoseMeasurement(0.0, 0.0, None).usable
    assert not with_entry(0, 3, np.nan).usable
    assert not with_entry(1, 3, np.inf).usable
    assert not with_entry(0, 0, 0.5).usable
    assert not with_entry(3, 0, 0.1).usable
    assert not PoseMeasurement(0.0, 0.0, np.diag([1.0, 1.0, -1.0, 1.0])).usable
    assert not PoseMeasurement(0.0, 0.0, np.zeros((4, 4))).usable


# --- measurement_times ---
def _times(**options: Any) -> tuple[Any, Any]:
    return measurement_times(options.pop("duration", 2.0), 30.0, rng=np.random.default_rng(3), **options)


def test_jitter_stays_within_its_bound_and_lets_results_overtake() -> None:
    taken, available = _times(duration=60.0, latency=0.05, jitter=0.2)
    delay = available - taken - 0.05
    assert 0.0 <= delay.min() < 0.01
    assert 0.19 < delay.max() <= 0.2
    assert abs(delay.mean() - 0.1) < 4.0 * 0.2 / np.sqrt(12.0 * len(taken))
    assert (np.diff(available) < 0.0).any()


def test_dropped_pictures_leave_the_others_as_they_are() -> None:
    every = dict(zip(*_times(duration=100.0, jitter=0.1), strict=True))
    some = dict(zip(*_times(duration=100.0, jitter=0.1, dropout=0.3), strict=True))
    assert some.items() <= every.items()
    assert abs(len(some) / len(every) - 0.7) < 4.0 * np.sqrt(0.21 / 3001)


def test_frozen_from_the_start_there_is_nothing_to_repeat() -> None:
    assert [m.pose for m in _source(faults=[PoseFault("freeze", 0.0)]).poll(0.1)] == [None] * 3


def test_the_truth_may_be_what_a_simulation_says_now() -> None:
    now = 0.0
    source = SimulatedPoseSource(lambda t: pose_from_rpy((now, 0.0, 0.0)), rate=10.0, latency=0.5)
    for step in range(100):
        now = 0.01 * step
        for m in source.poll(now):
            assert m.pose is not None
            assert m.pose[0, 3] == pytest.approx(m.time, abs=1e-9)
