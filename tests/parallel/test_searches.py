"""Searches from several starts and cross-validation: the same results in processes as here, to the last bit."""

import numpy as np
import pytest

import thunder_py as th
from thunder_py.identification import optimize_excitation
from thunder_py.manipulation import ElasticWrist, find_releases, optimize_base_and_motor, optimize_base_motion
from thunder_py.motion import FPCA
from thunder_py.recordings.synthetic import minimum_jerk_reaches
from thunder_py.trajectory import MotionLimits

pytestmark = pytest.mark.usefixtures("processes")


def test_cross_validation() -> None:
    motions = minimum_jerk_reaches(12, seed=1)
    here, there = (FPCA(shrinkage="auto").fit(motions, workers=workers) for workers in (1, 2))
    assert here.shrinkage_ == there.shrinkage_
    np.testing.assert_array_equal(here.component_coefficients_, there.component_coefficients_)


def test_exciting_motions() -> None:
    limits = MotionLimits(lower=[-1.0, -1.0], upper=[1.0, 1.0], velocity=3.0)
    robot = th.Robot.load("elbow")
    seen: list[float] = []
    here = optimize_excitation(robot, 5.0, 2, limits=limits, restarts=2, iterations=8)
    there = optimize_excitation(robot, 5.0, 2, limits=limits, restarts=2, iterations=8, workers=2, progress=seen.append)
    np.testing.assert_array_equal(here.reference.a, there.reference.a)
    for a, b in zip(here.history, there.history, strict=True):
        np.testing.assert_array_equal(a, b)
    assert seen == [0.5, 1.0]


def test_releases() -> None:
    robot = th.Robot.load("panda")
    here, there = (find_releases(robot, (1.1, 0.1, -0.4), starts=3, workers=workers) for workers in (1, 2))
    assert len(here) == len(there) > 0
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a.q, b.q)
        np.testing.assert_array_equal(a.dq, b.dq)


def test_motions_of_base_and_motor() -> None:
    wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    here, there = (optimize_base_and_motor(wrist, 0.15, cells=10, starts=2, workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(here.states, there.states)
    options = {"acceleration_limits": [15, 7.5, 10, 12.5, 15, 20, 20], "q_start": [0, -0.3, 0, -2.0, 0, 1.8, 0.8]}
    bases = [
        optimize_base_motion(th.Robot.load("panda"), [1, 0, 1], **options, T=0.3, starts=2, seed=1, workers=workers)  # type: ignore[arg-type]
        for workers in (1, 2)
    ]
    np.testing.assert_array_equal(bases[0].q_release, bases[1].q_release)
