"""Fixed steps against the adaptive reference: their orders are measured."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import thunder_py as th
from thunder_py.simulation import Payload

from ..control.arms import elbow, elbow_motion

PERIOD, DURATION = 1e-2, 0.3


def run(integrator: str, steps: int = 1, **options: object) -> th.Result:
    law = th.SlotineLi(elbow(), 5.0, 8.0, 2.0)
    return th.simulate(
        elbow(), law, elbow_motion(), DURATION, PERIOD / steps, control_period=PERIOD, integrator=integrator, **options
    )  # fmt: skip


@pytest.fixture(scope="module")
def truth() -> th.Result:
    return run("adaptive")


def ratios(integrator: str, truth: th.Result, steps: tuple[int, ...]) -> list[float]:
    errors = [np.abs(run(integrator, count).q - truth.q).max() for count in steps]
    return [coarse / fine for coarse, fine in pairwise(errors)]


def test_runge_kutta_is_of_fourth_order(truth: th.Result) -> None:
    assert ratios("rk4", truth, (1, 2, 4)) == pytest.approx([16.0, 16.0], rel=0.2)


def test_semi_implicit_euler_is_of_first_order(truth: th.Result) -> None:
    assert ratios("semi_implicit_euler", truth, (8, 16, 32)) == pytest.approx([2.0, 2.0], rel=0.1)


def test_the_reference_does_not_depend_on_its_steps(truth: th.Result) -> None:
    finer = run("adaptive", 2)
    np.testing.assert_allclose(finer.q, truth.q, atol=1e-11)
    np.testing.assert_allclose(finer.tau, truth.tau, atol=1e-8)


def test_the_reference_takes_payloads_motors_and_drives() -> None:
    """Everything that has a state of its own goes through it too."""
    parts = {"payloads": Payload(0.5, time=0.1), "actuators": th.Actuators(lag=[0.02, 0.0])}
    exact, fixed = run("adaptive", **parts), run("rk4", 10, **parts)
    np.testing.assert_allclose(fixed.q, exact.q, atol=1e-9)
    np.testing.assert_allclose(fixed.tau, exact.tau, atol=1e-6)
    errors = [np.abs(run("semi_implicit_euler", steps, **parts).q - exact.q).max() for steps in (10, 20)]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)
