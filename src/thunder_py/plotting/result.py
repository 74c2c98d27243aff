"""Figures of a closed-loop run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..result import Result

__all__ = ["LEGEND_LINES", "new_axes", "plot_result"]

#: a legend of more lines than this hides the picture
LEGEND_LINES = 12


def plot_result(result: Result, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
    """Draw what a run logged, one above the other: error norm, torques, springs, estimates.

    Parameters
    ----------
    result : Result
        The run.
    axes : sequence of Axes, optional
        To draw on, one for each panel; default a new figure. Panels: the error if it was logged, the torques, the
        deflections x - q of elastic joints, and the estimates that moved, less their first values, if there are any.

    Returns
    -------
    array of Axes
        One per panel.
    """
    panels = ["tau"]
    if "error" in result.signals:
        panels.insert(0, "error")
    if result.x.shape[1]:
        panels.append("deflection")
    moved = _moved(result)
    if moved.any():
        panels.append("parameters")
    drawn = new_axes(len(panels)) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(drawn) != len(panels):
        raise ValueError(f"axes must be {len(panels)} ({', '.join(panels)}), got {len(drawn)}")
    for axis, panel in zip(drawn, panels, strict=True):
        if panel == "error":
            axis.semilogy(result.t, np.maximum(result.error_norm(), np.finfo(np.float64).tiny))
            axis.set_ylabel("error norm")
        elif panel == "tau":
            _lines(axis, result.t, result.tau, result.names.get("joints", ()), "torque [N m, N]")
        elif panel == "deflection":
            joints, motors = list(result.names["joints"]), result.names["motors"]
            deflection = result.x - result.q[:, [joints.index(name) for name in motors]]
            _lines(axis, result.t, deflection, motors, "deflection [rad, m]")
        else:
            change = (result.parameters - result.parameters[0])[:, moved]
            names = [name for name, kept in zip(result.names["parameters"], moved, strict=True) if kept]
            _lines(axis, result.t, change, names, "change of estimate")
        axis.grid(visible=True, alpha=0.3)
    drawn[-1].set_xlabel("time [s]")
    return drawn


def new_axes(count: int) -> npt.NDArray[np.object_]:
    """Return axes one above the other in a new figure."""
    from matplotlib.pyplot import subplots

    _, axes = subplots(count, sharex=True, squeeze=False, figsize=(8.0, 2.5 * count), layout="constrained")
    column: npt.NDArray[np.object_] = axes[:, 0]
    return column


def _moved(result: Result) -> npt.NDArray[np.bool_]:
    if "parameters" not in result.signals:
        return np.zeros(0, dtype=bool)
    moved: npt.NDArray[np.bool_] = np.any(result.parameters != result.parameters[0], axis=0)
    return moved


def _lines(axis: Axes, t: Array, values: Array, names: Sequence[str], label: str) -> None:
    lines = axis.plot(t, values, linewidth=1.0)
    axis.set_ylabel(label)
    if 0 < len(names) <= LEGEND_LINES:
        axis.legend(lines, names, ncols=2, fontsize="small", loc="upper right")
