"""Long runs of the laws in task space along a Lissajous curve, with and without a posture for the null space.

A task does not determine where the elbow of a redundant arm is. Without a posture it drifts until the arm is singular.
`python examples/null_space_drift.py [seconds]` prints a table, by default of 60 s; 600 s take some minutes. The law
in Python, whose unknown lengths begin with their true values, runs for 60 s at most.
"""

from __future__ import annotations

import sys

import numpy as np

import thunder_py as th

STIFFNESS, DAMPING = [400] * 3 + [40] * 3, [20] * 4 + [5, 5, 3]
Q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])


def laws(robot: th.Robot, posture: str | None) -> dict[str, th._core.TaskController]:
    """Return the laws of docs/controllers.md, with the true model."""
    lengths = th.control.LengthAdaptation(2000.0, unknown=["d_3", "d_5"], gamma=2000.0, Gamma_torque=1.0)
    measured = {"lengths": lengths, "measure": th.control.ExactPosition(robot)}
    backstepping = (robot, 5, [100] * 3 + [20] * 3, DAMPING)
    return {
        "OperationalSpace": th.OperationalSpace(robot, 100, 20, 2, K_integral=200, posture=posture),
        "CartesianComputedTorque": th.CartesianComputedTorque(robot, 100, 20, 2, posture=posture),
        "Impedance": th.Impedance(robot, STIFFNESS, [60] * 3 + [2, 2, 1], 2, posture=posture),
        "Backstepping": th.Backstepping(*backstepping, adaptation=None, posture=posture),
        "CartesianMACT": th.CartesianMACT(robot, STIFFNESS, DAMPING, adaptation=None, posture=posture),
        "AdaptiveJacobianBackstepping": th.AdaptiveJacobianBackstepping(
            *backstepping, adaptation=None, posture=posture, **measured
        ),
    }


def row(robot: th.Robot, run: th.SimulationResult) -> list[str]:
    """Return the time of the first singular step, the largest condition number and the largest error at the end."""
    singular = run.t[run.status == th.control.Status.singular]
    J = robot.jacobian(run.q)
    condition = np.linalg.norm(J, axis=(1, 2)) * np.linalg.norm(np.linalg.pinv(J), axis=(1, 2))
    error = 1e3 * run.error_norm(slice(0, 3))[len(run.t) // 2 :].max()
    return [
        f"{singular[0]:.0f} s" if singular.size else "no",
        f"{condition.max():.0f}",
        f"{error:.2f}",
    ]


def main(duration: float = 60.0) -> None:
    """Print the table."""
    robot = th.Robot.load("panda")
    curve = th.reference.Lissajous.starting_at(robot.forward_kinematics(Q0), (0.1, 0.15, 0.1), (0.2, 0.1, 0.4))
    print("| law | posture | singular | largest condition | error in the second half [mm] |")
    print("|---|---|---|---|---|")
    for posture in (None, "middle"):
        for name, law in laws(robot, posture).items():
            run = th.simulate(robot, law, curve, duration, q0=Q0, log_every=50)
            print(f"| {name} | {posture} | {' | '.join(row(robot, run))} |")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
