"""Fastest speed along a path within limits: a banded interior-point method on the squared speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .path_geometry import OFFSETS

__all__ = ["PathSpeed", "Signals", "SpeedProblem"]

#: the duration is within this part of the least one of its grid
GAP = 1e-5
_MORE = 12.0  # factor of the weight of the duration from one barrier problem to the next
_NEWTON_STEPS = 60
_WIDTH = 3  # coefficients of y in a cell


@dataclass(frozen=True, eq=False)
class Signals:
    """Limited signals ``z = rise y' + slope y + offset + extra(y)`` at the points of a grid.

    Attributes
    ----------
    rise, slope, offset : (N, 3, m) array
        Coefficients, divided by the limits of the signals.
    limit : (N, m) array
        Limits of absolute values in each cell, 1 unless tightened.
    rate : bool
        Whether the time derivative of z is limited instead of z.
    extra : callable, optional
        Further part of z and its derivative by y, both (N, 3, m), as a function of y.
    """

    rise: Array
    slope: Array
    offset: Array
    limit: Array
    rate: bool = False
    extra: Callable[[Array], tuple[Array, Array]] | None = None

    def at(self, y: Array, dy: Array) -> tuple[Array, Array]:
        """Return z and its derivative by y, each (N, 3, m)."""
        z = self.rise * dy[..., None] + self.slope * y[..., None] + self.offset
        if self.extra is None:
            return z, self.slope
        more, slope = self.extra(y)
        return z + more, self.slope + slope


@dataclass(frozen=True, eq=False)
class PathSpeed:
    """Squared speed of the path parameter at the points of a grid.

    Attributes
    ----------
    y, dy : (N, 3) array
        Squared speed and its derivative by the parameter.
    times : (N, 2) array
        Durations of the half cells [s].
    """

    y: Array
    dy: Array
    times: Array


def _continuous(nodes: Array) -> tuple[Array, Array]:
    """Return the basis of continuous y, quadratic in each cell, and its derivative, each (N, 3, 3)."""
    slopes = np.array([[-3.0, 4.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -4.0, 3.0]])
    return np.tile(np.eye(3), (nodes.size - 1, 1, 1)), slopes / np.diff(nodes)[:, None, None]


def _smooth(nodes: Array) -> tuple[Array, Array]:
    """Return the basis of y with a continuous derivative, quadratic B-splines, and its derivative, each (N, 3, 3)."""
    x = nodes[:-1, None] + OFFSETS * np.diff(nodes)[:, None]
    knots = np.concatenate([nodes[:1], nodes, nodes[-1:]])
    before = (knots[2:-1] - knots[:-3])[:, None]  # widths of the linear B-splines that overlap in the cell
    after = (knots[3:] - knots[1:-2])[:, None]
    a, b = np.broadcast_to(1.0 - OFFSETS, x.shape), np.broadcast_to(OFFSETS, x.shape)
    left = (x - knots[:-3, None]) / before
    right = (knots[3:, None] - x) / after
    values = np.stack([(1.0 - left) * a, left * a + right * b, (1.0 - right) * b], axis=2)
    slopes = 2.0 * np.stack([-a / before, a / before - b / after, b / after], axis=2)
    return values, slopes


class SpeedProblem:
    """Minimize the duration over the squared speed y of the path parameter, quadratic in each cell.

    Parameters
    ----------
    nodes : (N + 1,) array
        Ends of the cells.
    ceiling : (N, 3) array
        Upper limits of y, infinite without one.
    signals : sequence of Signals
        Further limits.
    smooth : bool
        Whether y' is continuous, and with it the acceleration, as limited rates require.
    """

    def __init__(self, nodes: Array, ceiling: Array, signals: Sequence[Signals], smooth: bool) -> None:
        self.nodes, self.smooth, self.signals, self.ceiling = nodes, smooth, signals, ceiling
        self.h = np.diff(nodes)[:, None] * np.diff(OFFSETS)
        self.B, self.D = _smooth(nodes) if smooth else _continuous(nodes)
        self.stride = 1 if smooth else 2  # coefficients from one cell to the next
        self.size = self.stride * (len(self.h) - 1) + _WIDTH
        self.bounded = np.isfinite(ceiling)
        points = sum(group.rise.size // (3 if group.rate else 1) * (2 if group.rate else 1) for group in signals)
        self.rows = 2 * points + int(self.bounded.sum()) + ceiling.size  # of the barrier

    def local(self, c: Array) -> Array:
        """Return the coefficients of each cell, (N, 3)."""
        return np.lib.stride_tricks.sliding_window_view(c, _WIDTH)[:: self.stride]

    def evaluate(self, c: Array) -> _Values:
        """Return everything at coefficients c."""
        return _Values(self, c)

    def slow(self) -> Array | None:
        """Return a constant speed within all limits, None without one."""
        y = 1e6
        for _ in range(200):
            c = np.full(self.size, y)
            if self.evaluate(c).inside:
                return 0.5 * c if self.evaluate(0.5 * c).inside else c
            y *= 0.3
        return None

    def solve(self, c: Array, weight: float | None = None) -> tuple[Array, float]:
        """Return the coefficients of the fastest motion and the last weight, from strictly feasible coefficients."""
        values = self.evaluate(c)
        if weight is None:
            weight = self.rows / values.duration
        while True:
            values = self._center(values, weight)
            if self.rows / weight <= GAP * values.duration:
                return values.c, weight
            weight *= _MORE

    def _center(self, values: _Values, weight: float) -> _Values:
        for _ in range(_NEWTON_STEPS):
            step, decrement = self._step(values, weight)
            if decrement < 1e-3:
                break
            size = min(1.0, 0.99 * self._reach(values, step))
            merit = values.merit(weight)
            while True:
                trial = self.evaluate(values.c + size * step)
                if trial.inside and trial.merit(weight) <= merit - 1e-3 * size * decrement:
                    break
                size *= 0.5
                if size < 1e-10:
                    return values
            values = trial
        return values

    def _reach(self, values: _Values, step: Array) -> float:
        """Return the largest step that keeps linear limits."""
        local = self.local(step)
        dy = np.einsum("ikj,ij->ik", self.B, local)
        slack = np.concatenate([values.y.ravel(), values.below[self.bounded]])
        loss = np.concatenate([-dy.ravel(), dy[self.bounded]])
        falls = loss > 1e-9 * slack
        return float((slack[falls] / loss[falls]).min(initial=np.inf))

    def _step(self, values: _Values, weight: float) -> tuple[Array, float]:
        """Return the Newton step, with the constraints' curvature left out, and its decrement."""
        from scipy.linalg import LinAlgError, solveh_banded

        gradient, hessian = values.derivatives(weight)
        g, band = np.zeros(self.size), np.zeros((_WIDTH, self.size))  # lower diagonals
        for a in range(_WIDTH):
            cells = slice(a, a + self.stride * len(self.h), self.stride)
            g[cells] += gradient[:, a]
            for b in range(a, _WIDTH):
                band[b - a, cells] += hessian[:, a, b]
        scale = 1.0 / np.sqrt(band[0])  # a unit diagonal
        for a in range(_WIDTH):
            band[a, : self.size - a] *= scale[: self.size - a] * scale[a:]
        damping = 1e-14
        while True:
            band[0] = 1.0 + damping
            try:
                step = -scale * solveh_banded(band, scale * g, lower=True, check_finite=False)
                break
            except LinAlgError:
                damping *= 100.0
        return step, float(-g @ step)

    def shrunk(self, c: Array) -> Array | None:
        """Return coefficients within all limits, near `c`."""
        for k in range(40):
            slower = c * (1.0 - 1e-4 * 1.5**k if 1e-4 * 1.5**k < 0.9 else 0.1 * 0.5 ** (k - 22))
            if self.evaluate(slower).inside:
                return slower
        return self.slow()

    def result(self, c: Array) -> PathSpeed:
        """Return the speeds, with the durations of half cells by quadrature."""
        local = self.local(c)
        y, dy = (np.einsum("ikj,ij->ik", part, local) for part in (self.B, self.D))
        x, w = np.polynomial.legendre.leggauss(8)
        x, w = 0.5 * (x + 1.0), 0.5 * w
        curvature = (dy[:, 1:] - dy[:, :-1]) / self.h
        at = y[:, :-1, None] + x * self.h[..., None] * (dy[:, :-1, None] + 0.5 * x * (self.h * curvature)[..., None])
        return PathSpeed(y, dy, self.h * (w / np.sqrt(at)).sum(axis=2))


