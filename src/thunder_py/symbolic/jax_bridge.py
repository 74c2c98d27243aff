"""Conversion of recorded functions to JAX.

XLA compiles thousands of scalar operations slowly. Here the operations are scheduled into steps of at most 16 of one
kind. All steps are iterations of one loop (``jax.lax.scan``) that gathers operands from a table of values and appends
its results, and the size of the program depends neither on the number of operations nor on that of joints.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ThunderError
from ..optional import require

#: operations of a step
_WIDTH = 16
#: operations that share steps: a b if p is not zero, otherwise q a + r b; b is a for the negative
_ARITHMETIC = {"mul": (1.0, 0.0, 0.0), "add": (0.0, 1.0, 1.0), "sub": (0.0, 1.0, -1.0), "neg": (0.0, -0.5, -0.5)}
_SHARED = "arithmetic"


@dataclass(frozen=True, eq=False)
class _Schedule:
    """Steps of a recorded function.

    Attributes
    ----------
    kinds : tuple of (str, float or None)
        Distinct kinds of steps: an operation, and the exponent of a power with a constant one.
    kind : (s,) array
        Kind of each step.
    operands : (s, 3, width) array
        Rows of the operands in the table of values: arguments, constants, results of the steps. Unused places repeat
        the first operation of the step.
    weights : (s, 3, width) array
        p, q, r of `_ARITHMETIC`.
    results : array
        Rows of the results.
    """

    kinds: tuple[tuple[str, float | None], ...]
    kind: npt.NDArray[np.int32]
    operands: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    results: npt.NDArray[np.int32]


def _kind(name: str, operands: Sequence[int], constant: Callable[[int], float | None]) -> tuple[str, float | None]:
    if name in _ARITHMETIC:
        return _SHARED, None
    return name, constant(operands[1]) if name == "pow" else None


def _schedule(
    operations: Sequence[tuple[str, Sequence[int]]],
    n_arguments: int,
    constants: Sequence[float],
    results: Sequence[int],
) -> _Schedule:
    """Schedule operations by lists: of those ready, the ones with the longest chains to a result first."""
    first = n_arguments + len(constants)

    def constant(k: int) -> float | None:
        return constants[k - n_arguments] if n_arguments <= k < first else None

    height, waiting, users = _dependence(operations, first)
    kinds = [_kind(name, operands, constant) for name, operands in operations]
    ready: dict[tuple[str, float | None], list[tuple[int, int]]] = {}

    def release(j: int) -> None:
        heapq.heappush(ready.setdefault(kinds[j], []), (-height[j], j))

    for j in range(len(operations)):
        if not waiting[j]:
            release(j)
    row = [*range(first), *[0] * len(operations)]
    steps: list[list[int]] = []
    while any(ready.values()):
        kind = min((heap[0], kind) for kind, heap in ready.items() if heap)[1]
        step = [heapq.heappop(ready[kind])[1] for _ in range(min(_WIDTH, len(ready[kind])))]
        for place, j in enumerate(step):
            row[first + j] = first + _WIDTH * len(steps) + place
            for user in users[j]:
                waiting[user] -= 1
                if not waiting[user]:
                    release(user)
        steps.append(step)
    return _filled(steps, kinds, operations, np.array(row, dtype=np.int32), results)


def _dependence(
    operations: Sequence[tuple[str, Sequence[int]]], first: int
) -> tuple[list[int], list[int], list[list[int]]]:
    """Return of each operation the longest chain of operations that use it, the number it waits for, and its users."""
    height, waiting = [0] * len(operations), [0] * len(operations)
    users: list[list[int]] = [[] for _ in operations]
    for j in reversed(range(len(operations))):
        for k in {k - first for k in operations[j][1] if k >= first}:
            height[k] = max(height[k], height[j] + 1)
            waiting[j] += 1
            users[k].append(j)
    return height, waiting, users


def _filled(
    steps: list[list[int]],
    kinds: list[tuple[str, float | None]],
    operations: Sequence[tuple[str, Sequence[int]]],
    row: npt.NDArray[np.int32],
    results: Sequence[int],
) -> _Schedule:
    known = tuple(dict.fromkeys(kinds[step[0]] for step in steps))
    kind = np.array([known.index(kinds[step[0]]) for step in steps], dtype=np.int32)
    operands, weights = np.zeros((len(steps), 3, _WIDTH), np.int32), np.zeros((len(steps), 3, _WIDTH))
    for s, step in enumerate(steps):
        for place in range(_WIDTH):
            name, inputs = operations[step[place if place < len(step) else 0]]
            operands[s, :, place] = [row[inputs[min(k, len(inputs) - 1)]] for k in range(3)]
            weights[s, :, place] = _ARITHMETIC.get(name, 0.0)
    return _Schedule(known, kind, operands, weights, row[list(results)])


def _branch(jnp: Any, kind: tuple[str, float | None]) -> Callable[..., Any]:
    """Return a step of a kind as a function of three operands (width, ...) and weights (3, width)."""
    name, exponent = kind
    if name == _SHARED:
        return lambda a, b, _, weights: _combined(jnp, a, b, weights)
    if exponent is not None:
        power = int(exponent) if exponent == int(exponent) else exponent
        return lambda a, *_: a**power
    functions: dict[str, Callable[..., Any]] = {
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "atan2": jnp.arctan2,
        "less": lambda a, b: (a < b).astype(a.dtype),
        "less_equal": lambda a, b: (a <= b).astype(a.dtype),
    }
    if name in functions:
        return lambda a, b, *_: functions[name](a, b)
    if name == "select":
        return lambda a, b, c, _: jnp.where(a != 0.0, b, c)
    one = getattr(jnp, {"asin": "arcsin", "acos": "arccos"}.get(name, name))
    return lambda a, *_: one(a)


def _combined(jnp: Any, a: Any, b: Any, weights: Any) -> Any:
    p, q, r = weights.reshape(3, -1, *[1] * (a.ndim - 1))
    return jnp.where(p != 0.0, a * b, q * a + r * b)


def to_jax(
    name: str,
    arguments: Sequence[tuple[str, tuple[int, ...]]],
    results: Sequence[tuple[int, ...]],
    operations: Sequence[tuple[str, Sequence[int]]],
    constants: Sequence[float],
    values: Sequence[int],
) -> Callable[..., Any]:
    """Return a jitted function of a recording; see `Function.to_jax`.

    Parameters
    ----------
    name : str
        Name of the function.
    arguments : sequence of (str, tuple of int)
        Names and shapes of the arguments.
    results : sequence of tuple of int
        Shapes of the results.
    operations : sequence of (str, sequence of int)
        Operations, of values: entries of the arguments, constants, results of operations.
    constants : sequence of float
        Constants.
    values : sequence of int
        Values of the entries of the results.
    """
    jax = require("jax", "jax")
    if not jax.config.jax_enable_x64:
        raise ThunderError('JAX must compute with 64 bits: call jax.config.update("jax_enable_x64", True) first')
    jnp, lax = jax.numpy, jax.lax
    sizes = [int(np.prod(shape, dtype=int)) for _, shape in arguments]
    plan = _schedule(operations, sum(sizes), constants, values)
    branches = [_branch(jnp, kind) for kind in plan.kinds]
    ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in results])[:-1]

    def step(table: Any, inputs: Any) -> tuple[Any, None]:
        row, kind, operands, weights = inputs
        new = lax.switch(kind, branches, *(table[k] for k in operands), weights)
        return lax.dynamic_update_slice_in_dim(table, new, row, 0), None

    def evaluate(*given: Any) -> Any:
        columns, batch = _columns(jnp, name, arguments, given)
        fixed = np.reshape(np.asarray(constants, dtype=np.float64), (-1, *[1] * len(batch)))
        used = [*columns, jnp.broadcast_to(fixed, (len(constants), *batch))]
        table = jnp.concatenate([*used, jnp.zeros((_WIDTH * len(plan.kind), *batch))])
        rows = sum(sizes) + len(constants) + _WIDTH * np.arange(len(plan.kind))
        table, _ = lax.scan(step, table, (rows, plan.kind, plan.operands, plan.weights))
        parts = jnp.split(jnp.moveaxis(table[plan.results], 0, -1), ends, axis=-1)
        arrays = tuple(part.reshape(*batch, *shape) for part, shape in zip(parts, results, strict=True))
        return arrays[0] if len(arrays) == 1 else arrays

    evaluate.__name__ = evaluate.__qualname__ = name
    return jax.jit(evaluate)  # type: ignore[no-any-return]


def _columns(
    jnp: Any, name: str, arguments: Sequence[tuple[str, tuple[int, ...]]], given: Sequence[Any]
) -> tuple[list[Any], tuple[int, ...]]:
    """Return the entries of arrays along the first axis, with their common batch axes, and these."""
    if len(given) != len(arguments):
        raise ThunderError(f"{name} takes {', '.join(key for key, _ in arguments)}, got {len(given)} arguments")
    arrays = [jnp.asarray(value, dtype=np.float64) for value in given]
    for (key, shape), array in zip(arguments, arrays, strict=True):
        if array.shape[array.ndim - len(shape) :] != shape or array.ndim < len(shape):
            expected = ", ".join(["...", *map(str, shape)])
            raise ThunderError(f"{key} must have shape ({expected}), got {array.shape}")
    leading = [array.shape[: array.ndim - len(shape)] for (_, shape), array in zip(arguments, arrays, strict=True)]
    batch = jnp.broadcast_shapes(*leading)
    flat = [
        jnp.broadcast_to(array.reshape(*axes, math.prod(shape)), (*batch, math.prod(shape)))
        for axes, array, (_, shape) in zip(leading, arrays, arguments, strict=True)
    ]
    return [jnp.moveaxis(array, -1, 0) for array in flat], batch
