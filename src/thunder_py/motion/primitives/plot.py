"""Figures of movement primitives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .bases import DMPBasis
    from .dmp import DMPMotion

__all__ = ["plot_dmp_basis", "plot_dmp_motion"]

_PANELS = {"x": "position", "speed": "speed [1/s]", "jerk": "jerk [1/s³]"}


def plot_dmp_motion(
    motion: DMPMotion, *, axes: Mapping[str, Axes] | None = None, label: str | None = None
) -> dict[str, Axes]:
    """Draw position, speed and jerk over time; see `DMPMotion.plot`."""
    if axes is None:
        from matplotlib.pyplot import subplots

        _, panels = subplots(len(_PANELS), 1, sharex=True, layout="constrained")
        drawn = dict(zip(_PANELS, panels, strict=True))
    else:
        drawn = dict(axes)
        if unknown := set(drawn) - set(_PANELS):
            raise ValueError(f"axes must be among {', '.join(_PANELS)}, got {', '.join(sorted(unknown))}")
    for name, axis in drawn.items():
        if name == "x":
            axis.plot(motion.t, motion.x, linewidth=1.2, label=label)
        else:
            values = motion.dx if name == "speed" else motion.dddx
            axis.plot(motion.t, np.linalg.norm(values, axis=1), linewidth=1.2, label=label)
        axis.set_ylabel(_PANELS[name])
        axis.grid(visible=True, alpha=0.3)
    list(drawn.values())[-1].set_xlabel("time [s]")
    return drawn


def plot_dmp_basis(basis: DMPBasis, *, axes: Axes | None = None) -> Axes:
    """Draw normalized basis functions over t / tau; see `DMP.plot_basis`."""
    if axes is None:
        from matplotlib.pyplot import subplots

        _, axes = subplots(layout="constrained")
    part = np.linspace(0.0, 1.0, 2001)
    x = basis.phase(part, 1.0)
    axes.plot(part, basis.design(x) / x[:, None], linewidth=1.0)
    axes.set(xlabel="t / tau", ylabel="share of each function", title=f"{basis.n_basis} functions, {basis.kind}")
    axes.grid(visible=True, alpha=0.3)
    return axes
