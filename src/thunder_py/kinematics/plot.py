"""Figures of a CLIK's motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from . import CLIKResult

__all__ = ["plot_clik"]

#: largest number of lines with a legend
_LEGEND_LINES = 12


def plot_clik(result: CLIKResult, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
    """Draw joint positions, joint velocities, the task error by rows and the manipulability, one above the other.

    Parameters
    ----------
    result : CLIKResult
        The motion.
    axes : sequence of Axes, optional
        Four axes; default a new figure.

    Returns
    -------
    array of Axes
        One per panel.
    """
    drawn = _new_axes() if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(drawn) != 4:
        raise ValueError(f"axes must be 4 (q, dq, error, manipulability), got {len(drawn)}")
    panels = (
        (result.q, result.joint_names, "q [rad, m]"),
        (result.dq, result.joint_names, "dq [rad/s, m/s]"),
        (result.error, result.rows, "error [m, rad]"),
        (result.manipulability[:, None], (), "manipulability"),
    )
    for axis, (values, names, label) in zip(drawn, panels, strict=True):
        lines = axis.plot(result.t, values, linewidth=1.0)
        axis.set_ylabel(label)
        axis.grid(visible=True, alpha=0.3)
        if 0 < len(names) <= _LEGEND_LINES:
            axis.legend(lines, names, ncols=2, fontsize="small")
    drawn[-1].set_xlabel("time [s]")
    return drawn


def _new_axes() -> npt.NDArray[np.object_]:
    from matplotlib.pyplot import subplots

    _, axes = subplots(4, sharex=True, squeeze=False, figsize=(8.0, 9.0), layout="constrained")
    column: npt.NDArray[np.object_] = axes[:, 0]
    return column
