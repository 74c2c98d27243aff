"""Optimal motion of the motor for a nonlinear wrist or a moving base, by successive linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack

from ...checks import Array, array, finite, is_number, positive, whole
from ...errors import ReleaseError, ThunderError
from ...integration import rk4_step
from ...values import Value
from .motor import MotorMotion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def maximize(objective: Array, low: Array, high: Array, A: Any, b: Array, A_ub: Any = None, b_ub: Any = None) -> Any:
    """Maximize ``objective @ x`` with ``A x = b``, ``A_ub x <= b_ub``, low <= x <= high; return SciPy's result.

    Parameters
    ----------
    objective, low, high : (n,) array
        Coefficients of the objective; lower and upper bounds of the variables.
    A, A_ub : (m, n) array or sparse array
        Rows of the equalities A x = b and of the inequalities A_ub x <= b_ub.
    b, b_ub : (m,) array
        Their right-hand sides.
    """
    bounds: Any = list(zip(low.tolist(), high.tolist(), strict=True))
    options: Any = _OPTIONS
    return linprog(-objective, A_ub=A_ub, b_ub=b_ub, A_eq=A, b_eq=b, bounds=bounds, method="highs", options=options)


#: acceleration of the wrist [rad/s^2] as a function of time, angle, rate and motor angle
Acceleration = Callable[[Array, Array, Array, Array], Array]
_STEP = 1e-6
#: weight of q(T) against dq(T) in the merit of a step [1/s]
_WEIGHT = 1e3
_MOST = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class MotorPlan(Value):
    """Optimal motion of the motor found by `plan_motor`.

    Attributes
    ----------
    motor : MotorMotion
        The control.
    t, q, dq : (cells + 1,) array
        Motion of the wrist, integrated cell by cell [s, rad, rad/s].
    speed : float
        dq(T) [rad/s].
    miss : float
        q(T) [rad], zero to the tolerance.
    iterations : int
        Number of linear programs solved.

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, plan_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> plan = plan_motor(lambda t, q, dq, theta: wrist.linear_acceleration(q, dq, theta), 0.15, 0.6, cells=20)
    >>> abs(plan.miss) < 1e-7, plan.t.shape, round(float(plan.motor(0.0)), 3)
    (True, (21,), -0.6)
    """

    motor: MotorMotion
    t: Array
    q: Array
    dq: Array
    speed: float
    miss: float
    iterations: int

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw motor and wrist.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"position"`` and ``"velocity"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_plan

        return plot_plan(self, axes=axes)


def plan_motor(
    acceleration: Acceleration,
    T: float,
    theta_max: float,
    *,
    begin: float = 0.0,
    start: npt.ArrayLike = (0.0, 0.0),
    cells: int = 200,
    rate: float = math.inf,
    theta0: float | None = None,
    tolerance: float = 1e-8,
) -> MotorPlan:
    """Optimize the motion of the motor for the greatest dq(T), with q(T) = 0.

    Parameters
    ----------
    acceleration : callable
        ``acceleration(t, q, dq, theta)``, each (k,), returns ddq (k,): that of `CarriedWrist`, or that of
        `ElasticWrist` with a motion of the base.
    T : float
        Duration from `begin` to release [s].
    theta_max : float
        Bound of the motor's angle [rad].
    begin : float
        Time of the start [s].
    start : (2,) array_like
        q and dq at the start [rad, rad/s].
    cells : int
        Number of equal parts of T. In each the motor angle is constant, or changes linearly if its speed is bounded.
    rate : float
        Bound of the motor's speed [rad/s]; infinite allows jumps.
    theta0 : float, optional
        Motor angle at the start for a bounded speed [rad]; default free.
    tolerance : float
        Tolerance of q(T) [rad] and relative tolerance of the speed.

    Returns
    -------
    MotorPlan
        Motion of motor and wrist.

    Raises
    ------
    ThunderError
        On bad data.
    ReleaseError
        If no motion reaches q(T) = 0.

    Notes
    -----
    Each cell is a step of RK4. Derivatives by central differences make q(T) and dq(T) linear in the controls. The
    linear program (HiGHS) steps within a trust region, which shrinks after a step that lowers the merit. A linear
    wrist is solved by the first program.

    Examples
    --------
    >>> from thunder_py.manipulation import ElasticWrist, plan_motor
    >>> wrist = ElasticWrist(I=0.012, k=5.0, m=0.7, r_c=0.09, c=0.03)
    >>> plan = plan_motor(lambda t, q, dq, theta: wrist.acceleration(q, dq, theta), 0.15, wrist.theta_max, cells=50)
    >>> round(plan.speed, 2), abs(plan.miss) < 1e-7
    (21.01, True)
    """
    T, bound, count = positive(T, "T"), positive(theta_max, "theta_max"), whole(cells, "cells", 2)
    begin, tolerance = finite(begin, "begin"), positive(tolerance, "tolerance")
    if not is_number(rate) or not rate > 0.0:
        raise ThunderError(f"rate must be positive, got {rate!r}")
    t = np.linspace(begin, begin + T, count + 1)
    rollout = Rollout(acceleration, t, array(start, (2,), "start"), math.isfinite(rate))
    size = t.size if rollout.sloped else count
    if theta0 is not None and not (is_number(theta0) and abs(theta0) <= bound):
        raise ThunderError(f"theta0 must be within plus and minus theta_max = {bound:g}, got {theta0!r}")
    low, high = np.full((2, size), [[-bound], [bound]])
    rows: dict[str, Any] = {}
    if rollout.sloped:
        if theta0 is not None:
            low[0] = high[0] = theta0
        D: Any = diags_array([-np.ones(count), np.ones(count)], offsets=[0, 1], shape=(count, size))
        rows = {"A_ub": vstack([D, -D]), "b_ub": np.full(2 * count, rate * T / count)}
    program = Program(rollout, low, high, np.zeros(size), **rows)
    theta, x, solved = program.climb(np.full(size, 0.0 if theta0 is None else theta0), tolerance)
    if theta is None:
        raise ReleaseError(
            f"no motion of the motor within {bound:g} rad and {rate:g} rad/s returns the wrist to q = 0 at T = {T:g} s",
            "motor",
        )
    motor = MotorMotion.through(rollout.t, theta, held=not rollout.sloped)
    return MotorPlan(
        motor=motor, t=rollout.t, q=x[:, 0], dq=x[:, 1], speed=float(x[-1, 1]), miss=float(x[-1, 0]), iterations=solved
    )


class Rollout:
    """Motion of the wrist from cell to cell as a function of its controls, in steps of RK4.

    Parameters
    ----------
    acceleration : callable
        ``acceleration(t, q, dq, u)`` (k,) of the wrist, with the controls u of shape (k,) or (k, m).
    t : (cells + 1,) array
        Ends of the cells [s].
    start : (2,) array
        q and dq at the start [rad, rad/s].
    sloped : bool
        If True, the controls are given at the ends of the cells, and change linearly between them.
    """

    def __init__(self, acceleration: Acceleration, t: Array, start: Array, sloped: bool = False) -> None:
        self._acceleration, self.t, self._start, self.sloped = acceleration, t, start, sloped

    def __call__(self, u: Array) -> Array:
        """Return the states at the ends of the cells, (cells + 1, 2)."""
        x = np.empty((self.t.size, 2))
        x[0] = self._start
        first, last = self._ends(u)
        for k in range(self.t.size - 1):
            one = slice(k, k + 1)
            x[k + 1] = self._step(self.t[one], x[one], first[one], last[one])[0]
        return x

    def checked(self, u: Array) -> Array:
        """Return the states of the first controls; raise if they are not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            x = self(u)
            slope = self.gradient(u, x)
        if not (np.isfinite(x).all() and np.isfinite(slope).all()):
            raise ThunderError(
                f"acceleration must be finite, and cells must be short enough for RK4, got divergence in "
                f"{self.t.size - 1} cells of {self.t[1] - self.t[0]:g} s"
            )
        return x

    def gradient(self, u: Array, x: Array) -> Array:
        """Return the derivative of the last state by the controls, (2, u.size)."""
        first, last = self._ends(u)
        t, states = self.t[:-1], x[:-1]

        def difference(dx: Array, da: Array, db: Array) -> Array:
            ahead = self._step(t, states + dx, first + da, last + db)
            return np.asarray((ahead - self._step(t, states - dx, first - da, last - db)) / (2.0 * _STEP))

        still, units = np.zeros(u.shape[1:]), _STEP * np.eye(u[0].size).reshape(-1, *u.shape[1:])
        A = np.stack([difference(_STEP * e, still, still) for e in np.eye(2)], axis=-1)
        both = [(unit, unit) for unit in units]
        if self.sloped:
            both = [(units[0], still), (still, units[0])]
        B = np.stack([difference(np.zeros(2), da, db) for da, db in both], axis=-1)
        transition, rows = np.eye(2), np.empty((len(t), 2, len(both)))
        for k in range(len(t) - 1, -1, -1):
            rows[k] = transition @ B[k]
            transition = transition @ A[k]
        if not self.sloped:
            return np.asarray(rows.transpose(1, 0, 2).reshape(2, -1))
        by_end = np.zeros((2, u.size))
        by_end[:, :-1] += rows[:, :, 0].T
        by_end[:, 1:] += rows[:, :, 1].T
        return by_end

    def _ends(self, u: Array) -> tuple[Array, Array]:
        return (u[:-1], u[1:]) if self.sloped else (u, u)

    def _step(self, t: Array, x: Array, first: Array, last: Array) -> Array:
        h = float(self.t[1] - self.t[0])

        def rate(s: float, y: Array) -> Array:
            return np.stack(
                [y[:, 1], self._acceleration(t + s, y[:, 0], y[:, 1], first + s / h * (last - first))], axis=-1
            )

        return rk4_step(rate, 0.0, x, h)


