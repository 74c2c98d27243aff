"""Figure of planned against recorded reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .human_like_arm import METHOD_COLORS, log_scale
from .style import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..checks import Array
    from ..experiments.human_like_comparison import Comparison
    from ..experiments.human_like_real import HumanLikeReal
    from ..motion.metrics import Motion

__all__ = ["draw_distances", "draw_path", "draw_speed", "plot_human_like_real"]

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
    from ..motion.statistics import bootstrap_interval

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
