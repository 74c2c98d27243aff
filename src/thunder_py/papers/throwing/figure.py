"""Figures 27 and 28 of D4.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from ...checks import Array
from ...manipulation.throwing import simulate_flight
from ...plotting.panels import new_panels
from ...plotting.space import frame_box
from ...plotting.style import GRAY, LAW_COLORS, ORANGE, PURPLE, SHADE, TRUTH, label, outside_legend
from ...robot.plot import ArmPicture
from .physics import DISTANCES, HANDS, MOTIONS, WITHIN, ThrowsByHand
from .run import Throwing
from .setup import OBJECTS, REPORT

#: MACT and both laws without adaptation, stiffness of the hand 30 or 300 N/m
COLORS = {"adaptive, low": LAW_COLORS["MACT"], "fixed, low": LAW_COLORS["not adaptive"], "fixed, high": ORANGE}
MARKERS = dict(zip(OBJECTS, ("o", "^", "s"), strict=True))


def plot_throwing(found: Throwing) -> Figure:
    """Draw errors over repetitions (27a), landings and hit rates (27b), and the throw as a sequence (28)."""
    figure, panels = new_panels(
        [["position", "landings", "throw"], ["velocity", "rates", "throw"]],
        title=f"{found.seeds} simulated throws of each object with each controller",
        width_ratios=[1.0, 1.0, 1.1],
        spatial=["throw"],
    )
    for name, unit, errors, printed in (
        ("position", "mm", found.positions, REPORT[0]),
        ("velocity", "mm/s", found.velocities, REPORT[1]),
    ):
        _draw_errors(panels[name], errors, 1e3 * printed)
        label(panels[name], f"D4.2, Figure 27a: {name} error", "swing", f"RMSE [{unit}]")
    _draw_landings(panels["landings"], found)
    _draw_rates(panels["rates"], found)
    _draw_sequence(panels["throw"], found)
    for name, color in COLORS.items():
        panels["rates"].plot([], [], color=color, label=f"{name} gains")
    for name, marker in MARKERS.items():
        panels["rates"].plot([], [], marker, color=GRAY, label=name)
    return outside_legend(figure, *panels.values(), ncols=8)


def _draw_errors(axes: Axes, errors: dict[tuple[str, str], Array], printed: float) -> None:
    for (controller, name), values in errors.items():
        swings = np.arange(1, values.shape[1] + 1)
        means = 1e3 * values.mean(axis=0)
        axes.semilogy(swings, means, color=COLORS[controller], marker=MARKERS[name], markersize=4, linewidth=1.0)
    axes.plot(swings[-1:], [printed], "*", color=TRUTH, markersize=9, label="report, adaptive")
    axes.set_xticks(swings, [*map(str, swings[:-1]), "throw"])
    axes.axvspan(swings[-1] - 0.5, swings[-1] + 0.3, color=SHADE, zorder=0)


def _draw_landings(axes: Axes, found: Throwing) -> None:

    half = 50.0 * found.box
    for (controller, name), misses in found.misses.items():
        x, y = 100.0 * misses.T[:2]
        axes.scatter(x, y, s=14, color=COLORS[controller], marker=MARKERS[name], alpha=0.6)
    axes.add_patch(Rectangle((-half, -half), 2.0 * half, 2.0 * half, fill=False, linewidth=1.5, label="box"))
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "D4.2, Figure 27b: landings", "x, landing minus target [cm]", "y, landing minus target [cm]")


def _draw_rates(axes: Axes, found: Throwing) -> None:
    halves = np.linspace(0.0, 0.2, 200)
    for controller, color in COLORS.items():
        far = np.abs(found.all_misses(controller)).max(axis=1)
        axes.plot(200.0 * halves, 100.0 * np.mean(far[:, None] <= halves, axis=0), color=color)
    axes.axvline(100.0 * found.box, color=TRUTH, linestyle=":", label="width of the box")
    label(axes, "Not in D4.2: share of landings", "width of a square around the target [cm]", "landings within it [%]")


def _draw_sequence(axes: Any, found: Throwing) -> None:
    """Draw the arm at start, mid-swing, release and stop, the flight and the box."""
    motion, robot = found.setup.motion, found.setup.robot
    postures = motion.joints([0.0, 0.5 * motion.release_time, motion.release_time, motion.throw_duration])[0]
    for alpha, q in zip((0.25, 0.45, 1.0, 0.45), postures, strict=True):
        ArmPicture(axes, robot, q, frames=False, alpha=alpha)
    target = motion.release.target
    flight = simulate_flight(motion.release.p, motion.release.v, float(target[2]))
    axes.plot(*flight.p.T, color=PURPLE, linestyle="--", marker="o", markevery=10, markersize=4, label="flight")
    h = 0.5 * found.box
    corners = target + np.array([(-h, -h, 0), (h, -h, 0), (h, h, 0), (-h, h, 0), (-h, -h, 0)])
    below = corners - np.array([0.0, 0.0, 0.15])
    for edge in (corners, below, *zip(corners[:4], below[:4], strict=True)):
        axes.plot(*np.asarray(edge).T, color=TRUTH, linewidth=1.0)
    frame_box(axes, [flight.p, corners, below, *robot.forward_kinematics(postures)[None, :, :3, 3], np.zeros((1, 3))])
    sides = [float(np.ptp(limits)) for limits in (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())]
    axes.set_box_aspect(sides, zoom=0.8)  # leaves room for the label of z
    axes.set_yticks([0.0, 0.4])
    axes.view_init(elev=18, azim=-70)
    axes.set_title("D4.2, Figures 25 and 28: start, swing,\nrelease (dark), stop and flight", fontsize="medium")


def plot_throws_by_hand(found: ThrowsByHand) -> Figure:
    """Draw the landings of each hand by distance, and the misses of all cases over those of a steady hand."""
    marks = dict(zip(OBJECTS, "so^", strict=True))
    ends = np.array([0.05, 100.0])  # of the spread times the speed [cm]
    figure, panels = new_panels([[*HANDS, "spread"]], title="objects released by opening hands")
    for case, thrown in found.made.items():
        if case.is_best:
            color, x = f"C{DISTANCES.index(case.distance)}", 100.0 * thrown.misses.T
            panels[case.hand].plot(*x, marks[case.name], color=color, alpha=0.7, label=f"{case.distance:g} m")
        miss = 100.0 * np.linalg.norm(thrown.misses[np.isfinite(thrown.late)], axis=1)
        color = f"C{list(HANDS).index(case.hand)}"
        name = f"{case.hand}, {case.motion}"
        mark = "o^s"[MOTIONS.index(case.motion)]
        steady = np.full(miss.shape, max(100.0 * thrown.steady, ends[0]))
        panels["spread"].loglog(steady, miss, mark, color=color, alpha=0.7, label=name)
    for name, within in WITHIN.items():
        circle = Circle((0.0, 0.0), 100.0 * within, fill=False, color=TRUTH, linestyle=":")
        panels[name].add_patch(circle)
        panels[name].set_aspect("equal", adjustable="datalim")
        label(panels[name], f"Figure 27: {name}", "x, landing minus target [cm]", "y, landing minus target [cm]")
    panels["spread"].loglog(ends, ends, color=TRUTH, linestyle="--", label="spread of the delay x speed")
    label(panels["spread"], "limit of the hand", "spread of the delay x speed of the landing [cm]", "miss [cm]")
    return outside_legend(figure, *panels.values(), ncols=4)
