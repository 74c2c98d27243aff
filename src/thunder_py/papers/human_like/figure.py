"""Figures 33 and 34 of D4.2, and the jerk behind its Tables 14 and 15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...plotting.space import draw_obstacles, draw_sticks
from ...plotting.style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...checks import Array
    from ...recordings.metrics import Motion
    from ...robot import Robot
    from .arm import ArmRun, HumanLikeArm
    from .obstacles import HumanLikeObstacles
    from .real import Comparison, HumanLikeReal
    from .sampling import HumanLikeSampling
    from .scenarios import Scenario

__all__ = [
    "METHOD_COLORS",
    "draw_arm",
    "draw_distances",
    "draw_path",
    "draw_scene",
    "draw_setting",
    "draw_speed",
    "equal_scales",
    "log_scale",
    "plot_human_like_arm",
    "plot_human_like_obstacles",
    "plot_human_like_real",
    "plot_human_like_sampling",
]

METHOD_COLORS = {
    "paper mode": "#0072B2",
    "MAP": "#56B4E9",
    "minimum jerk": "#555555",
    "DMP mollifier": "#D55E00",
    "DMP Gaussian": "#E69F00",
    "ProMP": "#CC79A7",
}
_DESIRED, _VIA, _ARM = "#009E73", "#7B3294", "#222222"
_FIGURES = (("self-feeding", "Figure 33: self-feeding"), ("hitchhiking", "Figure 34: hitchhiking"))


def plot_human_like_arm(found: HumanLikeArm) -> Figure:
    """Draw the arm in the two scenes of the report, and the mean jerk of every method in every scene."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(11, 9.5), constrained_layout=True)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.6, 1.0])
    for k, (task, title) in enumerate(_FIGURES):
        axes = figure.add_subplot(grid[0, k], projection="3d")
        run = _shown(found, task)
        if run is None:
            axes.set_axis_off()
            continue
        method, kind = run
        draw_scene(axes, found.runs[task, kind, method])
        axes.set_title(f"{title}, {method}", fontsize="medium")
    for k, kind in enumerate(("translation [m/s$^3$]", "orientation [rad/s$^3$]")):
        axes = figure.add_subplot(grid[1, k])
        _draw_jerk(axes, found, k)
        axes.set_ylabel(f"mean jerk, {kind}")
    return figure


def draw_arm(axes: Any, robot: Robot, q: Array, times: Iterable[int], color: str = _ARM) -> None:
    """Draw a human arm as shoulder, elbow, wrist and hand, in several of its postures; later ones are darker.

    Parameters
    ----------
    axes : Axes3D
    robot : Robot
        ``human_arm``.
    q : (k, 7) array
        Postures over time [rad].
    times : iterable of int
        Which of them.
    color : str
    """
    from .arm import arm_points_at

    draw_sticks(axes, arm_points_at(robot, q[list(times)]), color, linewidth=2.0, markersize=3.5)


def draw_scene(axes: Any, run: ArmRun, postures: int = 6) -> None:
    """Draw one run: the arm at several times, its obstacles, the planned path in green, via points in purple."""
    rows = np.linspace(0, len(run.result.q) - 1, postures).round().astype(int)
    draw_arm(axes, run.robot, run.result.q, rows.tolist())
    draw_obstacles(axes, run.scene.spheres)
    axes.plot(*run.plan.p.T, color=_DESIRED, linewidth=2.0, label="planned path of the hand")
    if len(run.plan.via_points):
        axes.plot(*run.plan.via_points.T, color=_VIA, linestyle="", marker="o", markersize=7, label="via point")
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.zaxis.labelpad = 10.0
    equal_scales(axes, zoom=0.95)
    axes.view_init(elev=15.0, azim=-60.0)
    axes.legend(fontsize="small", loc="upper left")


