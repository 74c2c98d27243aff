"""Joint paths as piecewise polynomials on a grid: positions and their derivatives by a path parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, numbers
from ..errors import ThunderError
from .joint import JointTrajectory
from .timing import quintic_coefficients

#: derivatives at the ends below this part of their largest value are zero
_ZERO = 1e-9
#: and in a whole cell below this one: the path rests
_REST = 1e-13
#: jumps of positions or directions above this part of their size are refused
_JUMP = 1e-6
#: least width of cells in w
_NARROW = 1e-4
#: least distance of points, as a part of the path's length; w grows up to 1.9 times slower than it
_NEAR = 3e-4
#: largest turn within joined pieces, as a part of the largest derivative
_TURN = 1e-2
#: offsets of the points of a cell, as parts of it
OFFSETS = np.array([0.0, 0.5, 1.0])
#: nodes in the first and the last cell, where a motion that starts or stops changes most, as parts of it
_HALVES = 0.5 ** np.arange(3, 0, -1)


class PathPieces(NamedTuple):
    """Piecewise polynomial path: breaks (m + 1,) and coefficients (order, m, n), highest power first."""

    breaks: Array
    coefficients: Array

    def at(self, piece: npt.NDArray[np.intp], s: Array) -> tuple[Array, Array, Array]:
        """Return q, q' and q'' at parameters s (...) within their pieces (...), each (..., n)."""
        x = (s - self.breaks[piece])[..., None]
        value = self.coefficients[0][piece]
        first, second = np.zeros_like(value), np.zeros_like(value)
        for row in self.coefficients[1:]:
            second = second * x + 2.0 * first
            first = first * x + value
            value = value * x + row[piece]
        return value, first, second


@dataclass(frozen=True, eq=False)
class PathGrid:
    """A path at `OFFSETS` of N cells of a parameter w in which it starts and ends at rest.

    Attributes
    ----------
    nodes : (N + 1,) array
        Ends of the cells, in w.
    s : (N, 3) array
        Parameter of the path as given.
    q, dq, ddq : (N, 3, n) array
        Position, first and second derivative by w, from within each cell.
    """

    nodes: Array
    s: Array
    q: Array
    dq: Array
    ddq: Array


def path_pieces(path: Any, n: int, samples: int) -> PathPieces:
    """Return a path of `n` joints as a piecewise polynomial; `samples` are taken of callables."""
    if isinstance(path, JointTrajectory):
        pieces = PathPieces(path.breaks, path.coefficients)
    elif isinstance(path, _core.JointBezierPath):
        from scipy.interpolate import BPoly, PPoly

        power = PPoly.from_bernstein_basis(BPoly(path.path.points.transpose(1, 0, 2), path.path.breaks))
        pieces = PathPieces(power.x, power.c)
    elif callable(path):
        pieces = _sampled(path, samples)
    else:
        pieces = _through(_waypoints(path, n))
    if pieces.coefficients.shape[2] != n:
        raise ThunderError(f"path must have {n} joints, got {pieces.coefficients.shape[2]}")
    return pieces


def _waypoints(path: Any, n: int) -> Array:
    points = numbers(path, "path")
    if points.ndim != 2:
        raise ThunderError(f"path must be a joint reference or points of shape (m, {n}), got shape {points.shape}")
    return array(points, (None, None), "path")


def _through(points: Array) -> PathPieces:
    """Return the cubic spline through points, over the length of the lines between them.

    Points nearer than `_NEAR` of the length to the one before are left out.
    """
    from scipy.interpolate import CubicSpline

    if len(points) < 2:
        raise ThunderError(f"path must have at least two points, got {len(points)}")
    least = _NEAR * np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    kept = [0]
    for k in range(1, len(points)):
        if np.linalg.norm(points[k] - points[kept[-1]]) > least:
            kept.append(k)
    if len(kept) < 2:
        raise ThunderError("path must move, got points that are all equal")
    if kept[-1] != len(points) - 1:  # the last point stays
        kept[-1 if len(kept) > 2 else len(kept) :] = [len(points) - 1]
    points = points[kept]
    s = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    curve = CubicSpline(s / s[-1], points, bc_type="natural")
    return PathPieces(curve.x, curve.c)


