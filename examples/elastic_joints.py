"""Elastic joints under control: ``python examples/elastic_joints.py [stiffness ...] [--damping D] [--picture FILE]``.

A Panda with a spring in every joint follows the Lissajous curve of the Thunder article at 1 kHz. Laws for rigid joints
know the arm with the inertia of the motors; laws for elastic joints see the motors too. All have the same bandwidth.
Each cell is the largest distance to the curve after two seconds [mm] and the root mean square of the ringing, the
torque of the springs less that of the desired motion, in the worst joint [N m].

Then an arm with an elastic wrist, seven rigid joints and an elastic one, moves the hand.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline

import thunder_py as th
from thunder_py.control import CompositeControl, ElasticFeedbackLinearization, ElasticSlotineLi, MotorPD
from thunder_py.manipulation.wrist import ElasticWrist, with_wrist
from thunder_py.papers.lissajous.run import AMPLITUDE, FREQUENCY, START

BANDWIDTH = 20.0  # [rad/s]
MOTORS = [0.2, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1]  # inertias behind the gears [kg m^2]
SETTLED = 2.0  # [s]


def elastic_panda(K: float, D: float = 0.0) -> th.Robot:
    """Return the bundled Panda with equal springs in all joints."""
    drives = [th.robot.Elastic(joint=j + 1, K=(K,), D=(D,), Dm=(0.5,), Mm=Mm) for j, Mm in enumerate(MOTORS)]
    return th.Robot.load("panda").replace(elastic=drives)


def curve(duration: float) -> tuple[th.reference.Lissajous, th.trajectory.JointTrajectory]:
    """Return the article's curve, and the motion of the joints along it with four continuous derivatives."""
    robot = th.Robot.load("panda")
    path = th.reference.Lissajous.starting_at(robot.forward_kinematics(START), AMPLITUDE, FREQUENCY)
    joints = th.kinematics.CLIK(robot, Lambda=50.0).follow(path, START, duration + 0.1, 2e-3, integrator="rk4")
    spline = make_interp_spline(joints.t[::10], joints.q[::10], k=7)
    breaks = np.unique(spline.t)
    powers = [spline.derivative(k)(breaks[:-1]) / math.factorial(k) for k in range(7, 0, -1)]
    return path, th.trajectory.JointTrajectory(breaks, [*powers, spline(breaks[:-1])])


def rigid_laws(robot: th.Robot) -> dict[str, Any]:
    """Return laws that take the joints for rigid, with poles at -BANDWIDTH."""
    w, arm = BANDWIDTH, robot.rigid()
    M = np.diag(arm.mass_matrix(START))
    return {
        "PDGravity": th.PDGravity(arm, w**2 * M, 2 * w * M),
        "ComputedTorque": th.ComputedTorque(arm, w**2, 2 * w),
        "PassivityBased": th.PassivityBased(arm, w, w * M),
        "SlotineLi": th.SlotineLi(arm, w, w * M, adaptation=10.0),
        "MACT": th.MACT(arm, w**2 * M, 2 * w * M, adaptation=10.0),
        "CartesianComputedTorque": th.CartesianComputedTorque(arm, w**2, 2 * w, w * M),
        "Backstepping": th.Backstepping(arm, w, w**2, w * M, adaptation=10.0),
    }


def elastic_laws(robot: th.Robot) -> dict[str, Any]:
    """Return laws that see the motors, with the same bandwidth; FL knows springs without damping."""
    w, arm = BANDWIDTH, robot.rigid()
    M, links = np.diag(arm.mass_matrix(START)), np.diag(robot.mass_matrix(START))
    undamped = robot.with_elastic_parameters(D=np.zeros(robot.e))
    return {
        "MotorPD, constant": MotorPD(robot, w**2 * M, 2 * w * M),
        "MotorPD, on-line": MotorPD(robot, w**2 * M, 2 * w * M, gravity="online"),
        "ElasticFeedbackLinearization": ElasticFeedbackLinearization.with_bandwidth(undamped, w),
        "ElasticSlotineLi": ElasticSlotineLi(robot, w, w * links, adaptation=10.0, Gamma_K=100.0),
        "CompositeControl, ComputedTorque": CompositeControl(robot, th.ComputedTorque(arm, w**2, 2 * w)),
        "CompositeControl, SlotineLi": CompositeControl(robot, th.SlotineLi(arm, w, w * M, adaptation=10.0)),
    }


def follow(
    robot: th.Robot, law: Any, path: Any, motion: th.trajectory.JointTrajectory
) -> tuple[th.SimulationResult, float, float]:
    """Return a run, the largest distance to the curve [m] and the ringing [N m]; infinite where it diverges."""
    reference = path if isinstance(law, th.control.Backstepping | th.control.CartesianComputedTorque) else motion
    start, duration = motion(0.0), motion.duration - 0.1
    run = th.simulate(robot, law, reference, duration, 1e-4, control_period=1e-3, q0=start.q, dq0=start.dq, log_every=2)
    late = run.t > SETTLED
    if run.t[-1] < duration - 0.01:
        return run, np.inf, np.inf
    distance = np.linalg.norm(robot.forward_kinematics(run.q[late])[:, :3, 3] - path(run.t[late]).p, axis=1).max()
    desired = motion(run.t[late])
    wrong = robot.elastic_torque(run.q[late], run.x[late]) - robot.inverse_dynamics(desired.q, desired.dq, desired.ddq)
    return run, float(distance), float(np.sqrt((wrong**2).mean(axis=0)).max())


