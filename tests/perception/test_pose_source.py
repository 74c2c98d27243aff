from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.refusals import assert_refused
from thunder_py.perception import PoseMeasurement
from thunder_py.spatial import pose_from_rpy

_POSE = pose_from_rpy((0.1, 0.2, 0.3), (0.4, -0.5, 0.6))


def test_a_measurement_keeps_a_copy_that_nobody_can_change() -> None:
    pose = _POSE.copy()
    seen = PoseMeasurement(0.5, 0.6, pose)
    pose[0, 3] = 9.0
    assert seen.pose is not None
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


def test_nonsense_is_refused() -> None:
    def given(arguments):
        return PoseMeasurement(*arguments)

    assert_refused(
        (lambda: given((np.nan, 1.0, None)), "...time must be a finite number..."),
        (lambda: given((0.0, np.inf, None)), "...available must be a finite number..."),
        (lambda: given((1.0, 0.9, None)), "...available must not be before time..."),
        (lambda: given((0.0, 0.0, np.eye(3))), "...pose must have shape (4, 4)..."),
        (lambda: given((0.0, 0.0, "here")), "...pose must be numbers..."),
        (lambda: given((0.0, 0.0, None, -1.0)), "...quality must be a finite number >= 0..."),
    )