def equal_scales(axes: Any, zoom: float = 1.0) -> None:
    """Let a meter be as long along all three axes, with a tick every 0.2 m."""
    from matplotlib.ticker import MultipleLocator

    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MultipleLocator(0.2))
    limits = (axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d())
    axes.set_box_aspect([abs(high - low) for low, high in limits], zoom=zoom)


def log_scale(axes: Axes) -> None:
    """Make the vertical axis logarithmic, its ticks 1, 2, 5 and so on as plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")


def _shown(found: HumanLikeArm, task: str) -> tuple[str, str] | None:
    """Return method and obstacles of the run to draw: paper mode among both obstacles, or what there is."""
    for method in ("paper mode", *found.methods):
        for kind in ("both", "hand", "elbow", "none"):
            if (task, kind, method) in found.runs:
                return method, kind
    return None


def _draw_jerk(axes: Axes, found: HumanLikeArm, column: int) -> None:
    """Draw a dot for every scene, plan and arm side by side, and their medians."""
    for k, name in enumerate(found.methods):
        for shift, real, marker in ((-0.17, False, "o"), (0.17, True, "^")):
            values = found.jerk(name, real)[:, column]
            if not values.size:
                continue
            spread = np.linspace(-0.09, 0.09, len(values))
            color = METHOD_COLORS[name]
            axes.plot(k + shift + spread, values, color=color, linestyle="", marker=marker, markersize=3.0, alpha=0.7)
            axes.plot([k + shift - 0.13, k + shift + 0.13], [np.median(values)] * 2, color="#222222", linewidth=1.6)
    log_scale(axes)
    axes.set_xticks(range(len(found.methods)), found.methods, rotation=20, fontsize="small")
    axes.plot([], [], color="#222222", linestyle="", marker="o", markersize=3.0, label="plan")
    axes.plot([], [], color="#222222", linestyle="", marker="^", markersize=3.0, label="arm")
    axes.legend(fontsize="small")
    tidy(axes)


_COLORS = {**METHOD_COLORS, "minimum jerk, via": "#999999", "DMP (104)": "#A0522D", "ProMP, via": "#8E5EA2"}
_START, _VIA_POINT, _GOAL = "tab:blue", "black", "tab:red"
_AXES = ("#D55E00", "#009E73", "#0072B2")
_SHOWN = ("paper mode", "MAP", "minimum jerk, via", "DMP mollifier", "DMP Gaussian")


def plot_human_like_obstacles(found: HumanLikeObstacles) -> Figure:
    """Draw one setting with several methods, coordinates and speed over time, jerk and clearances of all settings."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 10), constrained_layout=True)
    grid = figure.add_gridspec(3, 2, height_ratios=[1.0, 1.0, 1.2])
    scene, motions = found.example
    shown = {name: motions[name] for name in _SHOWN if name in motions}
    space = figure.add_subplot(grid[:2, 0], projection="3d")
    draw_setting(space, scene, shown)
    space.set_title("Figure 31: a setting of scenario 4", fontsize="medium")
    first = next(iter(shown), None)
    position, speed = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    if first is not None:
        _draw_position(position, scene, shown[first], first)
    _draw_speed(speed, scene, shown)
    _draw_jerk_of_methods(figure.add_subplot(grid[2, 0]), found)
    _draw_clearance(figure.add_subplot(grid[2, 1]), found)
    return figure


def draw_setting(axes: Any, scene: Scenario, motions: dict[str, Motion]) -> None:
    """Draw obstacles and paths of several methods; start blue, goal red, via points black."""
    draw_obstacles(axes, scene.spheres, scene.margin)
    t = np.linspace(0.0, scene.duration, 301)
    for name, motion in motions.items():
        style = "--" if name == "DMP mollifier" else "-"  # where it hides another
        axes.plot(*motion.position(t)[:, :3].T, color=_COLORS[name], linestyle=style, label=name, zorder=_front(name))
        for point in getattr(motion, "via_points", ()):
            axes.plot(*np.reshape(point, (3, 1)), color=_VIA_POINT, marker="o", markersize=5.0)
    for point, color in ((scene.start, _START), (scene.goal, _GOAL)):
        axes.plot(*np.reshape(point, (3, 1)), color=color, marker="o", markersize=7.0)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    equal_scales(axes, zoom=1.05)
    axes.view_init(*_view(scene))
    axes.legend(fontsize="small", loc="upper left")


