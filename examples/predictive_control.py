"""Model predictive control of a Panda, pushed at its hand, with crocoddyl: docs/optimal_control.md.

`python examples/predictive_control.py [picture.png]` prints errors and solve times with the action model of
`reach_crocoddyl.py` and with crocoddyl's own. `pip install crocoddyl "pin<4.1"`.
"""

from __future__ import annotations

import sys
import time

import crocoddyl
import matplotlib.pyplot as plt
import numpy as np
from reach_crocoddyl import DT, NODES, START, Reach, own_model, problem, solved

import thunder_py as th

PERIOD = 0.01  # between two solutions [s]


class PredictiveControl:
    """An iteration of BoxFDDP (FDDP with limits of torques) every `PERIOD`; the plan's feedback in all steps."""

    def __init__(self, robot: th.Robot, model, last) -> None:
        self.solver = solved(crocoddyl.SolverBoxFDDP(problem(robot, [model] * NODES, last)), robot)
        self.times, self.next = [], 0.0

    def step(self, t, q, dq, reference):
        """Return the torque."""
        x, solver = np.hstack([q, dq]), self.solver
        if t > self.next - 1e-9:
            begin = time.perf_counter()
            solver.problem.x0 = x
            solver.solve(list(solver.xs), list(solver.us), 1, False)
            self.times.append(1e3 * (time.perf_counter() - begin))
            self.next = t + PERIOD
        part = (t - self.next + PERIOD) / DT  # of the way between the first two nodes
        return solver.us[0] - solver.K[0] @ (x - (1.0 - part) * solver.xs[0] - part * solver.xs[1])


def main(picture: str | None = None, duration: float = 3.0) -> dict[str, th.SimulationResult]:
    """Run the loop with both models, print and return the runs."""
    robot = th.Robot.load("panda")
    target, limits = robot.forward_kinematics(START)[:3, 3] + [0.1, 0.3, 0.2], robot.limits.effort
    push = th.ExternalWrench([0, -60.0, 0, 0, 0, 0], start=duration / 2, stop=duration / 2 + 0.1)
    models = {
        "ours": (Reach(robot, target), Reach(robot, target)),
        "crocoddyl's own": (own_model(robot, target), own_model(robot, target, last=True)),
    }
    runs, distances = {}, {}
    for name, (model, last) in models.items():
        law, rest = PredictiveControl(robot, model, last), th.reference.SetPoint(START)
        runs[name] = run = th.simulate(robot, law, rest, duration, external=push, torque_limits=limits)
        distances[name] = off = 1e3 * np.linalg.norm(robot.forward_kinematics(run.q)[:, :3, 3] - target, axis=1)
        before, median, slow = run.t < push.start, np.median(law.times), np.percentile(law.times, 99)
        print(
            f"{name:15} {off[before][-1]:.2f} mm off, {off[~before].max():.0f} when pushed, {off[-1]:.2f} at the end; "
            f"{len(law.times)} solutions, median {median:.2f} ms, 99 % {slow:.2f} ms"
        )
    if picture is not None:
        figure, axes = plt.subplots(2, sharex=True, layout="constrained")
        axes[0].semilogy(run.t, distances["ours"])
        axes[0].set_ylabel("distance from the target [mm]")
        axes[1].plot(run.t, runs["ours"].tau / limits, label=robot.joint_names)
        axes[1].set(xlabel="time [s]", ylabel="torques / limits")
        axes[1].legend(ncols=2)
        figure.savefig(picture)
    return runs


if __name__ == "__main__":
    main(*sys.argv[1:2])
