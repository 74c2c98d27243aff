"""Figures 30 to 34 of D4.2, and the numbers of its Tables 10, 13, 14 and 15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MultipleLocator, NullLocator

from ...checks import Array
from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.space import draw_obstacles, draw_sticks
from ...plotting.style import label, outside_legend
from ...recordings.metrics import Motion
from ...recordings.statistics import bootstrap_interval
from ..judgment.figure import draw_panel
from . import obstacles
from .arm import TABLE_14, TABLE_15, ArmRun, HumanLikeArm, arm_points_at
from .dmp_study import CHOSEN, DMPStudy
from .obstacles import TABLE_13, HumanLikeObstacles
from .planners import METHODS
from .real import REST, TABLE_10, Comparison, HumanLikeReal
from .run import HumanLike
from .sampling import FIGURE_30, HumanLikeSampling
from .scenarios import MARGIN, Scenario

METHOD_COLORS = style.LAW_COLORS | {"minimum jerk, via": style.FAINT, "ProMP, via": style.PURPLE}
#: start, via points and goal of the report's figures
_START, _VIA, _GOAL = style.BLUE, style.TRUTH, style.VERMILION

#: panels with three dimensions
_SPATIAL = {"setting", "self-feeding", "hitchhiking"}


def plot_human_like(found: HumanLike) -> Figure:
    """Draw six panels of all parts: Figure 30, Table 10, Figure 31, Table 13, Figures 33 and 34."""
    drawings: dict[str, tuple[str, Callable[[Any, Any], None]]] = {
        "time": ("sampling", _draw_time),
        "distances": ("real", lambda axes, part: draw_distances(axes, part.sources[0])),
        "setting": ("obstacles", _draw_example),
        "jerk": ("obstacles", _draw_jerk_of_methods),
        "self-feeding": ("arm", lambda axes, part: _draw_task(axes, part, "self-feeding")),
        "hitchhiking": ("arm", lambda axes, part: _draw_task(axes, part, "hitchhiking")),
    }
    shown = [name for name, (part, _) in drawings.items() if part in found.parts]
    rows = [shown[: (len(shown) + 1) // 2], shown[(len(shown) + 1) // 2 :]] if len(shown) > 3 else [shown]
    figure, panels = new_panels(rows, (12.0, 4.0 * len(rows)), spatial=_SPATIAL & set(shown))
    for name in shown:
        part, draw = drawings[name]
        draw(panels[name], found.parts[part])
    return outside_legend(figure, *panels.values(), ncols=6)


def plot_human_like_arm(found: HumanLikeArm) -> Figure:
    """Draw the arm in the two scenes of the report, and the mean jerk of every method in every scene."""
    rows = [["self-feeding", "hitchhiking"], ["translation", "orientation"]]
    figure, panels = new_panels(rows, (12.0, 8.0), height_ratios=[1.6, 1.0], spatial=_SPATIAL & set(rows[0]))
    for task in rows[0]:
        _draw_task(panels[task], found, task)
    for k, kind in enumerate(rows[1]):
        _draw_jerk(panels[kind], found, k)
        unit = "rad/s³" if k else "m/s³"
        label(panels[kind], f"D4.2, Tables 14 and 15: mean jerk, {kind}", f"mean jerk [{unit}]", "")
    return outside_legend(figure, *panels.values())


def draw_scene(axes: Any, run: ArmRun, postures: int = 6) -> None:
    """Draw one run: the arm at several times, its obstacles, the planned path in green, via points in purple."""
    rows = np.linspace(0, len(run.result.q) - 1, postures).round().astype(int)
    # shoulder, elbow, wrist and hand; later postures are darker
    draw_sticks(axes, arm_points_at(run.robot, run.result.q[rows]), style.TRUTH, linewidth=2.0, markersize=3.5)
    draw_obstacles(axes, run.scene.spheres)
    axes.plot(*run.plan.p.T, color=style.GREEN, linewidth=2.0, label="planned path of the hand")
    if len(run.plan.via_points):
        axes.plot(*run.plan.via_points.T, "o", color=style.PURPLE, markersize=7, label="its via point")
    equal_scales(axes, zoom=0.85)
    axes.view_init(elev=15.0, azim=-60.0)


def equal_scales(axes: Any, zoom: float = 1.0) -> None:
    """Label the axes and use one scale for them, with a tick every 0.2 m, or 0.4 m on axes longer than 0.8 m."""
    limits = (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())
    sides = [abs(high - low) for low, high in limits]
    for name, side in zip("xyz", sides, strict=True):
        axis = getattr(axes, f"{name}axis")
        axis.set_label_text(f"{name} [m]")
        axis.labelpad = 8.0
        axis.set_major_locator(MultipleLocator(0.4 if side > 0.8 else 0.2))
    axes.set_box_aspect(sides, zoom=zoom)


def log_scale(axes: Axes) -> None:
    """Make the horizontal axis logarithmic, its ticks 1, 2, 5 and so on as plain numbers."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:g}")


