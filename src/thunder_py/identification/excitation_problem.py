"""The excitation of base parameters as a problem of smooth optimisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot
from .criteria import criterion_by_states, torques_by_states
from .fourier import FourierBasis
from .limits import MotionLimits, soft_maximum

__all__ = ["ExcitationProblem"]


@dataclass(frozen=True)
class ExcitationProblem:
    """The optimisation: x holds q0 and coefficients, both as parts of the range of each joint."""

    robot: Robot
    columns: npt.NDArray[np.intp]
    criterion: str
    limits: MotionLimits
    basis: FourierBasis
    fine: FourierBasis

    def unpack(self, x: Array) -> tuple[Array, Array]:
        """Return q0 and the coefficients that x stands for."""
        table = x.reshape(self.basis.size + 1, self.robot.n) * self.limits.half_range
        return self.limits.centre + table[0], table[1:]

    def pack_gradient(self, gradients: list[Array]) -> Array:
        """Return the gradient by x of what has these by the states."""
        q0, c = self.basis.pull_back(gradients)
        return (np.concatenate([q0[None], c]) * self.limits.half_range).ravel()

    def start(self, rng: np.random.Generator) -> Array:
        """Draw a random motion, well within the limits of position, velocity and acceleration."""
        table = rng.normal(size=(self.basis.size + 1, self.robot.n))
        table[0] = rng.uniform(-0.3, 0.3, self.robot.n)
        half = self.limits.half_range
        position, velocity, acceleration = (S @ (table[1:] * half) for S in self.basis.S)
        sizes = (
            soft_maximum(position / half)[0] / 0.6,
            soft_maximum(velocity / self.limits.velocity)[0] / 0.9,
            soft_maximum(acceleration / self.limits.acceleration)[0] / 0.9,
        )
        table[1:] /= np.max(sizes, axis=0)
        return table.ravel()

    def objective(self, x: Array) -> tuple[float, Array]:
        """Return the criterion and its gradient."""
        states = self.basis.states(*self.unpack(x))
        value, gradients = criterion_by_states(self.robot, self.columns, self.criterion, states)
        return value, self.pack_gradient(gradients)

    def _finite(self) -> list[tuple[int, Array, Array]]:
        """Which state, its size and the middle of its range, where there is a limit at all."""
        zero, one = np.zeros(self.robot.n), self.limits
        kinds = [(0, one.half_range, one.centre), (1, one.velocity, zero), (2, one.acceleration, zero)]
        return [kind for kind in kinds if np.isfinite(kind[1]).any()]

    def constraints(self, x: Array) -> tuple[Array, Array]:
        """One minus the soft maximum of each signal over its limit, and the derivatives by x."""
        states = self.basis.states(*self.unpack(x))
        values, rows = [], []
        for which, size, middle in self._finite():
            value, gradient = soft_maximum((states[which] - middle) / size)
            for joint in np.flatnonzero(np.isfinite(size)):
                parts = [np.zeros_like(state) for state in states]
                parts[which][:, joint] = -gradient[:, joint] / size[joint]
                values.append(1.0 - value[joint])
                rows.append(self.pack_gradient(parts))
        if np.isfinite(self.limits.effort).any():
            tau, by_states = torques_by_states(self.robot, states)
            value, gradient = soft_maximum(tau / self.limits.effort)
            for joint in np.flatnonzero(np.isfinite(self.limits.effort)):
                pull = -gradient[:, joint, None] / self.limits.effort[joint]
                values.append(1.0 - value[joint])
                rows.append(self.pack_gradient([pull * part[:, joint] for part in by_states]))
        return np.array(values), np.array(rows)

    def search(self, x: Array, iterations: int, report: Callable[[float], object]) -> tuple[Array, Array]:
        """Minimise from x; the way, and where it ends."""
        from scipy.optimize import minimize

        seen: dict[bytes, float] = {}
        history = [self.objective(x)[0]]

        def objective(at: Array) -> tuple[float, Array]:
            value, gradient = self.objective(at)
            seen[at.tobytes()] = value
            return value, gradient

        def callback(at: Array) -> None:
            history.append(seen.get(at.tobytes(), history[-1]))
            report(len(history) / (iterations + 1))

        bounded: Any = {
            "type": "ineq",
            "fun": lambda at: self.constraints(at)[0],
            "jac": lambda at: self.constraints(at)[1],
        }
        slsqp: Any = minimize  # its stubs know no constraints beside jac=True
        found = slsqp(
            objective,
            x,
            jac=True,
            method="SLSQP",
            constraints=bounded,
            options={"maxiter": int(iterations), "ftol": 1e-6},
            callback=callback,
        )
        report(1.0)
        return np.asarray(found.x, dtype=np.float64), np.array(history)

    def margins(self, x: Array) -> dict[str, Array]:
        """Return what remains of each limit on the fine grid."""
        q, dq, ddq = self.fine.states(*self.unpack(x))
        limits = self.limits
        signals = {
            "position": ((q - limits.centre) / limits.half_range),
            "velocity": dq / limits.velocity,
            "acceleration": ddq / limits.acceleration,
            "effort": self.robot.inverse_dynamics(q, dq, ddq) / limits.effort,
        }
        return {name: 1.0 - np.abs(values).max(axis=0) for name, values in signals.items()}

    def fine_margin(self, x: Array) -> float:
        """Return the least of all margins."""
        return float(min(values.min() for values in self.margins(x).values()))

    def shrunk(self, x: Array) -> Array:
        """Make the motion smaller until it keeps its limits: the optimiser may stop a little outside."""
        table = x.reshape(self.basis.size + 1, self.robot.n).copy()
        table[0] = np.clip(table[0], -0.95, 0.95)
        for _ in range(20):
            margin = self.fine_margin(table.ravel())
            if margin >= 0.0:
                break
            table[1:] *= max(1.0 + 1.1 * margin, 0.5)
        return table.ravel()
