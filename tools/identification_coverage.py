"""Coverage of the confidence intervals of `identify` with friction, sensors and payloads on synthetic logs.

    python tools/identification_coverage.py [--draws 200] [--level 0.95] [--noise 0.002] [--robots elbow,scara,panda]

Each draw simulates one log with friction, delays, gains and biases, and noise of the torques, and identifies it; the
table shows the share of draws whose interval holds the truth, and the mean and largest error of the estimates in
standard deviations. Stribeck velocities and coefficients count only in draws in which `identify` does not warn of
the velocity. A share of 200 draws has itself a standard deviation of 1.5 %.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import thunder_py as th
from thunder_py.identification import Log, SensorCalibration, identify
from thunder_py.simulation import FrictionModel
from thunder_py.table import Table

TIMES = np.arange(0.0, 12.0, 2e-3)
CUTOFF = 12.0


def motion(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion of three tones per joint."""
    rng = np.random.default_rng(seed)
    bands = ((0.1, 0.3), (0.3, 0.7), (0.7, 1.3))
    tones = [
        th.reference.Sinusoid(rng.uniform(0.2, 0.5, n), rng.uniform(*band, n), phase=rng.uniform(0.0, 6.0, n))(TIMES)
        for band in bands
    ]
    return tuple(sum(parts) for parts in zip(*tones, strict=True))  # type: ignore[return-value]


def truth(robot: th.Robot) -> tuple[FrictionModel, SensorCalibration]:
    """Return Stribeck friction and wrong sensors."""
    step = np.linspace(1.0, 1.3, robot.n)
    friction = FrictionModel(
        viscous=0.5 * step[:, None], coulomb=0.8 * step[:, None], stribeck=0.4 * step, velocity=0.15 * step
    )
    gains, biases = np.linspace(1.0, 1.2, robot.n), 0.3 * np.cos(np.arange(robot.n))
    delays = np.linspace(0.004, 0.0101, robot.n)
    return friction, SensorCalibration(robot.n, torque_delay=delays, torque_gain=gains, torque_bias=biases)


def errors_of_models(robot: th.Robot, draws: int, noise: float) -> tuple[list[str], np.ndarray]:
    """Return names and the errors of all draws in standard deviations."""
    friction, sensors = truth(robot)
    asked = ["torque_delay", "torque_bias", *(f"{joint}.torque_gain" for joint in robot.joint_names[1:])]
    q, dq, ddq = motion(robot.n, 0)
    t, q_read, tau_read = sensors.read(TIMES, q, robot.inverse_dynamics(q, dq, ddq) + friction.torque(dq))
    scale = noise * np.sqrt(np.mean(tau_read**2, axis=0))
    expected = {
        **{f"{joint}.{name}": getattr(friction, key)[j, 0] for j, joint in enumerate(robot.joint_names)
           for name, key in (("viscous", "viscous"), ("coulomb", "coulomb"))},
        **{f"{joint}.{name}": getattr(friction, key)[j] for j, joint in enumerate(robot.joint_names)
           for name, key in (("stribeck", "stribeck"), ("stribeck_velocity", "velocity"))},
        **{f"{joint}.{name}": getattr(sensors, name)[j] for j, joint in enumerate(robot.joint_names)
           for name in SensorCalibration.QUANTITIES},
    }  # fmt: skip
    found = []
    for seed in range(draws):
        tau = tau_read + scale * np.random.default_rng(seed).normal(size=tau_read.shape)
        log = Log(t=t, q=q_read, tau=tau)
        result = identify(robot, log, friction="stribeck", sensors=asked, cutoff=CUTOFF)
        base = result.base
        error = result.base_parameters - base.mapping @ robot.parameters
        sure = result.extra_deviations < 0.2 * np.abs(result.extra)
        shown = [
            ".stribeck" not in name or sure[result.extra_names.index(f"{name.partition('.')[0]}.stribeck_velocity")]
            for name in result.extra_names
        ]
        error_of_models = result.extra - [expected[name] for name in result.extra_names]
        own = np.where(shown, error_of_models / result.extra_deviations, 0.0)
        found.append(np.concatenate([error / result.standard_deviations, own]))
    return [*(f"base {name}" for name in base.names), *result.extra_names], np.array(found)


def errors_of_payloads(robot: th.Robot, draws: int, noise: float) -> tuple[list[str], np.ndarray]:
    """Return names and the errors of all draws in standard deviations; the robot is identified from a second log."""
    box = th.Payload(1.5, com=(0.03, -0.02, 0.1), inertia=np.diag([0.012, 0.015, 0.01]))
    values = np.concatenate([[1.5], box.com, np.asarray(box.inertia)[np.triu_indices(3)]])
    loaded = box.added_to(robot)
    clean = [(motion(robot.n, seed), arm) for seed, arm in enumerate((loaded, robot))]
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        logs = []
        for states, arm in clean:
            q, dq, ddq = (part[::4] for part in states)
            tau = arm.inverse_dynamics(q, dq, ddq)
            tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
            logs.append(Log(t=TIMES[::4], q=q, dq=dq, ddq=ddq, tau=tau))
        result = identify(robot, logs[1], loaded=logs[0])
        found.append((result.extra - values) / result.extra_deviations)
    return list(result.extra_names), np.array(found)


def main() -> None:
    """Print one table for each robot."""
    from scipy.stats import norm

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--noise", type=float, default=2e-3, help="of torques, relative to their root mean square")
    parser.add_argument("--robots", default="elbow,panda")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # draws that do not determine a parameter count for the others
    reach = norm.ppf(0.5 + 0.5 * options.level)
    for name in options.robots.split(","):
        robot = th.Robot.load(name).replace(friction=None)
        rows = []
        for errors_of in (errors_of_models, errors_of_payloads):
            names, errors = errors_of(robot, options.draws, options.noise)
            for parameter, column in zip(names, errors.T, strict=True):
                column = column[column != 0.0]
                if column.size:
                    share = np.mean(np.abs(column) < reach)
                    rows.append([parameter, column.size, share, np.mean(column), np.std(column)])
        print(
            f"{name}: share of {options.draws} draws within {100 * options.level:g} % intervals, errors in deviations"
        )
        print(Table(["parameter", "draws", "share", "mean error", "its spread"], rows))
        often = [row[2] for row in rows if 2 * row[1] >= options.draws]
        print(f"parameters in half of the draws: {np.mean(often):.3f}, least {min(often):.3f}\n")


if __name__ == "__main__":
    main()
