"""Figures 14 to 19 and 21 to 23 of D4.2."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.style import draw_truth, label, label_time, outside_legend
from .cartesian import D42Cartesian
from .estimation import D42Estimation
from .joint import D42Joint
from .setup import K_P, K_V, TABLE_7, Plant

_DRAW = "first draw of the parameter error"


def plot_joint(found: D42Joint) -> Figure:
    """Draw errors and condition numbers for two adaptive gains, and AIRC's equivalent gains; the first draw."""
    layout = [["error 0", "error 1", "stiffness"], ["condition 0", "condition 1", "damping"]]
    title = f"D4.2, Figures 14 and 15: joint space, {_DRAW}; $\\eta$ is not printed"
    figure, panels = new_panels(layout, title=title)
    for column, eta in enumerate(found.etas[-2:]):
        _draw_errors(panels[f"error {column}"], found, eta)
        _draw_condition(panels[f"condition {column}"], found, eta)
    _draw_gains(panels, found, found.etas[0])
    return outside_legend(figure, panels["error 0"], panels["stiffness"], ncols=7)


def _draw_errors(axes: Axes, found: D42Joint, eta: float) -> None:
    for name in TABLE_7:
        run = found.results[name, eta][0]
        axes.semilogy(run.t[1:], run.error_norm()[1:], color=style.LAW_COLORS[name], label=name, linewidth=style.LINE)
    end = found.results["CT", eta][0].t
    label_time(axes, end, f"Figure 14, $\\eta$ = {eta:g}", "norm of $e$ [rad]", ylim=(1e-3, 5.0))


def _draw_gains(panels: dict[str, Axes], found: D42Joint, eta: float) -> None:

    t, stiffness, damping = found.equivalent_gains(eta)
    for name, values, gain, unit in (("stiffness", stiffness, K_P, "N m/rad"), ("damping", damping, K_V, "N m s/rad")):
        for joint, color in ((0, style.GREEN), (1, style.PINK), (5, style.SKY)):
            panels[name].plot(t, values[:, joint], color=color, label=f"joint {joint + 1}", linewidth=style.LINE)
            panels[name].axhline(gain[joint], color=color, linestyle="--", linewidth=style.THIN)
        label_time(panels[name], t, f"Figure 15a: AIRC, $\\eta$ = {eta:g}; dashed: as set", f"{name} [{unit}]")


def _draw_condition(axes: Axes, found: D42Joint, eta: float) -> None:
    for name in ("ACT", "AIRC", "MACT"):
        t, condition = found.condition(name, eta)
        axes.semilogy(t, condition, color=style.LAW_COLORS[name], linewidth=style.LINE)
    label_time(axes, t, f"Figure 15b, $\\eta$ = {eta:g}", "condition number of $\\hat M$ [1]")


_CASES: tuple[tuple[Plant, str, str], ...] = (
    ("simulation", "liss3D", "Figure 17: slow curve"),
    ("simulation", "linear", "Figure 18: fast line"),
    ("hand", "liss3D", "Figure 21: slow curve, with hand"),
    ("hand", "linear", "Figure 22: fast line, with hand"),
    ("hand", "circle", "Figure 23: circle, with hand, soft"),
)


def _figure(found: D42Cartesian, what: str, layout: str = "012;34.") -> tuple[Figure, dict[str, Axes]]:
    title = f"D4.2, {what}; {_DRAW}, unprinted $\\eta$ = {_middle(found):g}"
    return new_panels(layout, title=title)


def plot_cartesian(found: D42Cartesian) -> Figure:
    """Draw the position errors of all curves, and the slow path seen along x; the first draw."""
    figure, panels = _figure(found, "Figures 16 to 18, 21 to 23: task space", "p01;234")
    for k, case in enumerate(_CASES):
        _draw_error(panels[str(k)], found, *case, 0, "position error [m]")
    _draw_path(panels["p"], found, *_CASES[0][:2], "Figure 16: slow curve seen along x")
    return outside_legend(figure, panels["p"])


def plot_orientation(found: D42Cartesian) -> Figure:
    """Draw the orientation errors of all curves; the first draw."""
    figure, panels = _figure(found, "Figures 17, 18, 21 to 23: orientation")
    for k, case in enumerate(_CASES):
        _draw_error(panels[str(k)], found, *case, 1, "orientation error [rad]")
    return outside_legend(figure, panels["0"])


def plot_paths(found: D42Cartesian) -> Figure:
    """Draw the paths of the hand seen along x; the first draw."""
    figure, panels = _figure(found, "Figures 16, 18, 21 to 23: paths seen along x")
    for k, (plant, curve, title) in enumerate(_CASES):
        _draw_path(panels[str(k)], found, plant, curve, title.replace("17", "16"))
    return outside_legend(figure, panels["0"])


def _middle(found: D42Cartesian) -> float:
    return found.etas[len(found.etas) // 2]


def _runs(found: D42Cartesian, plant: Plant, curve: str) -> list[tuple[str, Any]]:
    key = (plant, curve, _middle(found))
    return [(name, runs[0]) for (p, c, name, eta), runs in found.results.items() if (p, c, eta) == key]


def _draw_path(axes: Axes, found: D42Cartesian, plant: Plant, curve: str, title: str) -> None:
    for name, run in _runs(found, plant, curve):
        p = found.position(run)
        axes.plot(p[:, 1], p[:, 2], color=style.LAW_COLORS[name], linewidth=style.THIN, label=name)
        desired = found.references[curve](run.t).p
    axes.plot(desired[:, 1], desired[:, 2], "--", color=style.TRUTH, linewidth=1.0, label="desired")
    label(axes, title, "y [m]", "z [m]", aspect="equal", adjustable="datalim")


def _draw_error(axes: Axes, found: D42Cartesian, plant: Plant, curve: str, title: str, part: int, y: str) -> None:
    for name, run in _runs(found, plant, curve):
        axes.plot(run.t, found.errors(curve, run)[part], color=style.LAW_COLORS[name], label=name, linewidth=style.LINE)
    label_time(axes, run.t, title, y)
    axes.set_ylim(bottom=0.0)


def plot_estimation(found: D42Estimation) -> Figure:
    """Draw the estimated mass and first moments with the truth, and the error of the joints."""
    run, color = found.result, style.LAW_COLORS["MACT"]
    title = "D4.2, Figures 19 and 20: MACT in joint space with a hand; dashed: link 7 with the hand"
    figure, panels = new_panels([["mass", "moments", "error"]], (12, 4.5), title)
    panels["mass"].plot(run.t, found.estimate[:, 0], color=color, linewidth=style.LINE)
    draw_truth(panels["mass"], found.truth[0])
    for k, (axis, shade) in enumerate(zip("xyz", style.AXIS_COLORS, strict=True), start=1):
        panels["moments"].plot(run.t, found.estimate[:, k], color=shade, label=f"$m c_{axis}$", linewidth=style.LINE)
        draw_truth(panels["moments"], found.truth[k], "", shade)
    panels["error"].plot(run.t, run.error_norm(), color=color, linewidth=style.THIN)
    label_time(panels["mass"], run.t, "Figure 19a: mass", "$m$ [kg]")
    label_time(panels["moments"], run.t, "Figure 19b: first moments", "$m c$ [kg m]")
    label_time(panels["error"], run.t, "Figure 20b: tracking error", "norm of $e$ [rad]", ylim=(0.0, None))
    return outside_legend(figure, panels["mass"], panels["moments"])
