"""Figures of the SCARA project's third chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array
from .style import COLORS, TRUTH, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..experiments.scara_clik import ScaraClik
    from ..experiments.scara_transpose import ScaraTranspose

__all__ = ["draw_norms", "plot_dexterity", "plot_errors", "plot_transpose", "plot_velocities"]

_FIVE = (*COLORS, "#009E73", "#CC79A7")
_JOINTS = (r"$\theta_1$", r"$\theta_2$", "$d_3$", r"$\theta_4$")
_STYLES = ("-", "--", "-.", ":")


def _finish(axes: Axes, t: Array, **labels: object) -> None:
    axes.set(**{"xlim": (0.0, t[-1]), "xlabel": "time [s]", **labels})
    tidy(axes)


def _lines(axes: Axes, t: Array, values: Array, names: tuple[str, ...]) -> None:
    for line, color, name in zip(values.T, _FIVE, names, strict=False):
        axes.plot(t, line, color=color, linewidth=1.2, label=name)


def _log(axes: Axes, t: Array, values: Array, **style: Any) -> None:
    axes.semilogy(t, np.where(values > 0.0, values, np.nan), linewidth=0.9, **style)


def draw_norms(axes: Axes, experiment: ScaraClik, names: Sequence[str]) -> None:
    """Draw the norm of the task error of some schemes on a logarithmic axis."""
    for color, name in zip(_FIVE, names, strict=False):
        result = experiment.schemes[name].result
        _log(axes, result.t, result.error_norm(), color=color, label=f"Jacobian {name}")
    axes.legend(fontsize="small")
    _finish(axes, result.t, title="norm of the task error [m, rad]", ylim=(1e-9, 1e-1))


def plot_errors(experiment: ScaraClik) -> Figure:
    """Draw position and angle errors of all schemes over time, on logarithmic axes."""
    from matplotlib.pyplot import subplots

    figure, (position, angle) = subplots(1, 2, figsize=(12, 4.2), sharey=True, layout="constrained")
    for color, (name, scheme) in zip(_FIVE, experiment.schemes.items(), strict=True):
        faint = {"alpha": 0.5, "zorder": 1} if name == "second order" else {}  # it would cover the others
        _log(position, scheme.result.t, scheme.position_error(), color=color, label=name, **faint)
        _log(angle, scheme.result.t, np.abs(scheme.angle_error()), color=color)
    t = scheme.result.t
    _finish(position, t, title="position error [m], of the rows of the task", ylim=(1e-10, 1e-1))
    _finish(angle, t, title="angle error [rad]")
    position.legend(ncols=2, loc="upper left", fontsize="small")
    return figure


def plot_velocities(experiment: ScaraClik) -> Figure:
    """Draw joint velocities and errors of inverse (left) and transpose (right)."""
    from matplotlib.pyplot import subplots

    figure, panels = subplots(2, 2, figsize=(12, 5.6), sharex=True, layout="constrained")
    for (above, below), name in zip(panels.T, ("inverse", "transpose"), strict=True):
        result = experiment.schemes[name].result
        _lines(above, result.t, result.dq, _JOINTS)
        _lines(below, result.t, result.error, ("x", "y", "z", r"$\varphi$"))
        _finish(above, result.t, title=f"Jacobian {name}: joint velocities [rad/s, m/s]", xlabel="")
        _finish(below, result.t, title="error [m, rad]")
        above.legend(ncols=4, fontsize="small")
        below.legend(ncols=4, fontsize="small")
        below.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2), useMathText=True)
    return figure


def plot_dexterity(experiment: ScaraClik) -> Figure:
    """Draw manipulability with and without the objective, the elbow, and where the tip goes with x relaxed."""
    from matplotlib.pyplot import figure as new_figure

    figure = new_figure(figsize=(13, 5.6), layout="constrained")
    panels = figure.subplot_mosaic([["w", "elbow"], ["tip", "tip"]], height_ratios=(1.5, 1.0))  # relaxed, x is long
    left, middle, right = (panels[name] for name in ("w", "elbow", "tip"))
    names = {"pseudo-inverse, w": "with objective", "pseudo-inverse": "without"}
    for color, (name, label) in zip(COLORS, names.items(), strict=False):
        result = experiment.schemes[name].result
        left.plot(result.t, result.manipulability, color=color, label=label)
        middle.plot(result.t, np.degrees(result.q[:, 1]), color=color, label=label)
        right.plot(*experiment.robot.forward_kinematics(result.q)[:, :2, 3].T, color=color, linewidth=1.0, label=label)
    right.plot(*experiment.path(result.t).p[:, :2].T, "--", color=TRUTH, linewidth=0.9, label="path")
    _finish(left, result.t, title=r"$w = \sqrt{\det(J J^\top)}$", ylim=(0.0, None))
    _finish(middle, result.t, title=r"$\theta_2$ [deg]")
    right.set(title="the tip from above", xlabel="x [m], relaxed", ylabel="y [m]", aspect="equal")
    tidy(right)
    left.legend(loc="lower right")
    right.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def plot_transpose(experiment: ScaraTranspose) -> Figure:
    """Draw where the printed gains are stable, with the path in it, and the errors of runs to set points."""
    from matplotlib.pyplot import subplots

    figure, (plane, time) = subplots(1, 2, figsize=(12, 5), layout="constrained", width_ratios=(1.1, 1.0))
    _draw_map(plane, experiment)
    for color, (name, runs) in zip(_FIVE, experiment.set_points.items(), strict=False):
        label = f"${name[0]}_{name[1]}$" if len(name) == 2 else name
        for style, (gains, result) in zip(_STYLES, runs.items(), strict=False):
            scale = "" if gains == "printed" else " / 2"
            _log(time, result.t, result.error_norm(), color=color, linestyle=style, label=f"{label}, $K_{{tr}}${scale}")
    _finish(time, result.t, title="set points, started 0.01 away: norm of e [m, rad]", ylim=(1e-12, 10.0))
    time.legend(fontsize="small", ncols=2, loc="center right")
    return figure


def _draw_map(axes: Axes, experiment: ScaraTranspose) -> None:
    from ..experiments.scara_kinematics import POSTURES
    from .style import figure_of

    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 81), np.linspace(-1.0, 1.0, 81))
    number = experiment.map(x, y)
    drawn = axes.contourf(x, y, number, levels=np.arange(1.0, 3.31, 0.2), cmap="viridis")
    axes.contour(x, y, number, levels=[2.0], colors="white", linewidths=2.0)
    figure_of(axes).colorbar(drawn, ax=axes, label=r"$dt\,\lambda_{max}(J J^\top K_{tr})$")
    tips = experiment.robot.forward_kinematics(experiment.on_path["half"].q)[:, :2, 3]
    axes.plot(*tips.T, color=COLORS[1], linewidth=1.4)
    for name, q in POSTURES.items():
        x_tip, y_tip = map(float, experiment.robot.forward_kinematics(q)[:2, 3])
        axes.plot(x_tip, y_tip, "o", color="white", markeredgecolor=TRUTH)
        axes.annotate(
            f"${name[0]}_{name[1]}$", (x_tip, y_tip), xytext=(-16, -12), textcoords="offset points", color="black"
        )
    limits = (-1.08, 1.08)
    axes.set(
        aspect="equal",
        xlim=limits,
        ylim=limits,
        xlabel="x [m]",
        ylabel="y [m]",
        title="unstable outside the white line",
    )
