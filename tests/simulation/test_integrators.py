"""Fixed steps against the adaptive reference: their orders are measured."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import thunder_py as th
from thunder_py.control import Status
from thunder_py.simulation import ExternalWrench, Payload

from ..control.arms import elbow, elbow_motion

PERIOD, DURATION = 1e-2, 0.3


def run(integrator: str, steps: int = 1, **options: object) -> th.SimulationResult:
    law = th.SlotineLi(elbow(), 5.0, 8.0, adaptation=2.0)
    return th.simulate(
        elbow(), law, elbow_motion(), DURATION, PERIOD / steps, control_period=PERIOD, integrator=integrator, **options
    )  # fmt: skip


@pytest.fixture(scope="module")
def truth() -> th.SimulationResult:
    return run("adaptive")


def ratios(integrator: str, truth: th.SimulationResult, steps: tuple[int, ...]) -> list[float]:
    errors = [np.abs(run(integrator, count).q - truth.q).max() for count in steps]
    return [coarse / fine for coarse, fine in pairwise(errors)]


def test_runge_kutta_is_of_fourth_order(truth: th.SimulationResult) -> None:
    assert ratios("rk4", truth, (1, 2, 4)) == pytest.approx([16.0, 16.0], rel=0.2)


def test_semi_implicit_euler_is_of_first_order(truth: th.SimulationResult) -> None:
    assert ratios("semi_implicit_euler", truth, (8, 16, 32)) == pytest.approx([2.0, 2.0], rel=0.1)


def test_the_reference_does_not_depend_on_its_steps(truth: th.SimulationResult) -> None:
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


def _nan(*_: object) -> np.ndarray:
    return np.full(2, np.nan)


def _later(t: float, *_: object) -> np.ndarray:
    return np.zeros(2) if t < 0.05 else _nan()


def _beyond(q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Fall, and have no acceleration below a height."""
    return np.array([-9.81, 0.0]) if q[0] > -0.01 else _nan()


IDLE = SimpleNamespace(step=lambda *_: np.zeros(2))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler", "adaptive"])
@pytest.mark.parametrize(
    ("plant", "controller", "options"),
    [
        pytest.param(elbow(), IDLE, {"external": ExternalWrench([1e300, 0, 0, 0, 0, 0])}, id="a push that overflows"),
        pytest.param(elbow(), SimpleNamespace(step=_nan), {}, id="a controller's NaN"),
        pytest.param(elbow(), SimpleNamespace(step=_later), {}, id="a controller's NaN later"),
        pytest.param(SimpleNamespace(n=2, forward_dynamics=_nan), IDLE, {}, id="a plant's NaN"),
        pytest.param(SimpleNamespace(n=2, forward_dynamics=_beyond), IDLE, {}, id="a plant's NaN within a step"),
        pytest.param(th.Robot.from_dh(np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))), IDLE, {}, id="no mass"),
    ],
)
def test_what_cannot_be_integrated_has_diverged(
    integrator: str, plant: Any, controller: Any, options: dict[str, Any]
) -> None:
    result = th.simulate(
        plant, controller, elbow_motion(), 0.1, 1e-2, q0=[0.0, 0.0], integrator=integrator, **options
    )  # fmt: skip
    assert result.status[-1] == Status.diverged
    assert (result.status[:-1] == Status.ok).all()
    assert np.isfinite(result.q).all()
    assert len(result.t) <= 7
