"""The plot style of the package: colors that color-blind readers can distinguish, lines, axes and legends.

One law has one color in all figures, see `LAW_COLORS`. Figures are at most 12 by 8 inches with at most six panels; text
has matplotlib's default size of 10 points, in legends 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe-Ito palette without black and yellow
BLUE, VERMILION, ORANGE, GREEN, PINK, SKY = "#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"
#: two more, and grays: of secondary curves, of help lines, of areas
PURPLE, BROWN, GRAY, FAINT, SHADE = "#7B3294", "#8C510A", "#777777", "#BBBBBB", "#E6E6E6"
#: links of an arm
ARM = "#444444"
#: true values, references and printed values
TRUTH = "#222222"
#: curves without a color of their own, in this order
COLORS = (BLUE, VERMILION, ORANGE, GREEN, PINK, SKY, PURPLE, BROWN, GRAY)
#: x, y, z of a frame: red, green and blue in distinguishable shades
AXIS_COLORS = (VERMILION, GREEN, BLUE)
#: control law or method -> its color in all figures; laws without adaptation are vermilion
LAW_COLORS = {
    # controllers; D4.2 draws CT, ACT, AIRC and MACT in these colors
    "CT": VERMILION,
    "computed torque": VERMILION,
    "ACT": ORANGE,
    "AIRC": GRAY,
    "MACT": BLUE,
    "backstepping": GREEN,
    "not adaptive": VERMILION,
    "Slotine-Li": GRAY,
    "passivity-based": PURPLE,
    "robust": PINK,
    "operational space": SKY,
    # planners of human-like motion
    "paper mode": BLUE,
    "MAP": SKY,
    "minimum jerk": GRAY,
    "DMP mollifier": VERMILION,
    "DMP Gaussian": ORANGE,
    "DMP (104)": BROWN,
    "ProMP": PINK,
    # replanning on a conveyor
    "no replan": VERMILION,
    "variable structure": BLUE,
    "time augmentation": GREEN,
}
#: widths of curves, and of help lines and crowded curves [points]
LINE, THIN = 1.3, 0.8
#: most entries of a legend
MOST_IN_LEGEND = 12


def tidy(axes: Axes) -> None:
    """Draw a grid and remove the frame."""
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def figure_of(axes: Axes) -> Figure:
    """Return the figure of axes."""
    return axes.figure.figure


def label(axes: Axes, title: str, x: str, y: str, **settings: Any) -> None:
    """Set the title and the axis labels, with units, and other properties of axes; draw the grid."""
    axes.set(xlabel=x, ylabel=y, **settings)
    axes.set_title(title, fontsize="medium")
    tidy(axes)


def label_time(axes: Axes, t: Array, title: str, y: str, **settings: Any) -> None:
    """Do the same for curves over time `t` (T,) [s]."""
    label(axes, title, "time [s]", y, **{"xlim": (float(t[0]), float(t[-1])), **settings})


def literal(text: str) -> str:
    """Return text that matplotlib draws as it is, without formulas, such as a name of a file."""
    return text.replace("$", r"\$")


def draw_truth(axes: Axes, value: float, name: str = "truth", color: str = TRUTH) -> None:
    """Draw a dashed horizontal line at a true or desired value."""
    axes.axhline(value, color=color, linestyle="--", linewidth=1.0, label=name)


def outside_legend(figure: Figure, *axes: Axes, place: Any = "outside lower center", ncols: int = 6) -> Figure:
    """Draw one legend for axes, outside them, and return the figure; a label that several curves have appears once."""
    entries: dict[str, Any] = {}
    for panel in axes:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    figure.legend(list(entries.values()), list(entries), loc=place, ncols=ncols, fontsize="small")
    return figure


def positive(values: Array) -> Array:
    """Return values for a logarithmic axis: NaN where they are not positive."""
    return np.where(values > 0.0, values, np.nan)


def draw_lines(
    axes: Axes,
    t: Array,
    curves: Mapping[str, Array],
    title: str,
    y: str,
    *,
    colors: Iterable[str] = COLORS,
    log: bool = False,
    width: float = LINE,
    linestyle: str = "-",
    **settings: Any,
) -> None:
    """Draw curves by name over time `t` (T,) [s], and label the axes as `label_time` does.

    Parameters
    ----------
    axes : Axes
        To draw on.
    t : (T,) array
        Times [s].
    curves : mapping of str to (T,) array
        By the name in the legend. Laws have the colors of `LAW_COLORS`, others take the next of `colors`.
    title, y : str
        Title, and label of the ordinate with its unit.
    colors : iterable of str
        Colors in the order of the curves.
    log : bool
        Whether the ordinate is logarithmic; what is not positive is left out.
    width : float
        Of the lines [points].
    linestyle : str
        Of the lines, as of matplotlib.
    **settings
        Other properties of the axes.
    """
    for color, (name, values) in zip(colors, curves.items(), strict=False):
        shown = positive(values) if log else values
        axes.plot(t, shown, linestyle, color=LAW_COLORS.get(name, color), linewidth=width, label=name)
    label_time(axes, t, title, y, **({"yscale": "log"} if log else {}), **settings)
