"""Draw docs/images/movement_primitives.png: ``python docs/images/make_movement_primitives.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from thunder_py.geometry import Sphere
from thunder_py.motion.primitives.dmp import DMP
from thunder_py.motion.primitives.dynamic_potential import DynamicPotential
from thunder_py.trajectory.hermite import minimum_jerk

BLUE, ORANGE, GREEN, PURPLE, INK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#222222"
REACH = minimum_jerk([0.0, 0.0, 0.0], [0.4, 0.3, 0.25], 5.0)
MEAN_JERK = 23.094 * np.linalg.norm([0.4, 0.3, 0.25]) / 5.0**3
BASES = {"gaussian": BLUE, "mollifier": ORANGE, "wendland_c2": GREEN, "wendland_c4": PURPLE}


def draw_jerk(ax: Axes) -> None:
    """Draw the jerk of reproductions with the paper's basis and with Gaussians."""
    for name, color in list(BASES.items())[1::-1]:
        motion = DMP(basis=name).fit(REACH).rollout(dt=1e-3)
        jerk = np.linalg.norm(motion.dddx, axis=1)
        label = f"{name}, overlap 1 (at most {jerk.max():.1f})"
        ax.plot(motion.t, jerk, color=color, linewidth=1.0, label=label)
    t = np.linspace(0.0, 5.0, 800)
    ax.plot(t, np.linalg.norm(REACH.position(t, 3), axis=1), "--", color=INK, linewidth=1.0, label="demonstration")
    ax.set(title="a minimum-jerk reach, reproduced", xlabel="time [s]", ylabel="norm of jerk [m/s³]", ylim=(0.0, 1.6))
    ax.legend(fontsize="small")


def draw_overlap(ax: Axes) -> None:
    """Draw mean jerk over overlap."""
    overlaps = np.linspace(0.8, 3.0, 45)
    for name, color in BASES.items():
        mean = [DMP(basis=name, overlap=overlap).fit(REACH).rollout().mean_jerk() for overlap in overlaps]
        ax.semilogy(overlaps, np.array(mean) / MEAN_JERK, color=color, label=name)
    ax.axhline(1.0, color=INK, linestyle="--", linewidth=1.0)
    ax.set(title="mean jerk / demonstration's", xlabel="overlap of 21 functions")
    ax.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    ax.minorticks_off()
    ax.legend(fontsize="small")


def draw_obstacles(ax: Axes) -> None:
    """Draw ways round two spheres, seen from the side."""
    dmp = DMP().fit(minimum_jerk([0.0, 0.0, 0.0], [0.6, 0.0, 0.0], 1.5))
    spheres = [Sphere([0.3, 0.0, 0.0], 0.05), Sphere([0.42, 0.0, -0.14], 0.03)]
    runs = (("no obstacles", INK, None), ("gain 0.2", GREEN, 0.2), ("gain 0.5", BLUE, 0.5), ("gain 1", ORANGE, 1.0))
    for label, color, gain in runs:
        field = None if gain is None else DynamicPotential(gain, side=[0.0, 0.0, 1.0])
        motion = dmp.rollout(obstacles=() if gain is None else spheres, potential=field, until=2.5)
        ax.plot(motion.x[:, 0], motion.x[:, 2], color=color, linewidth=1.2, label=label)
    for sphere in spheres:
        ax.add_patch(Circle((sphere.center[0], sphere.center[2]), sphere.radius, color="#bbbbbb"))
    ax.plot([0.0, 0.6], [0.0, 0.0], "o", color=INK, markersize=4)
    ax.set(title="dynamic potential, first sphere head-on", xlabel="x [m]", ylabel="z [m]", aspect="equal")
    ax.set_ylim(-0.2, 0.2)
    ax.legend(fontsize="small", ncols=2, loc="lower left")


def draw_goals(ax: Axes) -> None:
    """Draw speeds when the goal is moved on the way."""
    dmp = DMP().fit(minimum_jerk([0.0], [0.4], 1.5))
    runs = (("at once", ORANGE, 0.0), ("filter 0.05 s", BLUE, 0.05), ("filter 0.15 s", GREEN, 0.15))
    for label, color, time_constant in runs:
        states = [dmp.reset(goal_filter=time_constant)]
        for k in range(1, 2000):
            if k == 500:
                dmp.goal = [0.55]
            states.append(dmp.step(1e-3))
        ax.plot(1e-3 * np.arange(2000), [state.ddx[0] for state in states], color=color, linewidth=1.2, label=label)
    ax.axvline(0.5, color=INK, linestyle=":", linewidth=1.0)
    ax.set(title="goal 0.4 m, from 0.5 s on 0.55 m", xlabel="time [s]", ylabel="acceleration [m/s²]")
    ax.legend(fontsize="small")


def main() -> None:
    """Draw the picture."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "movement_primitives.png"
    figure, axes = plt.subplots(2, 2, figsize=(11.0, 7.0), layout="constrained")
    for draw, ax in zip((draw_jerk, draw_overlap, draw_obstacles, draw_goals), axes.ravel(), strict=True):
        draw(ax)
        if draw is not draw_obstacles:
            ax.grid(visible=True, alpha=0.3)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
