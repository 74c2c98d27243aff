"""Base classes: `Value`, compared and pickled by value, and `Stateful`, always copied deeply."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

__all__ = ["Stateful", "Value", "frozen", "set_fields"]

_Copied = TypeVar("_Copied", bound="Stateful")


def set_fields(instance: object, **fields: Any) -> None:
    """Set fields of a frozen dataclass during its initialisation.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from thunder_py.values import set_fields
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     def __post_init__(self):
    ...         set_fields(self, x=float(self.x))
    >>> Point(1).x
    1.0
    """
    for name, value in fields.items():
        object.__setattr__(instance, name, value)


def _same(a: Any, b: Any) -> bool:
    """Compare arrays, mappings, sequences and dataclasses exactly."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _plain(value: Any) -> Any:
    """Convert mappings to dicts recursively (a `MappingProxyType` cannot be pickled)."""
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def frozen(value: Any) -> Any:
    """Convert mappings to read-only views and lists to tuples, recursively.

    Examples
    --------
    >>> from thunder_py.values import frozen
    >>> frozen({"dh": [[0, 1], [1, 0]]})["dh"]
    ((0, 1), (1, 0))
    """
    if isinstance(value, Mapping):
        return MappingProxyType({k: frozen(v) for k, v in value.items()})
    return tuple(frozen(v) for v in value) if isinstance(value, (list, tuple)) else value


class Value:
    """Provide equality by value and pickling to frozen dataclasses with arrays and mappings.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.Payload(1.0, com=[0.1, 0, 0]) == th.Payload(1.0, com=(0.1, 0, 0))
    True
    """

    def _values(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """Compare type and all fields exactly."""
        return type(other) is type(self) and _same(self._values(), other._values())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by field."""
        return _rebuild, (type(self), _plain(self._values()))


class Stateful:
    """Base class of objects with internal state; shallow copies are deep copies.

    Examples
    --------
    >>> import copy
    >>> from thunder_py.values import Stateful
    >>> counter = Stateful()
    >>> counter.counts = [1]
    >>> copy.copy(counter).counts is counter.counts
    False
    """

    def __copy__(self: _Copied) -> _Copied:
        """Return a deep copy."""
        return copy.deepcopy(self)


def _rebuild(cls: type, values: dict[str, Any]) -> Any:
    return cls(**values)
