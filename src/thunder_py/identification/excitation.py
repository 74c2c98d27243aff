"""Excitation of the base parameters as a smooth optimization problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot

if TYPE_CHECKING:
    from ..trajectory import FourierSeries, MotionLimits

#: step of central differences in q, dq and ddq: regressors are smooth and of size one
_STEP = 1e-5


def _spectrum(W: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of W'W, with half of the digits of an SVD of W and quicker."""
    # a sum of small products, which BLAS does not split over threads
    values, vectors = np.linalg.eigh(np.sum(np.swapaxes(W, 1, 2) @ W, axis=0))
    return np.maximum(values, np.finfo(np.float64).eps * values[-1]), vectors


def log_condition(W: Array) -> tuple[float, Array]:
    """Return the log condition number of stacked regressors, (k, n, b), and its gradient with respect to them."""
    values, V = _spectrum(W)
    low, high = V[:, 0], V[:, -1]
    gradient = (W @ high)[..., None] * (high / values[-1]) - (W @ low)[..., None] * (low / values[0])
    return float(0.5 * np.log(values[-1] / values[0])), gradient


def d_optimality(W: Array) -> tuple[float, Array]:
    """Return -log det(W'W) per column and its gradient; small values mean small confidence ellipsoids."""
    values, V = _spectrum(W)
    return float(-np.log(values).mean()), W @ ((V / values) @ V.T * (-2.0 / values.size))


CRITERIA: dict[str, Callable[[Array], tuple[float, Array]]] = {"condition": log_condition, "d_optimal": d_optimality}


def _central_differences(function: Callable[..., Array], states: Sequence[Array]) -> list[list[Array]]:
    """Differentiate a batched function by each entry of q, dq and ddq: three lists of n arrays."""
    derivatives: list[list[Array]] = [[], [], []]
    for which, state in enumerate(states):
        for joint in range(state.shape[1]):
            step = np.zeros(state.shape[1])
            step[joint] = _STEP
            ahead, back = list(states), list(states)
            ahead[which], back[which] = state + step, state - step
            derivatives[which].append((function(*ahead) - function(*back)) / (2.0 * _STEP))
    return derivatives


def criterion_by_states(
    robot: Robot, columns: npt.NDArray[np.intp], criterion: str, states: Sequence[Array]
) -> tuple[float, list[Array]]:
    """Return the criterion of the stacked columns of Y, and its gradients by q, dq and ddq, each (k, n)."""
    k, n = states[0].shape
    value, by_W = CRITERIA[criterion](robot.regressor(*states)[..., columns] / np.sqrt(k))
    weights = np.zeros((k, n, robot.p))
    weights[..., columns] = by_W / np.sqrt(k)

    def contraction(*at: Array) -> Array:
        return np.asarray(np.einsum("kij,kij->k", weights, robot.regressor(*at)))

    return value, [np.stack(parts, axis=1) for parts in _central_differences(contraction, states)]


