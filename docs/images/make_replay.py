"""Draw docs/images/replay_*.png and print the numbers of docs/replay.md: python make_replay.py LOGS.

LOGS is a folder with `panda_gaz` and `ur10e`, the public logs of docs/real_arms.md.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np

import thunder_py as th
from thunder_py.control import GradientAdaptation, NaturalAdaptation, ParameterEstimator
from thunder_py.identification import Identification, LogFile, identify, replay
from thunder_py.model.inertia import pseudo_inertia

matplotlib.use("Agg")
FOLDER = Path(__file__).parent
#: torque for each ampere [N m/A], from the target currents and torques of the same logs
DRIVES = (11.92, 11.95, 9.84, 10.76, 11.11, 10.88)


def rubbing(robot: th.Robot) -> th.Robot:
    """Return the robot with friction that begins at zero."""
    friction = th.robot.Friction(terms=("viscous", "coulomb"), coefficients=np.zeros((robot.n, 2)))
    return robot.replace(friction=friction)


def information(fit: Identification, log: LogFile, weights: np.ndarray) -> np.ndarray:
    """Return the mean weighted squares of the columns of the regressor along a log, (p,)."""
    recorded = fit.predict(log)
    ddq = np.gradient(recorded.dq, recorded.t, axis=0)
    Y = fit.robot.regressor(recorded.q, recorded.dq, ddq)
    found = np.einsum("j,kji->i", weights, Y**2) / len(Y)
    return np.maximum(found, 1e-3 * np.median(found[found > 0.0]))


def panda(logs: Path) -> None:
    """Compare laws from a model with 60 % of the inertial parameters and without friction."""
    robot, log = rubbing(th.Robot.load("panda")), LogFile(logs / "panda_gaz")
    reading = {"resample": 1000.0, "cutoff": 10.0}
    fit = identify(robot, log, **reading)
    start = robot.with_parameters(np.where(robot.unknown("inertial").mask, 0.6, 1.0) * robot.parameters)
    K_d = 320.0 * fit.noise[:7] ** 2
    gain = information(fit, log, 1.0 / K_d)
    size = 3.0 * np.sum(pseudo_inertia(start.inertial) ** 2, axis=(1, 2))
    natural = NaturalAdaptation(0.3 * size * gain[:70].reshape(7, 10).sum(axis=1), rest=gain[70:])
    laws = {
        "gradient": ParameterEstimator(start, adaptation=GradientAdaptation(1.5 * gain), R_t=1.0 / K_d),
        "natural": ParameterEstimator(start, adaptation=natural, R_t=1.0 / K_d),
        "natural, composite": ParameterEstimator(start, adaptation=natural, K_d=K_d),
        "natural, tracking": ParameterEstimator(start, adaptation=natural, K_d=K_d, gamma=0.0),
    }
    for name, estimator in laws.items():
        result = replay(estimator, log, **reading)
        print(f"\n{name}\n{result.table(fit).to_markdown()}")
        if name == "gradient":
            result.plot(beside=fit)["error"].figure.savefig(FOLDER / "replay_panda.png", dpi=80)


def ur10e(logs: Path) -> None:
    """Show a payload as the change of the last link."""
    robot = rubbing(th.Robot.load(logs / "ur10e" / "ur10e.urdf"))
    columns, reading = {"t": "0", "q": "1:7", "tau": "13:19"}, {"resample": 100.0, "cutoff": 5.0}
    empty, loaded = (
        LogFile(logs / "ur10e" / f"{name}.csv", columns=columns, gain=DRIVES) for name in ("noload", "load")
    )
    fit = identify(robot, empty, **reading)
    weights = 0.05 * fit.noise[:6].max() ** 2 / fit.noise[:6] ** 2
    gain, link = 2.0 * information(fit, empty, weights), robot.link_names[-1]
    first = replay(ParameterEstimator(robot, adaptation=GradientAdaptation(gain), R_t=weights), [empty] * 3, **reading)
    print(f"\nwithout payload\n{first.table(fit).to_markdown()}")
    law = GradientAdaptation(gain[robot.unknown(link).mask], unknown=link)
    second = ParameterEstimator(robot.with_parameters(first.parameters[-1]), adaptation=law, R_t=weights)
    result = replay(second, [empty, loaded], **reading)
    mass = result.names.index(f"{link}.m")
    adapted, before = result.base_parameters[:, mass], result.t < result.starts[1]
    print(f"\nmass of {link}: {adapted[before][-1]:.3f} kg, then {adapted[-1]:.3f} kg")
    moments = [f"{link}.{name}" for name in ("m", "mcx", "mcy", "mcz")]
    result.plot(parameters=moments)["error"].figure.savefig(FOLDER / "replay_ur10e.png", dpi=80)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of friction and instants, as docs/real_arms.md tells
    for draw in (panda, ur10e):
        draw(Path(sys.argv[1]))
