"""Reachable poses that `InverseKinematics` solves: ``python examples/inverse_kinematics_success.py [poses] [seed]``.

A reachable pose is the forward kinematics of a uniformly random posture within the joint limits. "Near singularities"
are the tenth of them whose Jacobian has the smallest reciprocal condition number. Arms are the bundled ones, public
tables of Denavit-Hartenberg parameters and URDFs of the package example-robot-data (skipped if it is not installed).
The solver was tuned on the arms of `TUNED` only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.kinematics import InverseKinematics
from thunder_py.papers.tables import markdown

BUNDLED = ("panda", "ur5e", "iiwa14", "gen3", "human_arm")
TUNED = ("panda", "ur5e", "z1", "so101", "puma560", "so100")
#: standard DH rows [a, alpha, d, theta] and joint limits [deg, m]
TABLES = {
    # Corke and Armstrong-Helouvry (1994), ranges of the Unimate
    "puma560": (
        [
            [0, 90, 0.6718, 0],
            [0.4318, 0, 0, 0],
            [0.0203, -90, 0.15005, 0],
            [0, 90, 0.4318, 0],
            [0, -90, 0, 0],
            [0, 0, 0, 0],
        ],
        [(-160, 160), (-110, 110), (-135, 135), (-266, 266), (-100, 100), (-266, 266)],
    ),
    # ABB, product specification of the IRB 140
    "irb140": (
        [
            [0.07, -90, 0.352, 0],
            [0.36, 0, 0, -90],
            [0, -90, 0, 0],
            [0, 90, 0.38, 0],
            [0, -90, 0, 0],
            [0, 0, 0.065, 180],
        ],
        [(-180, 180), (-90, 110), (-230, 50), (-200, 200), (-115, 115), (-400, 400)],
    ),
    # Stanford arm: Paul (1981), as in Corke's toolbox; the third joint is prismatic
    "stanford": (
        [[0, -90, 0.412, 0], [0, 90, 0.154, 0], [0, 0, 0, -90], [0, -90, 0, 0], [0, 90, 0, 0], [0, 0, 0.263, 0]],
        [(-170, 170), (-170, 170), (0.3048, 1.27), (-170, 170), (-90, 90), (-170, 170)],
    ),
}
#: file, base, tip and locked joints
URDFS = {
    "z1": ("z1_description/urdf/z1.urdf", None, "link06", {"jointGripper": 0.0}),
    "so100": ("so_arm_description/urdf/so100.urdf", None, "jaw", {}),
    "so101": ("so_arm_description/urdf/so101.urdf", None, "gripper_frame_link", {"gripper": 0.7}),
    "centauro": ("centauro_description/urdf/centauro.urdf", "torso_2", "arm1_8", {}),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", None, "tool0", {}),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", None, "tool0", {}),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", None, "tool0", {}),
    "kinova j2s6s200": ("kinova_description/robots/kinova.urdf", None, "j2s6s200_end_effector", {}),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", None, None, {}),
    "baxter": ("baxter_description/urdf/baxter.urdf", None, "left_gripper",
               {"l_gripper_l_finger_joint": 0.0, "l_gripper_r_finger_joint": 0.0}),
    "talos": ("talos_data/robots/talos_left_arm.urdf", None, "arm_left_7_link", {"gripper_left_joint": -0.5}),
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", None, "wrist_ft_tool_link",
              {"head_1_joint": 0.0, "head_2_joint": 0.0}),
}  # fmt: skip


def arms() -> Iterator[tuple[str, th.Robot]]:
    """Return names and robots."""
    for name in BUNDLED:
        yield name, th.Robot.load(name)
    for name, (rows, ranges) in TABLES.items():
        types = "RRPRRR" if name == "stanford" else "R" * len(rows)
        units = np.where([kind == "R" for kind in types], np.pi / 180.0, 1.0)
        lower, upper = (np.array(ranges, dtype=float) * units[:, None]).T
        dh = np.array(rows, dtype=float) * [1.0, np.pi / 180.0, 1.0, np.pi / 180.0]
        robot = th.Robot.from_dh(dh, convention="standard", joint_types=types)
        free = np.full(len(rows), np.inf)
        yield name, robot.replace(limits=th.robot.Limits(lower=lower, upper=upper, velocity=free, effort=free))
    try:
        folder = Path(
            str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots"))
        )
    except PackageNotFoundError:
        return
    for name, (file, base, tip, locked) in URDFS.items():
        yield name, th.Robot.load(folder / file, base_link=base, tip_link=tip, fix_joints=locked)


def postures(robot: th.Robot, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return uniformly random postures within the limits, within half a turn for joints without limits."""
    lower, upper = robot.limits.lower, robot.limits.upper
    bounded = np.isfinite(upper - lower)
    return rng.uniform(np.where(bounded, lower, -np.pi), np.where(bounded, upper, np.pi), (count, robot.n))


def success(robot: th.Robot, poses: int, seed: int = 0, **options: object) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each pose is reached, and which poses are near singularities."""
    q = postures(robot, poses, np.random.default_rng(seed))
    J = robot.jacobian(q)
    sigma = np.linalg.svd(J, compute_uv=False)
    reciprocal = sigma[:, -1] / sigma[:, 0]
    solution = InverseKinematics(robot, **options).solve(robot.forward_kinematics(q))
    return solution.success, reciprocal <= np.quantile(reciprocal, 0.1)


def main(poses: int = 300, seed: int = 0) -> dict[str, float]:
    """Print the table; return the fraction of poses reached by each arm."""
    rows, fractions = [], {}
    for name, robot in arms():
        reached, singular = success(robot, poses, seed)
        fractions[name] = float(reached.mean())
        used = "tuning" if name in TUNED else "held out"
        share = [f"{100.0 * part.mean():.2f}" for part in (reached, reached[singular])]
        rows.append([name, robot.n, used, *share])
    print(markdown(["arm", "joints", "used for", "success [%]", "near singularities [%]"], rows))
    return fractions


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
