"""Scatter of landing points and hit rates, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..checks import Array
from ..motion.statistics import bootstrap_interval

__all__ = ["Figures", "figures_of", "hits", "window"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figures:
    """Of many landings.

    Attributes
    ----------
    rms : tuple of float
        Root mean square of the distance from the target, and the ends of its interval [m].
    bias : float
        Distance of the mean landing from the target [m].
    spread : float
        Root mean square of the distance from the mean landing [m].
    hits : tuple of float
        Part of the throws that end in the box, and the ends of its interval.
    throws : int
        How many.
    """

    rms: tuple[float, float, float]
    bias: float
    spread: float
    hits: tuple[float, float, float]
    throws: int

    def cells(self) -> list[str]:
        """Return the entries of a table."""
        rms, low, high = (100.0 * x for x in self.rms)
        rate, least, most = (100.0 * x for x in self.hits)
        return [
            f"{rms:.2f} ({low:.2f} to {high:.2f})",
            f"{100.0 * self.bias:.2f}",
            f"{100.0 * self.spread:.2f}",
            f"{rate:.1f} ({least:.1f} to {most:.1f})",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def window(size: Sequence[float], box: float) -> float:
    """Return how far from the middle of a box an object's centre may land so that all of it falls in [m].

    Parameters
    ----------
    size : sequence of float
        Of the object [m]; the second is what must pass the edges.
    box : float
        Width of the opening [m].
    """
    return 0.5 * (box - size[1])


def hits(misses: Array, half: float) -> Array:
    """Return which landings are within `half` of the middle in both directions, (k,) of bool."""
    return np.asarray(np.abs(misses).max(axis=1) <= half)


def figures_of(misses: Sequence[Array], halves: Sequence[float]) -> Figures:
    """Return the figures of landings (k, 2) of several objects, each with its own window."""
    from scipy.stats import binomtest

    points = np.concatenate(misses)
    inside = np.concatenate([hits(part, half) for part, half in zip(misses, halves, strict=True)])
    squares = np.sum(points**2, axis=1)
    if len(points) > 1:
        mean = bootstrap_interval(squares, confidence=_CONFIDENCE, resamples=2000)
        low, high = mean.low, mean.high
    else:
        low = high = float(squares[0])
    count = int(inside.sum())
    ends = binomtest(count, len(inside)).proportion_ci(_CONFIDENCE, "wilson")
    centre = points.mean(axis=0)
    return Figures(
        rms=tuple(float(np.sqrt(x)) for x in (squares.mean(), low, high)),  # type: ignore[arg-type]  # three
        bias=float(np.linalg.norm(centre)),
        spread=float(np.sqrt(np.mean(np.sum((points - centre) ** 2, axis=1)))),
        hits=(count / len(inside), float(ends.low), float(ends.high)),
        throws=len(inside),
    )