class _Values:
    """A `SpeedProblem` at given coefficients: slacks of all limits, merit function, derivatives."""

    def __init__(self, problem: SpeedProblem, c: Array) -> None:
        self.problem, self.c = problem, c
        local = problem.local(c)
        self.y = np.einsum("ikj,ij->ik", problem.B, local)
        self.inside = bool((self.y > 0.0).all())
        if not self.inside:
            return
        self.dy = np.einsum("ikj,ij->ik", problem.D, local)
        self.root = np.sqrt(self.y)
        self.sum = self.root[:, :-1] + self.root[:, 1:]
        self.times = 2.0 * problem.h / self.sum
        self.duration = float(self.times.sum())
        self.below = problem.ceiling - self.y
        self.slopes, self.pairs = [], []
        for group in problem.signals:
            z, slope = group.at(self.y, self.dy)
            limit = group.limit[:, None]
            if group.rate:
                z, limit = np.diff(z, axis=1), limit * self.times[..., None]
            self.slopes.append(slope)
            self.pairs.append((limit - z, limit + z))
        self.slacks = [self.below[problem.bounded], *(part for pair in self.pairs for part in pair)]
        self.inside = all(bool((part > 0.0).all()) for part in self.slacks)

    def merit(self, weight: float) -> float:
        """Return the weighted duration plus the barrier."""
        logs = sum(float(np.log(part).sum()) for part in self.slacks)
        return weight * self.duration - logs - float(np.log(self.y).sum())

    def derivatives(self, weight: float) -> tuple[Array, Array]:
        """Return gradient (N, 3) and Hessian (N, 3, 3) by the coefficients of each cell."""
        p = self.problem
        # by y at each point, by y and y' there
        g = np.zeros((2, *self.y.shape))
        h = np.zeros((3, *self.y.shape))
        close = np.where(p.bounded, 1.0 / np.where(p.bounded, self.below, 1.0), 0.0)
        g[0], h[0] = close - 1.0 / self.y, close**2 + 1.0 / self.y**2
        by_a, by_b, aa, ab, bb = self._time_derivatives()
        for part, a, b in ((g[0], by_a, by_b), (h[0], aa, bb)):
            part[:, :-1] += weight * a
            part[:, 1:] += weight * b
        for group, slope, (above, under) in zip(p.signals, self.slopes, self.pairs, strict=True):
            if not group.rate:
                up, down = 1.0 / above, 1.0 / under
                pull, bend = up - down, up**2 + down**2
                g += (pull * slope).sum(axis=2), (pull * group.rise).sum(axis=2)
                h += (bend * slope**2).sum(axis=2), (bend * slope * group.rise).sum(axis=2), (bend * group.rise**2).sum(axis=2)
        gradient = np.einsum("ik,ikj->ij", g[0], p.B) + np.einsum("ik,ikj->ij", g[1], p.D)
        cross = np.einsum("ik,ika,ikb->iab", h[1], p.D, p.B)
        cross += np.einsum("ik,ika,ikb->iab", weight * ab, p.B[:, :-1], p.B[:, 1:])
        hessian = np.einsum("ik,ika,ikb->iab", h[0], p.B, p.B) + np.einsum("ik,ika,ikb->iab", h[2], p.D, p.D)
        hessian += cross + cross.transpose(0, 2, 1)
        time = by_a[..., None] * p.B[:, :-1] + by_b[..., None] * p.B[:, 1:]  # (N, 2, 3)
        for group, slope, pair in zip(p.signals, self.slopes, self.pairs, strict=True):
            if group.rate:
                self._add_rates(gradient, hessian, group, slope, pair, time)
        return gradient, hessian

    def _time_derivatives(self) -> tuple[Array, Array, Array, Array, Array]:
        h, total = self.problem.h, self.sum
        a, b = self.root[:, :-1], self.root[:, 1:]
        second, third = h / total**2, h / total**3
        return (
            -second / a,
            -second / b,
            third / a**2 + 0.5 * second / a**3,
            third / (a * b),
            third / b**2 + 0.5 * second / b**3,
        )

    def _add_rates(
        self, gradient: Array, hessian: Array, group: Signals, slope: Array, pair: tuple[Array, Array], time: Array
    ) -> None:
        """Add the derivatives of the barrier of limited rates; `time` has those of the durations."""
        dz = group.rise[..., None] * self.problem.D[:, :, None] + slope[..., None] * self.problem.B[:, :, None]
        change, allowed = np.diff(dz, axis=1), group.limit[:, None, :, None] * time[:, :, None]  # (N, 2, m, 3)
        for slack, by in zip(pair, (allowed - change, allowed + change), strict=True):
            part = (by / slack[..., None]).reshape(len(by), -1, _WIDTH)
            gradient -= part.sum(axis=1)
            hessian += part.transpose(0, 2, 1) @ part
