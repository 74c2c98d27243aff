"""Figures of the papers' experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import HashableList

from ...files import whole_file
from ...plotting.panels import new_panels
from ...plotting.style import LAW_COLORS, LINE, draw_truth, label_time
from .. import LissajousPanda

#: for `matplotlib.figure.Figure.subplot_mosaic`
LISSAJOUS_PANELS: list[HashableList[str]] = [
    ["position", "position", "m", "mcx"],
    ["orientation", "orientation", "mcy", "mcz"],
]

_SIZE = (12.0, 6.0)  # inches
#: of a figure
TITLE = (
    "Thunder article, Figures 7 and 10: Panda with a wrong link 7; $\\Lambda$, $K_p$, $r_m$, $r_c$ and $r_I$ are ours"
)
#: title and label of the y axis
_LABELS = {
    "position": ("Figure 10: position", "position error [mm]"),
    "orientation": ("orientation", "orientation error [deg]"),
    "m": ("Figure 7: estimated mass of link 7", "$m$ [kg]"),
    "mcx": ("first moment, x", "$m c_x$ [kg m]"),
    "mcy": ("first moment, y", "$m c_y$ [kg m]"),
    "mcz": ("first moment, along gravity", "$m c_z$ [kg m]"),
}


def plot_lissajous_panda(experiment: LissajousPanda, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw tracking errors with and without adaptation, and the estimates of link 7 with the true values.

    Parameters
    ----------
    experiment : LissajousPanda
        Result of `thunder_py.papers.run_lissajous_panda`.
    axes : mapping of str to Axes, optional
        Axes to draw on, named as in `LISSAJOUS_PANELS`; default a new figure.

    Returns
    -------
    dict of str to Axes
        One per panel.
    """
    if axes is None:
        axes = new_panels(LISSAJOUS_PANELS, _SIZE, TITLE)[1]
    runs = (("not adaptive", experiment.fixed), ("backstepping", experiment.adaptive))
    for law, run in runs:
        t = run.result.t[1:]  # the initial error is zero, which has no logarithm
        style: dict[str, Any] = {"color": LAW_COLORS[law], "label": law, "linewidth": LINE}
        axes["position"].semilogy(t, 1e3 * run.position_error[1:], **style)
        axes["orientation"].semilogy(t, np.degrees(run.orientation_error[1:]), **style)
    _draw_estimates(experiment, axes)
    for name, panel in axes.items():
        label_time(panel, experiment.adaptive.result.t, *_LABELS[name])
    axes["position"].legend(loc="center right", fontsize="small")
    return dict(axes)


def save_lissajous_panda(experiment: LissajousPanda, path: str | Path) -> None:
    """Write the figure of `plot_lissajous_panda` to a file, without a window and for any backend.

    Parameters
    ----------
    experiment : LissajousPanda
        Result to draw.
    path : str or path
        File; its suffix selects the format: ``.png``, ``.pdf``, ``.svg``.
    """
    figure = Figure(figsize=_SIZE, layout="constrained")
    figure.suptitle(TITLE)
    plot_lissajous_panda(experiment, axes=figure.subplot_mosaic(LISSAJOUS_PANELS))
    with whole_file(path) as temporary:  # no partial file on a full disk
        figure.savefig(temporary, dpi=130)


def _draw_estimates(experiment: LissajousPanda, axes: Mapping[str, Axes]) -> None:
    run = experiment.adaptive.result
    for name in list(_LABELS)[2:]:
        k = experiment.robot.parameter_names.index(f"link7.{name}")
        axes[name].plot(run.t, run.parameters[:, k], color=LAW_COLORS["backstepping"], linewidth=LINE, label="estimate")
        draw_truth(axes[name], experiment.robot.parameters[k])
    axes["m"].legend(loc="upper right", fontsize="small")
