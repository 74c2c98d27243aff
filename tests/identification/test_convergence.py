"""Adaptive control learns the parameters with persistent excitation, and need not without."""

from __future__ import annotations

import numpy as np
import pytest

from tests.control.arms import elbow
from thunder_py.identification import MotionLimits, adaptation_convergence, optimize_excitation
from thunder_py.reference import SetPoint


@pytest.fixture(scope="module")
def runs():
    nominal = elbow().replace(inertial=0.5 * elbow().inertial)
    exciting = optimize_excitation(elbow(), 4.0, 3, limits=MotionLimits.of(elbow(), fraction=0.5), restarts=1).reference
    options = {"duration": 30.0, "window": 4.0, "K_d": 15.0, "adaptation": 1.0}
    return (
        adaptation_convergence(elbow(), nominal, exciting, **options),
        adaptation_convergence(elbow(), nominal, SetPoint(exciting(0.0).q), **options),
    )


def test_tracking_needs_no_excitation_and_estimation_does(runs):
    exciting, still = runs
    for run in runs:
        assert run.result.steady_state_error() < 1e-3 + 0.01 * run.result.error_norm().max()
    assert exciting.parameter_error[-1] < 0.02
    assert still.parameter_error[-1] > 0.3
    assert exciting.excitation.l1 > 1e-2 * exciting.excitation.l2
    assert still.excitation.l1 <= 1e-12 * still.excitation.l2


def test_errors_are_relative_to_their_start(runs):
    for run in runs:
        assert run.parameter_error[0] == 1.0
        assert run.parameter_error.shape == run.result.t.shape
        assert np.isfinite(run.parameter_error).all()
