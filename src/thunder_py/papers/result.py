"""Draws of random quantities and sweeps of unprinted ones, as results of experiments share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .draws import Draws
from .sweeps.sweep import Sweep


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
