"""Figures of exciting motions and of identified parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..plotting.style import SKY, TRUTH, VERMILION, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..robot import Robot
    from . import Excitation, Identification

__all__ = ["plot_excitation", "plot_excitation_path", "plot_identification"]

_POINTS = 400


def plot_excitation(excitation: Excitation, *, axes: npt.NDArray[np.object_] | None = None) -> npt.NDArray[np.object_]:
    """Plot an exciting motion: positions and velocities relative to their limits, and the criterion's history.

    Parameters
    ----------
    excitation : Excitation
        Motion of `thunder_py.identification.optimize_excitation`.
    axes : array of 3 Axes, optional
        Default a new figure.

    Returns
    -------
    array of Axes
        Positions, velocities, criterion.
    """
    if axes is None:
        from matplotlib.pyplot import subplots

        _, axes = subplots(1, 3, figsize=(12.0, 3.4), layout="constrained")
    row = np.ravel(np.asarray(axes, dtype=object))
    t = np.linspace(0.0, excitation.duration, _POINTS)
    motion, limits = excitation.reference(t), excitation.limits
    relative = (motion.q - limits.center) / limits.half_range
    speed = motion.dq / limits.velocity if np.isfinite(limits.velocity).all() else motion.dq
    for axis, values, bounded, title in (
        (row[0], relative, True, "position, part of its range"),
        (row[1], speed, np.isfinite(limits.velocity).all(), "velocity"),
    ):
        lines = axis.plot(t, values, linewidth=1.2)
        axis.set_xlabel("time [s]")
        if bounded:
            for side in (-1.0, 1.0):
                axis.axhline(side, color=TRUTH, linestyle="--", linewidth=0.8)
        axis.set_title(title + (", part of its limit" if bounded and values is speed else ""), fontsize="medium")
    row[0].legend(lines, excitation.robot.joint_names, fontsize="x-small", ncols=2, loc="lower left")
    for k, history in enumerate(excitation.history):
        row[2].plot(history, linewidth=1.2, label=f"start {k + 1}")
    if excitation.criterion == "condition":
        row[2].set_yscale("log")
    row[2].set_title("condition number" if excitation.criterion == "condition" else "-log det / b", fontsize="medium")
    row[2].set_xlabel("iteration")
    row[2].legend(fontsize="small")
    for axis in row:
        tidy(axis)
    return row


def plot_excitation_path(excitation: Excitation, *, axes: Axes | None = None) -> Axes:
    """Plot the path of the end effector in 3-D.

    Parameters
    ----------
    excitation : Excitation
        The motion.
    axes : Axes with a 3D projection, optional
        Default a new figure.
    """
    if axes is None:
        from matplotlib.pyplot import figure

        axes = figure(figsize=(4.5, 4.5), layout="constrained").add_subplot(projection="3d")
    t = np.linspace(0.0, excitation.duration, _POINTS)
    p = excitation.robot.forward_kinematics(excitation.reference(t).q)[:, :3, 3]
    axes.plot(p[:, 0], p[:, 1], p[:, 2], linewidth=1.2)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return axes


def plot_identification(
    identification: Identification, *, axes: Axes | None = None, truth: Robot | None = None
) -> Axes:
    """Plot the base parameters as bars with two standard deviations to either side.

    Parameters
    ----------
    identification : Identification
        Result of `thunder_py.identification.identify`.
    axes : Axes, optional
        Default a new figure.
    truth : Robot, optional
        Robot with the true parameters, plotted as well.
    """
    if axes is None:
        from matplotlib.pyplot import subplots

        _, axes = subplots(figsize=(10.0, 3.5), layout="constrained")
    base, k = identification.base, np.arange(identification.base.count)
    sigma = np.where(np.isfinite(identification.standard_deviations), identification.standard_deviations, 0.0)
    axes.bar(k, identification.base_parameters, 0.7, yerr=2.0 * sigma, color=SKY, label="identified")
    if truth is not None:
        true_values = base.mapping @ truth.parameters
        axes.plot(k, true_values, linestyle="", marker="D", markersize=4, color=VERMILION, zorder=3, label="truth")
    axes.set_yscale("symlog", linthresh=1e-2)
    axes.set_xticks(k, base.names, rotation=90, fontsize="x-small")
    axes.set_title("base parameters [kg, kg m, kg m²], two standard deviations", fontsize="medium")
    axes.legend(fontsize="small")
    tidy(axes)
    return axes