def _sampled(path: Any, samples: int) -> PathPieces:
    """Return quintic pieces between samples of a reference of finite duration."""
    duration = getattr(path, "duration", None)
    if duration is None:
        raise ThunderError(f"path must have a duration, which a {type(path).__name__} has not")
    start = float(getattr(path, "start_time", 0.0))
    t = np.linspace(start, start + float(duration), samples + 1)
    try:
        at = [np.asarray(getattr(path(t), name), dtype=np.float64) for name in ("q", "dq", "ddq")]
    except AttributeError:
        raise ThunderError(
            f"path must be a reference of joints, got a {type(path).__name__}: "
            "kinematics.joint_path gives the joints of a path of poses"
        ) from None
    if not np.isfinite(at).all():
        raise ThunderError("path must be finite, but it is NaN or infinite at some times")
    q, dq, ddq = at
    return PathPieces(t, quintic_coefficients(np.diff(t)[:, None], q[:-1], dq[:-1], ddq[:-1], q[1:], dq[1:], ddq[1:]))


def path_grid(pieces: PathPieces, cells: int, order: int) -> PathGrid:
    """Return a path on a grid of at least `cells` cells, one or more in each piece that is not very short.

    In the parameter w of the grid the derivatives up to `order` are zero at both ends.
    """
    start, length = pieces.breaks[0], np.ptp(pieces.breaks)
    warp = _Warp.of(pieces, order)
    breaks = warp.inverse((pieces.breaks - start) / length)
    ends = _wide(breaks)
    share = np.maximum(1, np.ceil(cells * np.diff(ends)).astype(int))
    parts = [np.linspace(a, b, k + 1)[1:] for a, b, k in zip(ends[:-1], ends[1:], share, strict=True)]
    nodes = np.concatenate([[0.0], *parts])
    first, last = nodes[1] * _HALVES, 1.0 - (1.0 - nodes[-2]) * _HALVES[::-1]
    nodes = np.concatenate([[0.0], first, nodes[1:-1], last, [1.0]])
    w = nodes[:-1, None] + OFFSETS * np.diff(nodes)[:, None]
    w[:, -1] = nodes[1:]
    sides: tuple[Literal["left", "right"], ...] = ("right", "right", "left")
    found = [np.searchsorted(breaks, row, side=side) - 1 for row, side in zip(w.T, sides, strict=True)]
    piece = np.clip(np.stack(found, axis=1), 0, breaks.size - 2)
    u, du, ddu = warp.at(w)
    s = np.clip(start + length * u, pieces.breaks[piece], pieces.breaks[piece + 1])
    q, dq, ddq = pieces.at(piece, s)
    ddq = _joined(pieces, piece[:, 1:2].repeat(OFFSETS.size, axis=1), s, dq, ddq, order)
    first, second = length * du[..., None], length * ddu[..., None]
    grid = PathGrid(nodes, s, q, dq * first, ddq * first**2 + dq * second)
    _check(grid, pieces, order)
    return grid


def _wide(breaks: Array) -> Array:
    """Return the breaks between cells that are not narrow: the solution for a speed needs some width of each."""
    margin = _NARROW / _HALVES[0]  # the first and the last cell are divided
    kept = [0.0]
    for w in breaks[1:-1]:
        if w - kept[-1] > (_NARROW if len(kept) > 1 else margin) and 1.0 - w > margin:
            kept.append(float(w))
    return np.array([*kept, 1.0])


def _joined(pieces: PathPieces, middle: npt.NDArray[np.intp], s: Array, dq: Array, ddq: Array, order: int) -> Array:
    """Return the second derivatives of cells, with `order` 1 of the piece in their middle; refuse turns beside it."""
    _, first, second = pieces.at(middle, s)
    pairs = ((dq, first, "direction", 0.0), (ddq, second, "curvature", np.abs(dq).max() / np.ptp(pieces.breaks)))
    for own, of_middle, what, least in pairs[:order]:
        off = np.abs(own - of_middle).max(axis=2)
        if off.max() > _TURN * max(np.abs(own).max(), least):
            raise ThunderError(
                f"path must turn slowly, but its {what} changes at {s.ravel()[off.argmax()]:.6g} within less than "
                f"{_NARROW:g} of its length: round this place off more, or plan the parts before and after separately"
            )
    return ddq if order == 2 else second


