"""Figures of several runs, and of energy and Lyapunov functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .result import LEGEND_LINES, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..result import EnergyBalance, Lyapunov, Result

__all__ = ["plot_comparison", "plot_energy", "plot_lyapunov"]


def plot_comparison(results: Mapping[str, Result], *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
    """Overlay the error norms and the norms of the torques of several runs.

    Parameters
    ----------
    results : mapping of str to Result
        The runs under the names for the legend.
    axes : sequence of two Axes, optional
        To draw on; default a new figure.

    Returns
    -------
    array of Axes
        Errors, torques.
    """
    drawn = new_axes(2) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(drawn) != 2:
        raise ValueError(f"axes must be 2 (error, tau), got {len(drawn)}")
    for name, result in results.items():
        if "error" in result.signals:
            drawn[0].semilogy(result.t, _above_zero(result.error_norm()), linewidth=1.0, label=name)
        else:
            drawn[0].plot([], [], label=f"{name} (error not logged)")
        drawn[1].plot(result.t, np.linalg.norm(result.tau, axis=1), linewidth=1.0, label=name)
    drawn[0].set_ylabel("error norm")
    drawn[1].set_ylabel("norm of torques [N m, N]")
    for axis in drawn:
        axis.grid(visible=True, alpha=0.3)
    if 0 < len(results) <= LEGEND_LINES:
        drawn[0].legend(fontsize="small", loc="upper right")
    drawn[-1].set_xlabel("time [s]")
    return drawn


def plot_energy(energy: EnergyBalance, *, axes: Axes | None = None) -> Axes:
    """Draw the energy balance of a run.

    Parameters
    ----------
    energy : EnergyBalance
        What `Result.energy` returned.
    axes : Axes, optional
        To draw on; default a new figure.
    """
    axis = new_axes(1)[0] if axes is None else axes
    for name in ("kinetic", "potential", "work", "dissipated", "external", "payload", "residual"):
        values = getattr(energy, name)
        if name == "potential":  # its zero means nothing
            values, name = values - values[0], "potential, change"
        if np.any(values != 0.0):
            (line,) = axis.plot(energy.t, values, linewidth=1.0, label=name)
            if name == "residual":
                line.set(color="black", linestyle=":")
    axis.set_ylabel("energy [J]")
    axis.set_xlabel("time [s]")
    axis.grid(visible=True, alpha=0.3)
    axis.legend(fontsize="small", ncols=2, loc="upper right")
    return axis


def plot_lyapunov(lyapunov: Lyapunov, *, axes: Axes | None = None) -> Axes:
    """Draw a Lyapunov function on a logarithmic axis, and its derivative on a second one.

    Parameters
    ----------
    lyapunov : Lyapunov
        What `Result.lyapunov` returned.
    axes : Axes, optional
        To draw on; default a new figure.
    """
    axis = new_axes(1)[0] if axes is None else axes
    lines = axis.semilogy(lyapunov.t, _above_zero(lyapunov.V), color="#0072B2", label="$V$")
    second = axis.twinx()
    label = r"$\dot V$" + ("" if lyapunov.analytic else " (differences)")
    lines += second.plot(lyapunov.t, lyapunov.V_dot, color="#D55E00", linewidth=1.0, label=label)
    axis.set_ylabel("$V$")
    second.set_ylabel(r"$\dot V$")
    axis.set_xlabel("time [s]")
    axis.grid(visible=True, alpha=0.3)
    second.legend(lines, [str(line.get_label()) for line in lines], fontsize="small", loc="upper right")
    return axis


def _above_zero(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values that a logarithmic axis takes: gaps where there is nothing."""
    return np.where(values > 0.0, values, np.nan)
