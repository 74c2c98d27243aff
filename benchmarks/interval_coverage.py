"""How many 95 % intervals of identified parameters hold the truth, on synthetic logs of four kinds of errors.

    python benchmarks/interval_coverage.py [--draws 40] [--level 0.95] [--quick] [--folder LOGS]

Each draw has its own seed, motions of five tones per joint, and four logs of 20 s at 250 Hz, behind a filter of 8 Hz.
The model has links and viscous and Coulomb friction, and the errors are

- white: noise of the torques, 1 N m (0.3 N m at the small joints);
- colored: the same noise behind a low pass of first order at 1 Hz, with the same standard deviation;
- encoder: positions rounded to 16 bits per turn, and a tenth of the white noise;
- stribeck: the white noise, and a Stribeck effect of half the Coulomb friction that the model does not have.

The truth of base parameters of links is that of the arm. The truth of friction is that too, but with the Stribeck
effect the law of viscous and Coulomb friction that fits a hundred other logs without noise best: no law of this form is
right. Two more rows are payloads, from one log with it and one without, and friction with a Stribeck effect and gains,
biases and delays of sensors, from one log.

With --folder, real logs follow, as ``thunder identify --data`` reads them; of a single one its quarters are logs. The
first share is that of estimates without one of the logs within the interval of all logs, the second that of estimates
from one log that differ from those of the others by less than the intervals of both let expect.

Prints Markdown.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from real_arms import load
from scipy.signal import lfilter

import thunder_py as th
from thunder_py.cli.data_sets import DATA_SETS
from thunder_py.identification import Identification, Log, SensorCalibration, identify
from thunder_py.simulation import FrictionModel

PERIOD, DURATION, LOGS, CUTOFF = 4e-3, 20.0, 4, 8.0
CASES = ("white", "colored", "encoder", "stribeck")
#: middle of the motion, and standard deviation of the noise of the torques [N m] of each arm
ARMS = {
    "elbow": ([0.0, 0.5], [1.0, 1.0]),
    "scara": ([0.0] * 4, [1.0] * 4),
    "ur5e": ([0.0, -1.2, 1.2, -1.2, -1.2, 0.0], [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]),
    "panda": ([0.0, 0.0, 0.0, -1.5, 0.0, 1.9, 0.0], [1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3]),
}


def friction_of(noise: np.ndarray, stribeck: bool) -> FrictionModel:
    """Return friction in proportion to the noise of the joints."""
    falling = 2.0 * noise if stribeck else 0.0 * noise
    return FrictionModel(
        viscous=2.0 * noise[:, None], coulomb=4.0 * noise[:, None], stribeck=falling, velocity=0.15 + 0.0 * noise
    )


def with_friction(robot: th.Robot, arm: str) -> th.Robot:
    """Return the arm with viscous and Coulomb friction."""
    coefficients = np.outer(ARMS[arm][1], [2.0, 4.0])
    return robot.replace(friction=th.robot.Friction(terms=("viscous", "coulomb"), coefficients=coefficients))


def motion(arm: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return instants, positions, velocities and accelerations."""
    center = np.array(ARMS[arm][0])
    t, n = np.arange(0.0, DURATION, PERIOD), center.size
    tones = [
        th.reference.Sinusoid(rng.uniform(0.1, 0.3, n), rng.uniform(0.05, 0.6, n), phase=rng.uniform(0.0, 6.28, n))(t)
        for _ in range(5)
    ]
    q, dq, ddq = (sum(parts) for parts in zip(*tones, strict=True))
    return t, q + center, dq, ddq


def logs_of(robot: th.Robot, arm: str, case: str, seed: int, count: int = LOGS, noise: float = 1.0) -> list[Log]:
    """Return logs of an arm without friction, to which friction and errors are added."""
    rng, scale = np.random.default_rng(seed), np.array(ARMS[arm][1])
    friction, logs = friction_of(scale, case == "stribeck"), []
    for _ in range(count):
        t, q, dq, ddq = motion(arm, rng)
        white = noise * scale * rng.normal(size=q.shape)
        if case == "colored":
            pole = np.exp(-2.0 * np.pi * PERIOD)
            white = lfilter([np.sqrt(1.0 - pole**2)], [1.0, -pole], white, axis=0)
        tau = robot.inverse_dynamics(q, dq, ddq) + friction.torque(dq) + (0.1 if case == "encoder" else 1.0) * white
        step = 2.0 * np.pi / 2**16
        logs.append(Log(t=t, q=step * np.round(q / step) if case == "encoder" else q, tau=tau))
    return logs


def of_arm(arm: str, case: str, draws: int, level: float) -> Iterator[tuple[str, np.ndarray, Identification]]:
    """Yield whether each interval holds the truth."""
    robot = th.Robot.load(arm).replace(friction=None)
    model = with_friction(robot, arm)
    truth = identify(model, logs_of(robot, arm, case, 9999, 100, 0.0), cutoff=CUTOFF).base_parameters
    for seed in range(draws):
        found = identify(model, logs_of(robot, arm, case, seed), cutoff=CUTOFF)
        links = found.base.mapping @ model.parameters
        dry = np.array([name.endswith(("viscous", "coulomb")) for name in found.base.names])
        known = np.where(dry & (case == "stribeck"), truth, links)
        low, high = found.intervals(level).T
        yield "links", ((low <= known) & (known <= high))[~dry], found
        yield "friction", ((low <= known) & (known <= high))[dry], found


