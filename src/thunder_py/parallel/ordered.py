"""Results of a function for many items or seeds, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..checks import whole
from ..errors import ThunderError
from ..optional import MissingExtraError
from .tasks import Workers, run_tasks
from .work import Outcome

T = TypeVar("T")


def map_items(
    function: Callable[[Any], T],
    items: Sequence[Any],
    *,
    workers: Workers = 1,
    progress: bool | Callable[[float], object] = False,
    description: str = "",
    unit: str = "run",
) -> list[T]:
    """Call a function with every item and return its results in the order of the items.

    Parameters
    ----------
    function : callable
        Function of one item.
    items : sequence
        Items.
    workers, progress, description, unit
        See `run_tasks`. Results do not depend on the workers if the function depends on its item only.

    Returns
    -------
    list

    Raises
    ------
    ThunderError
        If an argument is invalid or the function cannot be pickled.
    RuntimeError
        If a worker process died twice with an item.
    Exception
        What the function raises for the first item in order that fails.

    Examples
    --------
    >>> from thunder_py.parallel import map_items
    >>> map_items(len, ["a", "bc"])
    [1, 2]
    """
    results, failed = _in_order(function, items, workers=workers, progress=progress, description=description, unit=unit)
    if failed is not None and failed.error is not None:
        if failed.error.__traceback__ is None:  # from another process
            raise failed.error from RuntimeError(failed.trace)
        raise failed.error
    return results


def map_seeds(
    function: Callable[[int], T],
    seeds: int | Sequence[int] | npt.NDArray[np.integer[Any]],
    *,
    workers: Workers = 1,
    progress: bool | Callable[[float], object] = False,
    description: str = "",
) -> list[T]:
    """Call a function with every seed and return its results in the order of the seeds.

    Parameters
    ----------
    function : callable
        Function of one seed.
    seeds : int, or sequence or array of int
        Number of seeds, ``0, 1, ...``, or the seeds.
    workers, progress, description
        See `run_tasks`; errors begin with the description.

    Returns
    -------
    list

    Raises
    ------
    ThunderError
        If an argument is invalid, the function cannot be pickled, or it raises a `ThunderError`; with the seed.
    RuntimeError
        For any other exception of the function, with the seed, or if a worker process died twice with a seed. The error
        is that of the first failing seed in order, whatever the workers.

    Examples
    --------
    >>> from thunder_py.parallel import map_seeds
    >>> map_seeds(lambda seed: 2 * seed, 4)
    [0, 2, 4, 6]
    """
    given = _seeds(seeds)
    options: dict[str, Any] = {"workers": workers, "progress": progress, "description": description, "unit": "seed"}
    results, failed = _in_order(function, given, **options)
    if failed is not None:
        raise _error(failed, given[failed.index], description) from failed.error
    return results


def _in_order(function: Callable[[Any], T], items: Sequence[Any], **options: Any) -> tuple[list[T], Outcome | None]:
    """Return the results, or those before the first item that failed, and its outcome."""
    results: dict[int, T] = {}
    failed: Outcome | None = None
    with closing(run_tasks(function, items, retry_errors=False, **options)) as outcomes:
        for outcome in outcomes:
            if outcome.error is None:
                results[outcome.index] = outcome.value
            elif failed is None or outcome.index < failed.index:
                failed = outcome
            if failed is not None and all(k in results for k in range(failed.index)):
                break
    return [results[k] for k in range(len(items) if failed is None else failed.index)], failed


def _seeds(seeds: Any) -> list[int]:
    if isinstance(seeds, np.ndarray):
        seeds = seeds.tolist()
    if isinstance(seeds, Sequence) and not isinstance(seeds, str):
        return [whole(seed, "every seed", 0) for seed in seeds]
    return list(range(whole(seeds, "seeds", 1)))


def _error(outcome: Outcome, seed: int, description: str) -> Exception:
    where = f"{description}, seed {seed}" if description else f"seed {seed}"
    if isinstance(outcome.error, MissingExtraError):  # of every seed
        return outcome.error
    if isinstance(outcome.error, ThunderError):
        return ThunderError(f"{where}: {outcome.error}")
    text = f"\n\n{outcome.trace}" if outcome.trace else ""
    return RuntimeError(f"{where}: {type(outcome.error).__name__}: {outcome.error}{text}")
