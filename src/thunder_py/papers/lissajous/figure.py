"""Figures of the papers' experiments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import HashableList

    from .. import LissajousPanda

__all__ = ["LISSAJOUS_PANELS", "plot_lissajous_panda", "save_lissajous_panda"]

#: for `matplotlib.figure.Figure.subplot_mosaic`
LISSAJOUS_PANELS: list[HashableList[str]] = [
    ["position", "position", "m", "mcx"],
    ["orientation", "orientation", "mcy", "mcz"],
]

_SIZE = (12.0, 6.0)  # inches
_ADAPTIVE, _FIXED, _TRUTH = "#0072B2", "#D55E00", "#222222"  # distinct for color-blind readers as well
_ESTIMATES = {
    "m": "mass $m$ [kg]",
    "mcx": "first moment $m c_x$ [kg m]",
    "mcy": "$m c_y$ [kg m]",
    "mcz": "$m c_z$, along gravity [kg m]",
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
        from matplotlib.pyplot import figure

        axes = figure(figsize=_SIZE, layout="constrained").subplot_mosaic(LISSAJOUS_PANELS)
    runs = (("without adaptation", _FIXED, experiment.fixed), ("with adaptation", _ADAPTIVE, experiment.adaptive))
    for label, color, run in runs:
        t = run.result.t[1:]  # the initial error is zero, which has no logarithm
        axes["position"].semilogy(t, 1e3 * run.position_error[1:], color=color, label=label)
        axes["orientation"].semilogy(t, np.degrees(run.orientation_error[1:]), color=color, label=label)
    axes["position"].set_title("distance to the reference [mm]")
    axes["orientation"].set_title("angle to the reference [deg]")
    axes["position"].legend(loc="center right")
    _draw_estimates(experiment, axes)
    for panel in axes.values():
        panel.grid(visible=True, alpha=0.3)
        panel.set_xlim(0.0, experiment.adaptive.result.t[-1])
        panel.spines[["top", "right"]].set_visible(False)
    for name in ("orientation", "mcy", "mcz"):
        axes[name].set_xlabel("time [s]")
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
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    plot_lissajous_panda(experiment, axes=figure.subplot_mosaic(LISSAJOUS_PANELS))
    figure.suptitle("Panda, link 7 wrongly known: adaptive backstepping on a Lissajous curve")
    with whole_file(path) as temporary:  # no partial file on a full disk
        figure.savefig(temporary, dpi=130)


def _draw_estimates(experiment: LissajousPanda, axes: Mapping[str, Axes]) -> None:
    run = experiment.adaptive.result
    for name, title in _ESTIMATES.items():
        k = experiment.robot.parameter_names.index(f"link7.{name}")
        axes[name].plot(run.t, run.parameters[:, k], color=_ADAPTIVE, label="estimate")
        axes[name].axhline(experiment.robot.parameters[k], color=_TRUTH, linestyle="--", label="truth")
        axes[name].set_title(title)
    axes["m"].legend(loc="upper right")