def _draw_task(axes: Any, found: HumanLikeArm, task: str) -> None:
    """Draw paper mode's run among both obstacles, or the first run of the task."""
    kinds = ("both", "hand", "elbow", "none")
    for key in ((task, kind, method) for method in ("paper mode", *METHODS) for kind in kinds):
        if key in found.runs:
            draw_scene(axes, found.runs[key])
            figure = 33 if task == "self-feeding" else 34
            axes.set_title(f"D4.2, Figure {figure}: {task}, {key[2]}", fontsize="medium")
            return
    axes.set_axis_off()


def _draw_jerk(axes: Axes, found: HumanLikeArm, column: int) -> None:
    """Draw a dot for every scene, plan above arm, their medians and the report's."""
    for k, name in enumerate(METHODS):
        for shift, real, marker, table in ((-0.2, False, "o", TABLE_14), (0.2, True, "^", TABLE_15)):
            values = found.jerk(name, real)[:, column]
            if values.size:
                rows = k + shift + np.linspace(-0.09, 0.09, len(values))
                axes.plot(values, rows, marker, color=METHOD_COLORS[name], markersize=3.0, alpha=0.7)
                axes.vlines(np.median(values), k + shift - 0.15, k + shift + 0.15, color=style.TRUTH, label="median")
            if name in table:
                axes.plot(table[name][column], k + shift, "x", color=style.TRUTH, label="report")
    log_scale(axes)
    _name_rows(axes, list(METHODS))
    axes.plot([], [], "o", color=style.GRAY, markersize=3.0, label="plan")
    axes.plot([], [], "^", color=style.GRAY, markersize=3.0, label="arm")


#: methods in the order of the rows
_TABLED = [name for name in obstacles.METHODS if name in METHOD_COLORS]
_SHOWN = ("paper mode", "MAP", "minimum jerk, via", "DMP mollifier", "DMP Gaussian")


def plot_human_like_obstacles(found: HumanLikeObstacles) -> Figure:
    """Draw one setting with several methods, coordinates and speed over time, jerk and clearances of all settings."""
    rows = [["setting", "setting", "position", "speed"], ["jerk", "jerk", "clearance", "clearance"]]
    figure, panels = new_panels(rows, (12.0, 8.0), spatial=_SPATIAL & set(rows[0]))
    scene, motions = found.example
    _draw_example(panels["setting"], found, 1.2)
    shown = {name: motions[name] for name in _SHOWN if name in motions}
    for name, motion in list(shown.items())[:1]:
        _draw_position(panels["position"], scene, motion, name)
    _draw_speed(panels["speed"], scene, shown)
    _draw_jerk_of_methods(panels["jerk"], found)
    _draw_clearance(panels["clearance"], found)
    return outside_legend(figure, *panels.values(), ncols=8)


def _draw_example(axes: Any, found: HumanLikeObstacles, zoom: float = 0.72) -> None:
    scene, motions = found.example
    draw_setting(axes, scene, {name: motions[name] for name in _SHOWN if name in motions}, zoom)
    axes.set_title("D4.2, Figure 31: a setting of scenario 4", fontsize="medium")


