"""Friction that is stiff for the step, against SciPy's Radau with the same sampled law."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import thunder_py as th
from thunder_py.control import Status
from thunder_py.integration import rk4_step
from thunder_py.robot import Friction

from ..control.arms import elbow, elbow_motion

POSTURE = np.array([0.1, -0.9, 0.6, -1.5, 0.4, 0.8, 0.2])


def rubbing(name: str, viscous: float, coulomb: float, wrist: float = 1.0) -> th.Robot:
    """An arm with friction at all joints, whose links from the fourth on have a part of their inertia."""
    robot = th.Robot.load(name)
    parameters = robot.parameters.copy()
    parameters[30 : 10 * robot.n] *= wrist
    friction = Friction(terms=("viscous", "coulomb"), coefficients=[[viscous, coulomb]] * robot.n)
    return robot.with_parameters(parameters).replace(friction=friction)


def motion_of(robot: th.Robot) -> th.reference.Sinusoid:
    return th.reference.Sinusoid([0.3] * robot.n, 0.9, center=POSTURE[: robot.n])


def law_of(kind: str, robot: th.Robot) -> Any:
    if kind == "pd":
        return th.PDGravity(robot, K_p=100.0, K_d=1.0)
    return th.ComputedTorque(robot.replace(friction=None) if kind == "frictionless" else robot, K_0=100.0, K_1=20.0)


def radau(
    acceleration: Callable[..., Any], law: Callable[..., Any], start: np.ndarray, period: float, steps: int
) -> np.ndarray:
    """States at the start of each period, of x' = (velocities, acceleration(x, torque)) with the torque held."""
    half, states = len(start) // 2, [start]
    for k in range(steps):
        tau = np.array(law(k * period, states[-1]))

        def rate(_: float, x: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
            rows = x.T
            ddq = acceleration(rows, np.broadcast_to(tau, (len(rows), len(tau))))
            return np.concatenate([rows[:, half:], ddq], axis=1).T

        end = solve_ivp(
            lambda t, x, rate=rate: rate(t, x if x.ndim == 2 else x[:, None]).reshape(x.shape),
            (0.0, period), states[-1], method="Radau", rtol=1e-10, atol=1e-12, vectorized=True,
        )  # fmt: skip
        assert end.success
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize(
    ("integrator", "name", "wrist", "viscous", "coulomb", "kind", "dt"),
    [
        ("rk4", "elbow", 1.0, 2.0, 5.0, "pd", 5e-3),
        ("implicit_midpoint", "elbow", 1.0, 0.0, 5.0, "frictionless", 2e-3),
        ("rk4", "ur5e", 1.0, 2.0, 0.0, "exact", 5e-3),
        ("implicit_midpoint", "ur5e", 0.1, 0.4, 0.9, "exact", 5e-3),
        ("rk4", "panda", 1.0, 0.0, 0.5, "frictionless", 5e-3),
    ],
)
def test_stiff_friction_agrees_with_radau(
    integrator: Any, name: str, wrist: float, viscous: float, coulomb: float, kind: str, dt: float
) -> None:
    robot, steps = rubbing(name, viscous, coulomb, wrist), 8
    motion, n = motion_of(robot), robot.n
    start, law = motion(0.0), law_of(kind, robot)
    run = th.simulate(
        robot, law_of(kind, robot), motion, steps * dt, dt, q0=start.q, dq0=start.dq, integrator=integrator
    )  # fmt: skip
    exact = radau(
        lambda x, tau: robot.forward_dynamics(x[:, :n], x[:, n:], tau),
        lambda t, x: law.step(t, x[:n], x[n:], motion(t)),
        np.concatenate([start.q, start.dq]), dt, steps,
    )  # fmt: skip
    q_d = np.array([motion(t).q for t in run.t])
    rmse = np.sqrt(np.mean(np.sum((exact[:, :n] - q_d) ** 2, axis=1)))
    assert run.rmse() == pytest.approx(rmse, rel=0.01)
    assert np.abs(run.dq).max() == pytest.approx(np.abs(exact[:, n:]).max(), rel=0.01)


def test_motors_with_stiff_damping_agree_with_radau() -> None:
    drive = th.robot.Elastic(joint=2, K=(300.0,), D=(0.5,), Dm=(40.0,), Mm=0.02)
    robot = rubbing("elbow", 0.5, 1.0).replace(elastic=(drive,))
    q0, tau, dt, steps = np.array([0.3, -0.4]), np.array([3.0, 9.0]), 2e-3, 40
    idle = SimpleNamespace(step=lambda *_: tau)
    run = th.simulate(robot, idle, th.reference.SetPoint(q0), steps * dt, dt, q0=q0)
    start = np.concatenate([q0, run.x[0], np.zeros(3)])
    exact = radau(
        lambda y, tau: robot.elastic_forward_dynamics(y[:, :2], y[:, 3:5], y[:, 2:3], y[:, 5:], tau),
        lambda t, y: tau, start, dt, steps,
    )  # fmt: skip
    moved = np.abs(exact[-1, :3] - start[:3])
    assert np.abs(run.q[-1] - exact[-1, :2]).max() < 0.01 * moved.max()
    assert np.abs(run.x[-1] - exact[-1, 2:3]).max() < 0.01 * moved.max()


@pytest.mark.parametrize("friction", [None, (0.5, 0.02)])
def test_without_stiff_friction_steps_are_those_of_runge_kutta(friction: tuple[float, float] | None) -> None:
    """To the rounding of NumPy's sums; with friction the slowest decay of a step is 0.6."""
    robot = rubbing("elbow", *friction) if friction else elbow().replace(friction=None)
    tau, x, dt = np.array([0.7, -0.2]), np.array([0.3, -0.4, 1.0, -2.0]), 1e-3
    run = th.simulate(
        robot, SimpleNamespace(step=lambda *_: tau), elbow_motion(), 20 * dt, dt, q0=x[:2], dq0=x[2:]
    )  # fmt: skip
    for k in range(20):
        x = rk4_step(
            lambda t, x: np.concatenate([x[2:], robot.forward_dynamics(x[:2], x[2:], tau)]), 0.0, x, dt
        )  # fmt: skip
        np.testing.assert_allclose(np.concatenate([run.q[k + 1], run.dq[k + 1]]), x, rtol=1e-13, atol=1e-14)


def test_a_diverged_run_warns_with_time_joint_and_cause() -> None:
    law = SimpleNamespace(step=lambda t, q, dq, reference: np.array([0.0, -3000.0 * dq[1]]))
    message = r"^the run diverged after t = 0\.\d+ s, first 'joint2', .*: the controller's torque grew to"
    with pytest.warns(RuntimeWarning, match=message):
        run = th.simulate(elbow(), law, elbow_motion(), 1.0, 1e-3, q0=[0.3, -0.4], dq0=[0.0, 0.1])
    assert run.status[-1] == Status.diverged


def test_a_sweep_records_divergence_without_warning() -> None:
    law = SimpleNamespace(step=lambda t, q, dq, reference: np.array([0.0, -3000.0 * dq[1]]))
    spec = th.RunSpec(elbow(), law, elbow_motion(), 1.0, 1e-3, q0=[0.3, -0.4], dq0=[0.0, 0.1])
    runs = th.simulate_many([spec], metrics={"ended": lambda run: run.diverged})
    assert runs.columns(["ended"]) == {"ended": [True]}
