"""Figures 37 and 39 of D4.2: strategies of replanning, success over the speed of the belt."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...checks import Array
from ...manipulation.interception.runs import ConveyorRun
from ...plotting import style
from ...plotting.panels import new_panels
from ...plotting.style import label, outside_legend
from .clouds import TOTAL, CloudTrial, MovingObjectClouds, interval, rate
from .run import SPEEDS, TABLE_16, Cell, MovingObjects


def plot_moving_objects(found: MovingObjects) -> Figure:
    """Draw one reach with either strategy, its jerk, success and errors of all runs.

    Parameters
    ----------
    found : MovingObjects
        Result to draw.
    """
    names = ("variable structure", "time augmentation")
    figure, panels = new_panels([[*names, "success"], [f"{name}, jerk" for name in names] + ["lead"]], (12.0, 7.2))
    for name in names:
        if name in found.examples:
            plot_reach(found.examples[name], panels[name], panels[f"{name}, jerk"], name)
    panels[f"{names[0]}, jerk"].sharey(panels[f"{names[1]}, jerk"])
    _draw_success(found.arm or found.point, panels["success"], "Panda" if found.arm else "planned point")
    _draw_lead(found.point or found.arm, panels["lead"])
    return outside_legend(figure, *panels.values())


def plot_reach(run: ConveyorRun, place: Axes, jerk: Axes, name: str) -> None:
    """Draw a run along the belt and its jerk, with the instants of new plans.

    Parameters
    ----------
    run : ConveyorRun
        With at least one plan.
    place, jerk : Axes
        To draw on.
    name : str
        Strategy.
    """
    belt = run.target.belt
    end = run.arrival + 0.25
    shown = run.t <= end
    t = run.t[shown]
    place.plot(t, belt.along(run.target.position(t) + np.asarray(belt.offset)), color=style.TRUTH, label="object")
    seen = run.feed.available <= end
    measured = belt.along(run.feed.positions[seen] + np.asarray(belt.offset))
    place.plot(run.feed.taken[seen], measured, ".", color=style.GRAY, label="camera, at the time of the picture")
    place.plot(t, belt.along(run.reference[shown]), color=style.LAW_COLORS[name])
    goals = np.array([[p.arrival, belt.along(p.goal)] for p in run.plans])
    place.plot(*goals.T, "x", color=style.PURPLE, label="planned meetings")
    title = f"D4.2, Figure 37: {name},\n{len(run.plans)} plans"
    label(place, title, "time [s]", "along the belt, from $p_{ref}$ [m]", ylim=(-0.6, 0.25))
    inside = (run.t >= run.plans[0].time) & (run.t <= run.arrival)
    jerk.plot(run.t[inside][1:], run.jerk, color=style.LAW_COLORS[name], linewidth=style.THIN)
    for k, plan in enumerate(run.plans):
        jerk.axvline(plan.time, color=style.FAINT, linewidth=style.THIN, zorder=0, label="" if k else "new plan")
    title = f"D4.2, Figure 37: {name},\nmean jerk {run.jerk.mean():.2g} m/s³"
    label(jerk, title, "time [s]", "jerk [m/s³]", xlim=place.get_xlim())


def _draw_success(cells: dict[tuple[str, float], Cell], axes: Axes, hand: str) -> None:
    names = list(dict.fromkeys(name for name, _ in cells))
    width = 0.8 / max(len(names), 1)
    for k, name in enumerate(names):
        kept = [(i, cells[name, speed]) for i, speed in enumerate(SPEEDS) if (name, speed) in cells]
        x = np.array([i for i, _ in kept]) + (k - 0.5 * (len(names) - 1)) * width
        _draw_bars(axes, x, [(cell.rate, *cell.interval) for _, cell in kept], 0.9 * width, name, name)
        printed = [100.0 * TABLE_16["no replan" if name == "no replan" else "replan"][i] for i, _ in kept]
        _draw_printed(axes, printed, x, 0.45 * width, "report, Table 16")
    axes.set_xticks(range(len(SPEEDS)), [f"{v:g}" for v in SPEEDS])
    label(axes, f"D4.2, Figure 39: success, {hand}", "speed of the belt [m/s]", "success [%]", ylim=(0.0, 105.0))


def _draw_printed(axes: Axes, success: Any, x: Array, half: float, name: str) -> None:
    axes.hlines(success, x - half, x + half, color=style.TRUTH, linewidth=2, linestyle=":", label=name)


def _draw_bars(axes: Axes, x: Any, rates: list[tuple[float, float, float]], width: float, law: str, name: str) -> None:
    rate, low, high = (100.0 * np.array(rates)).T
    axes.bar(x, rate, width, color=style.LAW_COLORS[law], label=name)
    spread = np.maximum([rate - low, high - rate], 0.0)
    axes.errorbar(x, rate, spread, color=style.TRUTH, linestyle="", capsize=3, label="Wilson's 95 % interval")


def _draw_lead(cells: dict[tuple[str, float], Cell], axes: Axes) -> None:
    for name in dict.fromkeys(name for name, _ in cells):
        leads = np.array([run.along for (n, _), cell in cells.items() if n == name for run in cell.runs])
        leads = np.sort(1e3 * leads[np.isfinite(leads)])
        axes.step(leads, np.linspace(0.0, 100.0, leads.size), color=style.LAW_COLORS[name])
    axes.axvspan(-25.0, 25.0, color=style.SHADE, zorder=0, label="tolerance")
    title = "Not in D4.2: hand ahead of the object\nwhile closing, all speeds"
    label(axes, title, "lead [mm]", "share of runs with less [%]", xlim=(-150.0, 150.0))


def plot_clouds(found: MovingObjectClouds) -> Figure:
    """Draw success by kind of object and by speed, and the errors of the measured positions.

    Parameters
    ----------
    found : MovingObjectClouds
        Result to draw.
    """
    figure, panels = new_panels([["kinds", "speeds", "errors"]], (12.0, 3.8), width_ratios=(1.6, 1.0, 1.2))
    groups = found.groups()
    _draw_rates(groups, {"all": TOTAL}, panels["kinds"])
    label(panels["kinds"], "D4.2, Figure 38: success by kind of object", "", "success [%]", ylim=(0.0, 105.0))
    panels["kinds"].set_xticks(range(len(groups)), [name.split(",")[0] for name in groups], rotation=35, ha="right")
    speeds = {f"{speed:g}": found.at(speed) for speed in SPEEDS if found.at(speed)}
    printed = {f"{speed:g}": share for speed, share in zip(SPEEDS, TABLE_16["replan"], strict=True)}
    _draw_rates(speeds, printed, panels["speeds"])
    label(panels["speeds"], "D4.2, Figure 39, with clouds", "speed of the belt [m/s]", "success [%]", ylim=(0.0, 105.0))
    kinds = list(groups)[3:]
    errors = [[1e3 * trial.error for trial in groups[kind]] for kind in kinds]
    panels["errors"].boxplot(errors, orientation="horizontal", widths=0.6, medianprops={"color": style.TRUTH})
    panels["errors"].set_yticks(range(1, len(kinds) + 1), [kind.split(",")[0] for kind in kinds])
    label(panels["errors"], "Not in D4.2: error of the\nmeasured middle", "RMS over a trial [mm]", "", xlim=(0.0, None))
    return outside_legend(figure, panels["kinds"], panels["speeds"])


def _draw_rates(groups: dict[str, list[CloudTrial]], printed: dict[str, float], axes: Axes) -> None:
    x, rates = np.arange(len(groups)), [(rate(trials), *interval(trials)) for trials in groups.values()]
    _draw_bars(axes, x, rates, 0.7, "time augmentation", "ours")
    for k, name in enumerate(groups):
        if name in printed:
            _draw_printed(axes, 100.0 * printed[name], np.array(k), 0.35, "report")
    axes.set_xticks(x, [name.split(",")[0] for name in groups])
