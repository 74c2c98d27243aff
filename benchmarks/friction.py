"""Simulate arms with joint friction: errors of several engines against SciPy's Radau, and times of a step.

Usage: python benchmarks/friction.py; prints the table of docs/simulation.md and one of times, in Markdown.

The errors are the largest ones of a joint in half a second under computed torque that does not know the friction.
Coulomb friction with a smooth sign (delta = 0.01 rad/s) is integrated by this package and by explicit Runge-Kutta
steps, that of an ideal sign by this package, with stiction, and by MuJoCo's implicitfast (frictionloss, as hard as it
may be). Radau has the same smooth sign, and one of 2e-5 rad/s for the ideal one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from scipy.integrate import solve_ivp

import thunder_py as th
from thunder_py.simulation import FrictionModel

#: viscous [N m s/rad] and Coulomb friction [N m] of every joint; the first is integrated by the explicit method
FRICTION = ((1e-6, 1e-6), (0.1, 0.05), (0.4, 0.9), (2.0, 5.0))
STEPS, ROUNDS = 2000, 9
#: arm, viscous and Coulomb friction
ARMS = (
    ("xArm6-like URDF", 1.0, 1.0),
    ("ur5e", 0.4, 0.9),
    ("panda", 0.0, 0.3),
    ("panda", 0.0, 0.6),
    ("iiwa14", 0.5, 0.5),
    ("gen3", 1.0, 0.5),
)
#: control period and integration steps [s]
PERIOD, DURATION = 4e-3, 0.5
TIME_STEPS = (1e-3, 4e-3)
#: width of a sign that counts as ideal [rad/s], and a state that has diverged
NARROW, LARGEST = 2e-5, 1e6
#: joints of an arm like UFACTORY's xArm6: roll and place of the frame, mass, center of mass, principal inertias
XARM6 = (
    (0.0, (0.0, 0.0, 0.267), 2.16, (-0.002, 0.027, -0.013), (5.4e-3, 4.9e-3, 3.1e-3)),
    (-1.5708, (0.0, 0.0, 0.0), 1.71, (0.035, -0.214, 0.034), (24.9e-3, 4.9e-3, 23.9e-3)),
    (0.0, (0.0535, -0.2845, 0.0), 1.38, (0.068, 0.107, 0.015), (5.4e-3, 3.2e-3, 5.0e-3)),
    (-1.5708, (0.0775, 0.3425, 0.0), 1.12, (0.0, 0.026, -0.025), (4.4e-3, 4.0e-3, 1.1e-3)),
    (1.5708, (0.0, 0.0, 0.0), 1.28, (0.054, 0.018, 0.005), (1.2e-3, 2.3e-3, 2.7e-3)),
    (-1.5708, (0.076, 0.097, 0.0), 0.11, (0.0, 0.001, -0.01), (45e-6, 48e-6, 80e-6)),
)


def xarm6(viscous: float, coulomb: float) -> th.Robot:
    """Return an arm from a URDF as a vendor writes it."""
    parts = ['<robot name="arm6"><link name="link0"/>']
    for k, (roll, place, mass, com, inertia) in enumerate(XARM6, 1):
        xyz, center = (" ".join(map(str, point)) for point in (place, com))
        diagonal = " ".join(f'{name}="{value}"' for name, value in zip(("ixx", "iyy", "izz"), inertia, strict=True))
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
            f'<inertia {diagonal} ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k}" type="revolute"><parent link="link{k - 1}"/><child link="link{k}"/>'
            f'<origin xyz="{xyz}" rpy="{roll} 0 0"/><axis xyz="0 0 1"/>'
            f'<limit effort="50" lower="-3.1" upper="3.1" velocity="3.14"/>'
            f'<dynamics damping="{viscous}" friction="{coulomb}"/></joint>'
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "arm6.urdf"
        path.write_text("".join(parts) + "</robot>")
        return th.Robot.load(str(path))


def rubbing(name: str, viscous: float, coulomb: float) -> th.Robot:
    """Return an arm with the same friction at every joint."""
    if name.startswith("xArm6"):
        return xarm6(viscous, coulomb)
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


def task(robot: th.Robot) -> tuple[th.ComputedTorque, th.reference.Sinusoid]:
    """Return a law without friction and a motion about a bent posture."""
    center = np.array([0.1, -0.9, 0.6, -1.5, 0.4, 0.8, 0.2])[: robot.n]
    motion = th.reference.Sinusoid([0.3] * robot.n, 0.9, center=center)
    return th.ComputedTorque(robot.replace(friction=None), K_0=100.0, K_1=20.0), motion


def sampled(robot: th.Robot, advance: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """Return q at each control period, from a function of state and torque that returns the state one period later."""
    law, motion = task(robot)
    x, n, rows = np.concatenate(motion(0.0)[:2]), robot.n, []
    for k in range(round(DURATION / PERIOD)):
        rows.append(x[:n])
        with np.errstate(all="ignore"):
            x = advance(x, law.step(k * PERIOD, x[:n], x[n:], motion(k * PERIOD)))
        if not np.abs(x).max() < LARGEST:
            return np.array(rows)  # diverged
    return np.array(rows)


def radau(robot: th.Robot, friction: FrictionModel) -> np.ndarray:
    """Return the truth."""
    bare, n = robot.replace(friction=None), robot.n

    def advance(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        def rate(_: float, columns: np.ndarray) -> np.ndarray:
            y = columns.reshape(2 * n, -1).T
            ddq = bare.forward_dynamics(y[:, :n], y[:, n:], tau - friction.torque(y[:, n:]))
            return np.hstack([y[:, n:], ddq]).T.reshape(columns.shape)

        return solve_ivp(rate, (0.0, PERIOD), x, method="Radau", rtol=1e-8, atol=1e-10, vectorized=True).y[:, -1]

    return sampled(robot, advance)


def runge_kutta(robot: th.Robot, dt: float) -> np.ndarray:
    """Return the motion by explicit steps of fourth order."""
    n = robot.n

    def rate(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        if not np.abs(x).max() < LARGEST:
            return np.full_like(x, np.nan)
        return np.concatenate([x[n:], robot.forward_dynamics(x[:n], x[n:], tau)])

    def advance(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        for _ in range(round(PERIOD / dt)):
            k1 = rate(x, tau)
            k2 = rate(x + 0.5 * dt * k1, tau)
            k3 = rate(x + 0.5 * dt * k2, tau)
            x = x + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(x + dt * k3, tau))
        return x

    return sampled(robot, advance)


def mujoco_motion(robot: th.Robot, viscous: float, coulomb: float, dt: float) -> np.ndarray:
    """Return the motion of MuJoCo's implicitfast with damping and frictionloss."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(th.mujoco.to_mjcf(robot.replace(friction=None)))
    model.opt.timestep, model.opt.integrator = dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_damping[:], model.dof_frictionloss[:] = viscous, coulomb
    model.dof_solref[:], model.dof_solimp[:, :2] = (2.0 * dt, 1.0), 0.999  # as hard as it may be
    data, n = mujoco.MjData(model), robot.n

    def advance(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x[:n], x[n:], tau
        for _ in range(round(PERIOD / dt)):
            mujoco.mj_step(model, data)
        return np.concatenate([data.qpos, data.qvel])

    return sampled(robot, advance)


def ours(robot: th.Robot, friction: FrictionModel | None, dt: float) -> np.ndarray:
    """Return the motion by `simulate`."""
    law, motion = task(robot)
    start = motion(0.0)
    return th.simulate(
        robot, law, motion, DURATION - PERIOD, dt, control_period=PERIOD, q0=start.q, dq0=start.dq, friction=friction
    ).q


def error(q: np.ndarray, truth: np.ndarray) -> str:
    """Return the largest difference [mrad]."""
    if len(q) < len(truth):
        return "diverged"
    return f"{1e3 * np.abs(q - truth).max():.2g}"


def accuracy() -> None:
    """Print the errors."""
    print(
        "| arm | viscous, Coulomb [N m s/rad, N m] | dt [ms] | smooth: ours | smooth: explicit RK4 "
        "| ideal: ours, stiction | ideal: MuJoCo implicitfast |\n|---|---|---|---|---|---|---|"
    )
    for name, viscous, coulomb in ARMS:
        robot = rubbing(name, viscous, coulomb)
        bare, n = robot.replace(friction=None), robot.n
        columns = {"viscous": [[viscous]] * n, "coulomb": [[coulomb]] * n}
        smooth = radau(robot, FrictionModel(**columns))
        ideal = radau(robot, FrictionModel(**columns, delta=NARROW))
        for dt in TIME_STEPS:
            row = (
                name, f"{viscous:g}, {coulomb:g}", f"{1e3 * dt:g}",
                error(ours(robot, None, dt), smooth), error(runge_kutta(robot, dt), smooth),
                error(ours(bare, FrictionModel(**columns, stiction=True), dt), ideal),
                error(mujoco_motion(robot, viscous, coulomb, dt), ideal),
            )  # fmt: skip
            print("|", " | ".join(row), "|", flush=True)


def times(names: tuple[str, ...] = ("panda", "ur5e", "iiwa14")) -> None:
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
    accuracy()
    print()
    times()
