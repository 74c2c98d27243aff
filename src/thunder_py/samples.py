"""Sets of arguments for many runs: grids, random and Latin hypercube samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .checks import Array, numbers, seed_of, whole
from .errors import ThunderError
from .public import publish

__all__ = ["grid", "latin_hypercube", "random"]


def grid(**values: Any) -> list[dict[str, Any]]:
    """Return all combinations of values; the last argument varies fastest.

    Parameters
    ----------
    **values
        Values of each argument: any iterable. A text, or a value that is no iterable, is the same in all sets.

    Returns
    -------
    list of dict
        A set of keyword arguments for each combination.

    Raises
    ------
    ThunderError
        If an argument has no values.

    Examples
    --------
    >>> from thunder_py import samples
    >>> samples.grid(K_d=[4.0, 8.0], seed=range(2), law="PD")[1:3]
    [{'K_d': 4.0, 'seed': 1, 'law': 'PD'}, {'K_d': 8.0, 'seed': 0, 'law': 'PD'}]
    """
    axes = {name: _values(name, given) for name, given in values.items()}
    return [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        return [given]
    found = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not found:
        raise ThunderError(f"{name} must have at least one value, got none")
    return found


def random(count: int, seed: int, /, **ranges: Any) -> list[dict[str, Any]]:
    """Return independent random sets of arguments.

    Parameters
    ----------
    count : int
        Number of sets.
    seed : int
        Seed of the random numbers.
    **ranges
        For each argument: a tuple ``(low, high)`` of numbers or arrays, between which values are uniform; a list (or
        range) of equally likely values; or a distribution of a number, of `scipy.stats`. A text, a mapping, or a value
        that is no iterable, is the same in all sets; so is the value of a list of one.

    Returns
    -------
    list of dict
        A set of keyword arguments each. Arguments and entries of arrays are drawn independently.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> from scipy import stats
    >>> from thunder_py import samples
    >>> mass, laws = stats.expon(scale=0.5), ["PD", "CT"]
    >>> sets = samples.random(100, 0, K_d=(4.0, 8.0), mass=mass, q0=([0, -1], [0, 1]), law=laws)
    >>> round(sets[0]["K_d"], 3), sets[0]["q0"].shape, sorted({one["law"] for one in sets})
    (6.548, (2,), ['CT', 'PD'])
    """
    rng = np.random.default_rng(seed_of(seed))
    return _sets(count, ranges, lambda width: rng.random((int(count), width)))


def latin_hypercube(count: int, seed: int, /, **ranges: Any) -> list[dict[str, Any]]:
    """Return a Latin hypercube sample: one set in each of `count` equally likely intervals of every argument.

    Parameters
    ----------
    count : int
        Number of sets.
    seed : int
        Seed of the random numbers.
    **ranges
        As for `random`; every entry of an array is a dimension.

    Returns
    -------
    list of dict
        A set of keyword arguments each.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Notes
    -----
    The points are those of `scipy.stats.qmc.LatinHypercube`, mapped by the inverse distribution functions.

    Examples
    --------
    >>> from thunder_py import samples
    >>> sets = samples.latin_hypercube(4, 0, K_d=(0.0, 4.0))
    >>> sorted(int(one["K_d"]) for one in sets)
    [0, 1, 2, 3]
    """
    rng = np.random.default_rng(seed_of(seed))

    def points(width: int) -> Array:
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(width, seed=rng).random(int(count)))

    return _sets(count, ranges, points)


#: number of dimensions, and the function from points of the unit cube to values
_Axis = tuple[int, Callable[[Array], list[Any]]]


def _sets(count: int, ranges: Mapping[str, Any], points: Callable[[int], Array]) -> list[dict[str, Any]]:
    whole(count, "count", 1)
    axes = {name: _axis(name, given, count) for name, given in ranges.items()}
    width = sum(dimensions for dimensions, _ in axes.values())
    unit = points(width) if width else np.zeros((count, 0))
    columns, first = {}, 0
    for name, (dimensions, values) in axes.items():
        columns[name] = values(unit[:, first : first + dimensions])
        first += dimensions
    return [{name: column[k] for name, column in columns.items()} for k in range(count)]


def _axis(name: str, given: Any, count: int) -> _Axis:
    if any(hasattr(given, method) for method in ("ppf", "icdf", "rvs")):
        return _distribution(name, given)
    if isinstance(given, tuple):
        return _interval(name, given)
    if isinstance(given, (list, range)):
        if not given:
            raise ThunderError(f"{name} must have at least one value, got none")
        return 1, lambda u: [given[int(part)] for part in u[:, 0] * len(given)]
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        raise ThunderError(
            f"{name} must be a tuple (low, high), a list of values, or a distribution, got {type(given).__name__}: a "
            "list of it alone is the same value in all sets"
        )
    return 0, lambda u: [given] * count


def _distribution(name: str, given: Any) -> _Axis:
    inverse: Any = getattr(given, "ppf", None) or getattr(given, "icdf", None)
    try:
        median = None if inverse is None else np.asarray(inverse(0.5))
    except TypeError as error:
        raise ThunderError(f"{name} must be a distribution with its parameters, got {given!r:.80}: {error}") from error
    if median is None or median.ndim:
        raise ThunderError(f"{name} must be a distribution of one number, got {given!r:.80}")
    if np.isnan(median):
        raise ThunderError(
            f"{name} must be a distribution with valid parameters, got {given!r:.80}, whose median is nan"
        )
    kind = np.int64 if hasattr(given, "pmf") and not hasattr(given, "pdf") else np.float64
    return 1, lambda u: np.asarray(inverse(u[:, 0])).astype(kind).tolist()


def _interval(name: str, given: tuple[Any, ...]) -> _Axis:
    if len(given) != 2:
        raise ThunderError(f"{name} must be a tuple (low, high), or a list of values, got {given!r:.80}")
    low, high = (numbers(end, f"{name}[{k}]") for k, end in enumerate(given))
    try:
        low, high = np.broadcast_arrays(low, high)
    except ValueError:
        raise ThunderError(f"{name} must have ends of one shape, got {low.shape} and {high.shape}") from None
    if not ((low <= high) & np.isfinite(low) & np.isfinite(high)).all():
        raise ThunderError(f"{name} must have finite ends low <= high, got {given!r:.80}")
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low).all():
            raise ThunderError(f"{name} must have ends with a finite distance, got {given!r:.80}")

    def values(u: Array) -> list[Any]:
        found = low + (high - low) * u.reshape(-1, *low.shape)
        return list(found) if low.ndim else found.tolist()

    return low.size, values


publish(__name__)
