"""Fastest speed along a path within limits: a banded interior-point method on the squared speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import Array
from .path_geometry import OFFSETS

#: the duration is within this part of the least one of its grid
GAP = 1e-5
_MORE = 12.0  # factor of the weight of the duration from one barrier problem to the next
_NEWTON_STEPS = 60
_CENTERED = 0.5  # Newton decrement at which a barrier problem is solved
_GAUSS = 5  # points of quadrature in half a cell
_STRIDE = 2  # coefficients of y from one cell to the next
#: derivatives at `OFFSETS` of the parabola through values there
_PARABOLA = np.array([[-3.0, 4.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -4.0, 3.0]])


#: function of y (N, 3): values and their derivatives by y, each (N, 3, m)
Extra = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Levels:
    """Limited signals ``z = rise y' + slope y + offset + extra(y)`` at the points of a grid.

    Attributes
    ----------
    share : (2, N, m) array
        Allowed parts of what the limits leave above and below the signals at rest, in each cell; 1 unless tightened.
    rise, slope, offset : (N, 3, m) array
        Coefficients, divided by the limits of the signals.
    extra : callable, optional
        Further part of z.
    """

    share: Array
    rise: Array
    slope: Array
    offset: Array
    extra: Extra | None = None

    @property
    def rest(self) -> Array:
        """Values at rest, (N, 3, m)."""
        return self.offset

    def at(self, y: Array, dy: Array, ddy: Array) -> tuple[Array, tuple[Array, ...]]:
        """Return the signals and their derivatives by y and y', each (N, 3, m)."""
        z = self.rise * dy[..., None] + self.slope * y[..., None] + self.offset
        if self.extra is None:
            return z, (self.slope, self.rise)
        more, slope = self.extra(y)
        return z + more, (self.slope + slope, self.rise)


@dataclass(frozen=True, eq=False)
class Rates:
    """Limited time derivatives of such signals, ``sqrt(y) dz/dw``.

    Attributes
    ----------
    share : (2, N, m) array
        Allowed parts of the limits of positive and negative values in each cell, 1 unless tightened.
    bend, rise, slope, offset : (N, 3, m) array
        Coefficients of y'', y', y and 1 in dz/dw, divided by the limits.
    dq, ddq : (N, 3, m) array
        Derivatives of the path.
    extra : callable, optional
        Derivative of the further part of z by the joint velocity.
    """

    share: Array
    bend: Array
    rise: Array
    slope: Array
    offset: Array
    dq: Array
    ddq: Array
    extra: Extra | None = None

    @property
    def rest(self) -> Array:
        """Values at rest, (N, 3, m)."""
        return np.zeros_like(self.offset)

    @classmethod
    def of(cls, levels: Levels, h: Array, dq: Array, ddq: Array, extra: Extra | None) -> Rates:
        """Return the derivatives of signals, with those of their coefficients from parabolas in cells of width h."""
        by_w = _PARABOLA / h[:, None, None]
        rise, slope, offset = (by_w @ part for part in (levels.rise, levels.slope, levels.offset))
        return cls(levels.share, levels.rise, rise + levels.slope, slope, offset, dq, ddq, extra)

    def at(self, y: Array, dy: Array, ddy: Array) -> tuple[Array, tuple[Array, ...]]:
        """Return the rates and their derivatives by y, y' and y'', each (N, 3, m)."""
        y, dy, root = y[..., None], dy[..., None], np.sqrt(y)[..., None]
        by_w = self.bend * ddy[..., None] + self.rise * dy + self.slope * y + self.offset
        z, by_y, by_dy = root * by_w, root * self.slope + 0.5 * by_w / root, root * self.rise
        if self.extra is not None:
            damping, slope = self.extra(y[..., 0])
            acceleration = self.ddq * y + 0.5 * self.dq * dy
            z = z + damping * acceleration
            by_y, by_dy = by_y + damping * self.ddq + slope * acceleration, by_dy + 0.5 * damping * self.dq
        return z, (by_y, by_dy, root * self.bend)


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
    return np.tile(np.eye(3), (nodes.size - 1, 1, 1)), _PARABOLA / np.diff(nodes)[:, None, None]


def _smooth(nodes: Array) -> tuple[Array, Array]:
    """Return the basis of y with a continuous derivative, cubic in each cell, and its derivative, each (N, 3, 4).

    Coefficients are the values and derivatives at the nodes.
    """
    h, x = np.diff(nodes)[:, None, None], OFFSETS[:, None]
    values = np.hstack([1 - 3 * x**2 + 2 * x**3, x - 2 * x**2 + x**3, 3 * x**2 - 2 * x**3, x**3 - x**2])
    slopes = np.hstack([6 * x**2 - 6 * x, 1 - 4 * x + 3 * x**2, 6 * x - 6 * x**2, 3 * x**2 - 2 * x])
    widths = np.concatenate([np.ones_like(h), h, np.ones_like(h), h], axis=2)
    return values * widths, slopes * widths / h


