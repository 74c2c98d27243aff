"""Fastest swing-up of an arm whose motors are too weak to lift it, by CasADi and IPOPT: docs/optimal_control.md.

`python examples/swing_up.py [picture.png]`. The arm swings from the equilibrium below to the one above. The problem has
several local minima: it is solved from several guesses of the duration, and the fastest motion is simulated.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import casadi
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import root

import thunder_py as th

LIMITS = np.array([10.0, 4.0])  # [N m]; carrying the arm horizontally takes 22.6 and 4.5


class Plan(NamedTuple):
    """Duration [s], states (q, dq) at the nodes (N + 1, 4), torques that are constant between them (N, 2)."""

    duration: float
    states: np.ndarray
    tau: np.ndarray


def integrator(robot: th.Robot, steps: int = 2) -> casadi.Function:
    """Return the state after a time h with constant torque, by steps of the classical Runge-Kutta method."""
    model, n = robot.symbolic(), robot.n
    forward_dynamics = model.to_casadi(model.forward_dynamics(), "FD")
    x, tau, h = casadi.SX.sym("x", 2 * n), casadi.SX.sym("tau", n), casadi.SX.sym("h")
    end = x
    for _ in range(steps):
        slope, change = casadi.SX(2 * n, 1), 0.0
        for forward, weight in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            at = end + forward * h / steps * slope
            slope = casadi.vertcat(at[n:], forward_dynamics(at[:n], at[n:], tau))
            change += weight * h / steps * slope
        end += change
    return casadi.Function("integrator", [x, tau, h], [end])


def swing_up(robot: th.Robot, begin: np.ndarray, end: np.ndarray, guess: float, nodes: int = 100) -> Plan | None:
    """Minimize the duration between states of rest, by multiple shooting from a straight line; None if that fails."""
    n, problem = robot.n, casadi.Opti()
    duration, x, tau = problem.variable(), problem.variable(2 * n, nodes + 1), problem.variable(n, nodes)
    problem.minimize(duration)
    problem.subject_to(x[:, 1:] == integrator(robot).map(nodes)(x[:, :-1], tau, duration / nodes))
    problem.subject_to(x[:, 0] == np.hstack([begin, 0.0 * begin]))
    problem.subject_to(x[:, -1] == np.hstack([end, 0.0 * end]))
    for k in range(n):
        problem.subject_to(problem.bounded(-LIMITS[k], tau[k, :], LIMITS[k]))
    problem.subject_to(duration >= 0.1)
    problem.set_initial(duration, guess)
    problem.set_initial(x[:n, :], np.linspace(begin, end, nodes + 1).T)
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 500})
    try:
        solution = problem.solve()
    except RuntimeError:  # no solution
        return None
    return Plan(float(solution.value(duration)), solution.value(x).T, solution.value(tau).T)


class Replay:
    """The torques of a plan, without feedback."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.period = plan, plan.duration / len(plan.tau)

    def step(self, t, q, dq, reference):
        """Return the torque of the interval that begins at t; at the end that of the last one."""
        return self.plan.tau[min(round(t / self.period), len(self.plan.tau) - 1)]


def main(picture: str | None = None, guesses: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0), nodes: int = 100) -> Plan:
    """Plan, simulate and print; return the plan."""
    robot = th.Robot.load("elbow")
    down, up = (root(robot.gravity_vector, [angle, 0.0]).x for angle in (-np.pi / 2, np.pi / 2))
    plans = [plan for guess in guesses if (plan := swing_up(robot, down, up, guess, nodes)) is not None]
    if not plans:
        raise RuntimeError(f"no solution from the guesses {guesses} of the duration: try others, or more nodes")
    print("durations of the local minima", ", ".join(f"{plan.duration:.3f}" for plan in plans), "s")
    plan = min(plans, key=lambda p: p.duration)
    law, rest = Replay(plan), th.reference.SetPoint(up)
    run = th.simulate(robot, law, rest, plan.duration, law.period / 20, control_period=law.period, q0=down)
    share = (np.abs(plan.tau) > 0.99 * LIMITS).mean()
    print(f"at a limit in {100 * share:.0f} % of the time; largest torques {np.abs(run.tau).max(axis=0).round(3)} N m")
    print(
        f"simulated, it arrives within {np.abs(run.q[-1] - up).max():.1e} rad and {np.abs(run.dq[-1]).max():.1e} rad/s"
    )
    if picture is not None:
        figure, axes = plt.subplots(2, sharex=True, layout="constrained")
        axes[0].plot(run.t, run.q, label=robot.joint_names)
        axes[0].set_ylabel("position [rad]")
        axes[1].plot(run.t, run.tau, drawstyle="steps-post", label=robot.joint_names)
        axes[1].set(ylabel="torque [N m]", xlabel="time [s]")
        axes[0].legend()
        figure.savefig(picture)
    return plan


if __name__ == "__main__":
    main(*sys.argv[1:2])
