"""Errors of controllers with the gains of `thunder_py.control.tune`, as in docs/theory/adaptive_control.md.

Every arm follows a motion with noisy sensors and friction that its model lacks, and picks up an unknown load of
1.5 kg, or half of what its drives can hold. The rules were made with three of the arms, marked *; the others judge
them.

    python tools/tuning_table.py [--arms panda z1] [--laws MACT]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import thunder_py as th

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.real_urdfs import description, real_urdf_cases

USED = ("panda", "ur5e", "iiwa14")
BUNDLED = (*USED, "gen3", "human_arm", "elbow")
URDFS = (
    "kinova",
    "xarm7",
    "z1",
    "so100",
    "ur3",
    "ur10",
    "talos_right",
    "tiago",
    "baxter",
    "pr2",
    "centauro",
    "icub",
    "g1",
)
LAWS = {law.__name__: law for law in (th.SlotineLi, th.ACT, th.MACT, th.Backstepping, th.CartesianMACT)}
FRICTION, LOAD, CENTER = 0.03, 1.5, (0.02, 0.0, 0.08)


def arms() -> Iterator[th.Robot]:
    """Return the bundled arms and those of public URDF files."""
    for name in BUNDLED:
        yield th.Robot.load(name)
    for case in real_urdf_cases():
        if case.id in URDFS:
            yield th.Robot(description(case))


def joint_motion(robot: th.Robot, seed: int) -> th.reference.Sinusoid:
    """Return a random motion within the limits of positions and 40 % of those of velocities."""
    low, high = np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
    speed = np.where(np.isfinite(robot.limits.velocity) & (robot.limits.velocity > 0), robot.limits.velocity, 2.0)
    random = np.random.default_rng(seed)
    frequency = random.uniform(0.1, 0.35, robot.n)
    amplitude = np.minimum(0.12 * (high - low), 0.4 * speed / (2.0 * np.pi * frequency))
    center = (low + high) / 2.0 + 0.1 * (high - low) * random.uniform(-1.0, 1.0, robot.n)
    return th.reference.Sinusoid(amplitude, frequency, center=center, phase=random.uniform(-3.0, 3.0, robot.n))


def task_motion(robot: th.Robot, seed: int) -> tuple[th.reference.Lissajous, np.ndarray]:
    """Return a curve of 6 % of the reach, and the start of the arm, the best of random postures."""
    low, high = np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
    q = np.random.default_rng(seed).uniform(0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high, (300, robot.n))
    q0 = q[np.argmin(np.linalg.cond(robot.jacobian(q)))]
    reach = np.linalg.norm(robot.forward_kinematics(q)[:, :3, 3] - robot.description.base[:3, 3], axis=1).max()
    size = 0.06 * reach * np.array([1.0, 1.5, 1.0])
    return th.reference.Lissajous.starting_at(robot.forward_kinematics(q0), size, (0.2, 0.1, 0.3)), q0


def plant_and_load(robot: th.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> tuple[th.Robot, float]:
    """Return the arm with friction, and the mass of the load [kg]."""
    torque = np.abs(robot.inverse_dynamics(q, dq, ddq)).max(axis=0)
    coefficients = FRICTION * np.column_stack([torque, torque])
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients, delta=0.05)
    loaded = th.Payload(1.0, CENTER).added_to(robot)
    per_kilogram = np.abs(loaded.gravity_vector(q) - robot.gravity_vector(q)).max(axis=0)
    effort = np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)
    spare = np.maximum(effort - torque, 0.1 * effort)
    mass = min(LOAD, 0.5 * float(np.min(spare / np.maximum(per_kilogram, 1e-3))))
    return robot.replace(friction=friction), mass


def errors(robot: th.Robot, law: type, period: float, seed: int, adaptation: str | None, **options: object) -> list:
    """Return errors of the last fifth without and with adaptation [mrad or mm], and the worst status."""
    task = issubclass(law, th._core.TaskController)
    if task:
        motion, q0 = task_motion(robot, seed)
    else:
        motion = joint_motion(robot, seed)
        q0 = motion(0.0).q
    states = th.control.motion_states.states_along(robot, motion, 10.0, q0)
    plant, mass = plant_and_load(robot, *states)
    sensors = th.Sensors(position_resolution=2 * np.pi / 2**19, position_noise=1e-5, velocity_noise=2e-3, seed=seed + 1)
    load = th.Payload(mass, CENTER, time=2.0)
    found: list = []
    for kind in ("none", adaptation):
        tuning = th.control.tune(robot, law, motion, period=period, q0=q0, adaptation=kind, **options)
        controller = tuning.controller()
        run = th.simulate(plant, controller, motion, 15.0, 2e-4, control_period=period, q0=q0, dq0=states.dq[0],
                          payloads=load, sensors=sensors, log_every=20)  # fmt: skip
        norm = run.error_norm(slice(0, 3) if task else slice(None))
        found.append(1e3 * norm[run.t > 12.0].mean() if not run.diverged else np.inf)
    return [*found, th.control.Status(int(run.status[run.t >= 0.5 * run.t[-1]].max())).name, mass, tuning.bandwidth]


def main() -> None:
    """Print one table per law and period."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", nargs="*")
    parser.add_argument("--laws", nargs="*", default=list(LAWS))
    parser.add_argument("--adaptation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--armature", type=float, default=0.0, help="inertia of every motor at its joint [kg m^2]")
    options = parser.parse_args()
    for name in options.laws:
        rows = []
        for robot in arms():
            task = issubclass(LAWS[name], th._core.TaskController)
            if (options.arms and robot.name not in options.arms) or (task and robot.n < 6):
                continue
            if options.armature:
                robot = robot.replace(armature=np.full(robot.n, options.armature))
            row: list = [robot.name + "*" * (robot.name in USED)]
            for period in (1e-3, 2e-3):
                try:
                    row += errors(robot, LAWS[name], period, options.seed, options.adaptation)
                except th.errors.ThunderError as error:
                    row += [None, None, str(error)[:60], None, None]
            rows.append(row)
            print(name, *(f"{x:.3g}" if isinstance(x, float) else x for x in row), flush=True)


if __name__ == "__main__":
    main()