@dataclass(frozen=True, eq=False)
class Program:
    """Maximize ``gain dq(T) + objective @ u`` with q(T) = 0, linear rows and bounds, by successive linear programs.

    Attributes
    ----------
    rollout : Rollout
        Motion of the wrist as a function of the controls.
    low, high : (s,) array
        Bounds of the controls, flattened; the trust region is proportional to `high`.
    objective : (s,) array
        Coefficients of the controls.
    gain : float
        Coefficient of dq(T).
    A_ub, b_ub, A_eq, b_eq : array or sparse array
        Rows ``A_ub u <= b_ub`` and ``A_eq u = b_eq``.
    """

    rollout: Rollout
    low: Array
    high: Array
    objective: Array
    gain: float = 1.0
    A_ub: Any = None
    b_ub: Any = None
    A_eq: Any = None
    b_eq: Any = None

    def value(self, u: Array, x: Array) -> float:
        """Return the objective."""
        return float(self.gain * x[-1, 1] + self.objective @ u.ravel())

    def climb(self, u: Array, tolerance: float) -> tuple[Array | None, Array, int]:
        """Return optimal controls (None if the first program is infeasible), their states, the number of programs."""
        x, trust, merit = self.rollout.checked(u), 2.0, -math.inf
        for solved in range(1, _MOST + 1):
            gradient = self.rollout.gradient(u, x)
            step = self._best_step(gradient, x[-1], u.ravel(), trust)
            if step is None:
                return (None if solved == 1 else u), x, solved
            linear = self.value(u, x) + (self.gain * gradient[1] + self.objective) @ step
            if linear - merit < tolerance * (1.0 + abs(merit)):
                break
            new = u + step.reshape(u.shape)
            states = self.rollout(new)
            value = self.value(new, states) - self.gain * _WEIGHT * abs(float(states[-1, 0]))
            if value > merit:
                u, x, merit = new, states, value
            else:
                trust *= 0.3
        return u, x, solved

    def _best_step(self, gradient: Array, end: Array, u: Array, trust: float) -> Array | None:
        """Return the optimal step of the linear model within the trust region; None if it is infeasible."""
        reach = trust * np.abs(self.high)
        low, high = np.maximum(self.low - u, -reach), np.minimum(self.high - u, reach)
        A_eq, b_eq = gradient[:1], -end[:1]
        if self.A_eq is not None:
            A_eq, b_eq = np.concatenate([A_eq, self.A_eq]), np.concatenate([b_eq, self.b_eq - self.A_eq @ u])
        b_ub = None if self.A_ub is None else self.b_ub - self.A_ub @ u
        objective = self.gain * gradient[1] + self.objective
        result = maximize(objective, low, np.maximum(low, high), A_eq, b_eq, self.A_ub, b_ub)
        return np.asarray(result.x) if result.success else None
