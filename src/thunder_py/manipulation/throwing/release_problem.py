"""The choice of a release as a problem of smooth optimisation over q, dq and the time of flight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...identification.limits import MotionLimits
from ...robot import Robot
from .ballistics import GRAVITY, release_velocity
from .release import ROOM, HandAcceleration, HandState, Palm, ReleaseNoise, hand_states

__all__ = ["ReleaseProblem", "Solved"]

#: of the limits that the optimiser may use: room for its tolerance, and for what motions keep free, see `ROOM`
_ROOM = 1.0 - 1.5 * ROOM
_TOLERANCE = 0.25 * ROOM
_SHORTEST, _LONGEST = 0.02, 5.0  # flights [s]
_STEP = 1e-6  # of central differences
_POWER = 12  # of the norm that stands for the largest part


class Solved(NamedTuple):
    """Where a search ended.

    Attributes
    ----------
    q, dq : (n,) array
        With velocities that throw exactly at the aim.
    flight_time : float
        [s].
    value : float
        Of the objective.
    """

    q: Array
    dq: Array
    flight_time: float
    value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseProblem:
    """x = (q, dq, T): a hand at p(q) that throws at the target in a time T must have v = (target - p) / T - g T / 2.

    Attributes
    ----------
    robot, aim, limits, frame, objective, angle, palm, spin_free, acceleration, region, noise
        As in `find_releases`; aim is where the flight without drag ends.
    full : MotionLimits
        The limits that ``"limits"`` counts in, where `limits` are looser.
    """

    robot: Robot
    aim: Array
    limits: MotionLimits
    frame: int | str | None
    objective: str
    angle: float | None
    palm: Palm | None
    spin_free: bool
    acceleration: HandAcceleration
    region: Array | None
    noise: ReleaseNoise
    full: MotionLimits

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Return q, dq and T of points (..., 2 n + 1)."""
        n = self.robot.n
        return x[..., :n], x[..., n : 2 * n], x[..., -1]

    def hand(self, q: Array, dq: Array) -> HandState:
        """Return what the hand does."""
        return hand_states(
            self.robot, q, dq, frame=self.frame, spin_free=self.spin_free, acceleration=self.acceleration
        )

    def wanted(self, p: Array, T: Array) -> Array:
        """Return the velocity that takes an object from p to the aim in T, (..., 3)."""
        v = (self.aim - p) / T[..., None]
        v[..., 2] += 0.5 * GRAVITY * T
        return np.asarray(v)

    def cost(self, x: Array) -> Array:
        """Return the objective at points, (...)."""
        q, dq, T = self.split(x)
        if self.objective == "velocity":
            return np.asarray(np.mean((dq / self.limits.velocity) ** 2, axis=-1))
        if self.objective == "limits":
            parts = np.concatenate(list(self.uses(q, dq).values()), axis=-1)
            most = np.maximum(np.abs(parts).max(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
            return np.asarray(most[..., 0] * np.sum((parts / most) ** _POWER, axis=-1) ** (1.0 / _POWER))
        return 100.0 * self.deviation(q, dq, T)  # [cm]: of the size of 1

    def uses(self, q: Array, dq: Array) -> dict[str, Array]:
        """Return how much of each limit is used, (..., n) each, plus and minus, nothing of what has no limit."""
        hand, full = self.hand(q, dq), self.full
        return {
            "velocity": dq / full.velocity,
            "acceleration": hand.ddq / full.acceleration,
            "effort": hand.tau / full.effort,
        }

    def deviation(self, q: Array, dq: Array, T: Array) -> Array:
        """Return the standard deviation of the landing under the noise, both directions together, (...) [m]."""
        hand = self.hand(q, dq)
        impact = GRAVITY * T - hand.v[..., 2]
        by_p = np.zeros((*np.shape(T), 2, 3))
        by_p[..., 0, 0] = by_p[..., 1, 1] = 1.0
        by_p[..., 2] = hand.v[..., :2] / impact[..., None]
        by_v = T[..., None, None] * by_p
        J, n = hand.J[..., :3, :], self.robot.n
        each = np.broadcast_to(np.eye(n), (*np.shape(T), n, n))
        rates = self.robot.jacobian_dot(np.broadcast_to(q[..., None, :], each.shape), each, self.frame)[..., :3, :]
        dv_dq = np.swapaxes((rates @ dq[..., None, :, None])[..., 0], -1, -2)  # of J dq by each joint
        bias = (self.robot.jacobian_dot(q, dq, self.frame)[..., :3, :] @ dq[..., None])[..., 0]
        a = (J @ hand.ddq[..., None])[..., 0] + bias
        time = (by_p @ hand.v[..., None] + by_v @ a[..., None])[..., 0]
        parts = (
            (self.noise.position, by_p @ J + by_v @ dv_dq),
            (self.noise.velocity, by_v @ J),
            (self.noise.time, time[..., None]),
        )
        return np.asarray(np.sqrt(sum(s**2 * np.sum(A**2, axis=(-2, -1)) for s, A in parts)))

    def equalities(self, x: Array) -> Array:
        """Return what must vanish, (..., m)."""
        q, dq, T = self.split(x)
        hand = self.hand(q, dq)
        v = self.wanted(hand.p, T)
        rows = [hand.v - v]
        if self.spin_free:
            rows.append((hand.J[..., 3:, :] @ dq[..., None])[..., 0])
        if self.angle is not None:
            up = v[..., 2] * np.cos(self.angle) - np.linalg.norm(v[..., :2], axis=-1) * np.sin(self.angle)
            rows.append(up[..., None])
        return np.concatenate(rows, axis=-1)

    def inequalities(self, x: Array) -> Array:
        """Return what must not be negative, (..., m)."""
        q, dq, T = self.split(x)
        hand = self.hand(q, dq)
        # the object comes down on the target, it does not pass it on its way up
        rows = [(0.5 * GRAVITY * T**2 - self.aim[2] + hand.p[..., 2])[..., None]]
        for values, limit in ((hand.ddq, self.limits.acceleration), (hand.tau, self.limits.effort)):
            finite = np.isfinite(limit)
            part = values[..., finite] / limit[finite]
            rows += [_ROOM - part, _ROOM + part]
        if self.palm is not None:
            v = self.wanted(hand.p, T)
            out = hand.R @ np.asarray(self.palm.axis)
            along = np.sum(out * v, axis=-1) / np.maximum(np.linalg.norm(v, axis=-1), 1e-9)
            rows.append((along - np.cos(self.palm.angle * _ROOM))[..., None])
        if self.region is not None:
            rows += [hand.p - self.region[0], self.region[1] - hand.p]
        return np.concatenate(rows, axis=-1)

    def _slope(self, f: Callable[[Array], Array], x: Array) -> Array:
        steps = _STEP * np.eye(x.size)
        values = f(np.concatenate([x + steps, x - steps]))
        return np.asarray(((values[: x.size] - values[x.size :]) / (2.0 * _STEP)).T)

    def start(self, rng: np.random.Generator) -> Array:
        """Draw a posture and the velocity that throws at the aim with the least speed from there."""
        q = self.limits.centre + rng.uniform(-0.8, 0.8, self.robot.n) * self.limits.half_range
        p = self.robot.forward_kinematics(q, self.frame)[:3, 3]
        v = release_velocity(p, self.aim)
        J = self.robot.jacobian(q, self.frame)[:3]
        dq = np.clip(np.linalg.pinv(J, rcond=1e-2) @ v, -self.limits.velocity, self.limits.velocity)
        return np.concatenate([q, dq, [np.clip(self._flight_time(p, v), _SHORTEST, _LONGEST)]])

    def _flight_time(self, p: Array, v: Array) -> float:
        forward = float(np.linalg.norm(v[:2]))
        if forward > 1e-6:
            return float(np.linalg.norm((self.aim - p)[:2])) / forward
        return float(np.sqrt(2.0 * max(p[2] - self.aim[2], 0.0) / GRAVITY))

    def search(self, x0: Array, iterations: int, *, scaled: bool = False) -> Solved | None:
        """Minimise from a start; None where no throw within the limits was found.

        The optimiser's tolerances are for costs of the size of 1: `scaled` divides them by the cost of the start.
        """
        from scipy.optimize import Bounds, minimize

        limits, room = self.limits, _ROOM
        half, rates = room * limits.half_range, room * limits.velocity
        lower = np.concatenate([limits.centre - half, -rates, [_SHORTEST]])
        upper = np.concatenate([limits.centre + half, rates, [_LONGEST]])
        slsqp: Any = minimize  # its stubs know no constraints as dicts with gradients
        scale = (float(self.cost(x0)) if scaled else 0.0) or 1.0
        found = slsqp(
            lambda x: float(self.cost(x)) / scale,
            x0,
            jac=lambda x: self._slope(self.cost, x) / scale,
            method="SLSQP",
            bounds=Bounds(lower, upper),
            constraints=[
                {"type": kind, "fun": f, "jac": lambda x, f=f: self._slope(f, x)}
                for kind, f in (("eq", self.equalities), ("ineq", self.inequalities))
            ],
            options={"maxiter": iterations, "ftol": 1e-8},
        )
        x = np.asarray(found.x)
        if not np.isfinite(x).all() or np.abs(self.equalities(x)).max() > 1e-4:
            return None
        x = self.exact(x)
        kept = self.inequalities(x).min(initial=0.0) >= -_TOLERANCE
        inside = (np.abs(x[self.robot.n : -1]) <= (_ROOM + _TOLERANCE) * limits.velocity).all()
        return self.solved(x) if kept and inside else None

    def solved(self, x: Array) -> Solved:
        """Return a point with its value."""
        q, dq, T = self.split(x)
        value = float(self.deviation(q, dq, T) if self.objective == "sensitivity" else self.cost(x))
        return Solved(q, dq, float(T), value)

    def exact(self, x: Array) -> Array:
        """Return the same posture and flight with velocities that throw exactly at the aim."""
        q, dq, T = self.split(x)
        T_hand, J = self.robot.forward_kinematics(q, self.frame), self.robot.jacobian(q, self.frame)
        p = T_hand[:3, 3]
        v = self.wanted(p, T) if self.angle is None else release_velocity(p, self.aim, angle=self.angle)
        twist = np.concatenate([v, np.zeros(3)])[: 6 if self.spin_free else 3]
        J = J[: twist.size]
        moved: npt.NDArray[np.float64] = dq + np.linalg.pinv(J) @ (twist - J @ dq)
        return np.concatenate([q, moved, [self._flight_time(p, v) if self.angle is not None else float(T)]])
