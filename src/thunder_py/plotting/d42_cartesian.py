"""Figures 16 to 18 and 21 to 23 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .d42_joint import CONTROLLER_COLORS
from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.d42_cartesian import D42Cartesian, Plant

__all__ = ["plot_cartesian"]

_ROWS: tuple[tuple[Plant, str, str], ...] = (
    ("simulation", "liss3D", "Figures 16, 17: slow curve"),
    ("simulation", "linear", "Figure 18: fast line"),
    ("hand", "liss3D", "Figure 21: slow curve, with hand"),
    ("hand", "linear", "Figure 22: fast line, with hand"),
    ("hand", "circle", "Figure 23: circle, with hand, soft"),
)


def plot_cartesian(found: D42Cartesian) -> Figure:
    """Draw paths seen along x, and errors of position and orientation, a row for each curve; the first draw."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(_ROWS), 3, figsize=(12, 2.9 * len(_ROWS)), constrained_layout=True)
    for row, (plant, curve, title) in zip(axes, _ROWS, strict=True):
        _draw_path(row[0], found, plant, curve)
        _draw_errors(row[1], row[2], found, plant, curve)
        row[0].set_title(title, fontsize="medium")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3)
    figure.suptitle(f"First draw of the parameter error, $\\eta$ = {_middle(found):g}; dashed: wanted", x=0.3)
    return figure


def _middle(found: D42Cartesian) -> float:
    return found.etas[len(found.etas) // 2]


def _runs(found: D42Cartesian, plant: Plant, curve: str) -> list[tuple[str, Any]]:
    wanted = (plant, curve, _middle(found))
    return [(name, runs[0]) for (p, c, name, eta), runs in found.results.items() if (p, c, eta) == wanted]


def _draw_path(axes: Axes, found: D42Cartesian, plant: Plant, curve: str) -> None:
    for name, run in _runs(found, plant, curve):
        p = found.position(run)
        axes.plot(p[:, 1], p[:, 2], color=CONTROLLER_COLORS[name], linewidth=0.8)
        desired = found.references[curve](run.t).p
    axes.plot(desired[:, 1], desired[:, 2], color="#222222", linestyle="--", linewidth=1.0)
    axes.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    axes.set_adjustable("datalim")
    tidy(axes)


def _draw_errors(position: Axes, orientation: Axes, found: D42Cartesian, plant: Plant, curve: str) -> None:
    for name, run in _runs(found, plant, curve):
        p, angle = found.errors(curve, run)
        position.plot(run.t, p, color=CONTROLLER_COLORS[name], label=name, linewidth=0.9)
        orientation.plot(run.t, angle, color=CONTROLLER_COLORS[name], linewidth=0.9)
        for axes in (position, orientation):
            axes.set(xlabel="time [s]", xlim=(0.0, run.t[-1]))
    position.set_ylabel("position error [m]")
    orientation.set_ylabel("orientation error [rad]")
    for axes in (position, orientation):
        axes.set_ylim(bottom=0.0)
        tidy(axes)
