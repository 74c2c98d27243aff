"""Base classes: `Value`, compared and pickled by value, `Stateful`, always copied deeply, and `StrEnum` of outcomes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .checks import one_of
from .errors import NotFittedError, Suggesting

_Copied = TypeVar("_Copied", bound="Stateful")
_Set = TypeVar("_Set", bound="Estimator")


class StrEnum(str, Enum):
    """Base of outcomes, phases and reasons: members are equal to their text and are printed as such.

    Examples
    --------
    >>> from thunder_py.values import StrEnum
    >>> class Outcome(StrEnum):
    ...     too_late = "too late"
    >>> Outcome.too_late == "too late", f"{Outcome.too_late}", Outcome("too late").name
    (True, 'too late', 'too_late')
    """

    __str__ = str.__str__


def set_fields(instance: object, **fields: Any) -> None:
    """Set fields of a frozen dataclass during its initialization.

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


class Value(Suggesting):
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


class Estimator:
    """Parameter protocol of scikit-learn, which is not needed for it: `clone`, `Pipeline` and `GridSearchCV` apply.

    Constructors store their arguments unchanged in attributes of the same names. `fit` checks them, and stores its
    results in attributes that end in an underscore and are annotated in the class.
    """

    #: attributes of the arguments whose own name is taken
    _stored_as: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(cls).parameters.items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor by name; `deep` changes nothing, since none is an estimator."""
        return {name: getattr(self, self._stored_as.get(name, name)) for name in self._defaults()}

    def set_params(self: _Set, **params: Any) -> _Set:
        """Set arguments of the constructor by name, for the next `fit`, and return the estimator itself.

        Raises
        ------
        UnknownNameError
            For an unknown name; nothing is set then.
        """
        known = self._defaults()
        for name in params:
            one_of(name, known, "parameter")
        for name, value in params.items():
            setattr(self, self._stored_as.get(name, name), value)
        return self

    def __repr__(self) -> str:
        default = self._defaults()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != default[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of an estimator; called by scikit-learn alone."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        transformer = TransformerTags() if hasattr(self, "transform") else None
        inputs = InputTags(two_d_array=False, three_d_array=True)
        return Tags(None, TargetTags(required=False), transformer_tags=transformer, input_tags=inputs)

    if not TYPE_CHECKING:  # misspelt attributes stay errors of type checkers

        def __getattr__(self, name: str) -> Any:
            """Explain attributes that are missing before `fit`."""
            kind = type(self)
            results = {key for base in kind.__mro__ for key in inspect.get_annotations(base)}
            if name in results or isinstance(getattr(kind, name, None), property):
                raise NotFittedError(f"{kind.__name__} must be fitted before {name} is used: call fit first")
            raise AttributeError(f"{kind.__name__} has no attribute {name!r}")


def _rebuild(cls: type, values: dict[str, Any]) -> Any:
    return cls(**values)
