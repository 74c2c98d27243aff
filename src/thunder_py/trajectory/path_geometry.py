"""Joint paths as piecewise polynomials on a grid: positions and their derivatives by a path parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array
from ..errors import ThunderError
from .joint import JointTrajectory
from .timing import quintic_coefficients

__all__ = ["PathGrid", "PathPieces", "path_grid", "path_pieces"]

#: derivatives below this part of their largest value are zero
_ZERO = 1e-9
#: jumps of positions or directions above this part of their size are refused
_JUMP = 1e-6
#: offsets of the points of a cell, as parts of it
OFFSETS = np.array([0.0, 0.5, 1.0])


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
        pieces = _through(array(path, (None, None), "path"))
    if pieces.coefficients.shape[2] != n:
        raise ThunderError(f"path must have {n} joints, got {pieces.coefficients.shape[2]}")
    return pieces


def _through(points: Array) -> PathPieces:
    """Return the cubic spline through points, over the length of the lines between them."""
    from scipy.interpolate import CubicSpline

    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if len(points) < 2:
        raise ThunderError(f"path must have at least two points, got {len(points)}")
    if not (lengths > 0.0).all():
        k = int(np.argmin(lengths))
        raise ThunderError(f"path must not repeat a point, but points {k} and {k + 1} are equal: remove one of them")
    s = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    curve = CubicSpline(s, points, bc_type="natural")
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
    q, dq, ddq = at
    return PathPieces(t, quintic_coefficients(np.diff(t)[:, None], q[:-1], dq[:-1], ddq[:-1], q[1:], dq[1:], ddq[1:]))


def path_grid(pieces: PathPieces, cells: int, order: int) -> PathGrid:
    """Return a path on a grid of at least `cells` cells, one or more in each piece.

    In the parameter w of the grid the derivatives up to `order` are zero at both ends; where the given parameter has
    another end, it is a polynomial of w.
    """
    breaks = pieces.breaks
    length = breaks[-1] - breaks[0]
    ends = np.stack([np.concatenate([d[0], d[-1]]) for d in _derivatives_at_breaks(pieces)[1:]])
    scale = max(
        float(np.abs(_derivatives_at_breaks(pieces)[1]).max()),
        float(np.abs(np.diff(_positions(pieces), axis=0)).max() / length),
    )
    sizes = np.abs(ends).max(axis=1) * np.array([1.0, length])
    warped = bool((sizes[:order] > _ZERO * scale).any())
    warp = _WARPS[order] if warped else np.polynomial.Polynomial([0.0, 1.0])
    at_breaks = _inverse(warp, (breaks - breaks[0]) / length) if warped else (breaks - breaks[0]) / length
    share = np.maximum(1, np.ceil(cells * np.diff(at_breaks)).astype(int))
    nodes = np.concatenate(
        [[0.0], *(np.linspace(a, b, k + 1)[1:] for a, b, k in zip(at_breaks[:-1], at_breaks[1:], share, strict=True))]
    )
    piece = np.repeat(np.arange(share.size), share)[:, None].repeat(OFFSETS.size, axis=1)
    w = nodes[:-1, None] + OFFSETS * np.diff(nodes)[:, None]
    s = np.clip(breaks[0] + length * warp(w), breaks[piece], breaks[piece + 1])
    q, dq, ddq = pieces.at(piece, s)
    first, second = (length * warp.deriv(k)(w)[..., None] for k in (1, 2))
    grid = PathGrid(nodes, s, q, dq * first, ddq * first**2 + dq * second)
    _check(grid, order)
    return grid


#: polynomials from 0 to 1 whose derivatives up to the order are zero at both ends
_WARPS = {
    1: np.polynomial.Polynomial([0.0, 0.0, 3.0, -2.0]),
    2: np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]),
}


def _inverse(warp: np.polynomial.Polynomial, values: Array) -> Array:
    """Return where an increasing polynomial from 0 to 1 has the values."""
    low, high = np.zeros_like(values), np.ones_like(values)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = warp(middle) < values
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found = 0.5 * (low + high)
    found[0], found[-1] = 0.0, 1.0
    return found


def _positions(pieces: PathPieces) -> Array:
    return _derivatives_at_breaks(pieces)[0]


def _derivatives_at_breaks(pieces: PathPieces) -> tuple[Array, Array, Array]:
    """Return q, q', q'' at the breaks, (m + 1, n): of the next piece, at the end of the last."""
    count = pieces.breaks.size - 1
    piece = np.append(np.arange(count), count - 1)
    return pieces.at(piece, pieces.breaks)


def _check(grid: PathGrid, order: int) -> None:
    """Refuse paths that jump, have a corner, or rest; with `order` 2 also jumps of the second derivative."""
    size = np.abs(np.ptp(grid.q, axis=(0, 1))).max()
    if not size > 0.0:
        raise ThunderError("path must move, got a constant position")
    still = (np.abs(grid.dq) <= _ZERO * np.abs(grid.dq).max()).all(axis=(1, 2))
    if still.any():
        k = int(np.argmax(still))
        raise ThunderError(
            f"path must not rest, but it stands still from {grid.s[k, 0]:.6g} to {grid.s[k, -1]:.6g}: "
            "plan the parts before and after separately"
        )
    needed = "position and direction" if order == 1 else "position, direction and curvature where rates are limited"
    for values, what, least in (
        (grid.q, "position", size),
        (grid.dq, "direction", np.abs(grid.dq).max()),
        (grid.ddq, "curvature", np.abs(grid.ddq).max()),
    )[: order + 1]:
        jumps = np.abs(values[1:, 0] - values[:-1, -1]).max(axis=1, initial=0.0)
        if jumps.size and jumps.max() > _JUMP * least:
            s = grid.s[int(np.argmax(jumps)), -1]
            raise ThunderError(
                f"path must be continuous in {needed}, but its {what} jumps at {s:.6g}: choose a smooth path, such as "
                "a spline through its points, or plan the parts before and after separately"
            )
