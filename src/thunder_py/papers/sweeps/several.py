"""Sweeps of experiments: one as a function of the experiment's options, and several together as an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from ...errors import UnknownNameError, nearest_hint
from ...parallel import Workers
from ..drawing import drawing
from .sweep import FreeParameter, Sweep, sweep


def declared(
    title: str,
    function: Callable[..., Mapping[str, Any]],
    quantities: Sequence[FreeParameter],
    printed: Mapping[str, float],
    *,
    combined: int,
    few: int = 3,
    **short: Any,
) -> Callable[..., Sweep]:
    """Return a function ``(quick=False, workers=1)`` that runs a sweep, see `sweep`.

    Its quick form has the first `few` quantities, no combined points, and the arguments `short` for `function`.
    """

    def run(quick: bool = False, workers: Workers = 1) -> Sweep:
        if not quick:
            return sweep(title, function, quantities, printed, combined=combined, workers=workers)
        return sweep(title, partial(function, **short), quantities[:few], printed, workers=workers)

    return run


def chosen(quantities: Iterable[FreeParameter], given: Mapping[str, Any]) -> SimpleNamespace:
    """Return values of quantities as attributes: those `given` by name, and the nominal ones of the others.

    Raises
    ------
    UnknownNameError
        If `given` has another name.
    """
    nominal = {quantity.name: quantity.nominal for quantity in quantities}
    for name in given:
        if name not in nominal:
            known = ", ".join(nominal)
            raise UnknownNameError(f"quantities are {known}, got {name!r}{nearest_hint(name, nominal)}")
    return SimpleNamespace(**(nominal | dict(given)))


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
