"""Figures of recorded movements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import ThunderError
from ..plotting.panels import label_column, panels
from ..plotting.style import COLORS, MOST_IN_LEGEND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .motion_set import MotionSet


def plot_motions(
    motions: MotionSet, dofs: Iterable[str] | None = None, *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw every trial over its own time, one color per subject; see `MotionSet.plot`."""
    names = motions.dofs if dofs is None else tuple(dofs)
    if not len(motions) or not names:
        raise ThunderError(f"plot needs one trial and one dof or more, got {len(motions)} and {len(names)}")
    chosen = motions.map(lambda trial: trial.select(names))
    drawn = panels(axes, names, (8.0, 1.0 + 1.6 * len(names)), sharex=True)
    colors = {subject: COLORS[k % len(COLORS)] for k, subject in enumerate(motions.subjects)}
    for name, ax in drawn.items():
        column = names.index(name)
        for trial in chosen:
            (line,) = ax.plot(trial.t - trial.t[0], trial.x[:, column], color=colors[trial.subject], lw=0.8, alpha=0.7)
            labeled = [one.get_label() for one in ax.lines[:-1]]
            line.set_label("_" if trial.subject in labeled else trial.subject or "_")
        unit = chosen[0].units[column]
        ax.set_ylabel(name if unit == "1" else f"{name} [{unit}]")
        ax.grid(visible=True, alpha=0.3)
    label_column(drawn)
    if drawn and 1 < len(colors) <= MOST_IN_LEGEND:
        next(iter(drawn.values())).legend(fontsize="small", ncols=2)
    return drawn
