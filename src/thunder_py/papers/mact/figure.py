"""Figures 14 and 15 of D4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .cartesian import D42Cartesian, Plant
    from .estimation import D42Estimation
    from .joint import D42Joint

__all__ = ["CONTROLLER_COLORS", "plot_cartesian", "plot_estimation", "plot_joint"]

#: one color for each controller, in all figures
CONTROLLER_COLORS = {"CT": "#D55E00", "ACT": "#E69F00", "AIRC": "#777777", "MACT": "#0072B2"}


def plot_joint(found: D42Joint) -> Figure:
    """Draw errors and condition numbers for two adaptive gains, and AIRC's equivalent gains; the first draw."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(14, 7), constrained_layout=True)
    for column, eta in enumerate(found.etas[-2:]):
        _draw_errors(axes[0, column], found, eta)
        axes[0, column].set_title(f"Figure 14, $\\eta$ = {eta:g}")
        _draw_condition(axes[1, column], found, eta)
        axes[1, column].set_title(f"Figure 15b, $\\eta$ = {eta:g}")
    _draw_gains(axes[0, 2], axes[1, 2], found, found.etas[0])
    figure.suptitle("First draw of the parameter error")
    return figure


def _draw_errors(axes: Axes, found: D42Joint, eta: float) -> None:
    for name, color in CONTROLLER_COLORS.items():
        run = found.results[name, eta][0]
        axes.semilogy(run.t[1:], run.error_norm()[1:], color=color, label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="|e| [rad]", xlim=(0.0, found.results["CT", eta][0].t[-1]))
    axes.set_ylim(1e-4, 20.0)
    axes.legend(ncols=4, loc="lower center", fontsize="small")
    tidy(axes)


def _draw_gains(stiff: Axes, damped: Axes, found: D42Joint, eta: float) -> None:
    from .setup import K_P, K_V

    t, stiffness, damping = found.equivalent_gains(eta)
    for axes, values, gain, what in ((stiff, stiffness, K_P, "stiffness"), (damped, damping, K_V, "damping")):
        for joint, color in ((0, "#009E73"), (1, "#0072B2"), (5, "#CC79A7")):
            axes.plot(t, values[:, joint], color=color, label=f"joint {joint + 1}", linewidth=1.0)
            axes.axhline(gain[joint], color=color, linestyle="--", linewidth=0.8)
        unit = "N m/rad" if axes is stiff else "N m s/rad"
        axes.set(xlabel="time [s]", ylabel=f"{what} [{unit}]", xlim=(t[0], t[-1]))
        axes.set_title(f"Figure 15a: {what} of AIRC; dashed: as set")
        axes.legend(fontsize="small")
        tidy(axes)


def _draw_condition(axes: Axes, found: D42Joint, eta: float) -> None:
    for name in ("ACT", "AIRC", "MACT"):
        t, condition = found.condition(name, eta)
        axes.semilogy(t, condition, color=CONTROLLER_COLORS[name], label=name, linewidth=1.0)
    axes.set(xlabel="time [s]", ylabel="condition number of $\\hat M$")
    axes.set_xlim(0.0, float(np.max(found.results["MACT", eta][0].t)))
    axes.legend(fontsize="small")
    tidy(axes)


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
        _draw_task_errors(row[1], row[2], found, plant, curve)
        row[0].set_title(title, fontsize="medium")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3)
    figure.suptitle(f"First draw of the parameter error, $\\eta$ = {_middle(found):g}; dashed: desired", x=0.3)
    return figure


def _middle(found: D42Cartesian) -> float:
    return found.etas[len(found.etas) // 2]


def _runs(found: D42Cartesian, plant: Plant, curve: str) -> list[tuple[str, Any]]:
    key = (plant, curve, _middle(found))
    return [(name, runs[0]) for (p, c, name, eta), runs in found.results.items() if (p, c, eta) == key]


def _draw_path(axes: Axes, found: D42Cartesian, plant: Plant, curve: str) -> None:
    for name, run in _runs(found, plant, curve):
        p = found.position(run)
        axes.plot(p[:, 1], p[:, 2], color=CONTROLLER_COLORS[name], linewidth=0.8)
        desired = found.references[curve](run.t).p
    axes.plot(desired[:, 1], desired[:, 2], color="#222222", linestyle="--", linewidth=1.0)
    axes.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    axes.set_adjustable("datalim")
    tidy(axes)


def _draw_task_errors(position: Axes, orientation: Axes, found: D42Cartesian, plant: Plant, curve: str) -> None:
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


_COLORS = ("#0072B2", "#009E73", "#D55E00")


def plot_estimation(found: D42Estimation) -> Figure:
    """Draw the estimated mass and first moments with the truth, and the error of the joints."""
    import matplotlib.pyplot as plt

    run = found.result
    figure, (mass, moments, error) = plt.subplots(1, 3, figsize=(13, 3.6), constrained_layout=True)
    mass.plot(run.t, found.estimate[:, 0], color=_COLORS[0], label="estimate")
    mass.axhline(found.truth[0], color="#222222", linestyle="--", label="link 7 with the hand")
    mass.set(title="Figure 19a: mass", ylabel="[kg]")
    for k, (axis, color) in enumerate(zip("xyz", _COLORS, strict=True), start=1):
        moments.plot(run.t, found.estimate[:, k], color=color, label=f"$m c_{axis}$")
        moments.axhline(found.truth[k], color=color, linestyle="--", linewidth=0.8)
    moments.set(title="Figure 19b: first moments; dashed: truth", ylabel="[kg m]")
    error.plot(run.t, run.error_norm(), color=_COLORS[0], linewidth=0.8)
    error.set(title="Figure 20b: |e| of the joints", ylabel="[rad]")
    for axes in (mass, moments, error):
        axes.set(xlabel="time [s]", xlim=(0.0, run.t[-1]))
        tidy(axes)
    for axes in (mass, moments):
        axes.legend(fontsize="small")
    return figure
