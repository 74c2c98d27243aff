"""Draw docs/images/contact_detection.png: ``python docs/images/make_contact_detection.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import thunder_py as th
from thunder_py.control import ContactDetector, EnergyObserver, MomentumObserver

BLUE, ORANGE, GREEN, INK = "#0072B2", "#D55E00", "#009E73", "#222222"
JOINT = 3  # the fourth, which the push loads


def main(path: Path) -> None:
    """Simulate a push on the moving Panda with noisy velocities and draw the estimates."""
    robot = th.Robot.load("panda")
    motion = th.reference.Sinusoid([0.3] * 7, [0.3] * 7, center=[0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7])
    observers = {
        "first order": MomentumObserver(robot, 50.0, detector=ContactDetector(1.0)),
        "second order": MomentumObserver(robot, 50.0, order=2),
        "power": EnergyObserver(robot, 50.0),
    }
    run = th.simulate(
        robot,
        th.ComputedTorque(robot, 100.0, 20.0),
        motion,
        1.5,
        external=th.ExternalWrench([0.0, 0.0, 20.0, 0.0, 0.0, 0.0], start=0.5, stop=1.0),
        sensors=th.Sensors(velocity_noise=2e-3, seed=1),
        observers=observers,
    )
    truth = run.signals["external"]
    figure, (torque, power) = plt.subplots(2, 1, figsize=(8.0, 5.0), sharex=True, layout="constrained")
    for name, color in (("first order", BLUE), ("second order", ORANGE)):
        torque.plot(run.t, run.signals[name][:, JOINT], color=color, linewidth=1.0, label=name)
    torque.plot(run.t, truth[:, JOINT], color=INK, linestyle=":", label="true")
    touching = run.signals["first order_contact"].any(axis=1)
    low, high = torque.get_ylim()
    torque.fill_between(run.t, low, high, where=touching, color=BLUE, alpha=0.1, linewidth=0.0, label="contact")
    torque.set(ylim=(low, high), ylabel=f"{robot.joint_names[JOINT]} [N m]", title="external torque")
    power.plot(run.t, run.signals["power"][:, 0], color=GREEN, linewidth=1.0, label="energy observer")
    power.plot(run.t, np.sum(truth * run.dq, axis=1), color=INK, linestyle=":", label="true")
    power.set(xlabel="time [s]", ylabel="[W]", title="external power")
    for ax in (torque, power):
        ax.grid(visible=True, alpha=0.3)
        ax.legend(fontsize="small", loc="upper right")
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("contact_detection.png"))