def draw_setting(axes: Any, scene: Scenario, motions: dict[str, Motion], zoom: float = 0.72) -> None:
    """Draw obstacles and paths of several methods; start blue, goal red, via points black."""
    draw_obstacles(axes, scene.spheres, scene.margin)
    t = np.linspace(0.0, scene.duration, 301)
    for name, motion in motions.items():
        axes.plot(*motion.position(t)[:, :3].T, **_line(name), label=name)
        for point in getattr(motion, "via_points", ()):
            axes.plot(*np.reshape(point, (3, 1)), color=_VIA, marker="o", markersize=5.0)
    for point, color in ((scene.start, _START), (scene.goal, _GOAL)):
        axes.plot(*np.reshape(point, (3, 1)), color=color, marker="o", markersize=7.0)
    equal_scales(axes, zoom=zoom)
    axes.view_init(*_view(scene))


def _line(name: str) -> dict[str, Any]:
    """Return the line of a method: dashed and in front where it may hide another."""
    front = name == "DMP mollifier"
    return {"color": METHOD_COLORS[name], "linestyle": "--" if front else "-", "zorder": 3 if front else 2}


def _view(scene: Scenario) -> tuple[float, float]:
    """Look across the way from start to goal, a little from above and aside."""
    way = scene.goal - scene.start
    across = np.cross(way, [0.0, 0.0, 1.0])
    return 25.0, float(np.degrees(np.arctan2(across[1], across[0]))) + 15.0


def _draw_position(axes: Axes, scene: Scenario, motion: Motion, name: str) -> None:
    t = np.linspace(0.0, scene.duration, 301)
    x = motion.position(t)
    for k, (axis, color) in enumerate(zip("xyz", style.AXIS_COLORS, strict=True)):
        axes.plot(t, x[:, k], color=color)
        axes.annotate(f" {axis}", (t[-1], x[-1, k]), color=color, va="center")
    ends = ((0.0, scene.start, _START, "start"), (scene.duration, scene.goal, _GOAL, "goal"))
    vias = zip(getattr(motion, "via_times", ()), getattr(motion, "via_points", ()), strict=True)
    for time, point, color, what in (*ends, *((time, point, _VIA, "via point") for time, point in vias)):
        axes.plot([time] * 3, point, "o", color=color, markersize=5.0, label=what)
    label(axes, f"D4.2, Figure 32: {name}", "time [s]", "position [m]")


def _draw_speed(axes: Axes, scene: Scenario, motions: dict[str, Motion]) -> None:
    t = np.linspace(0.0, scene.duration, 601)
    for name, motion in motions.items():
        axes.plot(t, _speed(motion, t), **_line(name), linewidth=style.LINE)
    label(axes, "D4.2, Figure 32: speed", "time [s]", "speed [m/s]", ylim=(0.0, None))


def _draw_jerk_of_methods(axes: Axes, found: HumanLikeObstacles) -> None:
    """Boxes from the quartiles, whiskers to 5 and 95 %, and the report's medians of the four scenarios."""
    for row, name in enumerate(_TABLED):
        jerk = found.values(name)[:, 1]
        _box(axes, jerk[np.isfinite(jerk)], row, METHOD_COLORS[name])
    for name, printed in TABLE_13.items():
        axes.plot(printed, [_TABLED.index(name)] * 4, "x", color=style.TRUTH, label="report")
    log_scale(axes)
    _name_rows(axes, _TABLED)
    label(axes, "D4.2, Table 13: 5, 25, 50, 75, 95 %", "mean jerk [m/s³]", "")


def _box(axes: Axes, values: Array, row: float, color: str, height: float = 0.6, alpha: float = 0.7) -> None:
    """Draw a horizontal box of the quartiles with the median, and whiskers to 5 and 95 %."""
    low, first, median, third, high = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95))
    axes.hlines([row, row], [low, third], [first, high], color=style.TRUTH, linewidth=style.LINE)
    axes.barh(row, third - first, height, left=first, color=color, edgecolor=style.TRUTH, alpha=alpha)
    axes.vlines(median, row - 0.5 * height, row + 0.5 * height, color=style.TRUTH, linewidth=style.LINE)