def torques_by_states(robot: Robot, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return torques (k, n), and their derivatives by q, dq and ddq, each (k, n, n) with the state's joint last."""
    derivatives = _central_differences(robot.inverse_dynamics, states)
    return robot.inverse_dynamics(*states), [np.stack(parts, axis=2) for parts in derivatives]


def soft_maximum(x: Array, power: int = 32) -> tuple[Array, Array]:
    """Return a smooth upper bound of the absolute values of each column, and its gradient.

    Parameters
    ----------
    x : (k, n) array
        Signals.
    power : int
        Even exponent p: the p-norm exceeds the maximum by at most a factor k^(1/p), and by little if x peaks rarely.

    Returns
    -------
    value : (n,) array
        p-norms.
    gradient : (k, n) array
        Gradient with respect to the entries of x.
    """
    largest = np.abs(x).max(axis=0)
    relative = np.abs(x) / np.where(largest > 0.0, largest, 1.0)
    relative[:, largest == 0.0] = 1.0
    total = np.sum(relative**power, axis=0)
    gradient: Array = np.sign(x) * relative ** (power - 1) * total ** (1.0 / power - 1.0)
    return largest * total ** (1.0 / power), gradient


@dataclass(frozen=True)
class FourierBasis:
    """Fourier series that start and end at rest, sampled at `samples` instants of one period.

    With coefficients c, (m, n) with m = 2 H - 2, the motion is ``q = q0 + S[0] c``, ``dq = S[1] c``, ``ddq = S[2] c``.

    Attributes
    ----------
    period : float
        Period [s].
    harmonics : int
        Number of harmonics H, at least 2.
    samples : int
        Number of instants, evenly spaced.
    """

    period: float
    harmonics: int
    samples: int

    @cached_property
    def frequencies(self) -> Array:
        """``w k``, (H,) [rad/s]."""
        return np.asarray(2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0))

    @cached_property
    def t(self) -> Array:
        """Instants [s] of one period, without its end."""
        return np.asarray(np.arange(self.samples) * (self.period / self.samples))

    @cached_property
    def _at_rest(self) -> Array:
        """Orthonormal columns of amplitudes (sines above cosines) with velocity and acceleration zero at t = 0."""
        from scipy.linalg import null_space

        w, zero = self.frequencies, np.zeros(self.harmonics)
        basis: Array = null_space(np.block([[w, zero], [zero, w**2]]))
        return basis

    @cached_property
    def S(self) -> tuple[Array, Array, Array]:
        """Shapes of position, velocity and acceleration, each (samples, m)."""
        w = self.frequencies
        phase = np.outer(self.t, w)
        sine, cosine = np.sin(phase), np.cos(phase)
        shapes = ((sine, -cosine), (cosine * w, sine * w), (-sine * w**2, cosine * w**2))
        first, second, third = (np.hstack(pair) @ self._at_rest for pair in shapes)
        return first, second, third

    @property
    def size(self) -> int:
        """Number of coefficients of a joint, m."""
        return 2 * self.harmonics - 2

    def states(self, q0: Array, c: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity and acceleration at the instants, each (samples, n)."""
        S = self.S
        return q0 + S[0] @ c, S[1] @ c, S[2] @ c

    def pull_back(self, gradients: Sequence[Array]) -> tuple[Array, Array]:
        """Return the gradients by q0, (n,), and c, (m, n), of a function with these gradients by the states."""
        c = sum((shape.T @ g for shape, g in zip(self.S, gradients, strict=True)), np.zeros(()))
        return gradients[0].sum(axis=0), np.asarray(c)

    def series(self, q0: Array, c: Array) -> FourierSeries:
        """Return the reference with these coefficients."""
        from ..trajectory import FourierSeries

        amplitudes = self._at_rest @ c
        sine, cosine = amplitudes[: self.harmonics], amplitudes[self.harmonics :]
        w = self.frequencies[:, None]
        return FourierSeries((sine * w).T, (cosine * w).T, q0, 1.0 / self.period)


@dataclass(frozen=True)
class ExcitationProblem:
    """Optimization problem in x: q0 and coefficients, both as fractions of the half range of each joint."""

    robot: Robot
    columns: npt.NDArray[np.intp]
    criterion: str
    limits: MotionLimits
    basis: FourierBasis
    fine: FourierBasis

    def unpack(self, x: Array) -> tuple[Array, Array]:
        """Return q0 and the coefficients of x."""
        table = x.reshape(self.basis.size + 1, self.robot.n) * self.limits.half_range
        return self.limits.center + table[0], table[1:]

    def pack_gradient(self, gradients: list[Array]) -> Array:
        """Return the gradient by x of a function with these gradients by the states."""
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
        """Return number, limit and center of each state with a finite limit."""
        zero, one = np.zeros(self.robot.n), self.limits
        kinds = [(0, one.half_range, one.center), (1, one.velocity, zero), (2, one.acceleration, zero)]
        return [kind for kind in kinds if np.isfinite(kind[1]).any()]

    def constraints(self, x: Array) -> tuple[Array, Array]:
        """Return one minus the soft maximum of each signal over its limit, and the derivatives by x."""
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
        """Minimize from x; return the solution and the history of the criterion."""
        from scipy.optimize import minimize

        evaluations: dict[bytes, float] = {}
        history = [self.objective(x)[0]]

        def objective(at: Array) -> tuple[float, Array]:
            value, gradient = self.objective(at)
            evaluations[at.tobytes()] = value
            return value, gradient

        def callback(at: Array) -> None:
            history.append(evaluations.get(at.tobytes(), history[-1]))
            report(len(history) / (iterations + 1))

        bounded: Any = {
            "type": "ineq",
            "fun": lambda at: self.constraints(at)[0],
            "jac": lambda at: self.constraints(at)[1],
        }
        slsqp: Any = minimize  # its stubs do not allow constraints together with jac=True
        solution = slsqp(
            objective,
            x,
            jac=True,
            method="SLSQP",
            constraints=bounded,
            options={"maxiter": int(iterations), "ftol": 1e-6},
            callback=callback,
        )
        report(1.0)
        return np.asarray(solution.x, dtype=np.float64), np.array(history)

    def margins(self, x: Array) -> dict[str, Array]:
        """Return the margins to each limit on the fine grid, relative to the limit."""
        q, dq, ddq = self.fine.states(*self.unpack(x))
        limits = self.limits
        signals = {
            "position": ((q - limits.center) / limits.half_range),
            "velocity": dq / limits.velocity,
            "acceleration": ddq / limits.acceleration,
            "effort": self.robot.inverse_dynamics(q, dq, ddq) / limits.effort,
        }
        return {name: 1.0 - np.abs(values).max(axis=0) for name, values in signals.items()}

    def fine_margin(self, x: Array) -> float:
        """Return the smallest of all margins."""
        return float(min(values.min() for values in self.margins(x).values()))

    def shrunk(self, x: Array) -> Array:
        """Scale the motion down until it keeps its limits, which the optimizer may slightly violate."""
        table = x.reshape(self.basis.size + 1, self.robot.n).copy()
        table[0] = np.clip(table[0], -0.95, 0.95)
        for _ in range(20):
            margin = self.fine_margin(table.ravel())
            if margin >= 0.0:
                break
            table[1:] *= max(1.0 + 1.1 * margin, 0.5)
        return table.ravel()
