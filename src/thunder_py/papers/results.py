"""Common parts of experiments' results: pictures, draws of random quantities, joint judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import Array
from ..parallel import Workers, map_seeds
from .tables import markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .judgment.judge import Judgment


@dataclass(frozen=True, eq=False)
class Draws:
    """Figures of merit of an experiment over its draws.

    Attributes
    ----------
    drawn : str
        Description of the random quantities.
    values : dict of str to (seeds,) array
        Values by figure of merit; the name includes the unit.
    """

    drawn: str
    values: Mapping[str, Array]

    @classmethod
    def of(cls, drawn: str, rows: Iterable[Mapping[str, float | None]]) -> Draws:
        """Collect one mapping per draw; None counts as NaN."""
        draws = list(rows)
        names = draws[0] if draws else ()
        return cls(drawn, {name: np.array([row[name] for row in draws], dtype=np.float64) for name in names})

    @property
    def seeds(self) -> int:
        """Number of draws."""
        return len(next(iter(self.values.values()), ()))

    def table(self) -> str:
        """Return mean, median, least and most of each figure of merit over draws with a finite value, as Markdown."""
        rows: list[list[object]] = []
        for name, values in self.values.items():
            known = values[np.isfinite(values)]
            numbers = [float(f(known)) for f in (np.mean, np.median, np.min, np.max)] if known.size else [None] * 4
            rows.append([name, *numbers, known.size])
        title = f"{self.seeds} draw{'s' if self.seeds > 1 else ''}: {self.drawn}"
        return f"{title}\n\n{markdown(['', 'mean', 'median', 'least', 'most', 'draws'], rows)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the description and all values."""
        return {"drawn": self.drawn, "seeds": self.seeds, **{name: x.tolist() for name, x in self.values.items()}}


def spread(values: Array) -> str:
    """Return median, least and most as a cell of a table; a value that is not finite is a run that diverged."""
    if not len(values):
        return ""
    values = np.where(np.isnan(values), np.inf, values)
    texts = [f"{x:.3g}" if np.isfinite(x) else "diverged" for x in (np.median(values), values.min(), values.max())]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if len(values) > 1 else texts[0]


def wilson_interval(successes: Collection[bool]) -> tuple[float, float]:
    """Return Wilson's interval of the share of successes, at 95 %."""
    from scipy.stats import binomtest

    found = binomtest(int(sum(successes)), len(successes)).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def listed(outcomes: Iterable[str], times: str = " x ") -> str:
    """Return how often there is each outcome, the most frequent first, such as ``"3 x missed, 1 x lost"``."""
    return ", ".join(f"{n}{times}{outcome}" for outcome, n in Counter(outcomes).most_common())


def finite_median(values: Array) -> float:
    """Return the median of the finite values; NaN without one."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else float("nan")


def rms(values: Array) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


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
    judgment : Judgment, optional
        The paper's numbers judged together, over the unprinted quantities.
    """

    draws: Draws | None = None
    judgment: Judgment | None = None

    def join(self, *parts: str, title: str = "") -> str:
        """Return tables and those of draws, after `title`, and the judgment: of those that there are."""
        draws = [] if self.draws is None else [f"{title}{self.draws.table()}"]
        return "\n\n".join([*parts, *draws, *([] if self.judgment is None else [self.judgment.table()])])

    def variations(self) -> dict[str, Any]:
        """Return the numbers of those that there are."""
        return {name: x.to_dict() for name, x in (("draws", self.draws), ("judgment", self.judgment)) if x is not None}


def titled(title: str, header: Iterable[str], rows: Iterable[Iterable[object]], digits: int = 3) -> str:
    """Return a table of `markdown` below its title."""
    return f"{title}\n\n{markdown(header, rows, digits)}"


def over_draws(
    drawn: str, first: Mapping[str, float | None], function: Callable[[int], Any], count: int, workers: Workers
) -> Draws:
    """Return the figures of merit of `count` draws: those of the first, and of ``function(seed)`` for the others."""
    rows = map_seeds(function, range(1, count), workers=workers, description="draws")
    return Draws.of(drawn, [first, *rows])
