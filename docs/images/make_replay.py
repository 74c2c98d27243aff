"""Draw docs/images/replay_*.png and print the tables of docs/replay.md: python make_replay.py LOGS.

LOGS is a folder with `panda_gaz` and `ur10e`, the public logs that docs/real_arms.md names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib
import numpy as np

import thunder_py as th
from thunder_py.control import GradientAdaptation, NaturalAdaptation, ParameterEstimator
from thunder_py.identification import Identification, LogFile, Replay, identify, replay
from thunder_py.plotting.panels import new_panels
from thunder_py.plotting.style import BLUE, GREEN, ORANGE, TRUTH, VERMILION, tidy
from thunder_py.table import Table

matplotlib.use("Agg")
FOLDER = Path(__file__).parent
#: time in which a parameter whose column is orthogonal to the others would converge [s]
T = 1.0


def rubbing(robot: th.Robot) -> th.Robot:
    """Return the robot with friction that begins at zero."""
    return robot.replace(friction=th.robot.Friction(("viscous", "coulomb"), np.zeros((robot.n, 2))))


def gains(robot: th.Robot, log: LogFile, R_t: np.ndarray, unknown: object = None, **reading: float) -> GradientAdaptation:
    """Return the gradient law of the base parameters with gains by the information of a log."""
    names = robot.unknown(unknown).base_parameters().names
    law = GradientAdaptation(1e12, unknown=names)  # stands still
    information = np.diagonal(replay(ParameterEstimator(robot, adaptation=law, R_t=R_t), log, **reading).products, 0, 1, 2)
    return GradientAdaptation(T * R_t @ information[:, : len(names)], unknown=names)


def draw_errors(results: dict[str, Replay], path: Path) -> None:
    """Draw the prediction errors of several laws, relative to the torque, and that of least squares."""


def panda(logs: Path) -> None:
    """Replay the log of the Panda with four estimators."""
    robot, log, reading = rubbing(th.Robot.load("panda")), LogFile(logs / "panda_gaz"), {"resample": 1000.0, "cutoff": 10.0}
    batch = identify(robot, log, **reading)
    start = robot.with_parameters(np.where(robot.unknown("inertial").mask, 0.6, 1.0) * robot.parameters)
    R_t = batch.noise[: robot.n] ** -2.0
    print(batch.table())
