"""Panels of figures: drawings take ``ax=`` (one panel) or ``axes=`` (several by name) and return what they drew."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..checks import Array, known_name
from ..errors import ThunderError
from .style import COLORS, MOST_IN_LEGEND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def panel(ax: Axes | None, figsize: tuple[float, float] = (8.0, 2.5), *, projection: str | None = None) -> Any:
    """Return `ax`, or new axes in a figure of pyplot."""
    if ax is not None:
        return ax
    from matplotlib.pyplot import figure

    ax = figure(figsize=figsize, layout="constrained").add_subplot(projection=projection)
    ax.set_prop_cycle(color=COLORS)
    return ax


def new_panels(
    layout: Any,
    size: tuple[float, float] = (12.0, 7.5),
    title: str = "",
    *,
    spatial: Collection[str] = (),
    **options: Any,
) -> tuple[Figure, dict[str, Any]]:
    """Return a new figure of pyplot and its panels by name.

    Parameters
    ----------
    layout : str or nested list
        For `matplotlib.figure.Figure.subplot_mosaic`.
    size : (float, float)
        Width and height [inch].
    title : str
        Title of the figure.
    spatial : collection of str
        Names of panels with three dimensions.
    **options
        For ``subplot_mosaic``, such as ``width_ratios``.
    """
    from matplotlib.pyplot import figure

    new = figure(figsize=size, layout="constrained")
    if title:
        new.suptitle(title)
    kinds: Any = {name: {"projection": "3d"} for name in spatial}
    drawn = dict(new.subplot_mosaic(layout, per_subplot_kw=kinds, **options))
    for ax in drawn.values():
        ax.set_prop_cycle(color=COLORS)
    return new, drawn


def panels(
    axes: Mapping[str, Axes] | None,
    layout: Sequence[str] | Sequence[Sequence[str]],
    figsize: tuple[float, float],
    *,
    spatial: Collection[str] = (),
    empty: Collection[str] = (),
    **options: Any,
) -> dict[str, Any]:
    """Return the panels to draw by name: those of `axes`, or all in a new figure of pyplot.

    Parameters
    ----------
    axes : mapping of str to Axes, optional
        Existing axes of some or all panels, as ``pyplot.subplot_mosaic`` returns them.
    layout : sequence of str or of rows of str
        Names of the panels: a column, or the rows of a mosaic in which ``"."`` is empty.
    figsize : (float, float)
        Width and height of a new figure [inch].
    spatial : collection of str
        Names of panels with three dimensions.
    empty : collection of str
        Names of panels without content here; they are accepted in `axes` and left as they are.
    **options
        Arguments of ``Figure.subplot_mosaic`` for a new figure.

    Raises
    ------
    ThunderError
        If `axes` is not a mapping to Axes.
    UnknownNameError
        If `axes` has a name that `layout` does not have; the message lists the names.
    """
    rows: Any = [[row] if isinstance(row, str) else list(row) for row in layout]
    if axes is None:
        return new_panels(rows, figsize, spatial=spatial, **options)[1]
    if not isinstance(axes, Mapping):
        raise ThunderError(f"axes must be a mapping from names of panels to Axes, got {axes!r:.80}")
    names = list(dict.fromkeys([*(name for row in rows for name in row if name != "."), *empty]))
    for name in axes:
        known_name(name, names, f"axes must be named {', '.join(names)}, got")
        if not hasattr(axes[name], "plot"):
            raise ThunderError(f"axes[{name!r}] must be Axes, got {axes[name]!r:.80}")
    return {name: axes[name] for name in names if name in axes and name not in empty}


def draw_curves(
    ax: Axes, t: Array, values: Array, label: str, names: Sequence[str] = (), *, together: str | None = None
) -> None:
    """Draw the columns of `values` over `t`.

    Parameters
    ----------
    ax : Axes
        Axes to draw on.
    t : (k,) array
        Abscissa, such as the time.
    values : (k,) or (k, m) array
        Curves.
    label : str
        Label of the ordinate.
    names : sequence of str
        Names of the columns in a legend, which is drawn for up to 12.
    together : str, optional
        One name for all columns, for a legend that the caller draws.
    """
    lines = ax.plot(t, values, linewidth=1.2, label=together)
    ax.set_ylabel(label)
    ax.grid(visible=True, alpha=0.3)
    if 0 < len(names) <= MOST_IN_LEGEND:
        ax.legend(lines, names, ncols=2, fontsize="small", loc="upper right")


def label_column(axes: Mapping[str, Axes], label: str = "time [s]") -> None:
    """Label the abscissa of the last panel of a column, and of each panel that does not share it."""
    drawn = list(axes.values())
    for ax in drawn:
        if ax is drawn[-1] or not ax.get_shared_x_axes().joined(ax, drawn[-1]):
            ax.set_xlabel(label)
