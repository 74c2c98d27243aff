"""Figures 27 and 28 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...manipulation.throwing import simulate_flight
from ...plotting.space import frame_box
from ...plotting.style import tidy
from ...robot.plot import ArmPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import Throwing

__all__ = ["plot_throwing"]

#: color of each controller, in all panels
COLORS = {"adaptive, low": "#0072B2", "fixed, low": "#D55E00", "fixed, high": "#E69F00"}
MARKERS = ("o", "^", "s")
_OBJECT = "#7B3294"


def plot_throwing(found: Throwing) -> Figure:
    """Draw errors over repetitions (27a), landings and hit rates (27b), and the throw as a sequence (28)."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(14, 8.5), constrained_layout=True)
    grid = figure.add_gridspec(2, 3)
    _draw_errors(figure.add_subplot(grid[0, 0]), found, found.positions, "RMSE of position [m]")
    _draw_errors(figure.add_subplot(grid[1, 0]), found, found.velocities, "RMSE of velocity [m/s]")
    _draw_landings(figure.add_subplot(grid[0, 1]), found)
    _draw_rates(figure.add_subplot(grid[1, 1]), found)
    _draw_sequence(figure.add_subplot(grid[:, 2], projection="3d"), found)
    figure.suptitle(f"D4.2, Figures 27 and 28: {found.seeds} throws of each of three objects with each controller")
    return figure


def _draw_errors(axes: Axes, found: Throwing, errors: dict[tuple[str, str], Array], label: str) -> None:
    for (controller, name), values in errors.items():
        style = {"color": COLORS[controller], "marker": MARKERS[_objects(found).index(name)], "markersize": 4}
        swings = np.arange(1, values.shape[1] + 1)
        axes.semilogy(swings, values.mean(axis=0), linewidth=1.0, **style)
    last = values.shape[1]
    axes.set_xticks(swings, [*map(str, swings[:-1]), "throw"])
    axes.axvspan(last - 0.5, last + 0.3, color="#dddddd", zorder=0)
    axes.set(xlabel="swing", ylabel=label, title="Figure 27a" if "position" in label else "")
    tidy(axes)


def _objects(found: Throwing) -> list[str]:
    return list(dict.fromkeys(name for _, name in found.misses))


def _draw_landings(axes: Axes, found: Throwing) -> None:
    from matplotlib.patches import Rectangle

    half = 50.0 * found.box
    for (controller, name), misses in found.misses.items():
        number = _objects(found).index(name)
        label = controller if number == 0 else None
        points = 100.0 * misses.T
        axes.scatter(
            points[0], points[1], s=14, color=COLORS[controller], marker=MARKERS[number], alpha=0.6, label=label
        )
    axes.add_patch(Rectangle((-half, -half), 2.0 * half, 2.0 * half, fill=False, linewidth=1.5))
    axes.set(xlabel="x, landing minus target [cm]", ylabel="y [cm]", title="Figure 27b; square: the box")
    axes.set_aspect("equal", adjustable="datalim")
    names = _objects(found)
    shapes = [axes.plot([], [], MARKERS[k], color="#777777", label=name)[0] for k, name in enumerate(names)]
    handles = [*shapes, *axes.get_legend_handles_labels()[0][: len(COLORS)]]
    axes.legend(handles=handles, fontsize="x-small")
    tidy(axes)


def _draw_rates(axes: Axes, found: Throwing) -> None:
    halves = np.linspace(0.0, 0.2, 200)
    for controller, color in COLORS.items():
        far = np.abs(found.all_misses(controller)).max(axis=1)
        axes.plot(200.0 * halves, 100.0 * np.mean(far[:, None] <= halves, axis=0), color=color, label=controller)
    axes.axvline(100.0 * found.box, color="#222222", linestyle=":")
    axes.set(xlabel="width of a square around the target [cm]", ylabel="landings within it [%]", ylim=(0.0, 102.0))
    axes.legend(fontsize="small", loc="lower right")
    tidy(axes)


def _draw_sequence(axes: Any, found: Throwing) -> None:
    """Draw some instants of the arm from the start to the stop, the flight and the box."""
    motion, robot = found.setup.motion, found.setup.robot
    times = [0.0, 0.5 * motion.release_time, motion.release_time, motion.throw_duration]
    postures = motion.joints(times)[0]
    for alpha, q in zip((0.25, 0.45, 1.0, 0.45), postures, strict=True):
        ArmPicture(axes, robot, q, frames=False, alpha=alpha)
    target = motion.release.target
    flight = simulate_flight(motion.release.p, motion.release.v, float(target[2]))
    axes.plot(*flight.p.T, color=_OBJECT, linestyle="--", marker="o", markevery=10, markersize=4)
    h = 0.5 * found.box
    corners = target + np.array([(-h, -h, 0), (h, -h, 0), (h, h, 0), (-h, h, 0), (-h, -h, 0)])
    below = corners - np.array([0.0, 0.0, 0.15])
    for edge in (corners, below, *zip(corners[:4], below[:4], strict=True)):
        axes.plot(*np.asarray(edge).T, color="#222222", linewidth=1.0)
    frame_box(axes, [flight.p, corners, below, *robot.forward_kinematics(postures)[None, :, :3, 3], np.zeros((1, 3))])
    sides = [float(np.ptp(limits)) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    axes.set_box_aspect(sides, zoom=0.85)  # leaves room for the name of z
    axes.view_init(elev=18, azim=-70)
    axes.set_title("Figure 28: start, swing, release (dark), stop")