def _quadrature(nodes: Array, B: Array, D: Array) -> tuple[Array, Array]:
    """Return the basis at Gauss points of the half cells and their weights, (N, 2 G, width) and (N, 2 G)."""
    x, w = np.polynomial.legendre.leggauss(_GAUSS)
    x = 0.5 * (x[:, None] + 1.0)
    h = np.diff(nodes)[:, None] * np.diff(OFFSETS)
    # y is the cubic between its values and derivatives at both ends
    a, b = B[:, :-1, None], B[:, 1:, None]
    left, right = (h[:, :, None, None] * part[:, :, None] for part in (D[:, :-1], D[:, 1:]))
    values = a + x * (left + x * (3.0 * (b - a) - 2.0 * left - right + x * (left + right - 2.0 * (b - a))))
    return values.reshape(len(B), -1, B.shape[2]), (0.5 * h[..., None] * w).reshape(len(B), -1)


class SpeedProblem:
    """Minimize the duration over the squared speed y of the path parameter, a polynomial in each cell.

    Parameters
    ----------
    nodes : (N + 1,) array
        Ends of the cells.
    ceiling : (N, 3) array
        Upper limits of y, infinite without one.
    signals : sequence of Levels or Rates
        Further limits.
    smooth : bool
        Whether y' is continuous, and with it the acceleration, as limited rates require.
    """

    def __init__(self, nodes: Array, ceiling: Array, signals: Sequence[Levels | Rates], smooth: bool) -> None:
        self.nodes, self.smooth, self.signals, self.ceiling = nodes, smooth, signals, ceiling
        self.B, self.D = _smooth(nodes) if smooth else _continuous(nodes)
        self.E = _PARABOLA / np.diff(nodes)[:, None, None] @ self.D  # of y''
        self.Q, self.weights = _quadrature(nodes, self.B, self.D)
        self.width = self.B.shape[2]  # coefficients of y in a cell, one or two of them also of the next one
        self.size = _STRIDE * (len(self.B) - 1) + self.width
        self.bounded = np.isfinite(ceiling)
        rows = sum(2 * group.rise.size for group in signals)
        self.rows = rows + int(self.bounded.sum()) + self.weights.size  # of the barrier

    def local(self, c: Array) -> Array:
        """Return the coefficients of each cell, (N, width)."""
        return np.lib.stride_tricks.sliding_window_view(c, self.width)[::_STRIDE]

    def evaluate(self, c: Array) -> _Values:
        """Return everything at coefficients c."""
        return _Values(self, c)

    def slow(self) -> Array | None:
        """Return a constant speed within all limits, None without one."""
        y = 1e6
        for _ in range(200):
            c = np.full(self.size, y)
            if self.smooth:
                c[1::2] = 0.0
            if self.evaluate(c).inside:
                return 0.5 * c if self.evaluate(0.5 * c).inside else c
            y *= 0.3
        return None

    def solve(self, c: Array, gap: float = 1.0) -> tuple[Array, float]:
        """Return the coefficients of the fastest motion, and the part by which a convex problem's may be too slow.

        The search starts from coefficients `c` within all limits, which make the motion slower than the fastest one by
        about the part `gap` of its duration. The part that is returned exceeds `GAP` only if the search fails.
        """
        values, reached = self.evaluate(c), np.inf
        weight = self.rows / (gap * values.duration)
        while True:
            values, centered = self._center(values, weight)
            part = self.rows / (weight * values.duration)
            reached = part if centered else reached
            if part <= GAP:
                break
            weight *= _MORE
        return values.c, reached

    def _center(self, values: _Values, weight: float) -> tuple[_Values, bool]:
        """Return the solution of a barrier problem and whether it was found."""
        for _ in range(_NEWTON_STEPS):
            step, decrement = self._step(values, weight)
            if decrement < _CENTERED:
                return values, True
            size = min(1.0, 0.99 * self._reach(values, step))
            merit = values.merit(weight)
            while True:
                trial = self.evaluate(values.c + size * step)
                if trial.inside and trial.merit(weight) <= merit - 1e-3 * size * decrement:
                    break
                size *= 0.5
                if not size >= 1e-10:
                    return values, False
            values = trial
        return values, False

    def _reach(self, values: _Values, step: Array) -> float:
        """Return the largest step that keeps linear limits."""
        local = self.local(step)
        dy, change = (np.einsum("ikj,ij->ik", part, local) for part in (self.B, self.Q))
        slack = np.concatenate([values.at.ravel(), values.below[self.bounded]])
        loss = np.concatenate([-change.ravel(), dy[self.bounded]])
        falls = loss > 1e-9 * slack
        return float((slack[falls] / loss[falls]).min(initial=np.inf))

    def _step(self, values: _Values, weight: float) -> tuple[Array, float]:
        """Return the Newton step, with the constraints' curvature left out, and its decrement."""
        from scipy.linalg import LinAlgError, solveh_banded

        gradient, hessian = values.derivatives(weight)
        g, band = np.zeros(self.size), np.zeros((self.width, self.size))  # lower diagonals
        for a in range(self.width):
            cells = slice(a, a + _STRIDE * len(self.B), _STRIDE)
            g[cells] += gradient[:, a]
            for b in range(a, self.width):
                band[b - a, cells] += hessian[:, a, b]
        scale = 1.0 / np.sqrt(band[0])  # a unit diagonal
        for a in range(self.width):
            band[a, : self.size - a] *= scale[: self.size - a] * scale[a:]
        for damping in 100.0 ** np.arange(-7, 2):
            band[0] = 1.0 + damping
            try:
                step = -scale * solveh_banded(band, scale * g, lower=True, check_finite=False)
            except LinAlgError:
                continue
            return step, float(-g @ step)
        return np.zeros_like(g), np.nan

    def shrunk(self, c: Array) -> Array | None:
        """Return coefficients within all limits, `c` itself slowed where that suffices."""
        slower = (c * (1.0 - loss) for loss in 1e-4 * 1.5 ** np.arange(22))
        found = next((part for part in slower if self.evaluate(part).inside), None)
        return self.slow() if found is None else found

    def result(self, c: Array) -> PathSpeed:
        """Return the speeds, with the durations of half cells."""
        local = self.local(c)
        y, dy, at = (np.einsum("ikj,ij->ik", part, local) for part in (self.B, self.D, self.Q))
        times = (self.weights / np.sqrt(at)).reshape(len(y), OFFSETS.size - 1, -1).sum(axis=2)
        return PathSpeed(y, dy, times)


