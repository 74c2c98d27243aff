"""Figures of the accuracy of poses: errors over what is hidden, over speed and over distance."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...checks import Array
from ...plotting.panels import new_panels
from ...plotting.style import BLUE, LINE, SKY, VERMILION, draw_truth, label, outside_legend
from .run import DISTANCES, HIDDEN, OBJECTS, PRINTED, SPEEDS, PoseAccuracy


def plot_pose_accuracy(found: PoseAccuracy) -> Figure:
    """Draw three panels: clouds of partly hidden objects, moving tags, resting tags."""
    figure, panels = new_panels([["hidden", "moving", "resting"]], (12.0, 3.8))
    for name, errors in zip(OBJECTS, found.clouds.transpose(1, 2, 0, 3), strict=True):
        medians = 1e3 * np.nanmedian(np.linalg.norm(errors[:, :, 3:6], axis=2), axis=1)
        panels["hidden"].plot(100.0 * np.array(HIDDEN), medians, "o-", linewidth=LINE, label=name)
    title = "D4.2, Figure 43: middle of partly\nhidden objects, from clouds"
    label(panels["hidden"], title, "hidden part of the visible surface [%]", "error, median [mm]")
    panels["hidden"].legend(fontsize="small")
    _draw_tags(panels["moving"], SPEEDS, found.tags["moving"])
    label(panels["moving"], "D4.2, 7.1: moving tag,\nexposure of 10 ms", "speed [m/s]", "error [mm]", yscale="log")
    _draw_tags(panels["resting"], DISTANCES, found.tags["resting"])
    label(panels["resting"], "Tag at rest", "distance [m]", "error [mm]", yscale="log")
    return outside_legend(figure, panels["moving"], panels["resting"])


def _draw_tags(ax: Axes, x: tuple[float, ...], errors: Array) -> None:
    p = 1e3 * errors[:, :, 0]
    ax.fill_between(x, *np.nanquantile(p, (0.05, 0.95), axis=0), color=SKY, alpha=0.4, label="5 to 95 %")
    ax.plot(x, np.nanmedian(p, axis=0), "o-", color=BLUE, linewidth=LINE, label="median")
    draw_truth(ax, 1e3 * PRINTED, "largest error in the report", VERMILION)
