"""Figures 12 and 13 of the Thunder article."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.panels import new_panels
from ...plotting.style import BLUE, LAW_COLORS, LINE, draw_truth, label_time, outside_legend
from ..gains.figure import ESTIMATES, body_of, draw_error
from .run import SoftHand
from .setup import TABLE_8


def plot_softhand(experiment: SoftHand) -> Figure:
    """Draw errors with and without adaptation, and the estimates with our truth and the article's estimate."""
    title = "Thunder article, Figures 12 and 13: hand unknown to the controller"
    figure, panels = new_panels([["error", "error", "0", "1"], ["error", "error", "2", "3"]], (12, 6), title)
    _draw_errors(panels["error"], experiment)
    for k in range(4):
        _draw_estimate(panels[str(k)], experiment, k)
    panels["0"].set_title("Figure 13: mass of link 7", fontsize="medium")
    return outside_legend(figure, *panels.values())


def _draw_errors(axes: Axes, experiment: SoftHand) -> None:
    colors, ours = LAW_COLORS, "backstepping"
    draw_error(axes, experiment.fixed["friction"], "not adaptive", color=colors["not adaptive"])
    draw_error(axes, experiment.adaptive["friction"], ours, color=colors[ours])
    draw_error(
        axes, experiment.adaptive["ideal"], f"{ours}, no friction", "Figure 12", color=colors[ours], linestyle=":"
    )
    axes.set_ylim(1e-4, 1.0)


def _draw_estimate(axes: Axes, experiment: SoftHand, k: int) -> None:

    for plant, style in (("friction", "-"), ("ideal", ":")):
        run = experiment.adaptive[plant].result
        axes.plot(run.t, body_of(run.parameters)[k], style, color=LAW_COLORS["backstepping"], linewidth=LINE)
    truth = experiment.truth
    draw_truth(axes, float(truth[k] if k == 0 else truth[k] / truth[0]))
    end = float(run.t[-1])
    axes.plot([end], [TABLE_8["estimate"][k]], "<", color=BLUE, clip_on=False, label="article's final estimate")
    label_time(axes, run.t, *ESTIMATES[k])
