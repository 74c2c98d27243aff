"""Identify links, springs and motors of an elastic Panda: ``python examples/elastic_identification.py``.

Of each joint the positions of motor and link are measured, with white noise or by encoders whose steps have the same
standard deviation, and the motor's torque. The table has the mean error of the stiffnesses over seeds, the largest of
the seven joints, by `identify` and by least squares of the motors' equations alone, and the fraction of all identified
parameters whose 95 % interval holds the truth.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence

import numpy as np

import thunder_py as th
from thunder_py.identification import Identification, differentiate, identify, lowpass
from thunder_py.model.description import Elastic

K, MM = (20000, 20000, 10000, 10000, 2000, 1000, 500), (0.6, 0.6, 0.5, 0.5, 0.2, 0.2, 0.2)
CUTOFF, PERIOD, TORQUE_NOISE = 20.0, 1e-3, 0.05  # [Hz, s, N m]


def elastic_panda() -> th.Robot:
    """Panda with springs from 20 000 N m/rad at the base to 500 N m/rad at the flange."""
    drives = enumerate(zip(K, MM, strict=True), start=1)
    springs = [Elastic(joint=j, K=(k,), D=(0.02 * k**0.5,), Dm=(0.5,), Mm=Mm) for j, (k, Mm) in drives]
    return th.Robot.load("panda").replace(elastic=springs)


class WithChirp:
    """A law, and a vibration from 4 to 14 Hz on top of its torque."""

    def __init__(self, law: th.PassivityBased, amplitude: Sequence[float]) -> None:
        self.law, self.amplitude = law, np.array(amplitude)

    def step(self, t: float, q: np.ndarray, dq: np.ndarray, reference: th.reference.JointReference) -> np.ndarray:
        """Return the torque."""
        chirp = np.sin(2.0 * np.pi * (4.0 + t) * t + np.arange(7))
        return np.asarray(self.law.step(t, q, dq, reference) + self.amplitude * chirp)


def simulate(robot: th.Robot, seconds: float) -> th.SimulationResult:
    """Follow a slow motion while the motors vibrate."""
    law = th.PassivityBased(th.Robot.load("panda"), 3.0, [8, 8, 8, 6, 0.4, 0.4, 0.1])
    center = [0, -0.3, 0, -1.8, 0, 1.8, 0]
    motion = th.reference.Sinusoid([0.4] * 7, np.linspace(0.17, 0.53, 7), center=center, phase=range(7))
    return th.simulate(robot, WithChirp(law, [10, 10, 5, 5, 1, 1, 0.5]), motion, seconds, 5e-4, control_period=PERIOD)


def least_squares(t: np.ndarray, q: np.ndarray, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the stiffnesses from ``Mm ddx + Dm dx + K (x - q) + D (dx - dq) = tau`` of each joint."""
    link, motor = differentiate(t, q, CUTOFF), differentiate(t, x, CUTOFF)
    columns = np.stack([motor.q - link.q, motor.dq - link.dq, motor.dq, motor.ddq], axis=-1)[100:-100]
    held = np.column_stack([np.interp(t, t + 0.5 * PERIOD, column) for column in tau.T])  # half a period later
    torque = lowpass(t, held, CUTOFF)[100:-100]
    return np.array([np.linalg.lstsq(columns[:, j], torque[:, j], rcond=None)[0][0] for j in range(7)])


def held(found: Identification, robot: th.Robot) -> np.ndarray:
    """Return whether the 95 % interval of each identified parameter holds the truth."""
    elastic = [robot.elastic_parameters[name] for name in ("K", "D", "Dm", "Mm")]
    truth = found.base.mapping @ np.concatenate([robot.parameters, *elastic])
    low, high = found.intervals().T
    return np.asarray((low <= truth) & (truth <= high))


def measured(positions: np.ndarray, deviation: float, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return positions with white noise, or rounded to the steps of encoders with random zeros."""
    if kind == "white":
        return positions + deviation * rng.normal(size=positions.shape)
    step, zero = deviation * np.sqrt(12.0), rng.uniform(size=positions.shape[1])
    return step * (np.round(positions / step + zero) - zero)


def main(
    seeds: int = 5,
    encoders: Sequence[float] = (1e-6, 1e-5, 1e-4, 2e-4, 4e-4),
    kinds: Sequence[str] = ("white", "steps"),
) -> list[list[str]]:
    """Print the table and return its rows."""
    robot = elastic_panda()
    run = simulate(robot, 5.0)
    prior = robot.replace(inertial=1.2 * robot.inertial).with_elastic_parameters(K=[3000.0] * 7, Mm=[0.3] * 7)
    print("| noise | deviation [rad] | error of K | by least squares | within 95 % intervals |")
    print("|---|---|---|---|---|")
    rows = []
    for kind, encoder in itertools.product(kinds, encoders):
        mine, plain, inside = [], [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            q, x = (measured(positions, encoder, kind, rng) for positions in (run.q, run.x))
            tau = run.tau + TORQUE_NOISE * rng.normal(size=run.tau.shape)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", th.errors.ThunderWarning)  # of parameters that the noise hides
                found = identify(prior, run.t, q, x=x, tau=tau, cutoff=CUTOFF, hold=PERIOD)
            mine.append(found.robot.elastic_parameters["K"])
            plain.append(least_squares(run.t, q, x, tau))
            inside.append(held(found, robot))
        largest = [100.0 * np.abs(np.mean(each, axis=0) / K - 1.0).max() for each in (mine, plain)]
        rows.append(
            [kind, f"{encoder:.0e}", *(f"{value:.1f} %" for value in largest), f"{100 * np.mean(inside):.0f} %"]
        )
        print("| " + " | ".join(rows[-1]) + " |")
    return rows


if __name__ == "__main__":
    main()
