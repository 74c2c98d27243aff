"""Figures of functional components: their shapes, their effect on the mean, the variance they explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import draw_curves, label_column, panel, panels
from ...plotting.style import BLUE, TRUTH, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .fpca import FPCA

_SAMPLES = 301
_LESS, _MORE = BLUE, VERMILION


def plot_components(
    fpca: FPCA, n: int = 5, *, derivative: int = 0, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw the first n components or one of their derivatives, one panel for each dof.

    Parameters
    ----------
    n : int
        Number of components.
    derivative : int
        Order of the derivative with respect to normalized time.
    axes : mapping of str to Axes, optional
        Panels to draw, by the names of dofs; default all, in a new figure.

    Returns
    -------
    dict of str to Axes
        The panels drawn.
    """
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    values = fpca.components(tau, derivative)[:n]
    drawn = panels(axes, fpca.dofs, (7.0, 1.2 + 1.6 * len(fpca.dofs)), sharex=True)
    mark = f"$S_i{derivative * chr(39)}$" if derivative < 4 else f"derivative {derivative} of $S_i$"
    for dof, ax in drawn.items():
        draw_curves(ax, tau, values[:, :, fpca.dofs.index(dof)].T, f"{mark} of {dof}")
    for ax in list(drawn.values())[:1]:  # the legend is outside the panels, which the curves fill
        names = [f"$S_{{{i + 1}}}$" for i in range(len(values))]
        corner = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        ax.legend(ax.lines, names, ncols=5, fontsize="small", frameon=False, **corner)
    label_column(drawn, "normalized time")
    return drawn


def plot(fpca: FPCA, n: int = 3, *, spread: float = 1.0, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
    """Draw the mean and the mean +- standard deviations along the first n components.

    Parameters
    ----------
    n : int
        Number of components.
    spread : float
        Number of standard deviations.
    axes : mapping of str to Axes, optional
        Panels to draw, named by dof and component such as ``"x 1"``; default all, in a new figure with a row for
        each dof.

    Returns
    -------
    dict of str to Axes
        The panels drawn.
    """
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    mean = fpca.offset_mean_ + fpca.mean(tau)
    n = min(n, fpca.n_components_)
    # joint components have one variance for all dofs
    steps = spread * np.sqrt(fpca.explained_variance_[:n]).reshape(n, 1, -1) * fpca.components(tau)[:n]
    columns, rows = max(n, 1), len(fpca.dofs)
    layout = [[f"{dof} {i + 1}" for i in range(columns)] for dof in fpca.dofs]
    size = (4.0 + 2.6 * columns if columns > 1 else 7.0, 1.2 + 1.6 * rows)
    drawn = panels(axes, layout, size, sharex=True)
    places = {name: (k, i) for k, row in enumerate(layout) for i, name in enumerate(row)}
    for name, ax in drawn.items():
        k, i = places[name]
        ax.plot(tau, mean[:, k], color=TRUTH, linewidth=1.2, label="mean")
        for sign, color in (("+", _MORE), ("-", _LESS)) if n else ():
            step = float(f"{sign}1") * steps[i, :, k]
            ax.plot(tau, mean[:, k] + step, color=color, linewidth=1.0, label=f"{sign}{spread:g} sd")
        if n and not (fpca.joint and k):  # joint components have one share for all dofs
            ratio = fpca.explained_variance_ratio_[i]
            ax.set_title(f"component {i + 1}: {100.0 * (ratio if fpca.joint else ratio[k]):.1f} %", fontsize="small")
        if i == 0:
            ax.set_ylabel(f"{fpca.dofs[k]} [{_unit(fpca, fpca.units[k])}]")
        if k == rows - 1:
            ax.set_xlabel("normalized time")
        ax.grid(visible=True, alpha=0.3)
    for ax in list(drawn.values())[:1]:
        ax.legend(fontsize="small")
    return drawn


def plot_variance(fpca: FPCA, *, ax: Axes | None = None) -> Axes:
    """Draw the cumulative explained variance.

    Parameters
    ----------
    ax : Axes, optional
        Default a new figure.

    Returns
    -------
    Axes
        The panel drawn.
    """
    ax = panel(ax, (7.0, 2.8))
    ratio = np.cumsum(fpca.explained_variance_ratio_, axis=0)
    count = np.arange(1, len(ratio) + 1)
    lines = ax.plot(count, 100.0 * ratio, marker="o", markersize=3.0, linewidth=1.2)
    ax.legend(lines, ["all dofs"] if fpca.joint else fpca.dofs, fontsize="small")
    ax.set(xlabel="components", ylabel="explained variance [%]")
    ax.grid(visible=True, alpha=0.3)
    return ax


def _unit(fpca: FPCA, unit: str) -> str:
    return "of the distance" if fpca.alignment_ == "path" and unit == "m" else unit