def _draw_clearance(axes: Axes, found: HumanLikeObstacles) -> None:
    for k, name in enumerate(_TABLED):
        room = found.values(name)[:, 2]
        room = 1e3 * room[np.isfinite(room)]
        axes.plot(room, k + np.linspace(-0.3, 0.3, len(room)), ".", color=METHOD_COLORS[name], markersize=2.0)
    axes.axvline(1e3 * MARGIN, color=style.TRUTH, linewidth=style.THIN, linestyle="--", label="margin")
    axes.axvline(0.0, color=style.TRUTH, linewidth=style.THIN, label="surface of a sphere")
    _name_rows(axes, _TABLED)
    label(axes, "Not in D4.2: distance from the spheres in every setting", "least distance [mm]", "")


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


_STATES = {REST: "ends at rest", "true velocity and acceleration": "true velocity and acceleration at the ends"}


def plot_human_like_real(found: HumanLikeReal) -> Figure:
    """Draw a row for each source: distances of all methods, path and speed of one reach."""
    rows = [[f"{kind} {k}" for kind in ("distances", "path", "speed")] for k in range(len(found.sources))]
    figure, panels = new_panels(rows, (12.0, 0.9 + 3.5 * len(rows)), width_ratios=[1.4, 1.0, 1.0])
    for names, source in zip(rows, found.sources, strict=True):
        shown = list(source.examples)[len(source.examples) // 2]
        distances, path, speed = (panels[name] for name in names)
        draw_distances(distances, source)
        draw_path(path, source, shown)
        draw_speed(speed, source, shown)
    return outside_legend(figure, *panels.values(), ncols=7)


def draw_distances(axes: Axes, source: Comparison) -> None:
    """Draw a box for every method and two states of the ends (quartiles, 5 and 95 %), and means with 95 % intervals."""
    for shift, (state, words) in zip((-0.2, 0.2), _STATES.items(), strict=True):
        alpha = 0.9 if state == REST else 0.35
        for k, name in enumerate(METHODS):
            values = 1e3 * source.rms[state, name]
            _box(axes, values, k + shift, METHOD_COLORS[name], 0.32, alpha)
            mean = bootstrap_interval(values, n_resamples=1000)
            axes.hlines(k + shift, mean.low, mean.high, color=style.TRUTH, linewidth=2.5, zorder=3)
            axes.plot(mean.statistic, k + shift, "D", color=style.TRUTH, markersize=3.0, label="mean, 95 % interval")
        axes.fill([], [], color=style.GRAY, alpha=alpha, label=words)
    for name, (printed, _) in TABLE_10.items():
        axes.plot(1e3 * printed, METHODS.index(name), "x", color=style.TRUTH, label="report")
    log_scale(axes)
    _name_rows(axes, list(METHODS))
    label(axes, f"D4.2, Table 10: {source.reaches.name}", "RMS distance at equal $\\tau$ [mm]", "")


def draw_path(axes: Axes, source: Comparison, k: int) -> None:
    """Draw one reach and its plans in the plane of start, goal and where the reach is farthest from their line."""
    reach = source.reaches.items[k]
    shown = _sampled(reach)
    along = (shown[-1] - shown[0]) / np.linalg.norm(shown[-1] - shown[0])
    off = (shown - shown[0]) - np.outer((shown - shown[0]) @ along, along)
    farthest = off[int(np.argmax(np.linalg.norm(off, axis=1)))]
    across = farthest / max(float(np.linalg.norm(farthest)), 1e-12)
    for name, motion in source.examples[k].items():
        x = 1e3 * (_sampled(motion) - shown[0])
        axes.plot(x @ along, x @ across, color=METHOD_COLORS[name], linewidth=style.LINE, label=name)
    name = f"{source.reaches.kind} reach"
    axes.plot(1e3 * (shown - shown[0]) @ along, 1e3 * off @ across, color=style.TRUTH, linewidth=2.0, label=name)
    # what goes far astray would leave nothing to be seen of the others
    most = 1e3 * max(3.0 * float(np.abs(off @ across).max()), 0.05 * reach.distance)
    limits = {"xlim": (-150.0 * reach.distance, 1300.0 * reach.distance), "ylim": (-most, most)}
    title = f"Not in D4.2: one {name}, {reach.distance:.2f} m"
    label(axes, title, "towards the goal [mm]", "across [mm], clipped", **limits)


def draw_speed(axes: Axes, source: Comparison, k: int) -> None:
    """Draw speeds of one reach and of its plans."""
    reach = source.reaches.items[k]
    t = np.linspace(0.0, reach.duration, 201)
    for name, motion in source.examples[k].items():
        axes.plot(t, _speed(motion, t), color=METHOD_COLORS[name], linewidth=style.LINE)
    speed = _speed(reach, t)
    axes.plot(t, speed, color=style.TRUTH, linewidth=2.0)
    top = 1.8 * float(speed.max())
    label(axes, f"Not in D4.2: speed, {reach.trial.name}", "time [s]", "speed [m/s], clipped", ylim=(0.0, top))


def _sampled(motion: Motion) -> Array:
    return motion.position(np.linspace(0.0, motion.duration, 201))


def _speed(motion: Motion, t: Array) -> Array:
    return np.asarray(np.linalg.norm(motion.position(t, 1)[:, :3], axis=1), dtype=np.float64)


def plot_human_like_sampling(found: HumanLikeSampling) -> Figure:
    """Draw mean time, share of failures and median of the mean jerk over the number of samples, by scenario."""
    figure, panels = new_panels([["time", "failures", "jerk"]], (12.0, 4.6))
    _draw_time(panels["time"], found)
    _draw_counts(panels["failures"], found, lambda one: 100.0 * one.failures, 100.0, 1)
    label(panels["failures"], "D4.2, Figure 30: failures", "number of via points tried", "no path [%]")
    _draw_counts(panels["jerk"], found, lambda one: np.nanmedian(one.jerk, axis=1))
    panels["jerk"].set_ylim(bottom=0.0)
    label(panels["jerk"], "Not in D4.2: median of the mean jerk", "number of via points tried", "mean jerk [m/s³]")
    return outside_legend(figure, panels["time"], ncols=9)


def _draw_time(axes: Axes, found: HumanLikeSampling) -> None:
    _draw_counts(axes, found, lambda one: 1e3 * one.seconds.mean(axis=1), 1e3, 0)
    axes.set_yscale("log")
    label(axes, "D4.2, Figure 30: time", "number of via points tried", "mean time of a plan [ms]")


def _draw_counts(
    axes: Axes, found: HumanLikeSampling, value: Callable[[Any], Array], unit: float = 1.0, column: int | None = None
) -> None:
    """Draw a value over the number of samples: a color for each search, a marker for each scenario; the report's."""
    for (name, family), one in found.samples.items():
        axes.plot(found.counts, value(one), f"-{'osD^'[family - 1]}", color=METHOD_COLORS[name], markersize=4.0)
    for name in found.searches:
        axes.plot([], [], color=METHOD_COLORS[name], label=name)
    for family in found.families:
        axes.plot([], [], "osD^"[family - 1], color=style.GRAY, label=f"scenario {family}")
    if column is not None:
        printed = [unit * row[column] for row in FIGURE_30.values()]
        axes.plot(list(FIGURE_30), printed, "x", color=style.TRUTH, markersize=7.0, label="report")
    axes.set_xscale("log")


def plot_dmp_study(found: DMPStudy) -> Figure:
    """Draw distance and jerk over the number of functions by variant, and the number with the least jerk over noise."""
    figure, panels = new_panels([["distance", "jerk", "best"]], (12.0, 4.4))
    for k, (name, values) in enumerate(found.found.items()):
        distance, jerk = np.median(values, axis=1).T
        for axes, y in ((panels["distance"], 1e3 * distance), (panels["jerk"], jerk)):
            axes.plot(found.counts, y, "o-", color=style.COLORS[k], linewidth=style.LINE, markersize=4.0, label=name)
    for axes, y in ((panels["distance"], "RMS distance [mm]"), (panels["jerk"], "jerk / demonstration's [-]")):
        axes.axvline(CHOSEN, color=style.TRUTH, linewidth=style.THIN, linestyle="--", label="report's choice")
        label(axes, "D4.2, Section 5.2: reproduced reaches", "number of functions", y)
    draw_panel(found.judgment, "functions with the least jerk", "noise", panels["best"])
    panels["best"].set_title("D4.2, Section 5.2: least jerk", fontsize="medium")
    return outside_legend(figure, *panels.values(), ncols=5)
