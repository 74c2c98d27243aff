"""Figures of movement primitives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...plotting.panels import draw_curves, label_column, panel, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .bases import DMPBasis
    from .sampled_motion import SampledMotion


def plot_sampled_motion(
    motion: SampledMotion, *, axes: Mapping[str, Axes] | None = None, label: str | None = None
) -> dict[str, Axes]:
    """Draw position, speed and jerk over time; see `SampledMotion.plot`."""
    speed, jerk = (np.linalg.norm(values, axis=1) for values in (motion.dx, motion.dddx))
    curves = {"x": (motion.x, "position"), "speed": (speed, "speed [1/s]"), "jerk": (jerk, "jerk [1/s³]")}
    drawn = panels(axes, list(curves), (6.4, 4.8), sharex=True)
    for name, ax in drawn.items():
        draw_curves(ax, motion.t, *curves[name], together=label)
    label_column(drawn)
    return drawn


def plot_dmp_basis(basis: DMPBasis, *, ax: Axes | None = None) -> Axes:
    """Draw normalized basis functions over t / tau; see `DMP.plot_basis`."""
    ax = panel(ax, (6.4, 4.8))
    part = np.linspace(0.0, 1.0, 2001)
    x = basis.phase(part)
    ax.plot(part, basis.design(x) / basis.gain(x)[:, None], linewidth=1.0)
    ax.set(
        xlabel="t / duration, or period",
        ylabel="share of each function",
        title=f"{basis.n_basis} functions, {basis.kind}",
    )
    ax.grid(visible=True, alpha=0.3)
    return ax