def of_payload(arm: str, draws: int, level: float) -> Iterator[np.ndarray]:
    """Yield whether the intervals of mass, center of mass and inertia hold the truth."""
    robot = th.Robot.load(arm).replace(friction=None)
    box = th.Payload(1.5, com=(0.03, -0.02, 0.1), inertia=np.diag([0.012, 0.015, 0.01]))
    model = with_friction(robot, arm)
    truth = np.concatenate([[1.5], box.com, np.asarray(box.inertia)[np.triu_indices(3)]])
    for seed in range(draws):
        loaded = logs_of(box.added_to(robot), arm, "white", 2 * seed, 2)
        unloaded = logs_of(robot, arm, "white", 2 * seed + 1, 2)
        found = identify(model, unloaded, loaded=loaded, cutoff=CUTOFF)
        low, high = found.intervals(level)[found.base.count :].T
        yield ((low <= truth) & (truth <= high))[np.isfinite(high)]


def of_sensors(arm: str, draws: int, level: float) -> Iterator[np.ndarray]:
    """Yield whether the intervals of friction with a Stribeck effect and of sensors hold the truth."""
    robot, scale = th.Robot.load(arm).replace(friction=None), np.array(ARMS[arm][1])
    n, friction = robot.n, friction_of(scale, True)
    sensors = SensorCalibration(n, torque_delay=0.005, torque_bias=0.5 * scale, torque_gain=np.linspace(1.0, 1.2, n))
    asked = ["torque_delay", "torque_bias", *(f"{joint}.torque_gain" for joint in robot.joint_names[1:])]
    named = {"viscous": friction.viscous[:, 0], "coulomb": friction.coulomb[:, 0], "stribeck": friction.stribeck}
    named["stribeck_velocity"] = friction.velocity
    named |= {name: getattr(sensors, name) for name in SensorCalibration.QUANTITIES}
    truth = {f"{joint}.{name}": x[j] for name, x in named.items() for j, joint in enumerate(robot.joint_names)}
    for seed in range(draws):
        (log,) = logs_of(robot, arm, "stribeck", seed, 1, 0.0)
        t, q, tau = sensors.read(log.t, log.q, log.tau)
        tau = tau + 0.2 * scale * np.random.default_rng(seed).normal(size=tau.shape)
        try:
            found = identify(robot, Log(t=t, q=q, tau=tau), friction="stribeck", sensors=asked, cutoff=CUTOFF)
        except th.errors.ThunderError:  # it did not converge, which the number of draws shows
            continue
        low, high = found.intervals(level)[found.base.count :].T
        known = np.array([truth[name] for name in found.extra_names])
        yield ((low <= known) & (known <= high))[np.isfinite(high)]


def of_data(name: str, folder: Path, level: float) -> tuple[int, float, float]:
    """Return the number of logs and both shares of a set of real logs."""
    arm = load(name, folder)
    logs = list(arm.logs)
    if len(logs) == 1:
        whole = logs[0].load(arm.robot)
        logs = [whole[len(whole) * k // 4 : len(whole) * (k + 1) // 4] for k in range(4)]
    every = identify(arm.robot, logs, **arm.options)
    low, high = every.intervals(level).T
    within, alike = [], []
    for log in logs:
        one = identify(arm.robot, log, **arm.options)
        others = identify(arm.robot, [other for other in logs if other is not log], **arm.options)
        within.append((low <= others.base_parameters) & (others.base_parameters <= high))
        reach = [0.5 * np.diff(each.intervals(level), axis=1)[:, 0] for each in (one, others)]
        alike.append(np.abs(one.base_parameters - others.base_parameters) <= np.hypot(*reach))
    return len(logs), float(np.mean(within)), float(np.mean(alike))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40, help="of arms with two to four joints, half for others")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--quick", action="store_true", help="four draws of the elbow arm alone")
    parser.add_argument("--folder", type=Path, help="where files of real logs are, whatever their names")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # draws that hardly determine a Stribeck velocity
    draws = {arm: options.draws if len(ARMS[arm][0]) < 5 else options.draws // 2 for arm in ARMS}
    draws = {"elbow": 4} if options.quick else draws
    print("| arm | errors | draws | links [%] | friction [%] | degrees of freedom |\n|---|---|---|---|---|---|")
    for arm, number in draws.items():
        for case in CASES:
            held: dict[str, list[np.ndarray]] = {"links": [], "friction": []}
            freedom = []
            for kind, inside, found in of_arm(arm, case, number, options.level):
                held[kind].append(inside)
                freedom.append(np.median(found.freedom))
            share = [f"{100.0 * np.mean(np.concatenate(each)):.1f}" for each in held.values()]
            print(f"| {arm} | {case} | {number} | {' | '.join(share)} | {np.median(freedom):.0f} |", flush=True)
    print("\n| arm | what | draws | held [%] |\n|---|---|---|---|")
    for arm, number in draws.items():
        for what, method in (("payload", of_payload), ("friction and sensors", of_sensors)):
            inside = list(method(arm, number // 2, options.level))
            print(f"| {arm} | {what} | {len(inside)} | {100.0 * np.mean(np.concatenate(inside)):.1f} |", flush=True)
    if options.folder is None:
        return
    print("\n| real logs | number | without one [%] | one and the others [%] |\n|---|---|---|---|")
    for name in DATA_SETS:
        count, within, alike = of_data(name, options.folder, options.level)
        print(f"| {name} | {count} | {100.0 * within:.1f} | {100.0 * alike:.1f} |", flush=True)


if __name__ == "__main__":
    main()
