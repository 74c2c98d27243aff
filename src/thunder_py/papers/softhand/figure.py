"""Figures 12 and 13 of the Thunder article."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plotting.style import COLORS, TRUTH, tidy
from ..gains.figure import ESTIMATES, body_of, draw_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .run import SoftHand

__all__ = ["plot_softhand"]

_ARTICLE = "#009E73"


def plot_softhand(experiment: SoftHand) -> Figure:
    """Draw errors with and without adaptation, and the estimates with our truth and the article's estimate."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(12, 5.5), layout="constrained")
    panels = figure.subplot_mosaic([["error", "error", "0", "1"], ["error", "error", "2", "3"]])
    _draw_errors(panels["error"], experiment)
    _draw_estimates([panels[str(k)] for k in range(4)], experiment)
    return figure


def _draw_errors(axes: Axes, experiment: SoftHand) -> None:
    draw_error(axes, experiment.fixed["friction"], "not adaptive", COLORS[1])
    draw_error(axes, experiment.adaptive["friction"], "adaptive", COLORS[0])
    draw_error(axes, experiment.adaptive["ideal"], "adaptive, no friction", COLORS[2])
    axes.set(title="norm of $e$ [m, rad]", ylim=(1e-4, 1.0))
    axes.legend(loc="lower left")


def _draw_estimates(panels: list[Axes], experiment: SoftHand) -> None:
    from .run import TABLE_8

    truth = [experiment.truth[0], *(experiment.truth[1:4] / experiment.truth[0])]
    for color, label, plant in ((COLORS[2], "no friction", "ideal"), (COLORS[0], "with friction", "friction")):
        run = experiment.adaptive[plant].result
        for panel, values in zip(panels, body_of(run.parameters), strict=True):
            panel.plot(run.t, values, color=color, label=label, linewidth=1.2)
    for k, panel in enumerate(panels):
        panel.axhline(truth[k], color=TRUTH, linestyle="--", label="truth")
        end = float(run.t[-1])
        panel.plot([end], [TABLE_8["estimate"][k]], "<", color=_ARTICLE, clip_on=False, label="article, at the end")
        panel.set(title=ESTIMATES[k])
        panel.set_xlim(0.0, end)
        tidy(panel)
    for panel in panels[2:]:
        panel.set_xlabel("time [s]")
    panels[0].legend(loc="lower right", fontsize="small")
