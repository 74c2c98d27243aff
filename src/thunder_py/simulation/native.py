"""Which parts of a loop run in C++: those whose methods no Python class overrides."""

from __future__ import annotations

from .. import _core
from ..reference import _JointSource, _TaskSource


def _definer(value: object, method: str) -> type:
    """Return the class that defines `method`: a subclass may override that of the core."""
    return next(cls for cls in type(value).__mro__ if method in cls.__dict__)


def is_native(value: object, base: type, method: str) -> bool:
    """Return whether a value is of a class of the core, which defines the method."""
    return isinstance(value, base) and _definer(value, method).__module__ == _core.__name__


def reference_is_native(reference: object) -> bool:
    """Return whether the core evaluates a reference; it is callable."""
    return _definer(reference, "__call__") in (_JointSource, _TaskSource)
