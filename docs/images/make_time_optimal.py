"""Draw docs/images/time_optimal.png: ``python docs/images/make_time_optimal.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import thunder_py as th
from thunder_py.trajectory import time_optimal

Q0, Q1 = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], [1.0, 0.3, 0.2, -1.5, 0.3, 2.0, 0.0]


def main(file: Path) -> None:
    """Draw torques and usage of limits of a motion of the Panda, without and with a limit of torque rates."""
    robot = th.Robot.load("panda")
    figure, axes = plt.subplots(2, 2, figsize=(11, 5.4), sharex=True, layout="constrained")
    for column, (title, rate) in enumerate((("velocity, torque", np.inf), ("and torque rate 1000 N m/s", 1000.0))):
        motion = time_optimal(robot, [Q0, Q1], effort_rate=rate)
        upper, lower = axes[:, column]
        motion.plot(axes={"tau": upper, "usage": lower})
        upper.set_title(f"{title}: {motion.duration:.3f} s", fontsize="medium")
        upper.set_xlabel("")
        upper.get_legend().set_loc("upper center")
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("time_optimal.png"))
