"""Several sweeps of one experiment, as an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..result import drawing
from .sweep import Sweep


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Several sweeps.

    Attributes
    ----------
    parts : dict of str to Sweep
        Sweeps by their names.
    shown : tuple of (str, str, str)
        Panels of the figure, at most six: part, result and quantity.
    """

    parts: dict[str, Sweep]
    shown: tuple[tuple[str, str, str], ...]

    def table(self) -> str:
        """Return the tables of all parts."""
        return "\n\n".join(part.table() for part in self.parts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of all parts."""
        return {name: part.to_dict() for name, part in self.parts.items()}

    plot = drawing("plot_sweeps")
