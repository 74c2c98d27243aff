"""What makes one motion better than another, with gradients by its states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..robot import Robot

__all__ = ["CRITERIA", "criterion_by_states", "torques_by_states"]

#: step of central differences in q, dq and ddq: regressors are smooth and of size one
_STEP = 1e-5


def _spectrum(W: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of W'W: small and quick; half of the digits are enough for an optimiser."""
    # product by product, below the size at which a busy machine waits for the threads of its linear algebra
    values, vectors = np.linalg.eigh(np.sum(np.swapaxes(W, 1, 2) @ W, axis=0))
    return np.maximum(values, np.finfo(np.float64).eps * values[-1]), vectors


def log_condition(W: Array) -> tuple[float, Array]:
    """Logarithm of the condition number of stacked regressors, (k, n, b), and its gradient by them."""
    values, V = _spectrum(W)
    low, high = V[:, 0], V[:, -1]
    gradient = (W @ high)[..., None] * (high / values[-1]) - (W @ low)[..., None] * (low / values[0])
    return float(0.5 * np.log(values[-1] / values[0])), gradient


def d_optimality(W: Array) -> tuple[float, Array]:
    """Minus the logarithm of det(W'W), a column, and its gradient: smaller confidence ellipsoids are better."""
    values, V = _spectrum(W)
    return float(-np.log(values).mean()), W @ ((V / values) @ V.T * (-2.0 / values.size))


CRITERIA: dict[str, Callable[[Array], tuple[float, Array]]] = {"condition": log_condition, "d_optimal": d_optimality}


def _central_differences(function: Callable[..., Array], states: Sequence[Array]) -> list[list[Array]]:
    """Differentiate a batched function by each entry of q, dq and ddq: three lists of n arrays."""
    found: list[list[Array]] = [[], [], []]
    for which, state in enumerate(states):
        for joint in range(state.shape[1]):
            step = np.zeros(state.shape[1])
            step[joint] = _STEP
            ahead, back = list(states), list(states)
            ahead[which], back[which] = state + step, state - step
            found[which].append((function(*ahead) - function(*back)) / (2.0 * _STEP))
    return found


def criterion_by_states(
    robot: Robot, columns: npt.NDArray[np.intp], criterion: str, states: Sequence[Array]
) -> tuple[float, list[Array]]:
    """Criterion of the stacked columns of Y, and its gradients by q, dq and ddq, each (k, n)."""
    k, n = states[0].shape
    value, by_W = CRITERIA[criterion](robot.regressor(*states)[..., columns] / np.sqrt(k))
    weights = np.zeros((k, n, robot.p))
    weights[..., columns] = by_W / np.sqrt(k)

    def contraction(*at: Array) -> Array:
        return np.asarray(np.einsum("kij,kij->k", weights, robot.regressor(*at)))

    return value, [np.stack(parts, axis=1) for parts in _central_differences(contraction, states)]


def torques_by_states(robot: Robot, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Torques (k, n), and their derivatives by q, dq and ddq, each (k, n, n) with the state's joint last."""
    derivatives = _central_differences(robot.inverse_dynamics, states)
    return robot.inverse_dynamics(*states), [np.stack(parts, axis=2) for parts in derivatives]
