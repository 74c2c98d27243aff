"""Sweeps over quantities that a paper does not print, beside the numbers that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import Array, known_name, whole
from ...errors import ThunderError
from ...parallel import Workers, map_seeds
from ...simulation.divergence import outcome_recorded
from ..tables import markdown

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.figure import Figure


#: a quantity moves a result if the result changes over its values by more than this share of the result at its nominal
MOVES = 0.1


@dataclass(frozen=True)
class FreeParameter:
    """A quantity that a paper does not print.

    Attributes
    ----------
    name : str
        Keyword of the swept function.
    nominal : object
        Value in the experiment.
    values : tuple
        Plausible values, in the order of the figure; numbers or texts. The nominal one is added if it is missing.
    label : str
        Name with the unit, for tables and figures; default `name`.
    reason : str
        Why these values are plausible.
    """

    name: str
    nominal: Any
    values: tuple[Any, ...]
    label: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        values = tuple(self.values)
        if self.nominal not in values:
            values = (*values, self.nominal)
            if all(_is_number(value) for value in values):
                values = tuple(sorted(values))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "label", self.label or self.name)

    @property
    def numeric(self) -> bool:
        """True if all values are numbers, which the figure then has as abscissa."""
        return all(_is_number(value) for value in self.values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results over quantities that a paper does not print: each alone around the nominal choice, and combined.

    Attributes
    ----------
    title : str
        What is computed, with the numbers of the tables and figures.
    quantities : tuple of FreeParameter
        Quantities that the paper does not print.
    printed : dict of str to float
        The paper's numbers by result; NaN where it prints none.
    points : tuple of dict
        Values of the quantities at each point; point 0 is the nominal choice.
    values : dict of str to (points, draws) array
        Results by name, over the points and over the random draws of the experiment. What is not finite is a run that
        diverged or failed, and counts as infinite.
    """

    title: str
    quantities: tuple[FreeParameter, ...]
    printed: Mapping[str, float]
    points: tuple[dict[str, Any], ...]
    values: Mapping[str, Array]

    def medians(self, name: str) -> Array:
        """Return the median over the draws of a result at every point, (points,)."""
        return np.asarray(np.median(self._of(name), axis=1))

    def over(self, name: str, quantity: str) -> tuple[list[Any], Array]:
        """Return the values (k,) of one quantity, and a result over them and the draws, (k, draws).

        The other quantities are nominal.
        """
        swept = self._quantity(quantity)
        nominal = self.points[0]
        rows = [self.points.index({**nominal, swept.name: value}) for value in swept.values]
        return list(swept.values), self._of(name)[rows]

    def range(self, name: str) -> tuple[float, float]:
        """Return the least and the largest median of a result over all points: the band of the sweep."""
        medians = self.medians(name)
        return float(medians.min()), float(medians.max())

    def within(self, name: str) -> bool | None:
        """Return True if the paper's number is in the band of the points that did not diverge, None if it has none."""
        paper = self.printed.get(name, np.nan)
        medians = self.medians(name)
        finite = medians[np.isfinite(medians)]
        return None if np.isnan(paper) else bool(finite.size and finite.min() <= paper <= finite.max())

    def moved_by(self, name: str) -> dict[str, tuple[float, float]]:
        """Return the quantities that move a result by more than a tenth, with its range; the strongest first."""
        nominal = abs(self.medians(name)[0])
        found = {}
        for quantity in self.quantities:
            medians = np.median(self.over(name, quantity.name)[1], axis=1)
            least, most = float(medians.min()), float(medians.max())
            if not np.isfinite(most) or most - least > MOVES * nominal:
                found[quantity.name] = (least, most)
        return dict(sorted(found.items(), key=lambda entry: entry[1][0] - entry[1][1]))

    def table(self) -> str:
        """Return the paper's number, ours and the band of every result, and what moves it, as Markdown."""
        labels = {quantity.name: quantity.label for quantity in self.quantities}
        rows: list[list[object]] = []
        for name in self.values:
            moved = [f"{labels[key]}: {_span(*ends)}" for key, ends in self.moved_by(name).items()]
            inside = {None: "", True: "yes", False: "no"}[self.within(name)]
            cells = [self.printed.get(name), _number(self.medians(name)[0]), _span(*self.range(name)), inside]
            rows.append([name, *cells, "; ".join(moved)])
        header = ["", "paper", "ours, nominal", "over the sweep", "paper within", "moved by"]
        return f"{self.title}\n\n{self._choices()}\n\n{markdown(header, rows)}"

    def _choices(self) -> str:
        rows = [
            [quantity.label, _text(quantity.nominal), ", ".join(map(_text, quantity.values)), quantity.reason]
            for quantity in self.quantities
        ]
        return markdown(["not printed", "nominal", "values", "reason"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return points, results and the paper's numbers."""
        results = {
            name: {
                "paper": self.printed.get(name),
                "range": self.range(name),
                "paper_within": self.within(name),
                "moved_by": self.moved_by(name),
                "values": values,
            }
            for name, values in self.values.items()
        }
        return {"title": self.title, "points": list(self.points), "results": results}

    def plot(self, results: Collection[str] = (), quantities: Collection[str] = ()) -> Figure:
        """Draw results over quantities, one panel for each pair; at most six panels.

        Parameters
        ----------
        results, quantities : collection of str
            Names to draw, in this order; default those with the most influence.

        Returns
        -------
        Figure
            New figure of pyplot.

        Raises
        ------
        UnknownNameError
            If a name is unknown.
        """
        from .figure import plot_sweep

        return plot_sweep(self, [self._name(name) for name in results], [self._quantity(q).name for q in quantities])

    def _name(self, name: str) -> str:
        known_name(name, self.values, f"results are {', '.join(self.values)}, got")
        return name

    def _of(self, name: str) -> Array:
        values = self.values[self._name(name)]
        return np.where(np.isfinite(values), values, np.inf)

    def _quantity(self, name: str) -> FreeParameter:
        names = [quantity.name for quantity in self.quantities]
        known_name(name, names, f"swept quantities are {', '.join(names)}, got")
        return self.quantities[names.index(name)]


def sweep(
    title: str,
    function: Callable[..., Mapping[str, Any]],
    quantities: Sequence[FreeParameter],
    printed: Mapping[str, float],
    *,
    combined: int = 0,
    seed: int = 0,
    workers: Workers = 1,
    progress: bool = False,
) -> Sweep:
    """Compute results at the nominal choice, over each unprinted quantity alone, and at random combinations.

    Parameters
    ----------
    title : str
        What is computed, with the numbers of the tables and figures.
    function : callable
        Results by name for given quantities, ``function(**{name: value})``: numbers, or (draws,) arrays.
    quantities : sequence of FreeParameter
        Quantities that the paper does not print.
    printed : mapping of str to float
        The paper's numbers by result.
    combined : int
        Number of random combinations of the values, which find what quantities do together.
    seed : int
        Seed of the combinations.
    workers : Workers
        Where the runs are made, see `run_tasks`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Sweep

    Raises
    ------
    ThunderError
        If quantities are missing, or the results of two points have different names or shapes.

    Examples
    --------
    >>> from thunder_py.papers.sweeps.sweep import FreeParameter, sweep
    >>> quantities = [FreeParameter("gain", 2.0, (1.0, 4.0)), FreeParameter("delay", 0.0, (0.01,), "delay [s]")]
    >>> found = sweep("a loop", lambda gain, delay: {"error": 1.0 / gain + delay}, quantities, {"error": 0.6})
    >>> found.range("error"), found.within("error"), list(found.moved_by("error"))
    ((0.25, 1.0), True, ['gain'])
    """
    if not quantities:
        raise ThunderError("quantities must have at least one FreeParameter, got none")
    points = _points(quantities, whole(combined, "combined", 0), seed)
    answers = map_seeds(
        partial(_at, function, points), len(points), workers=workers, progress=progress, description=title
    )
    values: dict[str, Array] = {}
    for name in answers[0]:
        rows = [np.atleast_1d(np.asarray(answer.get(name), dtype=np.float64)) for answer in answers]
        if len({row.shape for row in rows}) > 1 or any(answer.keys() != answers[0].keys() for answer in answers):
            raise ThunderError(
                f"function must return the same results with one shape at all points, got another {name!r}"
            )
        values[name] = np.stack(rows)
    return Sweep(title, tuple(quantities), dict(printed), tuple(points), values)


def _at(function: Callable[..., Mapping[str, Any]], points: list[dict[str, Any]], number: int) -> dict[str, Any]:
    with outcome_recorded():
        return dict(function(**points[number]))


def _points(quantities: Sequence[FreeParameter], combined: int, seed: int) -> list[dict[str, Any]]:
    nominal = {quantity.name: quantity.nominal for quantity in quantities}
    points = [nominal, *({**nominal, quantity.name: value} for quantity in quantities for value in quantity.values)]
    rng = np.random.default_rng(seed)
    for _ in range(combined):
        points.append({quantity.name: quantity.values[rng.integers(len(quantity.values))] for quantity in quantities})
    return [point for k, point in enumerate(points) if point not in points[:k]]


def _number(value: float) -> float | str:
    return float(value) if np.isfinite(value) else "diverged"


def _span(least: float, most: float) -> str:
    return " to ".join(f"{x:.3g}" if np.isfinite(x) else "diverged" for x in (least, most))


def _text(value: Any) -> str:
    return f"{value:g}" if _is_number(value) else str(value)


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
        known_name(name, nominal, f"quantities are {', '.join(nominal)}, got")
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

    def plot(self) -> Figure:
        """Draw the panels of `shown` in a new figure of pyplot."""
        from .figure import plot_sweeps

        return plot_sweeps(self)
