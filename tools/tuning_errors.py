"""Tracking errors of adaptive laws whose model is wrong, over those of the same law with a fixed model.

The gains are those of `thunder_py.control.tune` with its defaults, for a model with an error of 15 % in the mass, the
coordinates of the center of mass and the extensions of the inertia of every link, of any sign, over two minutes. The
human arm, whose mass matrix has singular postures, has motors of 0.02 kg m^2, which the model knows.

    python tools/tuning_errors.py [--arms panda gen3] [--laws MACT] [--seeds 1 2] [--period 0.001]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.model.inertia import pseudo_inertia, reg_from_pseudo_inertia
from thunder_py.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.tuning_table import LAWS, joint_motion, task_motion

ARMS = ("cart_pendulum", "elbow", "gen3", "human_arm", "iiwa14", "panda", "scara", "ur5e")
ERROR, DURATION, ARMATURE, LOG_EVERY = 0.15, 120.0, 0.02, 20


def arm(name: str) -> th.Robot:
    """Return a bundled arm without friction."""
    robot = th.Robot.load(name).replace(friction=None)
    return robot.replace(armature=[ARMATURE] * robot.n) if name == "human_arm" else robot


def wrong(robot: th.Robot, seed: int) -> th.Robot:
    """Return a model whose links have other masses and extensions; physical links stay physical."""
    random, parameters = np.random.default_rng(seed), robot.parameters.copy()
    factors = 1.0 + ERROR * random.choice([-1.0, 1.0], (robot.n, 4))
    for link, (mass, *axes) in zip(parameters[: 10 * robot.n].reshape(robot.n, 10), factors, strict=True):
        scale = np.diag([*axes, 1.0])
        link[:] = reg_from_pseudo_inertia(mass * scale @ pseudo_inertia(link) @ scale)
    return robot.with_parameters(parameters)


def errors(name: str, law: type, seed: int, period: float) -> list[float]:
    """Return the errors [rad, or m of the hand] with the fixed model and with adaptation, infinite after divergence."""
    robot, task = arm(name), issubclass(law, th._core.TaskController)
    model = wrong(robot, seed)
    motion, q0 = task_motion(robot, seed) if task else (joint_motion(robot, seed), None)
    start = {"q0": q0} if task else {"q0": motion(0.0).q, "dq0": motion(0.0).dq}
    physical = law is not th.ACT or model.inertial_is_physical().all()  # else its natural law is refused
    found = []
    for kind in ("none", None if physical else "gradient"):
        tuning = th.control.tune(model, law, motion, period=period, q0=q0, adaptation=kind)
        run = th.simulate(
            robot.replace(limits=None), tuning.controller(), motion, DURATION, period, log_every=LOG_EVERY, **start
        )
        found.append(run.rmse(slice(0, 3) if task else None))
    return found


def main() -> None:
    """Print the ratio of adaptive to fixed of each arm and law, the largest of all seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="*", default=ARMS, choices=ARMS)
    parser.add_argument("--laws", nargs="*", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--seeds", nargs="*", type=int, default=[1], help="of model and motion")
    parser.add_argument("--period", type=float, default=1e-3, help="[s]")
    options = parser.parse_args()
    rows = []
    for name in options.arms:
        row: list[object] = [name]
        for law in options.laws:
            seeds = [] if issubclass(LAWS[law], th._core.TaskController) and arm(name).n < 6 else options.seeds
            pairs = [errors(name, LAWS[law], seed, options.period) for seed in seeds]
            row.append(max((adaptive / fixed for fixed, adaptive in pairs), default=None))
        print(*row, file=sys.stderr, flush=True)
        rows.append(row)
    print(Table(["adaptive / fixed", *options.laws], rows, digits=2).to_markdown())


if __name__ == "__main__":
    main()
