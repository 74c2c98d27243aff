"""Figures of recorded movements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import ThunderError, UnknownNameError, nearest_hint
from ..plotting.panels import label_column, panels
from ..plotting.style import COLORS, MOST_IN_LEGEND

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .motion_set import MotionSet


def plot_motions(
    motions: MotionSet, dofs: Iterable[str] | None = None, *, axes: Mapping[str, Axes] | None = None
) -> dict[str, Axes]:
    """Draw every trial over its own time, one color per subject; see `MotionSet.plot`."""
    names = _check_dofs(motions, dofs)
    drawn = panels(axes, names, (8.0, 1.0 + 1.6 * len(names)), sharex=True)
    colors = {subject: COLORS[k % len(COLORS)] for k, subject in enumerate(motions.subjects)}
    for name, ax in drawn.items():
        labeled: set[str] = set()
        for trial in motions:
            column = trial.dofs.index(name)
            label = None if trial.subject in labeled else trial.subject
            labeled.add(trial.subject)
            time, values = trial.t - trial.t[0], trial.x[:, column]
            ax.plot(time, values, color=colors[trial.subject], linewidth=0.8, alpha=0.7, label=label or None)
        unit = motions[0].units[motions[0].dofs.index(name)]
        ax.set_ylabel(name if unit == "1" else f"{name} [{unit}]")
        ax.grid(visible=True, alpha=0.3)
    label_column(drawn)
    if drawn and 1 < len(colors) <= MOST_IN_LEGEND:
        next(iter(drawn.values())).legend(fontsize="small", ncols=2)
    return drawn


def _check_dofs(motions: MotionSet, dofs: Iterable[str] | None) -> tuple[str, ...]:
    """Return the names to draw; every trial must have all of them."""
    names = motions.dofs if dofs is None else tuple(dofs)
    if not len(motions) or not names:
        raise ThunderError(f"plot needs one trial and one dof or more, got {len(motions)} and {len(names)}")
    for trial in motions:
        for name in names:
            if name not in trial.dofs:
                raise UnknownNameError(f"no dof {name!r} among {', '.join(trial.dofs)}{nearest_hint(name, trial.dofs)}")
    return names
