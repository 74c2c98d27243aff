"""Figures 6 to 10 of the Thunder article."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...checks import Array
from ...plotting.panels import new_panels
from ...plotting.style import COLORS, LAW_COLORS, LINE, TRUTH, draw_truth, label, label_time, outside_legend
from ..lissajous.run import Run
from .run import TABLES, ArticleGains

#: rows of `body_of`: title, label of the y axis
ESTIMATES = (("mass of link 7", "$m$ [kg]"), ("center of mass, x", "$c_x$ [m]"), ("center of mass, y", "$c_y$ [m]"),
             ("center of mass, along gravity", "$c_z$ [m]"))  # fmt: skip
_FRICTION = "plant with friction"


def body_of(reg: Array) -> Array:
    """Return mass and center of mass of link 7, (4, ...), from all parameters, (..., 70)."""
    m, mc = reg[..., 60], np.moveaxis(reg[..., 61:64], -1, 0)
    return np.concatenate([m[None], mc / m])


def draw_error(axes: Axes, run: Run, name: str, title: str = "", **style: Any) -> None:
    """Draw the norm of e over time on a logarithmic axis."""
    t = run.result.t[1:]  # the initial error is zero, which has no logarithm
    axes.semilogy(t, run.result.error_norm()[1:], label=name, **{"linewidth": LINE, **style})
    label_time(axes, run.result.t, title, "norm of $e$ [m, rad]")


def _name(case: str) -> str:
    name, equals, value = case.partition(" = ")
    base, _, index = name.partition("_")
    return f"${base}_{{{index}}}${equals}{value}"


def _draw_errors(axes: Axes, runs: Mapping[str, Run], table: str, title: str) -> None:
    for color, case in zip(COLORS, TABLES[table], strict=False):
        draw_error(axes, runs[case], _name(case), title, color=color)
    axes.set_ylim(3e-5, 1.0)
    axes.legend(loc="lower left", ncols=3, fontsize="small")


def _draw_estimate(axes: Axes, gains: ArticleGains, table: str, k: int, title: str = "") -> None:
    for color, case in zip(COLORS, TABLES[table], strict=False):
        run = gains.friction[case].result
        axes.plot(run.t, body_of(run.parameters)[k], color=color, label=_name(case), linewidth=LINE)
    draw_truth(axes, float(body_of(gains.truth.parameters)[k]))
    label_time(axes, run.t, title + ESTIMATES[k][0], ESTIMATES[k][1])


def _draw_plane(axes: Axes, gains: ArticleGains) -> None:
    """Draw the last period seen along x."""
    times = gains.friction["K_d2"].result.t
    last = times >= times[-1] - gains.friction["K_d2"].window
    for name, law in (("fixed", "not adaptive"), ("K_d2", "backstepping")):
        actual = gains.truth.forward_kinematics(gains.friction[name].result.q[last])[:, :3, 3]
        axes.plot(actual[:, 1], actual[:, 2], color=LAW_COLORS[law], label=law, linewidth=LINE)
    desired = gains.reference(times[last]).p
    axes.plot(desired[:, 1], desired[:, 2], "--", color=TRUTH, label="desired", linewidth=1.0)
    label(axes, "Figure 5: last period along x; dashed: desired", "y [m]", "z [m]", aspect="equal")


def _draw_adaptation(axes: Axes, gains: ArticleGains) -> None:
    for runs, what, style in ((gains.published, ", gains of the published code", ":"), (gains.friction, "", "-")):
        for key, law in (("fixed", "not adaptive"), ("K_d2", "backstepping")):
            draw_error(axes, runs[key], law + what, "Figure 10: tracking error", color=LAW_COLORS[law], linestyle=style)
    axes.set_ylim(1e-4, 2.0)
    axes.legend(loc="lower left", fontsize="small")


def plot_curve(gains: ArticleGains) -> Figure:
    """Draw Figure 5, the curve, and the motion of the flange in the last period, with adaptation and without."""
    figure, panels = new_panels([["space", "plane"]], (12, 5), "Thunder article, Figure 5", spatial=["space"])
    space: Any = panels["space"]
    desired = gains.reference(np.linspace(0.0, 10.0, 501)).p
    space.plot(*desired.T, color=TRUTH)
    space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    space.set_title("the article's curve", fontsize="medium")
    space.set_box_aspect(np.ptp(desired, axis=0), zoom=1.05)
    for axis in (space.xaxis, space.yaxis, space.zaxis):
        axis.set_major_locator(MaxNLocator(4))
        axis.labelpad = 8.0
    _draw_plane(panels["plane"], gains)
    return outside_legend(figure, panels["plane"])


def plot_errors(gains: ArticleGains, table: str) -> Figure:
    """Draw Figure 6 (``"Table 6"``) or 8 (``"Table 7"``), one panel for each plant."""
    title = f"Thunder article, Figure {_FIGURES[table][0]}: tracking error"
    figure, panels = new_panels([["ideal", "friction"]], (11, 4), title, sharey=True)
    _draw_errors(panels["ideal"], gains.ideal, table, "plant without friction")
    _draw_errors(panels["friction"], gains.friction, table, _FRICTION)
    return figure


#: table -> figures of errors and of estimates
_FIGURES = {"Table 6": (6, 7), "Table 7": (8, 9)}


def plot_estimates(gains: ArticleGains, table: str) -> Figure:
    """Draw Figure 7 (``"Table 6"``) or 9 (``"Table 7"``): mass and center of mass of link 7."""
    title = f"Thunder article, Figure {_FIGURES[table][1]}: estimates, {_FRICTION}"
    figure, panels = new_panels([["0", "1"], ["2", "3"]], (11, 5.5), title)
    for k in range(4):
        _draw_estimate(panels[str(k)], gains, table, k)
    return outside_legend(figure, panels["0"])


def plot_adaptation(gains: ArticleGains) -> Figure:
    """Draw Figure 10: the same controller with adaptation and without."""
    figure, panels = new_panels([["error"]], (8, 4), f"Thunder article: adaptation, {_FRICTION}")
    _draw_adaptation(panels["error"], gains)
    return figure


def plot_gains(gains: ArticleGains) -> Figure:
    """Draw Figures 5, 6, 8 and 10, and the masses of Figures 7 and 9, on the plant with friction."""
    title = f"Thunder article, Figures 5 to 10; {_FRICTION}, unprinted gains are ours"
    figure, panels = new_panels([["5", "6", "8"], ["10", "7", "9"]], title=title)
    _draw_plane(panels["5"], gains)
    _draw_adaptation(panels["10"], gains)
    for table, (errors, estimates) in _FIGURES.items():
        _draw_errors(panels[str(errors)], gains.friction, table, f"Figure {errors}: tracking error")
        _draw_estimate(panels[str(estimates)], gains, table, 0, f"Figure {estimates} (dashed: truth): ")
    return figure
