"""The SCARA project on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scara_clik import draw_norms
from .scara_control import draw_mass, draw_z_errors
from .scara_planning import draw_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..experiments.scara import Scara

__all__ = ["plot_scara"]


def plot_scara(scara: Scara) -> Figure:
    """Draw the path, errors of inverse and transpose, errors along z of the controllers, and the estimated mass."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(12, 8), layout="constrained")
    panels = figure.subplot_mosaic([["plan", "clik"], ["z", "mass"]])
    draw_plan(panels["plan"], scara.planning.path)
    draw_norms(panels["clik"], scara.clik, ("inverse", "transpose"))
    draw_z_errors(panels["z"], scara.control)
    draw_mass(panels["mass"], scara.control)
    return figure
