"""Statistics of landings around a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from ...manipulation.throwing import ThrowMotion, landing
from ...recordings.statistics import bootstrap_interval
from ..results import wilson_interval

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figures:
    """Statistics of landings.

    Attributes
    ----------
    rms : tuple of float
        Root mean square of the distance from the target, and the ends of its interval [m].
    bias : float
        Distance of the mean landing from the target [m].
    spread : float
        Root mean square of the distance from the mean landing [m].
    hits : tuple of float
        Fraction of the throws that end in the box, and the ends of its interval.
    wall : float
        Fraction of the throws in which the object touches the edge of the opening.
    throws : int
        Number of throws.
    """

    rms: tuple[float, float, float]
    bias: float
    spread: float
    hits: tuple[float, float, float]
    wall: float
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
            f"{100.0 * self.wall:.1f}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


class Window(NamedTuple):
    """Distances of an object's center from the middle of the opening, in its plane, along each side [m].

    Attributes
    ----------
    inside : float
        Largest distance for which the object passes the edges without contact.
    wall : float
        Largest distance for which it touches an edge.
    """

    inside: float
    wall: float


def window(size: Sequence[float], box: float, descent: float = 0.5 * np.pi) -> Window:
    """Return the distances for an object that passes as a ball.

    Parameters
    ----------
    size : sequence of float
        Size of the object [m]; the second entry must pass the edges.
    box : float
        Width of the opening [m].
    descent : float
        Angle between the path and the opening [rad]: a ball on a flat path needs more room.
    """
    room = size[1] / np.sin(descent)
    return Window(0.5 * (box - room), 0.5 * (box + room))


def hits(misses: Array, half: float) -> Array:
    """Return True for landings within `half` of the middle in both directions, (k,) of bool."""
    return np.asarray(np.abs(misses).max(axis=1) <= half)


def figures_of(misses: Sequence[Array], windows: Sequence[Window]) -> Figures:
    """Return the statistics of landings (k, 2) of several objects, each with its own window."""
    points = np.concatenate(misses)
    inside, touching = (
        np.concatenate([hits(part, part_of[k]) for part, part_of in zip(misses, windows, strict=True)]) for k in (0, 1)
    )
    squares = np.sum(points**2, axis=1)
    if len(points) > 1:
        mean = bootstrap_interval(squares, confidence=_CONFIDENCE, resamples=2000)
        low, high = mean.low, mean.high
    else:
        low = high = float(squares[0])
    center = points.mean(axis=0)
    return Figures(
        rms=tuple(float(np.sqrt(x)) for x in (squares.mean(), low, high)),  # type: ignore[arg-type]  # three
        bias=float(np.linalg.norm(center)),
        spread=float(np.sqrt(np.mean(np.sum((points - center) ** 2, axis=1)))),
        hits=(float(inside.mean()), *wilson_interval(inside.tolist())),
        wall=float(np.mean(touching & ~inside)),
        throws=len(inside),
    )


def descent_of(motion: ThrowMotion) -> float:
    """Return the angle between the planned path and the plane of the landing [rad]."""
    release = motion.release
    v = landing(release.p, release.v, float(release.target[2])).v
    return float(np.arctan2(-v[2], np.hypot(v[0], v[1])))
