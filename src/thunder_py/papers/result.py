"""What results of experiments share: drawings beside them, draws of what is random, sweeps of what is not printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .draws import Draws
from .sweeps.sweep import Sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawing(name: str) -> Callable[..., Figure]:
    """Return a method that draws a result by the function `name` of ``figure.py``, beside the result's module.

    It passes its arguments on. The module is imported when something is drawn, so that tables need no matplotlib.
    """

    def draw(result: Any, *arguments: Any, **options: Any) -> Any:
        figures = import_module(f"{type(result).__module__.rpartition('.')[0]}.figure")
        return getattr(figures, name)(result, *arguments, **options)

    draw.__doc__ = f"Draw it in a new figure of pyplot: see `figure.{name}`."
    return draw


@dataclass(frozen=True, kw_only=True, eq=False)
class Varied:
    """A result that may tell how much it varies.

    Attributes
    ----------
    draws : Draws, optional
        Its figures of merit over several draws of what is random or left open.
    sweep : Sweep, optional
        The paper's numbers over the unprinted quantities.
    """

    draws: Draws | None = None
    sweep: Sweep | None = None

    def join(self, *parts: str, title: str = "") -> str:
        """Return tables and those of draws, after `title`, and sweep: of those that there are."""
        draws = [] if self.draws is None else [f"{title}{self.draws.table()}"]
        return "\n\n".join([*parts, *draws, *([] if self.sweep is None else [self.sweep.table()])])

    def variations(self) -> dict[str, Any]:
        """Return the numbers of those that there are."""
        return {name: x.to_dict() for name, x in (("draws", self.draws), ("sweep", self.sweep)) if x is not None}
