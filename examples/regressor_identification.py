"""Identify the parameters of an arm from torques by least squares: ``python examples/regressor_identification.py``.

Torque is linear in the parameters, tau = Y(q, dq, ddq) pi, but not every parameter acts on it. The base parameters are
the combinations that do; with them the regression has a unique answer.
"""

from __future__ import annotations

import numpy as np

import thunder_py as th


def excite(robot: th.Robot, seconds: float, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Sum of five sines in every joint, with its derivatives, each (samples, n)."""
    t = np.arange(0.0, seconds, 1.0 / rate)[:, None, None]
    w = 2.0 * np.pi * 0.1 * np.arange(1, 6)  # [rad/s]
    a, phase = rng.uniform(-0.4, 0.4, (robot.n, 5)), rng.uniform(0.0, 2.0 * np.pi, (robot.n, 5))
    angle = w * t + phase
    q = (a * np.sin(angle)).sum(axis=-1)
    dq = (a * w * np.cos(angle)).sum(axis=-1)
    ddq = (-a * w**2 * np.sin(angle)).sum(axis=-1)
    return q, dq, ddq


def main() -> None:
    """Simulate a measurement, identify, predict another motion."""
    rng = np.random.default_rng(0)
    robot = th.Robot.load("ur5e")
    base = robot.base_parameters()
    print(f"{robot.name}: {robot.p} parameters, {base.count} base parameters")

    noise = 0.05  # [N m]
    q, dq, ddq = excite(robot, seconds=20.0, rate=100.0, rng=rng)
    tau = robot.inverse_dynamics(q, dq, ddq) + noise * rng.standard_normal(q.shape)
    Y = robot.regressor(q, dq, ddq)[..., base.independent]
    W = Y.reshape(-1, base.count)
    estimate, *_ = np.linalg.lstsq(W, tau.ravel(), rcond=None)
    print(f"condition number of the regression {np.linalg.cond(W / np.linalg.norm(W, axis=0)):.0f}")

    truth = base.mapping @ robot.parameters
    deviation = noise * np.sqrt(np.diag(np.linalg.inv(W.T @ W)))
    inside = np.mean(np.abs(estimate - truth) < 2.0 * deviation)
    print(f"within two standard deviations of the truth: {100 * inside:.0f} % of the base parameters")

    q, dq, ddq = excite(robot, seconds=5.0, rate=100.0, rng=rng)
    error = robot.regressor(q, dq, ddq)[..., base.independent] @ estimate - robot.inverse_dynamics(q, dq, ddq)
    print(f"another motion predicted to {np.sqrt(np.mean(error**2)):.3f} N m rms, noise was {noise} N m")


if __name__ == "__main__":
    main()
