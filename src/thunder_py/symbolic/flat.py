"""Expressions as a flat list of operations, for those who replay it on other scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .function import Function

__all__ = ["flattened", "replay"]

Expressions = npt.NDArray[np.object_]


def flattened(function: Function) -> Function:
    """Return the function with outlined pieces put back in their places; itself where there are none."""
    if function.call_count == 0:
        return function
    results = function.substitute(**function.arguments)
    if len(function.results) == 1:
        results = {next(iter(function.results)): results}
    return Function(function.name, function.arguments, results, function.description)


def replay(
    function: Function,
    inputs: Sequence[Any],
    operation: Callable[..., Any],
    number: Callable[[float], Any],
) -> dict[str, Expressions]:
    """Run a function's operations on foreign scalars.

    Parameters
    ----------
    function : Function
    inputs : sequence
        A scalar for every entry of the arguments, in order.
    operation : callable
        Takes the name of an operation and its operands.
    number : callable
        Makes a scalar of a number.

    Returns
    -------
    dict of str to object array
        The results by name, in their shapes.
    """
    flat = flattened(function)
    values = [*inputs, *map(number, flat.constants)]
    for name, operands in flat.operations:
        values.append(operation(name, *(values[k] for k in operands)))
    results, entries = {}, iter(flat.result_values)
    for name, value in function.results.items():
        array = np.empty(value.shape, dtype=object)
        for index in np.ndindex(value.shape):
            array[index] = values[next(entries)]
        results[name] = array
    return results
