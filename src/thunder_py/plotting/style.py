"""Style shared by all figures: colors that color-blind readers can distinguish, axes without frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "TRUTH", "figure_of", "tidy"]

#: blue, vermilion and orange of the Okabe-Ito palette
COLORS = ("#0072B2", "#D55E00", "#E69F00")
#: true values and references
TRUTH = "#222222"


def tidy(axes: Axes) -> None:
    """Draw a grid and remove the frame."""
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def figure_of(axes: Axes) -> Figure:
    """Return the figure of axes."""
    return axes.figure.figure
