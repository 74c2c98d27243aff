"""Draw docs/images/trajectories.png: ``python docs/images/make_trajectories.py [file]``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import thunder_py as th
from thunder_py.geometry import Sphere
from thunder_py.papers.scara.kinematics import scara_path
from thunder_py.trajectory import PotentialField, cubic, parabolic_blends, quintic, s_curve, spline, trapezoidal

SKY, AMBER, BROWN = "#56B4E9", "#E69F00", "#8C510A"  # another panel, another meaning
BLUE, ORANGE, GREEN, PURPLE, INK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#222222"


def draw_laws(ax: Axes) -> None:
    """Draw speeds of timing laws of one duration."""
    laws = {
        "cubic": cubic(1.0),
        "quintic": quintic(1.0),
        "trapezoidal": trapezoidal(duration=1.0, blend=0.25),
        "s_curve": s_curve(v_max=1.5, a_max=9.0, j_max=70.0).stretched(1.0),
    }
    ax.set_prop_cycle(color=(BLUE, ORANGE, GREEN, PURPLE))
    for name, law in laws.items():
        law.plot(axes={"ds": ax}, label=name)
    ax.set(title="timing laws from 0 to 1", xlabel="time [s]", ylabel="velocity [1/s]")
    ax.legend(fontsize="small", ncols=2, loc="lower center")


def draw_joints(ax: Axes) -> None:
    """Draw ways through and past the same points."""
    t, q = np.array([0.0, 1.0, 2.0, 3.0]), np.array([[0.0], [1.0], [0.3], [0.8]])
    blends = parabolic_blends(t, q, 0.5)
    times = np.linspace(0.0, 3.0, 400)
    ax.plot(times, spline(t, q)(times).q, color=SKY, label="spline, clamped")
    ax.plot(times, spline(t, q, "natural")(times).q, color=AMBER, label="spline, natural")
    late = np.linspace(0.0, blends.duration, 400)
    ax.plot(late - 0.25, blends(late).q, color=BROWN, label="parabolic_blends")
    ax.plot(t, q, "o", color=INK, markersize=4)
    ax.set(title="one joint through points", xlabel="time [s]", ylabel="q [rad]")
    ax.legend(fontsize="small", loc="lower right")


def draw_ghost(ax: Axes) -> None:
    """Draw the SCARA's path from above."""
    path = scara_path()
    p = path(np.linspace(0.0, path.duration, 3000)).p
    ax.plot(-p[:, 1], p[:, 0], color=BLUE)
    points, passed = path.key_points, path.over_flown
    ax.plot(-points[~passed, 1], points[~passed, 0], "o", color=INK, markersize=4, label="reached")
    ax.plot(-points[passed, 1], points[passed, 0], "o", color=INK, markersize=5, mfc="none", label="over-flown")
    ax.set(title="scara_path(), from above", xlabel="-y [m]", ylabel="x [m]", aspect="equal")
    ax.legend(fontsize="small", loc="center")


def draw_plan(ax: Axes) -> None:
    """Draw an elbow that folds to get past a post."""
    tool = np.eye(4)
    tool[0, 3] = 0.4
    robot = th.Robot.from_dh([[0, 0, 0, 0], [0.5, 0, 0, 0]], tool=tool)
    post = Sphere([0.0, 0.7, 0.0], 0.08)
    trajectory = PotentialField(robot, [2.4, -0.3], [post]).plan([0.5, 0.2], seed=1).to_trajectory(2.0)
    for k, q in enumerate(trajectory(np.linspace(0.0, 2.0, 26)).q):
        joints = np.array([robot.forward_kinematics(q, frame)[:2, 3] for frame in (1, 2, "tool")])
        ax.plot(*joints.T, "-o", color=plt.get_cmap("viridis")(k / 25), markersize=2, linewidth=1)
    ax.add_patch(plt.Circle((0.0, 0.7), 0.08, color=ORANGE))
    ax.set(title="PotentialField(...).plan(q0)", xlabel="x [m]", ylabel="y [m]", aspect="equal")


def main(path: Path) -> None:
    """Draw all four."""
    figure, axes = plt.subplots(2, 2, figsize=(10.0, 7.6), layout="constrained")
    for ax, draw in zip(axes.ravel(), (draw_laws, draw_joints, draw_ghost, draw_plan), strict=True):
        draw(ax)
        ax.grid(visible=True, alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "trajectories.png")
