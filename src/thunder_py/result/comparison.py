"""Runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .run import Result
from .table import DEFAULT_METRICS, Metric, Table, metrics_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "compare"]


class Comparison(Mapping[str, Result]):
    """Results by name, with a table and a plot."""

    def __init__(self, results: Mapping[str, Result]) -> None:
        if not isinstance(results, Mapping):
            raise ValueError(f'results must map names to Result, {{"name": run}}, got {type(results).__name__}')
        for name, result in results.items():
            if not isinstance(name, str) or not isinstance(result, Result):
                raise ValueError(f"results must map names to Result, got {name!r}: {type(result).__name__}")
        if not results:
            raise ValueError("results must hold at least one Result, got none")
        self._results = dict(results)

    def __getitem__(self, name: str) -> Result:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def table(self, metrics: Sequence[str] | Mapping[str, Metric] = DEFAULT_METRICS) -> Table:
        """Return figures of merit, a row for each result.

        Parameters
        ----------
        metrics : sequence of str, or mapping of str to callable
            Names of methods of `Result` that need no argument, and ``"status"`` for the last one; or functions of a
            result under names of your own: ``{"5 mm after": lambda r: r.settling_time(5e-3)}``.

        Returns
        -------
        Table
            Prints as text; has `to_markdown` and `to_dict`.
        """
        return metrics_table(self._results, metrics)

    def plot(self, *, axes: Sequence[Axes] | None = None) -> npt.NDArray[np.object_]:
        """Overlay error norms and torques, see `thunder_py.plotting.plot_comparison`."""
        from ..plotting.runs import plot_comparison

        return plot_comparison(self._results, axes=axes)

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self._results)}>"


def compare(results: Mapping[str, Result]) -> Comparison:
    """Put runs side by side.

    Parameters
    ----------
    results : mapping of str to Result
        The runs under the names that tables and plots show.

    Returns
    -------
    Comparison
        ``compare({"MACT": r1, "CT": r2}).table()``, ``.plot()``.
    """
    return Comparison(results)
