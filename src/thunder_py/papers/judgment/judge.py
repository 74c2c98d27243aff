"""Joint judgment of a paper's numbers: the factor within which one choice of unprinted quantities gives all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, known_name, whole
from ...errors import ThunderError, ThunderWarning
from ...parallel import Workers, map_items
from ...simulation.divergence import outcome_recorded
from ..tables import markdown

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.figure import Figure


#: a quantity moves a result if the result changes over its values by more than this share of the result at its nominal
MOVES = 0.1
#: logarithm of the largest factor that the search distinguishes; a run that diverged counts as this
_WORST = np.log(1e3)
#: candidates of a round of the search; least distance of each from all choices, as a share of the largest one
_DISTANCES = (0.0, 0.0, 0.02, 0.02, 0.1, 0.1, 0.3, 0.6)
_CANDIDATES, _PARENTS = 1500, 6


@dataclass(frozen=True)
class FreeParameter:
    """A quantity that a paper does not print.

    Attributes
    ----------
    name : str
        Keyword of the judged function.
    nominal : object
        Value in the experiment.
    values : tuple
        Plausible values, in the order of the figure; numbers or texts. The nominal one is added if it is missing. The
        search chooses one of the texts, or any number from the least to the largest, on a logarithmic scale unless the
        least is 0; whole numbers stay whole.
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

    def at(self, share: float) -> Any:
        """Return the value at a share of the range, from 0 to 1."""
        if not self.numeric:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        least, most = min(self.values), max(self.values)
        value = least * (most / least) ** share if least > 0 else least + share * (most - least)
        return round(value) if all(isinstance(x, int) for x in self.values) else float(f"{value:.4g}")

    def near(self, value: Any, rng: np.random.Generator, spread: float) -> Any:
        """Return a random value in a normal distribution about one, with `spread` as a share of the range; any text."""
        if not self.numeric:
            return self.at(rng.random())
        return self.at(float(np.clip(self.coordinates(value)[0] + spread * rng.standard_normal(), 0.0, 1.0)))

    def coordinates(self, value: Any) -> list[float]:
        """Return coordinates of a value, in which distances of choices are measured."""
        if not self.numeric:
            return [0.7 * (value == other) for other in self.values]
        least, most = min(self.values), max(self.values)
        return [float(np.log(value / least) / np.log(most / least) if least > 0 else (value - least) / (most - least))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class Judgment:
    """A paper's numbers and ours at choices of what it does not print.

    Attributes
    ----------
    title : str
        What is computed, with the numbers of the tables and figures.
    quantities : tuple of FreeParameter
        Quantities that the paper does not print.
    printed : dict of str to float
        The paper's numbers by result; those that are 0 have no ratio and are judged by their orders only.
    orders : tuple of tuple of str
        Results whose order is judged: each pair in a group that the paper prints with different numbers.
    points : tuple of dict
        Values of the quantities at each choice; the first is that of the experiment, `each` value alone follows, then
        the search.
    values : dict of str to (points, draws) array
        Results by name, over the choices and over the random draws of the experiment. What is not finite is a run that
        diverged or failed, and counts as infinite.
    """

    title: str
    quantities: tuple[FreeParameter, ...]
    printed: Mapping[str, float]
    orders: tuple[tuple[str, ...], ...]
    points: tuple[dict[str, Any], ...]
    values: Mapping[str, Array]

    def medians(self, name: str) -> Array:
        """Return the median over the draws of a result at every choice, (points,)."""
        return np.asarray(np.median(self._of(name), axis=1))

    @cached_property
    def ratios(self) -> dict[str, Array]:
        """Our number by the paper's at every choice, (points,) each; infinite if the run diverged."""
        return {name: self.medians(name) / printed for name, printed in self.printed.items() if printed > 0.0}

    @cached_property
    def factors(self) -> Array:
        """Factor within which each choice reproduces all printed numbers, (points,)."""
        with np.errstate(divide="ignore"):
            logs = np.array([np.log(ratio) for ratio in self.ratios.values()]).reshape(-1, len(self.points))
        return np.asarray(np.exp(np.abs(logs).max(axis=0, initial=0.0)))

    @cached_property
    def pairs(self) -> dict[tuple[str, str], npt.NDArray[np.bool_]]:
        """Pairs of results, the smaller printed one first: whether ours have this order at every choice, (points,)."""
        found = {}
        for group in self.orders:
            for one, other in combinations(group, 2):
                a, b = sorted((one, other), key=lambda name: self.printed[name])
                if self.printed[a] < self.printed[b]:
                    found[a, b] = self.medians(a) < self.medians(b)
        return found

    @property
    def best(self) -> int:
        """Index of the choice with the least factor."""
        return int(np.argmin(self.factors))

    @property
    def factor(self) -> float:
        """Smallest factor within which one choice reproduces all printed numbers."""
        return float(self.factors[self.best])

    @property
    def choice(self) -> dict[str, Any]:
        """Values of the quantities at `best`."""
        return self.points[self.best]

    @property
    def reversed(self) -> dict[tuple[str, str], float]:
        """Pairs of which ours have not the order of the paper at `best`, with the share of choices that have it."""
        return {pair: float(kept.mean()) for pair, kept in self.pairs.items() if not kept[self.best]}

    @property
    def factor_in_order(self) -> float:
        """The same as `factor` among the choices with all orders as printed; infinite if there are none."""
        kept = np.all(list(self.pairs.values()), axis=0) if self.pairs else np.ones(len(self.points), dtype=bool)
        return float(np.min(self.factors[kept], initial=np.inf))

    def sentence(self) -> str:
        """Return orders and factor in words, what is reversed first."""
        lost, parts = self.reversed, []
        if lost:
            each = "; ".join(f"{b} > {a} (as printed at {100.0 * share:.0f} %)" for (a, b), share in lost.items())
            parts.append(f"Reversed at the best choice: {len(lost)} of {len(self.pairs)} printed orders: {each}.")
        elif self.pairs:
            parts.append(f"All {len(self.pairs)} printed orders are reproduced at the best choice.")
        parts.append(
            f"The best of {len(self.points)} choices reproduces all {len(self.ratios)} numbers within a factor of "
            f"{_text(self.factor)}, the nominal one of {_text(self.factors[0])}."
        )
        if lost and np.isfinite(self.factor_in_order):
            parts.append(f"With all printed orders the factor is {_text(self.factor_in_order)}.")
        elif lost:
            most = np.sum(list(self.pairs.values()), axis=0).max()
            parts.append(f"No choice has all printed orders, at most {most} of {len(self.pairs)}.")
        return " ".join(parts)

    def over(self, name: str, quantity: str) -> tuple[list[Any], Array]:
        """Return the values (k,) of one quantity, and a result over them and the draws, (k, draws).

        The other quantities are nominal.
        """
        swept = self._quantity(quantity)
        nominal = self.points[0]
        rows = [self.points.index({**nominal, swept.name: value}) for value in swept.values]
        return list(swept.values), self._of(name)[rows]

    def moved_by(self, name: str) -> dict[str, tuple[float, float]]:
        """Return the quantities that alone move a result by more than a tenth, with its range; the strongest first."""
        nominal = abs(self.medians(name)[0])
        found = {}
        for quantity in self.quantities:
            medians = np.median(self.over(name, quantity.name)[1], axis=1)
            least, most = float(medians.min()), float(medians.max())
            if not np.isfinite(most) or most - least > MOVES * nominal:
                found[quantity.name] = (least, most)
        return dict(sorted(found.items(), key=lambda entry: entry[1][0] - entry[1][1]))

    def table(self) -> str:
        """Return the judgment in words, all numbers with ours, and the quantities with the best choice, as Markdown."""
        labels = {quantity.name: quantity.label for quantity in self.quantities}
        rows: list[list[object]] = []
        for name in self.values:
            best, nominal = (_text(self.medians(name)[k]) for k in (self.best, 0))
            ratio = self.ratios[name][self.best] if name in self.ratios else None
            moved = [f"{labels[key]}: {' to '.join(map(_text, ends))}" for key, ends in self.moved_by(name).items()]
            rows.append([name, self.printed.get(name), best, ratio, nominal, "; ".join(moved)])
        header = ["", "paper", "ours, best choice", "ours / paper", "ours, nominal", "moved by each alone"]
        choices = markdown(
            ["not printed", "nominal", "values, or ends of the range", "best", "reason"],
            [
                [q.label, _text(q.nominal), ", ".join(map(_text, q.values)), _text(self.choice[q.name]), q.reason]
                for q in self.quantities
            ],
        )
        return "\n\n".join([self.title, self.sentence(), markdown(header, rows), choices])

    def to_dict(self) -> dict[str, Any]:
        """Return the judgment, choices, results and the paper's numbers."""
        results = {
            name: {
                "paper": self.printed.get(name),
                "ratio": self.ratios[name][self.best] if name in self.ratios else None,
                "values": values,
            }
            for name, values in self.values.items()
        }
        return {
            "title": self.title,
            "factor": self.factor,
            "factor_in_order": self.factor_in_order,
            "choice": self.choice,
            "reversed": [{"smaller": a, "larger": b, "share": share} for (a, b), share in self.reversed.items()],
            "orders": len(self.pairs),
            "points": list(self.points),
            "results": results,
        }

    def plot(self, results: Collection[str], quantities: Collection[str]) -> Figure:
        """Draw each result over each quantity alone, at most six panels, in a new figure of pyplot.

        Raises
        ------
        UnknownNameError
            If a name is unknown.
        """
        from .figure import plot_panels

        return plot_panels([(self, name, quantity) for name in results for quantity in quantities], self.title)

    def _of(self, name: str) -> Array:
        known_name(name, self.values, f"results are {', '.join(self.values)}, got")
        return np.where(np.isfinite(self.values[name]), self.values[name], np.inf)

    def _quantity(self, name: str) -> FreeParameter:
        names = [quantity.name for quantity in self.quantities]
        known_name(name, names, f"quantities are {', '.join(names)}, got")
        return self.quantities[names.index(name)]


def judge(
    title: str,
    function: Callable[..., Mapping[str, Any]],
    quantities: Sequence[FreeParameter],
    printed: Mapping[str, float],
    *,
    orders: Iterable[Iterable[str]] = (),
    budget: int = 0,
    seed: int = 0,
    workers: Workers = 1,
    progress: bool = False,
) -> Judgment:
    """Find the smallest factor within which one choice of the unprinted quantities reproduces all printed numbers.

    Parameters
    ----------
    title : str
        What is computed, with the numbers of the tables and figures.
    function : callable
        Results by name for given quantities, ``function(**{name: value})``: numbers, or (draws,) arrays.
    quantities : sequence of FreeParameter
        Quantities that the paper does not print, with their ranges.
    printed : mapping of str to float
        The paper's numbers by result, none negative; only orders judge those that are 0. Without numbers there is no
        search.
    orders : iterable of iterables of str
        Groups of results whose order is judged.
    budget : int
        Number of choices of the search, after the nominal one and each value alone.
    seed : int
        Seed of the search.
    workers : Workers
        Where the runs are made, see `run_tasks`; results do not depend on it.
    progress : bool
        Show a progress bar in each round.

    Returns
    -------
    Judgment

    Raises
    ------
    ThunderError
        If quantities are missing, a printed number is negative, or the results of two choices have different names
        or shapes.

    Notes
    -----
    A third of the budget is a Latin hypercube. Then rounds of eight choices minimize the largest logarithm of a
    ratio on a response surface, linear radial basis functions through the logarithms of all results so far, at growing
    distances from the choices made (Regis and Shoemaker, *Constrained global optimization of expensive black box
    functions using radial basis functions*, J. Global Optim. 31, 2005). Every other one also keeps the printed orders.

    Examples
    --------
    >>> from thunder_py.papers.judgment.judge import FreeParameter, judge
    >>> quantities = [FreeParameter("gain", 2.0, (1.0, 10.0)), FreeParameter("delay", 0.01, (0.001, 0.1), "delay [s]")]
    >>> def loop(gain, delay):
    ...     return {"error": 1.0 / gain, "time": gain * delay}
    >>> found = judge("a loop", loop, quantities, {"error": 0.25, "time": 0.3}, budget=60)
    >>> found.factor < 1.05, round(found.choice["gain"]), list(found.moved_by("error"))
    (True, 4, ['gain'])
    """
    if not quantities:
        raise ThunderError("quantities must have at least one FreeParameter, got none")
    for name, value in printed.items():
        if not value >= 0.0:
            raise ThunderError(f"printed must have numbers of at least 0, for ratios, got {value} for {name!r}")
    groups = tuple(tuple(group) for group in orders)
    found = Judgment(title, tuple(quantities), dict(printed), groups, (), {})
    tried = partial(_tried, function, {"workers": workers, "progress": progress, "description": title})
    nominal = {q.name: q.nominal for q in quantities}
    found = tried(found, [nominal, *({**nominal, q.name: value} for q in quantities for value in q.values)])
    rng, count = np.random.default_rng(seed), len(found.points) + (whole(budget, "budget", 0) if printed else 0)
    if count > len(found.points):
        strata = rng.permuted(np.tile(np.arange(max(2, budget // 3)), (len(quantities), 1)), axis=1).T
        shares = (strata + rng.random(strata.shape)) / len(strata)
        found = tried(found, [_point(found.quantities, row) for row in shares])
    while (made := len(found.points)) < count:
        found = tried(found, _candidates(found, rng, 1.0 - made / count)[: count - made])
        if len(found.points) == made:  # a few texts, all of which were tried
            break
    return found


def _tried(
    function: Callable[..., Mapping[str, Any]],
    options: dict[str, Any],
    found: Judgment,
    points: Iterable[dict[str, Any]],
) -> Judgment:
    """Return a judgment with the results at further choices."""
    new: list[dict[str, Any]] = []
    for point in points:
        if point not in found.points and point not in new:
            new.append(point)
    answers = map_items(partial(_at, function), new, **options)
    values = {}
    for name in found.values or answers[0]:
        rows = [np.atleast_1d(np.asarray(answer.get(name), dtype=np.float64)) for answer in answers]
        rows = [*found.values.get(name, ()), *rows]
        if len({row.shape for row in rows}) > 1 or any(answer.keys() != answers[0].keys() for answer in answers):
            raise ThunderError(
                f"function must return the same results with one shape at all points, got another {name!r}"
            )
        values[name] = np.stack(rows)
    return replace(found, points=(*found.points, *new), values=values)


def _point(quantities: Iterable[FreeParameter], shares: Iterable[float]) -> dict[str, Any]:
    return {q.name: q.at(float(share)) for q, share in zip(quantities, shares, strict=True)}


def _candidates(found: Judgment, rng: np.random.Generator, left: float) -> list[dict[str, Any]]:
    """Return the choices of a round; with little of the budget `left` they are near the best ones."""
    from scipy.interpolate import RBFInterpolator
    from scipy.spatial.distance import cdist

    def coordinates(points: Iterable[dict[str, Any]]) -> Array:
        return np.array([[x for q in found.quantities for x in q.coordinates(point[q.name])] for point in points])

    known, names, n = coordinates(found.points), list(found.printed), len(found.quantities)
    scale = np.array([found.printed[name] or 1.0 for name in names])
    with np.errstate(divide="ignore"):
        logs = np.clip(np.log(np.transpose([found.medians(name) for name in names]) / scale), -_WORST, _WORST)
    judged = np.array([name in found.ratios for name in names])
    pairs = [(names.index(a), names.index(b)) for a, b in found.pairs]

    def scores(x: Array) -> Array:
        """Return the largest distance from the printed numbers, and the same with what printed orders lack, (2, k)."""
        worst = np.abs(x[:, judged]).max(axis=1)
        lacking = [np.maximum(x[:, a] - x[:, b] - np.log(scale[b] / scale[a]), 0.0) for a, b in pairs]
        return np.stack([worst, worst + np.sum(lacking, axis=0)])

    parents = [found.points[k] for row in np.argsort(scores(logs), axis=1)[:, :_PARENTS] for k in row]
    tried = [_point(found.quantities, row) for row in rng.random((_CANDIDATES, n))]
    for parent in (parents[k] for k in rng.integers(len(parents), size=_CANDIDATES)):
        moved = (q for q, share in zip(found.quantities, rng.random(n), strict=True) if share < max(0.3, 1.0 / n))
        tried.append(parent | {q.name: q.near(parent[q.name], rng, 0.02 + 0.2 * left) for q in moved})
    at = coordinates(tried)
    predicted = scores(RBFInterpolator(known, logs, kernel="linear", degree=0)(at))
    distance = cdist(at, known).min(axis=1)
    chosen: list[int] = []
    for k, share in enumerate(_DISTANCES):
        far = distance > max(1e-3, share * distance.max())
        chosen.append(int(np.argmin(np.where(far, predicted[k % 2], np.inf))))
        distance = np.minimum(distance, np.linalg.norm(at - at[chosen[-1]], axis=1))
    return [tried[k] for k in chosen]


def _at(function: Callable[..., Mapping[str, Any]], point: dict[str, Any]) -> dict[str, Any]:
    with outcome_recorded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ThunderWarning)  # extreme choices are meant, and their numbers judged
        return dict(function(**point))


def _text(value: Any) -> str:
    if not _is_number(value):
        return str(value)
    return f"{value:.4g}" if np.isfinite(value) else "diverged"


def declared(
    title: str,
    function: Callable[..., Mapping[str, Any]],
    quantities: Sequence[FreeParameter],
    printed: Mapping[str, float],
    *,
    orders: Iterable[Iterable[str]] = (),
    budget: int,
    few: int = 3,
    **short: Any,
) -> Callable[..., Judgment]:
    """Return a function ``(quick=False, workers=1, search=True)`` that judges, see `judge`.

    Without `search` it has the nominal choice and each value alone. Its quick form has those of the first `few`
    quantities, with the arguments `short` for `function`.
    """

    def run(quick: bool = False, workers: Workers = 1, search: bool = True) -> Judgment:
        judged, swept = (partial(function, **short), quantities[:few]) if quick else (function, quantities)
        tries = budget if search and not quick else 0
        return judge(title, judged, swept, printed, orders=orders, budget=tries, workers=workers)

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
class Judgments:
    """Several judgments.

    Attributes
    ----------
    parts : dict of str to Judgment
        Judgments by their names.
    shown : tuple of (str, str, str)
        Panels of the figure, at most six: part, result and quantity.
    """

    parts: dict[str, Judgment]
    shown: tuple[tuple[str, str, str], ...]

    def table(self) -> str:
        """Return the tables of all parts."""
        return "\n\n".join(part.table() for part in self.parts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of all parts."""
        return {name: part.to_dict() for name, part in self.parts.items()}

    def plot(self) -> Figure:
        """Draw the panels of `shown` in a new figure of pyplot."""
        from .figure import plot_panels

        swept = {name: [quantity.name for quantity in part.quantities] for name, part in self.parts.items()}
        return plot_panels([(self.parts[k], name, q) for k, name, q in self.shown if q in swept.get(k, ())])
