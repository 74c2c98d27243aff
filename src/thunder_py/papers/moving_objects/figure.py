"""Figures 37 and 39 of D4.2: strategies of planning anew, and success over the speed of the belt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .run import SPEEDS, TABLE_16

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import HashableList

    from ...manipulation.interception.runs import ConveyorRun
    from .run import Cell, MovingObjects

__all__ = ["plot_moving_objects", "plot_reach"]

_COLORS = {"no replan": "#D55E00", "variable structure": "#0072B2", "time augmentation": "#009E73"}


def plot_moving_objects(found: MovingObjects) -> Figure:
    """Draw how both strategies plan along the belt, their jerk, success and errors.

    Parameters
    ----------
    found : MovingObjects
        What the experiment returned.
    """
    from matplotlib.pyplot import figure

    panels: list[HashableList[str]] = [
        ["variable structure", "time augmentation", "success"],
        ["jerk VS", "jerk TA", "lead"],
    ]
    picture = figure(figsize=(14.0, 7.0), layout="constrained")
    axes = picture.subplot_mosaic(panels)
    for name, short in (("variable structure", "VS"), ("time augmentation", "TA")):
        if name in found.examples:
            plot_reach(found.examples[name], axes[name], axes[f"jerk {short}"], name)
    ceiling = max(axes[f"jerk {short}"].get_ylim()[1] for short in ("VS", "TA"))
    for short in ("VS", "TA"):
        axes[f"jerk {short}"].set_ylim(0.0, ceiling)
    cells = found.arm or found.point
    _plot_success(cells, axes["success"], "Panda" if found.arm else "planned point")
    _plot_lead(found.point or found.arm, axes["lead"])
    return picture


def plot_reach(run: ConveyorRun, place: Axes, jerk: Axes, title: str) -> None:
    """Draw a run along the belt and its jerk, with the instants of new plans.

    Parameters
    ----------
    run : ConveyorRun
        With at least one plan.
    place, jerk : Axes
        To draw on.
    title : str
        Of the first.
    """
    belt = run.target.belt
    end = run.arrival + 0.25
    shown = run.t <= end
    t = run.t[shown]
    grasp_point = run.target.position(t) + np.asarray(belt.offset)
    place.plot(t, belt.along(grasp_point), color="#222222", label="object")
    seen = run.feed.available <= end
    measured = belt.along(run.feed.positions[seen] + np.asarray(belt.offset))
    place.plot(run.feed.taken[seen], measured, ".", color="#999999", label="measured, when the picture was taken")
    place.plot(t, belt.along(run.reference[shown]), color=_COLORS.get(title, "#0072B2"), label="hand")
    goals = np.array([[p.arrival, belt.along(p.goal)] for p in run.plans])
    place.plot(*goals.T, "x", color="#7B3294", label="planned meetings")
    place.axhline(0.0, color="#CCCCCC", lw=0.8, zorder=0)
    place.set(title=f"{title}: {len(run.plans)} plans", ylabel="along the belt, from $p_{ref}$ [m]", xlabel="time [s]")
    place.set_ylim(-0.6, 0.25)
    place.legend(fontsize="small")
    inside = (run.t >= run.plans[0].time) & (run.t <= run.arrival)
    jerk.plot(run.t[inside][1:], run.jerk, color=_COLORS.get(title, "#0072B2"), lw=0.8)
    for plan in run.plans:
        jerk.axvline(plan.time, color="#DDDDDD", lw=0.8, zorder=0)
    jerk.set(xlabel="time [s]", ylabel="jerk [m/s³]", title=f"mean {run.jerk.mean():.2g} m/s³; gray: new plans")
    jerk.set_xlim(place.get_xlim())


def _plot_success(cells: dict[tuple[str, float], Cell], ax: Axes, hand: str) -> None:
    names = list(dict.fromkeys(name for name, _ in cells))
    width = 0.8 / max(len(names), 1)
    for k, name in enumerate(names):
        for i, speed in enumerate(SPEEDS):
            if (name, speed) not in cells:
                continue
            cell, x = cells[name, speed], i + (k - 0.5 * (len(names) - 1)) * width
            low, high = cell.interval
            bar = ax.bar(x, cell.rate, 0.9 * width, color=_COLORS.get(name, "#777777"), label=name if i == 0 else None)
            ax.errorbar(
                x, cell.rate, [[max(cell.rate - low, 0.0)], [max(high - cell.rate, 0.0)]], color="#222222", capsize=3
            )
            printed = TABLE_16["no replan" if name == "no replan" else "replan"][i]
            ax.plot([bar[0].get_x(), bar[0].get_x() + bar[0].get_width()], [printed] * 2, color="#222222", lw=2, ls=":")
    ax.set_xticks(range(len(SPEEDS)), [f"{v:g} m/s" for v in SPEEDS])
    # room for the legend above all bars
    ax.set(
        ylim=(0.0, 1.4),
        yticks=np.linspace(0.0, 1.0, 6),
        title=f"success, {hand}; dotted: report",
        ylabel="part of the runs",
    )
    ax.legend(fontsize="small", loc="upper center", ncols=2)


def _plot_lead(cells: dict[tuple[str, float], Cell], ax: Axes) -> None:
    bins = np.linspace(-0.15, 0.15, 61)
    for name in dict.fromkeys(name for name, _ in cells):
        leads = np.array([run.along for (n, _), cell in cells.items() if n == name for run in cell.runs])
        leads = leads[np.isfinite(leads)]
        if leads.size:
            ax.hist(np.clip(leads, bins[0], bins[-1]), bins.tolist(), density=True, histtype="step",
                    color=_COLORS.get(name, "#777777"), label=name)  # fmt: skip
    ax.axvspan(-0.025, 0.025, color="#EEEEEE", zorder=0, label="tolerance")
    ax.set(title="hand before the object while closing", xlabel="lead [m], all speeds", yticks=[])
    ax.legend(fontsize="small")