def panda_table(
    stiffnesses: list[float], D: float, duration: float
) -> dict[tuple[str, float], tuple[th.SimulationResult, float, float]]:
    """Print the table, a row for each law; return runs with their figures."""
    path, motion = curve(duration)
    runs = {}
    for K in stiffnesses:
        robot = elastic_panda(K, D)
        for name, law in {**rigid_laws(robot), **elastic_laws(robot)}.items():
            runs[name, K] = follow(robot, law, path, motion)
    print("| law | " + " | ".join(f"K = {K:g}" for K in stiffnesses) + " |")
    print("|---|" + "---|" * len(stiffnesses))
    for name in dict.fromkeys(name for name, _ in runs):
        cells = []
        for K in stiffnesses:
            run, distance, ringing = runs[name, K]
            diverged = f"diverges at {run.t[-1]:.1f} s"
            cells.append(diverged if np.isinf(distance) else f"{1e3 * distance:.2f} mm, {ringing:.3f} N m")
        print(f"| {name} | " + " | ".join(cells) + " |")
    return runs


def filter_errors(duration: float) -> dict[float, float]:
    """Print the distance to the curve by the bandwidth of the filter in `ElasticSlotineLi`, K = 2000 N m/rad."""
    path, motion = curve(duration)
    robot = elastic_panda(2000.0)
    links = np.diag(robot.mass_matrix(START))
    errors = {}
    for bandwidth in (200.0, 500.0, 1000.0, 2000.0):
        law = ElasticSlotineLi(robot, BANDWIDTH, BANDWIDTH * links, adaptation=None, bandwidth=bandwidth)
        errors[bandwidth] = follow(robot, law, path, motion)[1]
        print(f"ElasticSlotineLi, filter of {bandwidth:g} rad/s: {1e3 * errors[bandwidth]:.2f} mm")
    return errors


def wrist_errors() -> dict[str, float]:
    """Swing an elastic wrist on a moving Panda; return the largest errors of its joint after two seconds [rad]."""
    wrist = ElasticWrist(I=0.012, k=15.0, m=0.7, r_c=0.09, c=0.03)
    robot = with_wrist(th.Robot.load("panda"), wrist, motor_inertia=0.02)
    motion = th.reference.Sinusoid([0.2] * 7 + [0.5], [0.3] * 7 + [1.0], center=[*START, 0.0])
    w, arm = BANDWIDTH, robot.rigid()
    M, links = np.diag(arm.mass_matrix([*START, 0.0])), np.diag(robot.mass_matrix([*START, 0.0]))
    laws = {
        "ComputedTorque": th.ComputedTorque(arm, w**2, 2 * w),
        "MotorPD, on-line": MotorPD(robot, w**2 * M, 2 * w * M, gravity="online"),
        "ElasticSlotineLi": ElasticSlotineLi(robot, w, w * links, adaptation=10.0),
        "CompositeControl, ComputedTorque": CompositeControl(robot, th.ComputedTorque(arm, w**2, 2 * w)),
    }
    errors = {}
    for name, law in laws.items():
        run = th.simulate(robot, law, motion, 6.0, 2.5e-4, control_period=1e-3, dq0=motion(0.0).dq)
        error = np.abs(run.q[:, 7] - motion(run.t).q[:, 7])[run.t > SETTLED]
        errors[name] = float(error.max()) if run.t[-1] > 5.99 else np.inf
        print(
            f"wrist, {name}: " + (f"{1e3 * errors[name]:.2f} mrad" if error.size else f"diverges at {run.t[-1]:.1f} s")
        )
    return errors


def main(arguments: list[str] | None = None) -> tuple[dict[Any, Any], dict[str, float]]:
    """Print both; return the Panda's runs with distances and ringing, and the wrist's errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stiffness", nargs="*", type=float, default=[500.0, 20000.0], help="[N m/rad]")
    parser.add_argument("--damping", type=float, default=0.0, help="of the springs [N m s/rad]")
    parser.add_argument("--duration", type=float, default=10.0, help="[s]")
    parser.add_argument("--picture", help="file for the spring torques of joint 4 under two laws")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():  # the rigid laws are too fast for the springs: that is the point
        warnings.filterwarnings("ignore", ".*(assumes rigid joints|too high for a filter|run diverged)", RuntimeWarning)
        runs = panda_table(options.stiffness, options.damping, options.duration)
        filter_errors(options.duration)
        errors = wrist_errors()
    if options.picture:
        _draw(runs, options.stiffness[0], options.picture)
    return runs, errors


def _draw(runs: dict[Any, Any], K: float, file: str) -> None:
    import matplotlib.pyplot as plt

    robot = elastic_panda(K)
    figure, ax = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
    for name in ("ComputedTorque", "ElasticFeedbackLinearization", "ElasticSlotineLi"):
        run = runs[name, K][0]
        ax.plot(run.t, robot.elastic_torque(run.q, run.x)[:, 3], label=name)
    ax.set(xlabel="t [s]", ylabel="spring of joint 4 [N m]", xlim=(0.0, 2.0), ylim=(-80.0, 80.0))
    ax.legend()
    figure.savefig(file, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
