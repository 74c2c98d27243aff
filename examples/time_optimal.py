"""Time-optimal motions beside published ones and TOPP-RA: ``python examples/time_optimal.py``.

The arm and both paths are those of the unit tests of TOPP (Pham 2014). TOPP-RA (Pham and Pham 2018) is included if the
package toppra is installed. Durations [s], and the largest values of torques and velocities as parts of their limits at
20 000 instants. Then a Panda with further limits, with a payload, and along a plan from functional components.
"""

from __future__ import annotations

import importlib.util

import numpy as np

import thunder_py as th
from thunder_py.motion import FPCA, HumanLikePlanner
from thunder_py.trajectory import JointTrajectory, TimeOptimalTrajectory, time_optimal

#: two equal bars in a vertical plane, https://github.com/quangounet/TOPP, robots/twodof.robot.xml
LENGTH, MASS, WIDTH = 0.2, 8.0, 0.02
LIMITS = {"velocity": [2.5, 3.0], "effort": [15.0, 10.0]}
#: coefficients of t^2, t and 1 of both joints, and the durations in tests/unittests.py there, to 0.01 s
PUBLISHED = {
    "Torques2D": ([[-3.0, -1.0], [3.0, 0.0], [3.0, -3.0]], 0.73795),
    "Torques2DZlajpah": ([[3.0, 0.0], [-3.0, -2.0], [-3.0, -2.0]], 0.87969),
}
Q0, Q1 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]), np.array([1.0, 0.3, 0.2, -1.5, 0.3, 2.0, 0.0])


def bars() -> th.Robot:
    """Return the arm of the published durations; gravity is along x."""
    across, along = MASS * 2.0 * WIDTH**2 / 12.0, MASS * (LENGTH**2 + WIDTH**2) / 12.0
    body = [MASS, 0.5 * LENGTH, 0.0, 0.0, across, 0.0, 0.0, along, 0.0, along]
    rows = [[0.0, 0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0, 0.0]]
    return th.Robot.from_dh(rows, joint_types="RR", inertial=[body, body], gravity=(9.8, 0.0, 0.0))


def bars_path(name: str) -> JointTrajectory:
    """Return a published path."""
    return JointTrajectory([0.0, 1.0], np.array(PUBLISHED[name][0])[:, None])


def toppra_motion(robot: th.Robot, path: JointTrajectory, cells: int) -> tuple[float, float]:
    """Return the duration of TOPP-RA within `LIMITS`, and the largest part of them that its trajectory takes."""
    import toppra

    toppra.setup_logging("ERROR")
    velocity, effort = (np.array([[-x, x] for x in LIMITS[kind]]) for kind in ("velocity", "effort"))
    constraints = [
        toppra.constraint.JointVelocityConstraint(velocity),
        toppra.constraint.JointTorqueConstraint(robot.inverse_dynamics, effort, np.zeros(robot.n)),
    ]
    at = np.linspace(0.0, 1.0, 9)
    curve = toppra.SplineInterpolator(at, path(np.minimum(at, 1.0 - 1e-15)).q, bc_type="not-a-knot")
    algorithm = toppra.algorithm.TOPPRA(constraints, curve, gridpoints=np.linspace(0.0, 1.0, cells + 1))
    motion = algorithm.compute_trajectory(0.0, 0.0)
    t = np.linspace(0.0, motion.duration, 20_000)
    q, dq, ddq = (motion(t, k) for k in range(3))
    parts = np.abs(robot.inverse_dynamics(q, dq, ddq) / effort[:, 1]), np.abs(dq / velocity[:, 1])
    return float(motion.duration), float(np.max(parts))


def sampled_usage(motion: TimeOptimalTrajectory) -> float:
    """Return the largest part of the limits that a motion takes at 20 000 instants."""
    usage = motion.usage(np.linspace(0.0, motion.duration, 20_000))
    return max(float(part.max()) for part in usage.values())


def published() -> list[list[str]]:
    """Return rows of both published paths."""
    rows = []
    for name, (_, printed) in PUBLISHED.items():
        rows.append([name, "TOPP, as published", "", f"{printed:.4f}", ""])
        for cells in (100, 400, 1600) if importlib.util.find_spec("toppra") else ():
            duration, usage = toppra_motion(bars(), bars_path(name), cells)
            rows.append([name, "TOPP-RA", f"{cells}", f"{duration:.4f}", f"{usage:.4f}"])
        for cells in (50, 200):
            motion = time_optimal(bars(), bars_path(name), **LIMITS, cells=cells)
            rows.append([name, "`time_optimal`", f"{cells}", f"{motion.duration:.4f}", f"{sampled_usage(motion):.4f}"])
    return rows


def panda() -> list[list[str]]:
    """Return rows of motions of a Panda between two postures."""
    robot, load = th.Robot.load("panda"), th.Payload(2.0, (0.0, 0.0, 0.1))
    names = tuple(f"q{i + 1}" for i in range(7))
    tau = np.linspace(0.0, 1.0, 101)[:, None]
    shapes = [10 * tau**3 - 15 * tau**4 + 6 * tau**5, tau**3 * (1 - tau) ** 3 * (1 - 2 * tau)]
    rng = np.random.default_rng(1)
    reaches = [rng.normal(size=7) * shapes[0] + 20.0 * rng.normal(size=7) * shapes[1] for _ in range(30)]
    plan = HumanLikePlanner(FPCA(shrinkage=0.1).fit(np.array(reaches), dofs=names)).plan(Q0, Q1, duration=1.5)
    cases = {
        "velocity, torque": (robot, [Q0, Q1], {}),
        "the same, 2 kg payload": (load.added_to(robot), [Q0, Q1], {}),
        "the same, torque rate 1000 N m/s": (robot, [Q0, Q1], {"effort_rate": 1000.0}),
        "velocity, acceleration 15 rad/s²": (robot, [Q0, Q1], {"acceleration": 15.0}),
        "the same, jerk 500 rad/s³": (robot, [Q0, Q1], {"acceleration": 15.0, "jerk": 500.0}),
        "plan from functional components": (robot, plan, {}),
        "the plan, torque rate 1000 N m/s": (robot, plan, {"effort_rate": 1000.0}),
    }
    motions = {name: time_optimal(arm, path, **limits) for name, (arm, path, limits) in cases.items()}
    return [[name, f"{motion.duration:.4f}", f"{sampled_usage(motion):.4f}"] for name, motion in motions.items()]


def main() -> None:
    """Print both tables."""
    print("| path | method | cells | duration [s] | largest part of a limit |\n|---|---|---:|---:|---:|")
    for row in published():
        print(f"| {' | '.join(row)} |")
    print("\n| Panda, limits | duration [s] | largest part of a limit |\n|---|---:|---:|")
    for row in panda():
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
