"""Figures of functional components: their shapes, their effect on the mean, the variance they explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plotting.style import BLUE, TRUTH, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .fpca import FPCA

__all__ = ["plot_components", "plot_mean_and_components", "plot_variance"]

_SAMPLES = 301
_LESS, _MORE = BLUE, VERMILION


def plot_components(fpca: FPCA, n: int = 5, *, derivative: int = 0) -> list[Axes]:
    """Draw the first n components, one panel for each dof; see `FPCA.plot_components`."""
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    values = fpca.components(tau, derivative)[:n]
    panels = _panels(len(fpca.dofs), 1)
    mark = {0: "$S_i$", 1: "$S_i'$", 2: "$S_i''$", 3: "$S_i'''$"}.get(derivative, f"derivative {derivative} of $S_i$")
    for k, (row, dof) in enumerate(zip(panels, fpca.dofs, strict=True)):
        for i, curve in enumerate(values[:, :, k]):
            row[0].plot(tau, curve, linewidth=1.2, label=f"$S_{{{i + 1}}}$")
        row[0].set_ylabel(f"{mark} of {dof}")
    # outside the panels, which the curves fill
    panels[0][0].legend(ncols=5, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)
    panels[-1][0].set_xlabel("normalized time")
    return [row[0] for row in panels]


def plot_mean_and_components(fpca: FPCA, n: int = 3, *, spread: float = 1.0) -> list[list[Axes]]:
    """Draw the mean +- standard deviations along components, dofs in rows; see `FPCA.plot`."""
    tau = np.linspace(0.0, 1.0, _SAMPLES)
    mean = fpca.offset_mean_ + fpca.mean(tau)
    n = min(n, fpca.n_components_)
    # joint components have one variance for all dofs
    deviation = np.sqrt(fpca.variances_[:n]).reshape(n, 1, -1)
    steps = spread * deviation * fpca.components(tau)[:n]
    panels = _panels(len(fpca.dofs), max(n, 1))
    ratio = fpca.explained_variance_ratio_
    for k, (row, dof, unit) in enumerate(zip(panels, fpca.dofs, fpca.units, strict=True)):
        for i, axis in enumerate(row):
            axis.plot(tau, mean[:, k], color=TRUTH, linewidth=1.2, label="mean")
            if n:
                axis.plot(tau, mean[:, k] + steps[i, :, k], color=_MORE, linewidth=1.0, label=f"+{spread:g} sd")
                axis.plot(tau, mean[:, k] - steps[i, :, k], color=_LESS, linewidth=1.0, label=f"-{spread:g} sd")
                if fpca.joint and k:
                    continue  # one share for all dofs
                part = ratio[i] if fpca.joint else ratio[i, k]
                axis.set_title(f"component {i + 1}: {100.0 * part:.1f} %", fontsize="small")
        row[0].set_ylabel(f"{dof} [{_unit(fpca, unit)}]")
    panels[0][0].legend(fontsize="small")
    for axis in panels[-1]:
        axis.set_xlabel("normalized time")
    return panels


def plot_variance(fpca: FPCA, *, axes: Axes | None = None) -> Axes:
    """Draw cumulative explained variance over the number of components; see `FPCA.plot_variance`."""
    if axes is None:
        axes = _panels(1, 1)[0][0]
    ratio = np.cumsum(fpca.explained_variance_ratio_, axis=0)
    count = np.arange(1, len(ratio) + 1)
    lines = axes.plot(count, 100.0 * ratio, marker="o", markersize=3.0, linewidth=1.2)
    axes.legend(lines, ["all dofs"] if fpca.joint else fpca.dofs, fontsize="small")
    axes.set_xlabel("components")
    axes.set_ylabel("explained variance [%]")
    axes.grid(visible=True, alpha=0.3)
    return axes


def _unit(fpca: FPCA, unit: str) -> str:
    return "of the distance" if fpca.alignment == "path" and unit == "m" else unit


def _panels(rows: int, columns: int) -> list[list[Axes]]:
    from matplotlib.pyplot import subplots

    size = (4.0 + 2.6 * columns if columns > 1 else 7.0, 1.2 + 1.6 * rows)
    _, grid = subplots(rows, columns, sharex=True, squeeze=False, figsize=size, layout="constrained")
    for axis in grid.flat:
        axis.grid(visible=True, alpha=0.3)
    return [list(row) for row in grid]