class _Warp(NamedTuple):
    """Regularized incomplete beta function, from 0 to 1: it grows as w^a from one end and as (1 - w)^b to the other."""

    a: float
    b: float

    @classmethod
    def of(cls, pieces: PathPieces, order: int) -> _Warp:
        """Return the one with which the derivatives of a path up to an order are zero at both ends."""
        breaks, last = pieces.breaks, pieces.breaks.size - 2
        _, first, second = pieces.at(np.array([0, last]), breaks[[0, -1]])
        _, between, _ = pieces.at(np.arange(last + 1), 0.5 * (breaks[1:] + breaks[:-1]))
        length, scale = breaks[-1] - breaks[0], _ZERO * max(np.abs(between).max(), np.abs(first).max())
        powers = []
        for end in (0, 1):
            zeros = np.abs(first[end]).max() <= scale, length * np.abs(second[end]).max() <= scale
            own = 1 if not zeros[0] else 2 if not zeros[1] else 3  # power of the path itself
            powers.append(max(1.0, (order + 1) / own))
        return cls(*powers)

    def inverse(self, u: Array) -> Array:
        """Return where the values are u."""
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.a, self.b, u))

    def at(self, w: Array) -> tuple[Array, Array, Array]:
        """Return values and first two derivatives; 0 for an infinite one at an end, where the path rests."""
        from scipy.special import beta, betainc

        first = w ** (self.a - 1.0) * (1.0 - w) ** (self.b - 1.0) / beta(self.a, self.b)
        second = np.zeros_like(w)
        inside = (w > 0.0) & (w < 1.0)
        x = w[inside]
        second[inside] = first[inside] * ((self.a - 1.0) / x - (self.b - 1.0) / (1.0 - x))
        second[w == 0.0] = 1.0 / beta(self.a, self.b) if self.a == 2.0 else 0.0
        second[w == 1.0] = -1.0 / beta(self.a, self.b) if self.b == 2.0 else 0.0
        return np.asarray(betainc(self.a, self.b, w)), first, second


def _check(grid: PathGrid, pieces: PathPieces, order: int) -> None:
    """Refuse paths that jump, have a corner, or rest; with `order` 2 also jumps of the second derivative."""
    size = np.abs(np.ptp(grid.q, axis=(0, 1))).max()
    if not size > 0.0:
        raise ThunderError("path must move, got a constant position")
    still = (np.abs(grid.dq) <= _REST * np.abs(grid.dq).max()).all(axis=(1, 2))
    inner = still[_HALVES.size + 1 : -_HALVES.size - 1]
    if inner.any():
        k = int(np.argmax(inner)) + _HALVES.size + 1
        raise ThunderError(
            f"path must not rest, but it stands still from {grid.s[k, 0]:.6g} to {grid.s[k, -1]:.6g}: "
            "plan the parts before and after separately"
        )
    needed = "position and direction" if order == 1 else "position, direction and curvature where rates are limited"
    every = np.arange(pieces.breaks.size - 1)
    begins, ends = pieces.at(every, pieces.breaks[:-1]), pieces.at(every, pieces.breaks[1:])
    names, least = ("position", "direction", "curvature"), 0.0
    for begin, end, what in tuple(zip(begins, ends, names, strict=True))[: order + 1]:
        own = size if what == "position" else max(np.abs(begin).max(), np.abs(end).max())
        least = max(own, least / np.ptp(pieces.breaks))
        jumps = np.abs(begin[1:] - end[:-1]).max(axis=1, initial=0.0)
        if jumps.size and jumps.max() > _JUMP * least:
            place = pieces.breaks[1 + jumps.argmax()]
            raise ThunderError(
                f"path must be continuous in {needed}, but its {what} jumps at {place:.6g}: "
                "choose a smooth path, such as a spline through its points, or plan the parts before and after "
                "separately"
            )
