"""Time a step of `simulate` with joint friction that is stiff for it, beside one with friction that is not.

Usage: python benchmarks/friction.py [ARM ...]; prints a table in Markdown.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import thunder_py as th

#: viscous [N m s/rad] and Coulomb friction [N m] of every joint; the first is integrated by the explicit method
FRICTION = ((1e-6, 1e-6), (0.1, 0.05), (0.4, 0.9), (2.0, 5.0))
STEPS, ROUNDS = 2000, 9


def rubbing(name: str, viscous: float, coulomb: float) -> th.Robot:
    """Return an arm with the same friction at every joint."""
    robot = th.Robot.load(name)
    coefficients = [[viscous, coulomb]] * robot.n
    return robot.replace(friction=th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients))


def step_time(robot: th.Robot, dt: float) -> float:
    """Return the time of a step under computed torque [us]."""
    lower, upper = (np.clip(bound, -2.0, 2.0) for bound in (robot.limits.lower, robot.limits.upper))
    motion = th.reference.Sinusoid([0.3] * robot.n, 0.5, center=0.5 * (lower + upper))
    law, start = th.ComputedTorque(robot, K_0=100.0, K_1=20.0), motion(0.0)
    begin = perf_counter()
    th.simulate(robot, law, motion, STEPS * dt, dt, q0=start.q, dq0=start.dq, log_every=100)
    return 1e6 * (perf_counter() - begin) / STEPS


def main(names: list[str]) -> None:
    """Measure in turn, so that a drift of the machine's speed meets all alike; the fastest round counts."""
    print("| arm | dt [ms] | viscous, Coulomb | step [us] | ratio |\n|---|---|---|---|---|")
    for name in names:
        for dt in (1e-3, 2e-3, 5e-3):
            arms = [rubbing(name, *friction) for friction in FRICTION]
            times = np.min([[step_time(arm, dt) for arm in arms] for _ in range(ROUNDS)], axis=0)
            for friction, time in zip(FRICTION, times, strict=True):
                row = (
                    name,
                    f"{1e3 * dt:g}",
                    f"{friction[0]:g}, {friction[1]:g}",
                    f"{time:.2f}",
                    f"{time / times[0]:.2f}",
                )
                print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main(sys.argv[1:] or ["panda", "ur5e", "iiwa14"])
