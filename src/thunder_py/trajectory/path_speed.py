"""Fastest speed along a path within limits: a banded interior-point method on the squared speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
    """Limited signals ``z = half_rise y' + slope y + offset + extra(y)`` at the points of a grid.

    Attributes
    ----------
    rise, slope, offset : (N, 3, m) array
        Coefficients, divided by the limits of the signals.
    limit : (N, m) array
        Limits of absolute values in each cell, 1 unless tightened.
    extra : callable, optional
        Further part of z and its derivative by y, from y (N, 3); concave or convex in y.
    rate : (N, m) array
        Limits of the time derivatives of z in each cell, infinite without one.
    """

    rise: Array
    slope: Array
    offset: Array
    limit: Array
    rate: Array
    extra: Callable[[Array], tuple[Array, Array]] | None = None


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
    signals : Signals
        Further limits.
    smooth : bool
        Whether y' is continuous, and with it the acceleration, as limited rates require.
    """

    def __init__(self, nodes: Array, ceiling: Array, signals: Signals, smooth: bool) -> None:
        self.nodes, self.smooth, self.signals, self.ceiling = nodes, smooth, signals, ceiling
        self.h = np.diff(nodes)[:, None] * np.diff(OFFSETS)
        self.B, self.D = _smooth(nodes) if smooth else _continuous(nodes)
        self.stride = 1 if smooth else 2  # coefficients from one cell to the next
        self.size = self.stride * (len(self.h) - 1) + _WIDTH
        self.bounded = np.isfinite(ceiling)
        self.limited, self.rated = (np.isfinite(part[0]) for part in (signals.limit, signals.rate))
        halves = self.h.size
        self.rows = 2 * ceiling.size * int(self.limited.sum()) + int(self.bounded.sum()) + ceiling.size + 2 * halves * int(self.rated.sum())

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
        reach = float((values.y / np.maximum(-dy, 1e-300)).min())
        if self.bounded.any():
            reach = min(reach, float((values.below / np.maximum(dy, 1e-300))[self.bounded].min()))
        return reach

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

    def tightened(self, velocity: Array, limit: Array, rate: Array) -> SpeedProblem:
        """Return the problem with limits of each cell multiplied by factors: (N,), (N, m), (N, m)."""
        signals = replace(self.signals, limit=self.signals.limit * limit, rate=self.signals.rate * rate)
        return SpeedProblem(self.nodes, self.ceiling * velocity[:, None] ** 2, signals, self.smooth)

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
        s = problem.signals
        z = s.rise * self.dy[..., None] + s.slope * self.y[..., None] + s.offset
        self.dz_dy = s.slope
        if s.extra is not None:
            more, slope = s.extra(self.y)
            z = z + more
            self.dz_dy = s.slope + slope
        self.z = z
        self.root = np.sqrt(self.y)
        self.sum = self.root[:, :-1] + self.root[:, 1:]
        self.times = 2.0 * problem.h / self.sum
        self.duration = float(self.times.sum())
        self.above, self.under = s.limit[:, None] - z, s.limit[:, None] + z
        self.below = problem.ceiling - self.y
        self.slacks = [self.above[..., problem.limited], self.under[..., problem.limited], self.below[problem.bounded]]
        if problem.rated.any():
            change = np.diff(z[..., problem.rated], axis=1)
            allowed = s.rate[:, None, problem.rated] * self.times[..., None]
            self.rising, self.falling = allowed - change, allowed + change
            self.slacks += [self.rising, self.falling]
        self.inside = all(bool((part > 0.0).all()) for part in self.slacks)

    def merit(self, weight: float) -> float:
        """Return the weighted duration plus the barrier."""
        logs = sum(float(np.log(part).sum()) for part in self.slacks)
        return weight * self.duration - logs - float(np.log(self.y).sum())

    def derivatives(self, weight: float) -> tuple[Array, Array]:
        """Return gradient (N, 3) and Hessian (N, 3, 3) by the coefficients of each cell."""
        p = self.problem
        rise, dz_dy = p.signals.rise, self.dz_dy
        # by y' and y at each point
        up, down = 1.0 / self.above, 1.0 / self.under
        pull, bend = up - down, up**2 + down**2
        g1, g0 = (pull * rise).sum(axis=2), (pull * dz_dy).sum(axis=2) - 1.0 / self.y
        h11, h10 = (bend * rise * rise).sum(axis=2), (bend * rise * dz_dy).sum(axis=2)
        h00 = (bend * dz_dy * dz_dy).sum(axis=2) + 1.0 / self.y**2
        close = np.where(p.bounded, 1.0 / np.where(p.bounded, self.below, 1.0), 0.0)
        g0, h00 = g0 + close, h00 + close**2
        t_a, t_b, t_aa, t_ab, t_bb = self._time_derivatives()
        g0[:, :-1] += weight * t_a
        g0[:, 1:] += weight * t_b
        h00[:, :-1] += weight * t_aa
        h00[:, 1:] += weight * t_bb
        gradient = np.einsum("ik,ikj->ij", g1, p.D) + np.einsum("ik,ikj->ij", g0, p.B)
        cross = np.einsum("ik,ika,ikb->iab", h10, p.D, p.B)
        hessian = (
            np.einsum("ik,ika,ikb->iab", h11, p.D, p.D) + cross + cross.transpose(0, 2, 1)
            + np.einsum("ik,ika,ikb->iab", h00, p.B, p.B)
        )
        mixed = np.einsum("ik,ika,ikb->iab", weight * t_ab, p.B[:, :-1], p.B[:, 1:])
        hessian += mixed + mixed.transpose(0, 2, 1)
        if p.rated.any():
            self._add_rates(gradient, hessian, t_a, t_b)
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

    def _add_rates(self, gradient: Array, hessian: Array, t_a: Array, t_b: Array) -> None:
        p = self.problem
        rise, dz_dy, rate = p.signals.rise[..., p.rated], self.dz_dy[..., p.rated], p.signals.rate[:, None, p.rated, None]
        dz = rise[..., None] * p.D[:, :, None] + dz_dy[..., None] * p.B[:, :, None]  # (N, 3, m, 3)
        change = np.diff(dz, axis=1)
        time = t_a[..., None] * p.B[:, :-1] + t_b[..., None] * p.B[:, 1:]  # (N, 2, 3)
        allowed = rate * time[:, :, None]
        for slack, ds in ((self.rising, allowed - change), (self.falling, allowed + change)):
            part = ds / slack[..., None]
            gradient -= part.sum(axis=(1, 2))
            flat = part.reshape(len(part), -1, part.shape[3])
            hessian += flat.transpose(0, 2, 1) @ flat