def _front(name: str) -> float:
    return 3.0 if name == "DMP mollifier" else 2.0


def _view(scene: Scenario) -> tuple[float, float]:
    """Look across the way from start to goal, a little from above and aside."""
    way = scene.goal - scene.start
    across = np.cross(way, [0.0, 0.0, 1.0])
    return 25.0, float(np.degrees(np.arctan2(across[1], across[0]))) + 15.0


def _draw_position(axes: Axes, scene: Scenario, motion: Motion, name: str) -> None:
    t = np.linspace(0.0, scene.duration, 301)
    x = motion.position(t)
    for k, (label, color) in enumerate(zip("xyz", _AXES, strict=True)):
        axes.plot(t, x[:, k], color=color, label=label)
        axes.plot([0.0], [scene.start[k]], color=_START, marker="o", markersize=5.0)
        axes.plot([scene.duration], [scene.goal[k]], color=_GOAL, marker="o", markersize=5.0)
    for time, point in zip(getattr(motion, "via_times", ()), getattr(motion, "via_points", ()), strict=True):
        axes.plot([time] * 3, point, color=_VIA_POINT, linestyle="", marker="o", markersize=5.0)
    axes.set(ylabel="position [m]", title=f"Figure 32: {name}, via point black")
    axes.legend(fontsize="small", loc="lower left")
    tidy(axes)


def _draw_speed(axes: Axes, scene: Scenario, motions: dict[str, Motion]) -> None:
    t = np.linspace(0.0, scene.duration, 601)
    for name, motion in motions.items():
        style = "--" if name == "DMP mollifier" else "-"
        speed = np.linalg.norm(motion.position(t, 1), axis=1)
        axes.plot(t, speed, color=_COLORS[name], linestyle=style, label=name, linewidth=1.4, zorder=_front(name))
    axes.set(xlabel="time [s]", ylabel="speed [m/s]")
    axes.set_ylim(bottom=0.0)
    axes.legend(fontsize="small", loc="lower center")
    tidy(axes)


def _tabled(found: HumanLikeObstacles) -> list[str]:
    return [name for name in found.methods if name in _COLORS]


def _draw_jerk_of_methods(axes: Axes, found: HumanLikeObstacles) -> None:
    """Boxes from the quartiles, whiskers to 5 and 95 %, and the report's medians of the four scenarios."""
    from .obstacles import TABLE_13

    names = _tabled(found)
    values = [found.values(name)[:, 1] for name in names]
    boxes = axes.boxplot(
        [x[np.isfinite(x)] for x in values], positions=range(len(names)), whis=(5, 95), showfliers=False,
        patch_artist=True, medianprops={"color": "black"},
    )  # fmt: skip
    for box, name in zip(boxes["boxes"], names, strict=True):
        box.set(facecolor=_COLORS[name], alpha=0.7)
    for name, printed in TABLE_13.items():
        if name in names:
            axes.plot([names.index(name)] * 4, printed, color="black", linestyle="", marker="x", label="report")
    log_scale(axes)
    axes.set(ylabel="mean jerk [m/s$^3$]", title="Table 13: 5, 25, 50, 75, 95 %")
    _name(axes, names)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[:1], labels[:1], fontsize="small")


def _draw_clearance(axes: Axes, found: HumanLikeObstacles) -> None:
    from .scenarios import MARGIN

    names = _tabled(found)
    for k, name in enumerate(names):
        room = found.values(name)[:, 2]
        room = room[np.isfinite(room)]
        spread = np.linspace(-0.3, 0.3, len(room))
        axes.plot(k + spread, room, color=_COLORS[name], linestyle="", marker=".", markersize=2.0)
    for height, label in ((MARGIN, "margin"), (0.0, "surface")):
        axes.axhline(height, color="black", linewidth=0.8, linestyle="--" if height else "-", label=label)
    axes.set(ylabel="least distance [m]", title="distance from the spheres in every setting")
    _name(axes, names)
    axes.legend(fontsize="small")


