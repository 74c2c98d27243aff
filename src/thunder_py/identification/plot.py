"""Figures of exciting motions and of identified parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..checks import one_of
from ..plotting.panels import panel, panels
from ..plotting.style import COLORS, SKY, THIN, TRUTH, VERMILION, positive, tidy
from .equations import all_parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..robot import Robot
    from . import Excitation, Identification, Replay

_POINTS = 400


def plot_excitation(excitation: Excitation, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Plot an exciting motion relative to its limits, and the criterion's history; see `Excitation.plot`."""
    drawn = panels(axes, [["position", "velocity", "criterion"]], (12.0, 3.4))
    t = np.linspace(0.0, excitation.duration, _POINTS)
    motion, limits = excitation.reference(t), excitation.limits
    limited = bool(np.isfinite(limits.velocity).all())
    speed = motion.dq / limits.velocity if limited else motion.dq
    for name, ax in drawn.items():
        if name == "criterion":
            _draw_history(ax, excitation)
        elif name == "position":
            lines = ax.plot(t, (motion.q - limits.center) / limits.half_range, linewidth=1.2)
            ax.set_title("position, part of its range", fontsize="medium")
            ax.legend(lines, excitation.robot.joint_names, fontsize="x-small", ncols=2, loc="lower left")
        else:
            ax.plot(t, speed, linewidth=1.2)
            ax.set_title("velocity, part of its limit" if limited else "velocity", fontsize="medium")
        if name == "position" or (name == "velocity" and limited):
            for side in (-1.0, 1.0):
                ax.axhline(side, color=TRUTH, linestyle="--", linewidth=0.8)
        ax.set_xlabel("iteration" if name == "criterion" else "time [s]")
        tidy(ax)
    return drawn


def _draw_history(ax: Axes, excitation: Excitation) -> None:
    for k, history in enumerate(excitation.history):
        ax.plot(history, linewidth=1.2, label=f"start {k + 1}")
    condition = excitation.criterion == "condition"
    ax.set_yscale("log" if condition else "linear")
    ax.set_title("condition number" if condition else "-log det / b", fontsize="medium")
    ax.legend(fontsize="small")


def plot_excitation_path(excitation: Excitation, *, ax: Axes | None = None) -> Axes:
    """Plot the path of the end effector in 3-D; see `Excitation.plot_path`."""
    ax = panel(ax, (4.5, 4.5), projection="3d")
    t = np.linspace(0.0, excitation.duration, _POINTS)
    p = excitation.robot.forward_kinematics(excitation.reference(t).q)[:, :3, 3]
    ax.plot(*p.T, linewidth=1.2)
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return ax


def plot_identification(identification: Identification, *, ax: Axes | None = None, truth: Robot | None = None) -> Axes:
    """Plot the base parameters as bars with 95 % intervals; see `Identification.plot`."""
    ax = panel(ax, (10.0, 3.5))
    base, k = identification.base, np.arange(identification.base.count)
    reach = np.diff(identification.intervals()[: base.count], axis=1)[:, 0] / 2.0
    reach = np.where(np.isfinite(reach), reach, 0.0)
    ax.bar(k, identification.base_parameters, 0.7, yerr=reach, color=SKY, label="identified")
    if truth is not None:
        true_values = base.mapping @ all_parameters(truth)
        ax.plot(k, true_values, linestyle="", marker="D", markersize=4, color=VERMILION, zorder=3, label="truth")
    ax.set_yscale("symlog", linthresh=1e-2)
    ax.set_xticks(k, base.names, rotation=90, fontsize="x-small")
    ax.set_title("base parameters [SI units], 95 % intervals", fontsize="medium")
    ax.legend(fontsize="small")
    tidy(ax)
    return ax


def plot_replay(
    result: Replay,
    *,
    axes: Mapping[str, Axes] | None = None,
    beside: Identification | None = None,
    parameters: Sequence[str] | None = None,
) -> dict[str, Axes]:
    """Plot prediction errors and estimates over time; see `Replay.plot`."""
    from scipy.ndimage import uniform_filter1d

    drawn = panels(axes, ["error", "estimates"], (9.0, 6.5), sharex=True)
    if "error" in drawn:
        smooth = np.sqrt(uniform_filter1d(result.error**2, max(len(result.t) // 50, 1), axis=0, mode="nearest"))
        lines = drawn["error"].semilogy(result.t, positive(smooth), linewidth=1.2)
        drawn["error"].legend(lines, result.joints, fontsize="x-small", ncols=2)
        drawn["error"].set_title("prediction error, smoothed over 2 % of the time [N m or N]", fontsize="medium")
    if "estimates" in drawn:
        ax, ends = drawn["estimates"], np.array(list(result.estimates(beside).values()))
        columns = np.diagonal(result.products, axis1=1, axis2=2)[:, : len(result.names)].sum(axis=0)
        effects = np.argsort(-np.abs(ends[1] - ends[0]) * np.sqrt(columns))
        chosen = (
            effects[:4]
            if parameters is None
            else [result.names.index(one_of(name, result.names, "parameters")) for name in parameters]
        )
        for k, color in zip(chosen, COLORS, strict=False):
            ax.plot(result.t, result.base_parameters[:, k], color=color, linewidth=1.2, label=result.names[k])
            ax.plot(result.t, result.least_squares[:, k], color=color, linewidth=THIN, linestyle="--")
            if beside is not None:
                ax.axhline(ends[-1, k], color=color, linewidth=THIN, linestyle=":")
        seen = np.concatenate([result.base_parameters[:, chosen].ravel(), ends[:, chosen].ravel()])
        ax.set_ylim(seen.min() - 0.1 * np.ptp(seen), seen.max() + 0.1 * np.ptp(seen))  # least squares begin anywhere
        ax.set_title(
            "estimates [SI units]; dashed: recursive least squares" + (beside is not None) * "; dotted: identified",
            fontsize="medium",
        )
        ax.legend(fontsize="x-small", ncols=2)
    for ax in drawn.values():
        for start in result.starts[1:]:
            ax.axvline(start, color=TRUTH, linestyle="--", linewidth=0.8)
        ax.set_xlabel("time [s]")
        tidy(ax)
    return drawn
