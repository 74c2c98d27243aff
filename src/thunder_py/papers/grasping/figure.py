"""Figures of the grasping experiment."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.panels import new_panels
from ...plotting.style import BLUE, GREEN, ORANGE, PURPLE, THIN, TRUTH, VERMILION, label, outside_legend
from ..moving_objects.run import SPEEDS, TABLE_16
from ..results import wilson_interval
from .run import Grasping
from .setup import SHAPES

_COLORS = {
    ("gripper", "no replan", "alone"): VERMILION,
    ("gripper", "variable structure", "alone"): ORANGE,
    ("gripper", "time augmentation", "alone"): BLUE,
    ("gripper", "time augmentation", "among others"): PURPLE,
    ("compliant", "time augmentation", "alone"): GREEN,
}
_MARKERS = dict(zip(SHAPES, ("s", "^", "o", "d"), strict=True))


def plot_grasping(found: Grasping) -> Figure:
    """Draw success by speed, by shape, and where objects were when the hand began to close.

    Parameters
    ----------
    found : Grasping
        Result to draw.
    """
    figure, panels = new_panels([["speed", "shape", "place"]], (12.5, 4.4), "D4.2, Figure 39, with contact")
    shift = np.linspace(-0.25, 0.25, len(found.variants)) if len(found.variants) > 1 else np.zeros(1)
    for variant, dx in zip(found.variants, shift, strict=True):
        hand, strategy, scene = variant
        some, color = found.of(hand=hand, strategy=strategy, scene=scene), _COLORS[variant]
        name = f"{hand}, {strategy}" + (", among others" if scene != "alone" else "")
        for axes, key, values in ((panels["speed"], "speed", SPEEDS), (panels["shape"], "shape", SHAPES)):
            groups = [[t.success for t in some if getattr(t.case, key) == value] for value in values]
            draw_rates(axes, np.arange(len(values)) + dx, groups, color, name)
        for shape in SHAPES:
            points = np.array([(t.across, t.along) for t in some if t.case.shape == shape]).reshape(-1, 2)
            panels["place"].plot(*(1e3 * points.T), _MARKERS[shape], color=color, ms=4, alpha=0.7)
    for k, printed in enumerate(TABLE_16["replan"]):
        panels["speed"].hlines(100.0 * printed, k - 0.35, k + 0.35, TRUTH, "--", lw=1.0, label="report, replan")
    for axes, names, text in (
        (panels["speed"], [f"{v:g}" for v in SPEEDS], "belt [m/s]"),
        (panels["shape"], list(SHAPES), "object"),
    ):
        axes.set_xticks(range(len(names)), names)
        label(axes, "", text, "lifted and held [%]", ylim=(-3.0, 105.0))
    panels["place"].set_aspect("equal", adjustable="datalim")
    label(panels["place"], "object as seen from the hand", "across the belt [mm]", "along the belt [mm]")
    return outside_legend(figure, panels["speed"])


def draw_rates(axes: Axes, x: np.ndarray, groups: list[list[bool]], color: str, name: str) -> None:
    """Draw success rates [%] with Wilson's intervals; empty groups are left out."""
    known = [k for k, group in enumerate(groups) if group]
    rates = np.array([100.0 * np.mean(groups[k]) for k in known])
    low, high = (100.0 * np.array([wilson_interval(groups[k])[end] for k in known]) for end in (0, 1))
    axes.errorbar(x[known], rates, [rates - low, high - rates], fmt="o", color=color, lw=THIN, capsize=3, label=name)
