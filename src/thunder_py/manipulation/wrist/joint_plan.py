"""Joint optimization of the motions of base and motor with the planar model, by successive linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...checks import Array, of_kind, positive, whole
from ...errors import ThunderError
from ...integration import integrate
from ...parallel import Workers, map_items
from ...values import Value, set_fields
from .model import ElasticWrist
from .motor_plan import Acceleration, Program, Rollout, maximize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    defect : float
        Largest difference of q and dq at T from an integration of the model under the controls (DOP853) [rad, rad/s].
    iterations : int
        Number of linear programs solved.

    Examples
    --------
    >>> from thunder_py.manipulation.wrist import ElasticWrist, optimize_base_and_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> both = optimize_base_and_motor(wrist, 0.15, cells=20, starts=1)
    >>> both.states.shape, both.controls.shape, bool(abs(both.states[-1, 0]) < 1e-6), both.defect < 1e-3
    ((21, 6), (20, 3), True, True)
    >>> q, dq, x, dx, z, dz = both.states[-1]
    >>> bool(abs(both.speed - (dz + both.tip * dq)) < 1e-9)
    True
    """

    wrist: ElasticWrist
    tip: float
    t: Array
    states: Array
    controls: Array
    speed: float
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
    n = whole(cells, "cells", 2)
    A, b, last = _base_rows(positive(T, "T") / n, n, limits)
    most = np.full(n, limits.acceleration)
    result = maximize(last, -most, most, np.zeros((0, n)), np.zeros(0), A, b)
    return -float(result.fun)


def _base_rows(h: float, n: int, limits: BaseLimits) -> tuple[Array, Array, Array]:
    """Return rows ``A ddx <= b`` of speed and stroke along an axis, and the row of the speed at the end."""
    W = h * np.tril(np.ones((n, n)))
    Z = np.tril(h**2 * (np.arange(n)[:, None] - np.arange(n) + 0.5))
    return np.concatenate([W, -W, Z, -Z]), np.repeat([limits.speed, limits.stroke], 2 * n), W[-1]


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
    Single shooting: each cell is a step of RK4, the base, a double integrator, is exact. Each linear program steps
    within a trust region, as in `plan_motor`. Optima are local where (79) is not linear.

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
    program = _program(wrist, T / n, n, limits, arm, linear)
    optima = map_items(partial(program.climb, tolerance=close), _starts(program, n, *tries), workers=workers)
    feasible = [(u, x) for u, x, _ in optima if u is not None]
    if not feasible:
        raise ThunderError(f"base and wrist cannot throw in T = {T:g} s: the linear program has no solution")
    u, x = max(feasible, key=lambda one: program.value(*one))
    rows = T / n * np.cumsum(u[:, 1:], axis=0)
    speeds = np.concatenate([np.zeros((1, 2)), rows])
    places = np.concatenate([np.zeros((1, 2)), T / n * np.cumsum(0.5 * (speeds[1:] + speeds[:-1]), axis=0)])
    states = np.column_stack([x, places[:, 0], speeds[:, 0], places[:, 1], speeds[:, 1]])
    return JointThrow(
        wrist=wrist, tip=arm, t=np.linspace(0.0, T, n + 1), states=states, controls=u, speed=program.value(u, x),
        defect=float(np.abs(_integrate(_model(wrist, linear), T / n, u) - x[-1]).max()),
        iterations=sum(count for *_, count in optima),
    )  # fmt: skip


def _model(wrist: ElasticWrist, linear: bool) -> Acceleration:
    return partial(_acceleration, wrist.linear_acceleration if linear else wrist.acceleration)


def _acceleration(model: Callable[..., Array], t: Array, q: Array, dq: Array, u: Array) -> Array:
    return model(q, dq, u[..., 0], u[..., 1], u[..., 2])


def _program(wrist: ElasticWrist, h: float, n: int, base: BaseLimits, tip: float, linear: bool) -> Program:
    """Return the problem; its controls are theta, ddx and ddz in each cell, flattened."""
    A, b, last = _base_rows(h, n, base)
    of = np.eye(3)[:, None]
    high = np.tile([wrist.theta_max, base.acceleration, base.acceleration], n)
    rollout = Rollout(_model(wrist, linear), np.linspace(0.0, h * n, n + 1), np.zeros(2))
    return Program(
        rollout, -high, high, np.kron(last, of[2, 0]), tip,
        A_ub=np.concatenate([np.kron(A, of[1]), np.kron(A, of[2])]), b_ub=np.tile(b, 2),
        A_eq=np.kron(last[None], of[1]), b_eq=np.zeros(1),
    )  # fmt: skip


def _starts(program: Program, n: int, count: int, seed: int) -> list[Array]:
    rng, pieces = np.random.default_rng(seed), -(-n // 8)
    signs = (rng.choice([-1.0, 1.0], (8, 3)) for _ in range(count - 1))
    drawn = [0.5 * program.high.reshape(n, 3) * np.repeat(one, pieces, axis=0)[:n] for one in signs]
    return [np.zeros((n, 3)), *drawn]


def _integrate(acceleration: Acceleration, h: float, controls: Array) -> Array:
    x = np.zeros(2)
    for u in controls:

        def rate(t: float, y: Array, u: Array = u) -> Array:
            return np.array([y[1], float(acceleration(np.asarray(t), y[0], y[1], u))])

        x = np.asarray(integrate(rate, (0.0, h), x, rtol=1e-11, atol=1e-12).y[:, -1])
    return x