def _name(axes: Axes, names: list[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize="small")
    tidy(axes)


_REAL = "#222222"
_REST = "rest"
_STATES = {"rest": "told of rest", "true velocity and acceleration": "told of true velocity and acceleration"}


def plot_human_like_real(found: HumanLikeReal) -> Figure:
    """Draw a row for each source: distances of all methods, the path of one reach, speeds of it and a longer one."""
    import matplotlib.pyplot as plt

    count = len(found.sources)
    figure, panels = plt.subplots(
        count, 4, figsize=(15, 3.9 * count), squeeze=False, layout="constrained", width_ratios=[1.5, 1, 1, 1]
    )
    for row, source in zip(panels, found.sources, strict=True):
        middle, longest = list(source.examples)[1:] if len(source.examples) > 2 else list(source.examples)[:1] * 2
        draw_distances(row[0], source)
        row[0].set_title(source.reaches.name, fontsize="medium")
        draw_path(row[1], source, middle)
        for axes, k in zip(row[2:], (middle, longest), strict=True):
            draw_speed(axes, source, k)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower left", ncols=3, fontsize="small")
    handles, labels = panels[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), fontsize="small")
    return figure


def draw_distances(axes: Axes, source: Comparison) -> None:
    """Draw a box for every method and two states of the ends (quartiles, 5 and 95 %), and means with 95 % intervals."""
    from ...recordings.statistics import bootstrap_interval

    names = list(METHOD_COLORS)
    for shift, (state, words) in zip((-0.2, 0.2), _STATES.items(), strict=True):
        values = [1e3 * source.rms[state, name] for name in names]
        boxes: Any = axes.boxplot(
            values,
            positions=list(np.arange(len(names)) + shift),
            widths=0.32,
            whis=(5, 95),
            showfliers=False,
            patch_artist=True,
            medianprops={"color": _REAL},
            manage_ticks=False,
        )
        for box, name in zip(boxes["boxes"], names, strict=True):
            box.set(facecolor=METHOD_COLORS[name], alpha=0.9 if state == _REST else 0.35)
        for k, each in enumerate(values):
            mean = bootstrap_interval(each, resamples=1000)
            error = np.array([[mean.statistic - mean.low], [mean.high - mean.statistic]])
            label = "mean, 95 %" if k == 0 and state == _REST else None
            axes.errorbar(
                k + shift, mean.statistic, error, color=_REAL, marker="D", markersize=3.0, linewidth=1.2, label=label
            )
        axes.fill([], [], color="#777777", alpha=0.9 if state == _REST else 0.35, label=words)
    log_scale(axes)
    axes.set_xticks(range(len(names)), names, rotation=25, fontsize="small")
    axes.set_ylabel("RMS distance at equal tau [mm]")
    tidy(axes)


def draw_path(axes: Axes, source: Comparison, k: int) -> None:
    """Draw one reach and its plans in the plane of start, goal and where the reach is farthest from their line."""
    reach = source.reaches.items[k]
    real = _sampled(reach)
    along = (real[-1] - real[0]) / np.linalg.norm(real[-1] - real[0])
    off = (real - real[0]) - np.outer((real - real[0]) @ along, along)
    farthest = off[int(np.argmax(np.linalg.norm(off, axis=1)))]
    across = farthest / max(float(np.linalg.norm(farthest)), 1e-12)
    reached = np.abs(off @ across).max()
    for name, motion in source.examples[k].items():
        x = _sampled(motion) - real[0]
        axes.plot(1e3 * x @ along, 1e3 * x @ across, color=METHOD_COLORS[name], linewidth=1.3, label=name)
    axes.plot(1e3 * (real - real[0]) @ along, 1e3 * off @ across, color=_REAL, linewidth=2.0, label="real")
    # what goes far astray would leave nothing to be seen of the others
    most = 1e3 * max(3.0 * float(reached), 0.05 * reach.distance)
    axes.set_xlim(-150.0 * reach.distance, 1300.0 * reach.distance)
    axes.set_ylim(-most, most)
    axes.set(xlabel="towards the goal [mm]", ylabel="across [mm], stretched")
    tidy(axes)


