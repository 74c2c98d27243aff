"""Figures 6 to 10 of the Thunder article."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array
from ...plotting.style import COLORS, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..lissajous.run import Run
    from .run import ArticleGains

__all__ = [
    "ESTIMATES",
    "body_of",
    "draw_error",
    "plot_adaptation",
    "plot_curve",
    "plot_errors",
    "plot_estimates",
    "plot_gains",
]

#: rows of `body_of`
ESTIMATES = ("mass [kg]", "$c_x$ [m]", "$c_y$ [m]", "$c_z$ [m], along gravity")


def body_of(reg: Array) -> Array:
    """Return mass and center of mass of link 7, (4, ...), from all parameters, (..., 70)."""
    m, mc = reg[..., 60], np.moveaxis(reg[..., 61:64], -1, 0)
    return np.concatenate([m[None], mc / m])


def draw_error(axes: Axes, run: Run, label: str, color: str) -> None:
    """Draw the norm of e over time on a logarithmic axis."""
    t = run.result.t[1:]  # the initial error is zero, which has no logarithm
    axes.semilogy(t, run.result.error_norm()[1:], color=color, label=label, linewidth=1.2)
    axes.set(xlim=(0.0, t[-1]), xlabel="time [s]")
    tidy(axes)


def _cases(table: str) -> Sequence[str]:
    from .run import TABLES

    return TABLES[table]


def _label(case: str) -> str:
    name, equals, value = case.partition(" = ")
    base, _, index = name.partition("_")
    return f"${base}_{{{index}}}${equals}{value}"


def _draw_errors(axes: Axes, runs: Iterable[tuple[str, Run]]) -> None:
    for color, (case, run) in zip(COLORS, runs, strict=True):
        draw_error(axes, run, _label(case), color)
    axes.set_ylim(3e-5, 1.0)
    axes.legend(loc="lower left", ncols=3)


def _draw_estimates(panels: Sequence[Axes], gains: ArticleGains, table: str) -> None:
    truth = body_of(gains.truth.parameters)
    for color, case in zip(COLORS, _cases(table), strict=True):
        run = gains.friction[case].result
        for panel, values in zip(panels, body_of(run.parameters), strict=True):
            panel.plot(run.t, values, color=color, label=_label(case), linewidth=1.2)
    for panel, value, title in zip(panels, truth, ESTIMATES, strict=True):
        panel.axhline(value, color=TRUTH, linestyle="--", label="truth")
        panel.set(title=title, xlabel="time [s]")
        panel.set_xlim(0.0, run.t[-1])
        tidy(panel)
    panels[0].legend()


def plot_curve(gains: ArticleGains) -> Figure:
    """Draw Figure 5, the curve, and the motion of the flange in the last period, with adaptation and without."""
    from matplotlib.pyplot import figure as new_figure
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(figsize=(11, 4.5), layout="constrained")
    space: Any = figure.add_subplot(1, 2, 1, projection="3d")
    plane = figure.add_subplot(1, 2, 2)
    fixed, adaptive = gains.friction["fixed"], gains.friction["K_d2"]
    last = adaptive.result.t >= adaptive.result.t[-1] - adaptive.window
    desired = gains.reference(adaptive.result.t[last]).p
    space.plot(*desired.T, color=TRUTH)
    space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="the article's curve")
    space.set_box_aspect(np.ptp(desired, axis=0))
    for axis in (space.xaxis, space.yaxis, space.zaxis):
        axis.set_major_locator(MaxNLocator(4))
        axis.labelpad = 8.0
    for label, run, color in (("not adaptive", fixed, COLORS[1]), ("adaptive", adaptive, COLORS[0])):
        actual = gains.truth.forward_kinematics(run.result.q[last])[:, :3, 3]
        plane.plot(actual[:, 1], actual[:, 2], color=color, label=label, linewidth=1.2)
    plane.plot(desired[:, 1], desired[:, 2], "--", color=TRUTH, label="desired", linewidth=1.0)
    plane.set(xlabel="y [m]", ylabel="z [m]", aspect="equal", title="the last period, seen along x")
    figure.legend(*plane.get_legend_handles_labels(), loc="outside lower right", ncols=3)
    tidy(plane)
    return figure


def plot_errors(gains: ArticleGains, table: str) -> Figure:
    """Draw Figure 6 (``"Table 6"``) or 8 (``"Table 7"``), one panel for each plant."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
    for panel, runs, title in zip(
        panels, (gains.ideal, gains.friction), ("without friction", "with friction"), strict=True
    ):
        _draw_errors(panel, [(case, runs[case]) for case in _cases(table)])
        panel.set_title(f"plant {title}")
    panels[0].set_ylabel("norm of $e$ [m, rad]")
    return figure


def plot_estimates(gains: ArticleGains, table: str) -> Figure:
    """Draw Figure 7 (``"Table 6"``) or 9 (``"Table 7"``): mass and center of mass of link 7."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    _draw_estimates(list(panels), gains, table)
    return figure


def plot_adaptation(gains: ArticleGains) -> Figure:
    """Draw Figure 10: the same controller with adaptation and without."""
    from matplotlib.pyplot import subplots

    from .run import SOFT

    figure, axes = subplots(figsize=(8, 3.6), layout="constrained")
    for label, key, color in (
        (f"not adaptive, {SOFT:g} $K_p$", "fixed, soft", COLORS[2]),
        ("not adaptive", "fixed", COLORS[1]),
        ("adaptive", "K_d2", COLORS[0]),
    ):
        draw_error(axes, gains.friction[key], label, color)
    axes.set(ylabel="norm of $e$ [m, rad]", ylim=(1e-3, 2.0))
    axes.legend(loc="lower center", ncols=3)
    return figure


def plot_gains(gains: ArticleGains) -> Figure:
    """Draw errors and estimates for both tables, on the plant with friction."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(13, 10), layout="constrained")
    parts: Any = figure.subfigures(3, 1, height_ratios=(1.1, 1.0, 1.0))
    top, *rest = parts
    for table, panel in zip(("Table 6", "Table 7"), top.subplots(1, 2, sharey=True), strict=True):
        _draw_errors(panel, [(case, gains.friction[case]) for case in _cases(table)])
        panel.set_title("norm of $e$ [m, rad]")
    for table, part in zip(("Table 6", "Table 7"), rest, strict=True):
        _draw_estimates(list(part.subplots(1, 4)), gains, table)
    return figure
