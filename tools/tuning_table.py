"""Errors of controllers with the gains of `thunder_py.control.tune`, as in docs/theory/adaptive_control.md.

Every arm follows a motion with noisy sensors and friction that its model lacks, and picks up an unknown load of
1.5 kg, or a third of what its drives can hold besides. The rules were made with three of the arms, marked *; the others
judge them. Arms whose drives hold less than 0.25 kg are left out.

    python tools/tuning_table.py [--arms panda z1] [--laws MACT] [--armature 0.02]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import thunder_py as th
from thunder_py.control.motion_states import states_along
from thunder_py.table import Table

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
    "ur5",
    "ur10",
    "talos_left",
    "talos_right",
    "tiago",
    "baxter",
    "pr2",
    "centauro",
    "icub",
    "g1",
)
LAWS = {law.__name__: law for law in (th.SlotineLi, th.ACT, th.MACT, th.Backstepping, th.CartesianMACT)}
FRICTION, LOAD, SHARE, CENTER, LEAST_LOAD = 0.03, 1.5, 0.35, (0.02, 0.0, 0.08), 0.25


def arms() -> Iterator[th.Robot]:
    """Return the bundled arms and those of public URDF files."""
    for name in BUNDLED:
        yield th.Robot.load(name)
    for case in real_urdf_cases():
        if case.id in URDFS:
            yield th.Robot(description(case))


def position_range(robot: th.Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and largest joint positions, within one turn."""
    return np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)


def regular_postures(robot: th.Robot, random: np.random.Generator) -> np.ndarray:
    """Return random postures, the one farthest from singularities first."""
    low, high = position_range(robot)
    q = random.uniform(0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high, (300, robot.n))
    return q[np.argsort(np.linalg.cond(robot.jacobian(q)))]


def joint_motion(robot: th.Robot, seed: int) -> th.reference.Sinusoid:
    """Return a random motion within the limits of positions and 40 % of those of velocities."""
    low, high = position_range(robot)
    speed = np.where(np.isfinite(robot.limits.velocity) & (robot.limits.velocity > 0), robot.limits.velocity, 2.0)
    random = np.random.default_rng(seed)
    frequency = random.uniform(0.1, 0.35, robot.n)
    amplitude = np.minimum(0.12 * (high - low), 0.4 * speed / (2.0 * np.pi * frequency))
    center = (low + high) / 2.0 + 0.1 * (high - low) * random.uniform(-1.0, 1.0, robot.n)
    return th.reference.Sinusoid(amplitude, frequency, center=center, phase=random.uniform(-3.0, 3.0, robot.n))


def task_motion(robot: th.Robot, seed: int) -> tuple[th.reference.Lissajous, np.ndarray]:
    """Return a curve of 6 % of the reach that the arm can follow, and its start, the best of random postures."""
    q = regular_postures(robot, np.random.default_rng(seed))
    reach = np.linalg.norm(robot.forward_kinematics(q)[:, :3, 3] - robot.description.base[:3, 3], axis=1).max()
    size = 0.06 * reach * np.array([1.0, 1.5, 1.0])
    for limits in (True, False):  # a curve that meets no limit, if there is one
        for q0 in q:
            curve = th.reference.Lissajous.starting_at(robot.forward_kinematics(q0), size, (0.2, 0.1, 0.3))
            if th.kinematics.CLIK(robot, Lambda=25.0, limits=limits).follow(curve, q0, 15.0, 7.5e-3).ok:
                return curve, q0
    raise RuntimeError(f"{robot.name} can follow no curve")


def plant_and_load(robot: th.Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> tuple[th.Robot, float]:
    """Return the arm with friction, and the mass of the load [kg]."""
    torque = np.abs(robot.inverse_dynamics(q, dq, ddq)).max(axis=0)
    coefficients = FRICTION * np.column_stack([torque, torque])
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients, delta=0.05)
    loaded = th.Payload(1.0, CENTER).added_to(robot)
    per_kilogram = np.abs(loaded.gravity_vector(q) - robot.gravity_vector(q)).max(axis=0)
    effort = np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)
    spare = np.maximum(effort - torque, 0.1 * effort)
    mass = min(LOAD, SHARE * float(np.min(spare / np.maximum(per_kilogram, 1e-3))))
    return robot.replace(friction=friction), mass


def errors(robot: th.Robot, law: type, period: float, options: argparse.Namespace) -> tuple[float, list, str]:
    """Return the load [kg], errors at the end without and with adaptation [mrad or mm], and the worst status."""
    task, seed = issubclass(law, th._core.TaskController), options.seed
    motion, q0 = task_motion(robot, seed) if task else (joint_motion(robot, seed), None)
    states = states_along(robot, motion, 10.0, q0)
    plant, mass = plant_and_load(robot, *states)
    if options.unmodeled:
        robot = robot.replace(armature=None)
    sensors = th.Sensors(position_resolution=2 * np.pi / 2**19, position_noise=1e-5, velocity_noise=2e-3, seed=seed + 1)
    found: list = []
    for kind in ("none", options.adaptation):
        controller = th.control.tune(robot, law, motion, period=period, q0=q0, adaptation=kind).controller()
        run = th.simulate(
            plant, controller, motion, 15.0, 2e-4, control_period=period, q0=states.q[0], dq0=states.dq[0],
            payloads=th.Payload(mass, CENTER, time=2.0), sensors=sensors, log_every=20,
        )  # fmt: skip
        norm = run.error_norm(slice(0, 3) if task else slice(None))
        found.append(np.inf if run.diverged else 1e3 * norm[run.t > 12.0].mean())
    return mass, found, th.control.Status(int(run.status.max())).name


def main() -> None:
    """Print one table per law."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="*", help="default all")
    parser.add_argument("--laws", nargs="*", default=list(LAWS), choices=list(LAWS))
    parser.add_argument("--adaptation", choices=["gradient", "natural"], help="default that of `tune`")
    parser.add_argument("--seed", type=int, default=1, help="of motion and noise")
    parser.add_argument("--armature", type=float, default=0.0, help="inertia of every motor at its joint [kg m^2]")
    parser.add_argument("--unmodeled", action="store_true", help="the model has no armature")
    options = parser.parse_args()
    for name in options.laws:
        unit = "mm" if issubclass(LAWS[name], th._core.TaskController) else "mrad"
        header = [f"{kind} {rate} [{unit}]" for rate in ("1 kHz", "500 Hz") for kind in ("fixed", "adaptive")]
        rows = []
        for robot in arms():
            if (options.arms and robot.name not in options.arms) or (unit == "mm" and robot.n < 6):
                continue
            robot = robot.replace(friction=None)
            if options.armature:
                robot = robot.replace(armature=np.full(robot.n, options.armature))
            results = [errors(robot, LAWS[name], period, options) for period in (1e-3, 2e-3)]
            if results[0][0] >= LEAST_LOAD:
                label = robot.name + "*" * (robot.name in USED)
                status = ", ".join(dict.fromkeys(result[2] for result in results))
                rows.append([label, results[0][0], *results[0][1], *results[1][1], status])
                print(name, *(f"{x:.3g}" if isinstance(x, float) else x for x in rows[-1]), file=sys.stderr, flush=True)
        print(f"{name}\n\n{Table([name, 'load [kg]', *header, 'status'], rows, digits=3).to_markdown()}\n", flush=True)


if __name__ == "__main__":
    main()
