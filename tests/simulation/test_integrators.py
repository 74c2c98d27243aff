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


@pytest.mark.filterwarnings("ignore:the run (diverged|means nothing):RuntimeWarning")
@pytest.mark.parametrize(
    ("plant", "controller", "options"),
    [
        pytest.param(elbow(), IDLE, {"external": ExternalWrench([1e305, 0, 0, 0, 0, 0])}, id="a push that overflows"),
        pytest.param(elbow(), SimpleNamespace(step=_nan), {}, id="a controller's NaN"),
        pytest.param(elbow(), SimpleNamespace(step=_later), {}, id="a controller's NaN later"),
        pytest.param(SimpleNamespace(n=2, forward_dynamics=_nan), IDLE, {}, id="a plant's NaN"),
        pytest.param(SimpleNamespace(n=2, forward_dynamics=_beyond), IDLE, {}, id="a plant's NaN within a step"),
        pytest.param(th.Robot.from_dh(np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))), IDLE, {}, id="no mass"),
    ],
)
def test_what_cannot_be_integrated_has_diverged(plant: Any, controller: Any, options: dict[str, Any]) -> None:
    for integrator in ("rk4", "semi_implicit_euler", "adaptive"):
        result = th.simulate(
        plant, controller, elbow_motion(), 0.1, 1e-2, q0=[0.0, 0.0], integrator=integrator, **options
    )  # fmt: skip
        assert result.status[-1] == Status.diverged
        assert (result.status[:-1] == Status.ok).all()
        assert np.isfinite(result.q).all()
        assert len(result.t) <= 7


# --- the implicit midpoint rule ---------------------------------------------------------------------------------------


def test_implicit_midpoint_is_of_second_order(truth: th.SimulationResult) -> None:
    assert ratios("implicit_midpoint", truth, (2, 4, 8)) == pytest.approx([4.0, 4.0], rel=0.1)


def free_arm(name: str) -> th.Robot:
    """A robot without friction and limits."""
    return th.Robot.load(name).replace(friction=None, limits=None)


def energy_errors(robot: th.Robot, integrator: str, duration: float, dt: float, **options: Any) -> np.ndarray:
    """Energy minus that at the start [J] of an arm that is let go, to the end of the run."""
    q0 = np.array([0.1, -0.5, 0.2, -1.5, 0.3, 1.2, 0.4, 0.1])[: robot.n]
    controller = SimpleNamespace(step=lambda t, q, dq, reference: np.zeros(robot.n))
    run = th.simulate(
        robot, controller, th.reference.SetPoint(q0), duration, dt, q0=q0, integrator=integrator, **options
    )  # fmt: skip
    energy = robot.kinetic_energy(run.q, run.dq) + robot.potential_energy(run.q)
    return np.abs(energy - energy[0])


@pytest.mark.parametrize(("name", "dt"), [("ur5e", 1e-3), ("cart_pendulum", 5e-3)])
def test_energy_of_the_implicit_midpoint_rule_stays_bounded(name: str, dt: float) -> None:
    """Over 10 000 steps the error of the second half is not larger than that of the first, up to its fluctuation."""
    errors = energy_errors(free_arm(name), "implicit_midpoint", 10_000 * dt, dt, log_every=10)
    assert len(errors) == 1001
    assert errors[500:].max() < 3.0 * errors[:500].max()


def test_a_step_of_the_midpoint_rule_obeys_its_equations() -> None:
    """p = M dq at both ends, q1 - q0 = dt v, p1 - p0 = dt dL/dq + dt tau at the midpoint, by finite differences."""
    robot, dt, q0, v0 = free_arm("elbow"), 0.02, np.array([0.3, -0.4]), np.array([1.0, -2.0])
    tau = np.array([0.7, -0.2])
    controller = SimpleNamespace(step=lambda t, q, dq, reference: tau)
    run = th.simulate(robot, controller, elbow_motion(), dt, dt, q0=q0, dq0=v0, integrator="implicit_midpoint")
    q1, v1 = run.q[1], run.dq[1]
    v, middle = (q1 - q0) / dt, 0.5 * (q0 + q1)

    def lagrangian(q: np.ndarray) -> float:
        return float(np.sum(robot.kinetic_energy(q, v) - robot.potential_energy(q)))

    steps = 1e-5 * np.eye(2)
    slope = [(lagrangian(middle + step) - lagrangian(middle - step)) / 2e-5 for step in steps]
    p0, p1, p = robot.mass_matrix(q0) @ v0, robot.mass_matrix(q1) @ v1, robot.mass_matrix(middle) @ v
    np.testing.assert_allclose(0.5 * (p0 + p1), p, atol=1e-12)
    np.testing.assert_allclose(p1 - p0, dt * (slope + tau), atol=1e-9)


class Around:
    """A plant written in Python around a robot."""

    def __init__(self, model: th.Robot, forward_dynamics: Any = None) -> None:
        self.n, self.mass_matrix = model.n, model.mass_matrix
        self.forward_dynamics = forward_dynamics or model.forward_dynamics
        self.mass_matrix_dot = model.mass_matrix_dot


def test_the_midpoint_rule_takes_plants_in_python_and_drives() -> None:
    options: dict[str, Any] = {"q0": [0.3, -0.4], "integrator": "implicit_midpoint"}
    native, python = (
        th.simulate(plant, IDLE, elbow_motion(), 0.1, 5e-3, **options) for plant in (elbow(), Around(elbow()))
    )
    np.testing.assert_allclose(python.q, native.q, rtol=0, atol=1e-13)
    parts = {"payloads": Payload(0.5, time=0.1), "actuators": th.Actuators(lag=[0.02, 0.0])}
    exact = run("adaptive", **parts)
    errors = [np.abs(run("implicit_midpoint", steps, **parts).q - exact.q).max() for steps in (4, 8)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_plants_without_a_mass_matrix_are_refused() -> None:
    plant = SimpleNamespace(n=2, forward_dynamics=elbow().forward_dynamics, mass_matrix=elbow().mass_matrix)
    message = (
        "^plant must have mass_matrix and mass_matrix_dot for integrator='implicit_midpoint', "
        "got SimpleNamespace without mass_matrix_dot$"
    )
    with pytest.raises(ValueError, match=message):
        th.simulate(plant, IDLE, elbow_motion(), 0.1, integrator="implicit_midpoint")


@pytest.mark.filterwarnings("ignore:the run (diverged|means nothing):RuntimeWarning")
def test_a_step_without_a_solution_has_diverged() -> None:
    run = th.simulate(
        elbow(), IDLE, elbow_motion(), 10.0, 1.0, q0=[0.3, -0.4], dq0=[30.0, -50.0], integrator="implicit_midpoint"
    )  # fmt: skip
    assert run.status[-1] == Status.diverged
    assert np.isfinite(run.q).all()