class _Values:
    """A `SpeedProblem` at given coefficients: slacks of all limits, merit function, derivatives."""

    def __init__(self, problem: SpeedProblem, c: Array) -> None:
        self.problem, self.c = problem, c
        local = problem.local(c)
        self.y, self.at = (np.einsum("ikj,ij->ik", part, local) for part in (problem.B, problem.Q))
        self.inside = bool((self.y > 0.0).all() and (self.at > 0.0).all())
        if not self.inside:
            return
        dy, ddy = (np.einsum("ikj,ij->ik", part, local) for part in (problem.D, problem.E))
        self.times = problem.weights / np.sqrt(self.at)
        self.duration = float(self.times.sum())
        self.below = problem.ceiling - self.y
        self.slopes, self.pairs = [], []
        for group in problem.signals:
            z, slopes = group.at(self.y, dy, ddy)
            above, below = group.share[:, :, None]
            z, rest = z - group.rest, group.rest
            self.slopes.append(slopes)
            self.pairs.append((above * (1.0 - rest) - z, below * (1.0 + rest) + z))
        self.slacks = [self.below[problem.bounded], *(part for pair in self.pairs for part in pair)]
        self.inside = all(bool((part > 0.0).all()) for part in self.slacks)

    def merit(self, weight: float) -> float:
        """Return the weighted duration plus the barrier."""
        logs = sum(float(np.log(part).sum()) for part in self.slacks)
        return weight * self.duration - logs - float(np.log(self.at).sum())

    def derivatives(self, weight: float) -> tuple[Array, Array]:
        """Return gradient (N, width) and Hessian (N, width, width) by the coefficients of each cell."""
        p = self.problem
        bases = (p.B, p.D, p.E)  # of y, y', y''
        g, h = np.zeros((3, *self.y.shape)), np.zeros((3, 3, *self.y.shape))
        close = np.where(p.bounded, 1.0 / np.where(p.bounded, self.below, 1.0), 0.0)
        g[0], h[0, 0] = close, close**2
        for slopes, (above, under) in zip(self.slopes, self.pairs, strict=True):
            up, down = 1.0 / above, 1.0 / under
            pull, bend = up - down, up**2 + down**2
            for i, slope in enumerate(slopes):
                g[i] += (pull * slope).sum(axis=2)
                for j in range(i + 1):
                    h[i, j] += (bend * slope * slopes[j]).sum(axis=2)
        cross = np.zeros((len(p.B), p.width, p.width))
        for i, j in ((1, 0), (2, 0), (2, 1)):
            cross += np.einsum("ik,ika,ikb->iab", h[i, j], bases[i], bases[j])
        by_time = 0.5 * weight * self.times
        gradient = np.einsum("ik,ikj->ij", -(by_time + 1.0) / self.at, p.Q)
        hessian = cross + cross.transpose(0, 2, 1)
        hessian += np.einsum("ik,ika,ikb->iab", (1.5 * by_time + 1.0) / self.at**2, p.Q, p.Q)
        for i in range(3):
            gradient += np.einsum("ik,ikj->ij", g[i], bases[i])
            hessian += np.einsum("ik,ika,ikb->iab", h[i, i], bases[i], bases[i])
        return gradient, hessian
