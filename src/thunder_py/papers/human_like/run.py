"""D4.2, section 5, all parts: sampling density, reaches, obstacles, human arm."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ...parallel import Workers
from ..registry import Experiment
from ..results import drawing

#: part, in the module of this name -> section
PARTS: dict[str, str] = {
    "sampling": "5.3.1 Sampling density",
    "real": "5.3.2 Comparison with reaches",
    "obstacles": "5.3.3 Obstacles",
    "arm": "5.3.4 Human arm",
}


@dataclass(frozen=True, eq=False)
class HumanLike:
    """Results of all parts of the validation.

    Attributes
    ----------
    parts : dict of str to Experiment
        Results by the names of `PARTS`; each has its own ``table()``, ``plot()`` and ``to_dict()``.
    """

    parts: dict[str, Experiment]

    def table(self) -> str:
        """Return the tables of all parts, one after the other."""
        return "\n\n".join(f"## {PARTS[name]}\n\n{part.table()}" for name, part in self.parts.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of all parts."""
        return {name: part.to_dict() for name, part in self.parts.items()}

    plot = drawing("plot_human_like")


def run(
    quick: bool = False, data: str | Path | None = None, *, seeds: int | None = None, workers: Workers = 1
) -> HumanLike:
    """Run the experiment of the registry: all parts, with `seeds` draws of each."""
    found = {}
    for name in PARTS:
        module = import_module(f".{name}", __package__)
        options = {"data": data} if "data" in inspect.signature(module.run).parameters else {}
        found[name] = module.run(quick, seeds=seeds, workers=workers, **options)
    return HumanLike(found)
