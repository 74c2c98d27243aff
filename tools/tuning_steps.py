"""Peak speeds on steps with the gains of `thunder_py.control.tune`, over those of the same law with a fixed model.

SlotineLi gets steps of all joints of 0.05 and 0.15 rad, Backstepping steps of the hand of 0.05 and 0.12 m, each from
several postures, without and with an unknown load of 1 kg. The rules were made with the arms marked *.

    python tools/tuning_steps.py [--arms gen3 z1] [--armature 0 0.02]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.tuning_table import USED, arms, position_range, regular_postures

POSTURES, LOAD = 6, th.Payload(1.0, (0.0, 0.0, 0.08))
Case = tuple[np.ndarray, object]  # start, reference


def joint_cases(robot: th.Robot, step: float) -> list[Case]:
    """Return steps of all joints, in random directions."""
    random = np.random.default_rng(11)
    low, high = position_range(robot)
    starts = random.uniform(0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high, (POSTURES, robot.n))
    signs = np.sign(random.normal(size=starts.shape))
    return [(q, th.reference.SetPoint(q + step * sign)) for q, sign in zip(starts, signs, strict=True)]


def task_cases(robot: th.Robot, step: float) -> list[Case]:
    """Return steps of the hand from postures away from singularities."""
    random = np.random.default_rng(5)
    starts = regular_postures(robot, random)[: 10 * POSTURES : 10]
    poses = robot.forward_kinematics(starts)
    direction = random.normal(size=(POSTURES, 3))
    poses[:, :3, 3] += step * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    return [(start, th.reference.SetPose(pose)) for start, pose in zip(starts, poses, strict=True)]


LAWS: dict[type, tuple[Callable[[th.Robot, float], list[Case]], tuple[float, float]]] = {
    th.SlotineLi: (joint_cases, (0.05, 0.15)),
    th.Backstepping: (task_cases, (0.05, 0.12)),
}


def peak(robot: th.Robot, law: object, case: Case, loaded: bool) -> float:
    """Return the largest joint speed of a second [rad/s], infinite where the run diverges."""
    law.reset()
    payloads = [LOAD] if loaded else []
    run = th.simulate(robot, law, case[1], 1.0, q0=case[0], dt=1e-3, payloads=payloads)
    return np.inf if run.diverged else float(np.abs(run.dq).max())


def ratio(robot: th.Robot, law: type, step: float) -> float:
    """Return the largest ratio of peak speeds, with adaptation over without."""
    fixed, adaptive = (
        th.control.tune(robot, law, period=1e-3, adaptation=kind).controller() for kind in ("none", "gradient")
    )
    cases = LAWS[law][0](robot, step)
    speeds = [(peak(robot, adaptive, c, load), peak(robot, fixed, c, load)) for c in cases for load in (False, True)]
    return max(a / f for a, f in speeds)


def main() -> None:
    """Print one table per law: a row for each arm, a column for each step and armature."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="*", default=[*USED, "gen3", "kinova", "xarm7", "z1"])
    parser.add_argument("--armature", nargs="*", type=float, default=[0.0, 0.02, 0.05, 0.1], help="[kg m^2]")
    options = parser.parse_args()
    chosen = [robot.replace(friction=None) for robot in arms() if robot.name in options.arms]
    for law, (_, steps) in LAWS.items():
        header = [
            f"{step:g} {unit}, armature {a:g}"
            for step in steps
            for unit in [("m" if law is th.Backstepping else "rad")]
            for a in options.armature
        ]
        rows = []
        for robot in chosen:
            if law is th.Backstepping and robot.n < 6:
                continue
            armed = [robot.replace(armature=np.full(robot.n, a)) for a in options.armature]
            rows.append([robot.name + "*" * (robot.name in USED), *(ratio(r, law, s) for s in steps for r in armed)])
        print(f"{law.__name__}\n\n{Table([law.__name__, *header], rows, digits=2).to_markdown()}\n", flush=True)


if __name__ == "__main__":
    main()