def draw_speed(axes: Axes, source: Comparison, k: int) -> None:
    """Draw speeds of one reach and of its plans."""
    reach = source.reaches.items[k]
    t = np.linspace(0.0, reach.duration, 201)
    speed = _speed(reach, t)
    for name, motion in source.examples[k].items():
        axes.plot(t, _speed(motion, t), color=METHOD_COLORS[name], linewidth=1.3, label=name)
    axes.plot(t, speed, color=_REAL, linewidth=2.0, label="real")
    axes.set_ylim(0.0, 1.8 * float(speed.max()))
    axes.set(xlabel="time [s]", ylabel="speed [m/s]", title=f"{reach.distance:.2f} m, {reach.trial.name}")
    axes.title.set_fontsize("medium")
    tidy(axes)


def _sampled(motion: Motion) -> Array:
    return motion.position(np.linspace(0.0, motion.duration, 201))


def _speed(motion: Motion, t: Array) -> Array:
    return np.asarray(np.linalg.norm(motion.position(t, 1), axis=1), dtype=np.float64)


_SCENARIOS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
_LINES = {"paper mode": "-", "MAP": "--"}
_REPORT = "#222222"


def plot_human_like_sampling(found: HumanLikeSampling) -> Figure:
    """Draw mean time, share of failures and median of the mean jerk over the number of samples, by scenario."""
    import matplotlib.pyplot as plt

    figure, (time, failures, jerk) = plt.subplots(1, 3, figsize=(13, 4.2), constrained_layout=True)
    for name in found.searches:
        for family, color in zip(found.families, _SCENARIOS, strict=False):
            one = found.samples[name, family]
            line: dict[str, Any] = {"color": color, "linestyle": _LINES[name], "marker": "o", "markersize": 3.0}
            time.plot(found.counts, 1e3 * one.seconds.mean(axis=1), **line)
            failures.plot(found.counts, 100.0 * one.failures, **line)
            jerk.plot(found.counts, np.nanmedian(one.jerk, axis=1), **line)
    _draw_report(time, failures)
    time.set(ylabel="mean time of a plan [ms]", yscale="log", title="Figure 30: time")
    failures.set(ylabel="no path [%]", title="Figure 30: failures")
    jerk.set(ylabel="mean jerk, median [m/s$^3$]", title="jerk")
    jerk.set_ylim(bottom=0.0)
    for axes in (time, failures, jerk):
        axes.set(xscale="log", xlabel="number of via points tried")
        tidy(axes)
    _legend(jerk, found)
    return figure


def _draw_report(time: Axes, failures: Axes) -> None:
    from .sampling import FIGURE_30

    counts, numbers = list(FIGURE_30), np.array(list(FIGURE_30.values()))
    style: dict[str, Any] = {
        "color": _REPORT,
        "linestyle": "",
        "marker": "x",
        "markersize": 7.0,
        "label": "report, all scenarios",
    }
    time.plot(counts, 1e3 * numbers[:, 0], **style)
    failures.plot(counts, 100.0 * numbers[:, 1], **style)
    for axes in (time, failures):
        axes.legend(fontsize="small")


def _legend(axes: Axes, found: HumanLikeSampling) -> None:
    for family, color in zip(found.families, _SCENARIOS, strict=False):
        axes.plot([], [], color=color, label=f"scenario {family}")
    for name in found.searches:
        axes.plot([], [], color="#888888", linestyle=_LINES[name], label=name)
    axes.legend(fontsize="small", ncols=2)
