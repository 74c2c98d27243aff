"""Bases of values, compared and pickled by what they hold, and of objects with state, copied with all their parts."""

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
    """Fill fields of a frozen dataclass while it is being made."""
    for name, value in fields.items():
        object.__setattr__(instance, name, value)


def _same(a: Any, b: Any) -> bool:
    """Exact equality through arrays, mappings, sequences and dataclasses."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _plain(value: Any) -> Any:
    """Return mappings as dicts, all the way down (a `MappingProxyType` cannot be pickled)."""
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def frozen(value: Any) -> Any:
    """Return mappings as read-only views and lists as tuples, all the way down."""
    if isinstance(value, Mapping):
        return MappingProxyType({k: frozen(v) for k, v in value.items()})
    return tuple(frozen(v) for v in value) if isinstance(value, (list, tuple)) else value


class Value:
    """Equality by value and pickling for frozen dataclasses that hold arrays and mappings."""

    def _values(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        """Whether type and every field are exactly the same."""
        return type(other) is type(self) and _same(self._values(), other._values())

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by field."""
        return _rebuild, (type(self), _plain(self._values()))


class Stateful:
    """Base of objects whose parts change as they work: a copy, a shallow one too, shares none of them."""

    def __copy__(self: _Copied) -> _Copied:
        """Return a deep copy."""
        return copy.deepcopy(self)


def _rebuild(cls: type, values: dict[str, Any]) -> Any:
    return cls(**values)
