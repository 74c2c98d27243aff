"""Metrics and trajectories of many runs as an `xarray.Dataset`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import ThunderError
from ...optional import require
from ..result import SimulationResult
from .encoding import printable

#: dimensions and values of a variable
_Variable = tuple[tuple[str, ...], npt.NDArray[Any]]


def dataset_of(
    parameters: Mapping[str, list[Any]],
    metrics: Mapping[str, list[Any]],
    results: Sequence[SimulationResult | None],
    signals: Sequence[str],
) -> Any:
    """Return the dataset of `Runs.to_xarray`; `results` has a result, or None, for each run."""
    xarray = require("xarray", "cluster")
    variables: dict[str, _Variable] = {}
    for name, values in metrics.items():
        array = filled(values, name)
        variables[name] = tuple(f"{name}_{k}" for k in range(array.ndim - 1)), array
    inner: dict[str, Any] = {}
    if signals:
        over_time, inner = _signals(results, signals)
        variables |= over_time
    dims, shape, order, outer = _over(parameters, len(results))
    double = {name for name in variables if name in outer or (name in metrics and name in signals)}
    double |= outer.keys() & inner.keys()
    if double:
        listed = ", ".join(sorted(double))
        raise ThunderError(f"parameters, metrics and signals must have names of their own, got {listed} twice")
    arrays = {
        name: ((*dims, *own), array[order].reshape(*shape, *array.shape[1:]))
        for name, (own, array) in variables.items()
    }
    return xarray.Dataset(arrays, outer | inner)


def _over(
    parameters: Mapping[str, list[Any]], count: int
) -> tuple[tuple[str, ...], tuple[int, ...], npt.NDArray[np.int64], dict[str, Any]]:
    """Return dimensions of the runs, their lengths, the order of the runs along them, and coordinates."""
    axes = {name: axis_of(values) for name, values in parameters.items()}
    varying = [name for name, (values, _) in axes.items() if len(values) > 1]
    shape = tuple(len(axes[name][0]) for name in varying)
    if varying and math.prod(shape) == count:
        places = np.ravel_multi_index([axes[name][1] for name in varying], shape)
        if len(np.unique(places)) == count:
            fixed = {name: values[0] for name, (values, _) in axes.items() if name not in varying}
            return tuple(varying), shape, np.argsort(places), {name: axes[name][0] for name in varying} | fixed
    coordinates: dict[str, Any] = {"run": np.arange(count)}
    for name, values in parameters.items():
        column = _rows(values)
        coordinates[name] = ("run", *(f"{name}_{k}" for k in range(column.ndim - 1))), column
    return ("run",), (count,), np.arange(count), coordinates


def axis_of(values: Sequence[Any]) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the different values of a parameter, numbers in their order, and the number of that of each run."""
    keys = [_key(value) for value in values]
    different = list(dict.fromkeys(keys))
    if all(isinstance(key, (bool, int, float)) for key in different):
        different.sort(key=lambda key: (key != key, key))  # NaN at the end
    numbers = {key: k for k, key in enumerate(different)}
    return different, np.array([numbers[key] for key in keys], dtype=np.int64)


def _key(value: Any) -> bool | int | float | str:
    """Return what two equal values of a parameter have in common; all NaN are one value."""
    if isinstance(value, (bool, int, float, str)):
        return math.nan if value != value else value
    return _text(value)


def _text(value: Any) -> str:
    return " ".join(printable(value).split())


def _rows(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return the values of a parameter as an array of numbers where that can be, else as texts; None where missing."""
    present = [value for value in values if value is not None]
    numbers = all(isinstance(value, (int, float)) for value in present)
    values = [(math.nan if numbers else "") if value is None else value for value in values] if present else values
    try:
        array = np.array(values)
    except ValueError:  # of different shapes
        array = np.empty(0, dtype=object)
    return array if array.dtype.kind in "biufU" else np.array([_text(value) for value in values])


def filled(values: Sequence[Any], name: str) -> npt.NDArray[Any]:
    """Return the values of a metric as an array with a row for each run; NaN, or an empty text, where there is none."""
    given = [np.asarray(value) for value in values if value is not None]
    shapes, kinds = {one.shape for one in given}, {one.dtype.kind for one in given}
    if len(shapes) > 1:
        raise ThunderError(
            f"metric {name!r} must have one shape in all runs, got {', '.join(map(str, sorted(shapes)))}"
        )
    if not kinds <= set("biuf"):
        return np.array(["" if value is None else str(value) for value in values])
    if len(given) == len(values) and given:
        return np.array(given)
    missing = np.full(next(iter(shapes), ()), np.nan)
    return np.array([missing if value is None else value for value in values], dtype=np.float64)


def _signals(
    results: Sequence[SimulationResult | None], signals: Sequence[str]
) -> tuple[dict[str, _Variable], dict[str, Any]]:
    """Return the signals over the logged instants of all runs, and the coordinates of time and entries."""
    if isinstance(signals, str):
        raise ThunderError(f"signals must be a sequence of names, got the text {signals!r}")
    kept = [one for one in results if one is not None]
    if not kept:
        raise ThunderError("signals must be empty where no run has a result")
    time = np.unique(np.concatenate([one.t for one in kept]))
    variables: dict[str, _Variable] = {}
    coordinates: dict[str, Any] = {"time": time}
    for name in signals:
        first = kept[0].to_dict().get(name)
        if name in ("t", "names") or first is None:
            raise ThunderError(f"signals must be arrays over time that were logged, got {name!r}")
        own: tuple[str, ...] = ()
        if np.ndim(first) == 2:
            joints, labels = kept[0].names.get("joints", ()), kept[0].names.get(name, ())
            own = ("joint",) if first.shape[1] == len(joints) and labels in ((), joints) else (f"{name}_entry",)
            labels = joints if own == ("joint",) else labels
            coordinates |= {own[0]: list(labels)} if len(labels) == first.shape[1] else {}
        variables[name] = ("time", *own), _over_time(results, name, time, np.shape(first)[1:])
    return variables, coordinates


def _over_time(results: Sequence[SimulationResult | None], name: str, time: Array, shape: tuple[int, ...]) -> Array:
    values = np.full((len(results), len(time), *shape), np.nan)
    for k, result in enumerate(results):
        if result is not None:
            values[k, np.searchsorted(time, result.t)] = result.to_dict()[name]
    return values


def short(value: Any) -> str:
    """Return a value as a text of at most 24 characters."""
    text = f"{value:g}" if isinstance(value, float) else _text(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
