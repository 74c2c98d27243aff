"""Joint optimization of base and wrist: direct collocation of the planar model, by successive linear programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import block_diag, coo_array, csr_array, hstack, vstack

from ...checks import Array, of_kind, positive, whole
from ...errors import ThunderError
from ...integration import integrate
from ...parallel import Workers, map_items
from ...values import Value, set_fields
from .model import ElasticWrist
from .motor_plan import maximize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: states q, dq, x, dx, z, dz; controls theta, ddx, ddz
_STATES, _CONTROLS = 6, 3
#: weight of a unit of defect against the speed [m/s] in the merit of a step
_WEIGHT = 30.0
_MOST = 80
#: longest cell, in radians of the wrist's oscillation
_COARSEST = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class BaseLimits(Value):
    """Limits of a base along each of its two axes.

    Attributes
    ----------
    acceleration : float
        Largest acceleration [m/s^2].
    speed : float
        Largest speed [m/s].
    stroke : float
        Largest displacement from the start, to both sides [m].

    Raises
    ------
    ThunderError
        If a number is not positive.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import BaseLimits
    >>> round(BaseLimits(acceleration=10.0, speed=1.5).constant(0.22), 3)  # 1.5 m/s reached in 0.22 s
    6.818
    """

    acceleration: float = 10.0
    speed: float = 1.5
    stroke: float = 0.3

    def __post_init__(self) -> None:
        """Check every field."""
        names = ("acceleration", "speed", "stroke")
        set_fields(self, **{name: positive(getattr(self, name), f"base limits {name}") for name in names})

    def constant(self, T: float) -> float:
        """Return the largest constant acceleration from rest over a time T [m/s^2], as in D4.2, section 4.4."""
        T = positive(T, "T")
        return min(self.acceleration, self.speed / T, 2.0 * self.stroke / T**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class JointThrow(Value):
    """Optimal motion of base and wrist found by `optimize_base_and_motor`.

    Attributes
    ----------
    wrist : ElasticWrist
        Wrist of the throw.
    tip : float
        Distance of the object from the wrist's axis [m].
    t : (N + 1,) array
        Ends of the cells [s].
    states : (N + 1, 6) array
        q, dq, x, dx, z, dz at these times: wrist [rad], base along its axes [m].
    controls : (N, 3) array
        theta [rad], ddx, ddz [m/s^2], constant in each cell.
    speed : float
        Speed of the tip along z at T, ``dz + tip dq`` [m/s].
    residual : float
        Largest defect of the collocation [rad, rad/s].
    defect : float
        Largest difference of q and dq at T from an integration of the model under the controls (DOP853) [rad, rad/s].
    iterations : int
        Number of linear programs solved.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, optimize_base_and_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> both = optimize_base_and_motor(wrist, 0.15, cells=20, starts=1)
    >>> both.states.shape, both.controls.shape, both.residual < 1e-9, both.defect < 1e-3
    ((21, 6), (20, 3), True, True)
    >>> q, dq, x, dx, z, dz = both.states[-1]
    >>> bool(abs(q) < 1e-9), bool(abs(both.speed - (dz + both.tip * dq)) < 1e-9)
    (True, True)
    """

    wrist: ElasticWrist
    tip: float
    t: Array
    states: Array
    controls: Array
    speed: float
    residual: float
    defect: float
    iterations: int

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw the angles of wrist and motor, the acceleration of the base, and the speeds of base and tip.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"angle"``, ``"acceleration"`` and ``"speed"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_base_and_motor

        return plot_base_and_motor(self, axes=axes)


def base_alone(limits: BaseLimits, T: float, cells: int = 100) -> float:
    """Return the greatest speed of the base at T within its limits, from rest [m/s].

    Parameters
    ----------
    limits : BaseLimits
        Limits of the base's motion.
    T : float
        Duration [s].
    cells : int
        Number of intervals of constant acceleration.
    """
    h, n = positive(T, "T") / whole(cells, "cells", 2), cells
    W = h * np.tril(np.ones((n, n)))
    Z = np.tril(h**2 * (np.arange(n)[:, None] - np.arange(n) + 0.5))
    most = np.full(n, limits.acceleration)
    A, b = np.concatenate([W, -W, Z, -Z]), np.repeat([limits.speed, limits.stroke], 2 * n)
    result = maximize(W[-1], -most, most, np.zeros((0, n)), np.zeros(0), A, b)
    return -float(result.fun)


def optimize_base_and_motor(
    wrist: ElasticWrist,
    T: float,
    *,
    base: BaseLimits | None = None,
    tip: float = 0.15,
    cells: int = 80,
    linear: bool = False,
    starts: int = 4,
    seed: int = 0,
    tolerance: float = 1e-6,
    workers: Workers = 1,
) -> JointThrow:
    """Optimize motor and base motion for the greatest speed of the tip along z, with q(T) = 0 and dx(T) = 0.

    Parameters
    ----------
    wrist : ElasticWrist
        Wrist, at rest at q = 0 at the start, as is the base.
    T : float
        Time of release [s].
    base : BaseLimits, optional
        Default ``BaseLimits()``.
    tip : float
        Distance of the object from the wrist's axis [m].
    cells : int
        Number of intervals of constant controls.
    linear : bool
        If True, use the linear model (80) in place of (79).
    starts, seed : int
        Number of starts and seed of their controls; the first start is at rest, the others have random controls.
    tolerance : float
        Relative tolerance of the speed.
    workers : Workers
        Where the searches from the starts are made, see `run_tasks`. The result does not depend on it.

    Returns
    -------
    JointThrow
        The best local optimum of all starts.

    Raises
    ------
    ThunderError
        On bad data, or if no program has a solution.

    Notes
    -----
    Hermite-Simpson collocation; the base, a double integrator, is exact. Each linear program uses the sparse analytic
    derivatives of the defects and steps within a trust region. Optima are local where (79) is not linear.

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, optimize_base_and_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> round(optimize_base_and_motor(wrist, 0.15, cells=20, starts=1).speed, 2)
    4.73
    """
    T, arm, n = positive(T, "T"), positive(tip, "tip"), whole(cells, "cells", 2)
    close, tries = positive(tolerance, "tolerance"), (whole(starts, "starts", 1), whole(seed, "seed", 0))
    of_kind(wrist, ElasticWrist, "wrist")
    if T / n * math.sqrt(wrist.k / wrist.I) > _COARSEST:
        raise ThunderError(
            f"cells must be more for T = {T:g} s, one may span at most a radian of the wrist's phase, got {n}"
        )
    limits = BaseLimits() if base is None else of_kind(base, BaseLimits, "base")
    problem = _Collocation(wrist, T / n, n, limits, arm, linear)
    optima = map_items(partial(problem.climb, tolerance=close), problem.starts(*tries), workers=workers)
    solved = sum(count for _, count in optima)
    feasible = [w for w, _ in optima if w is not None]
    if not feasible:
        raise ThunderError(f"base and wrist cannot throw in T = {T:g} s: the linear program has no solution")
    w = max(feasible, key=lambda one: problem.merit(one))
    states, controls = problem.split(w)
    last = _integrate(problem, states[0, :2], controls)
    return JointThrow(
        wrist=wrist, tip=arm, t=np.linspace(0.0, T, n + 1), states=states, controls=controls,
        speed=float(problem.objective @ w), residual=float(np.abs(problem.defects(w)).max()),
        defect=float(np.abs(last - states[-1, :2]).max()), iterations=solved,
    )  # fmt: skip


class _Collocation:
    """The discretized problem; its variables are all states, then all controls."""

    def __init__(self, wrist: ElasticWrist, h: float, n: int, base: BaseLimits, tip: float, linear: bool) -> None:
        self.wrist, self.h, self.n, self.linear = wrist, h, n, linear
        self.size = _STATES * (n + 1) + _CONTROLS * n
        self.objective = np.zeros(self.size)
        last = _STATES * n
        self.objective[last + 1], self.objective[last + 5] = tip, 1.0
        free = np.inf
        state = np.array([free, free, base.stroke, base.speed, base.stroke, base.speed])
        control = np.array([wrist.theta_max, base.acceleration, base.acceleration])
        self._high = np.concatenate([np.tile(state, n + 1), np.tile(control, n)])
        self._high[:_STATES] = 0.0
        self._high[[last, last + 3]] = 0.0
        self._reach = np.concatenate([np.tile([0.5, *5 * [free]], n + 1), np.tile(2.0 * control, n)])
        self._base = self._base_rows()

    def split(self, w: Array) -> tuple[Array, Array]:
        border = _STATES * (self.n + 1)
        return w[:border].reshape(-1, _STATES), w[border:].reshape(-1, _CONTROLS)

    def acceleration(self, q: Array, p: Array, u: Array) -> Array:
        model = self.wrist.linear_acceleration if self.linear else self.wrist.acceleration
        return model(q, p, u[..., 0], u[..., 1], u[..., 2])

    def starts(self, count: int, seed: int) -> list[Array]:
        rng = np.random.default_rng(seed)
        border, pieces = _STATES * (self.n + 1), -(-self.n // 8)
        result = [np.zeros(self.size)]
        for _ in range(count - 1):
            w = np.zeros(self.size)
            controls = np.repeat(rng.choice([-1.0, 1.0], (8, _CONTROLS)), pieces, axis=0)[: self.n].ravel()
            w[border:] = 0.5 * self._high[border:] * controls
            result.append(w)
        return result

    def climb(self, w: Array, tolerance: float) -> tuple[Array | None, int]:
        """Return a local optimum from w, None where a program has no solution, and the number of programs."""
        trust, merit = 1.0, -math.inf
        for solved in range(1, _MOST + 1):
            step = self.step(w, trust)
            if step is None and not math.isfinite(merit):
                return None, solved
            if step is None or self.objective @ (w + step) - merit < tolerance * (1.0 + abs(merit)):
                break
            value = self.merit(w + step)
            if value > merit:
                w, merit = w + step, value
            else:
                trust *= 0.4
        for _ in range(5):  # Newton steps, which reduce the remaining defects quadratically
            step = self.step(w, trust)
            if step is not None and np.abs(self.defects(w + step)).max() < np.abs(self.defects(w)).max():
                w = w + step
        return w, solved

    def step(self, w: Array, trust: float) -> Array | None:
        """Return the optimal step of the linear model; None if it is infeasible."""
        low, high = np.maximum(-self._high - w, -trust * self._reach), np.minimum(self._high - w, trust * self._reach)
        A = vstack([self._jacobian(w), self._base])
        b = -np.concatenate([self.defects(w).ravel(), self._base @ w])
        result = maximize(self.objective, low, np.maximum(low, high), A, b)
        return np.asarray(result.x) if result.success else None

    def merit(self, w: Array) -> float:
        return float(self.objective @ w - _WEIGHT * np.abs(self.defects(w)).sum())

    def defects(self, w: Array) -> Array:
        """Return the defects of Simpson's rule in q and dq, (n, 2)."""
        x, u = self.split(w)
        (q0, p0), (q1, p1), h = x[:-1, :2].T, x[1:, :2].T, self.h
        f0, f1 = self.acceleration(q0, p0, u), self.acceleration(q1, p1, u)
        qc, pc = 0.5 * (q0 + q1) + h / 8.0 * (p0 - p1), 0.5 * (p0 + p1) + h / 8.0 * (f0 - f1)
        fc = self.acceleration(qc, pc, u)
        return np.stack([q1 - q0 - h / 6.0 * (p0 + 4.0 * pc + p1), p1 - p0 - h / 6.0 * (f0 + 4.0 * fc + f1)], axis=-1)

    def _partials(self, q: Array, u: Array) -> Array:
        """Return the derivatives of the acceleration by q, dq, theta, ddx, ddz, (n, 5)."""
        s = self.wrist
        first, zero = s.m * s.r_c, np.zeros_like(q)
        along = first * (u[:, 1] - s.g * math.sin(s.alpha))
        across = first * (u[:, 2] + s.g * math.cos(s.alpha))
        sine, cosine = (q, zero + 1.0) if self.linear else (np.sin(q), np.cos(q))
        by_q = along - s.k if self.linear else -s.k + along * cosine + across * sine
        return np.stack([by_q, zero - s.c, zero + s.k, first * sine, -first * cosine], axis=-1) / s.I

    def _jacobian(self, w: Array) -> csr_array:
        """Return the derivative of the defects, (2 n, size)."""
        x, u = self.split(w)
        (q0, p0), (q1, p1), h = x[:-1, :2].T, x[1:, :2].T, self.h
        # columns: q0, p0, q1, p1, theta, ddx, ddz
        unit = np.broadcast_to(np.eye(7), (self.n, 7, 7))

        def total(partial: Array, q: Array, p: Array) -> Array:
            inputs = np.zeros((self.n, 7))
            inputs[:, 4:] = partial[:, 2:]
            return partial[:, :1] * q + partial[:, 1:2] * p + inputs

        F0 = total(self._partials(q0, u), unit[:, 0], unit[:, 1])
        F1 = total(self._partials(q1, u), unit[:, 2], unit[:, 3])
        Qc = 0.5 * (unit[:, 0] + unit[:, 2]) + h / 8.0 * (unit[:, 1] - unit[:, 3])
        Pc = 0.5 * (unit[:, 1] + unit[:, 3]) + h / 8.0 * (F0 - F1)
        middle = 0.5 * (q0 + q1) + h / 8.0 * (p0 - p1)
        Fc = total(self._partials(middle, u), Qc, Pc)
        rows = np.stack(
            [
                unit[:, 2] - unit[:, 0] - h / 6.0 * (unit[:, 1] + 4.0 * Pc + unit[:, 3]),
                unit[:, 3] - unit[:, 1] - h / 6.0 * (F0 + 4.0 * Fc + F1),
            ],
            axis=1,
        )
        k = np.arange(self.n)[:, None]
        border = _STATES * (self.n + 1)
        columns = np.concatenate(
            [_STATES * k + [0, 1], _STATES * (k + 1) + [0, 1], border + _CONTROLS * k + [0, 1, 2]], axis=1
        )
        shape = rows.shape
        column = np.broadcast_to(columns[:, None], shape)
        row = np.broadcast_to((2 * k + [0, 1])[..., None], shape)
        return coo_array((rows.ravel(), (row.ravel(), column.ravel())), shape=(2 * self.n, self.size)).tocsr()

    def _base_rows(self) -> Any:
        """Return the rows of the double integrators from cell to cell, (4 n, size)."""
        h, n = self.h, self.n
        before, after = np.zeros((4, _STATES)), np.zeros((4, _STATES))
        before[:, 2:], after[:, 2:] = -np.kron(np.eye(2), [[1.0, h], [0.0, 1.0]]), np.eye(4)
        zero: Any = coo_array((4 * n, _STATES))
        states = hstack([block_diag([before] * n), zero]) + hstack([zero, block_diag([after] * n)])
        control = np.zeros((4, _CONTROLS))
        control[:2, 1] = control[2:, 2] = [-0.5 * h**2, -h]
        return csr_array(hstack([states, block_diag([control] * n)]))


def _integrate(problem: _Collocation, start: Array, controls: Array) -> Array:
    x = start
    for u in controls:

        def rate(_: float, y: Array, u: Array = u) -> Array:
            return np.array([y[1], float(problem.acceleration(y[0], y[1], u))])

        x = np.asarray(integrate(rate, (0.0, problem.h), x, rtol=1e-11, atol=1e-12).y[:, -1])
    return x
