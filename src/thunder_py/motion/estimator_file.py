"""Files of fitted estimators: plain arrays, parameters as text, a version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..checks import numbers
from ..errors import FileFormatError, ThunderError
from ..files import read_archive, write_archive
from ..values import Estimator

_VERSION = 2

_Kind = TypeVar("_Kind", bound=Estimator)


def _key(kind: type) -> str:
    return f"thunder_{kind.__name__.lower()}"


def write_estimator(path: str | Path, estimator: Estimator, *results: str, **arrays: Any) -> None:
    """Write the parameters and named results of a fitted estimator atomically.

    Parameters
    ----------
    path : path-like
        File that ends in ``.npz``.
    estimator : Estimator
        With parameters that are numbers, texts, True, False or None, except those among `arrays`.
    *results : str
        Attributes that are arrays, numbers, or texts.
    **arrays : array_like
        Further arrays.
    """
    given = {name: value for name, value in estimator.get_params().items() if name not in arrays}
    parameters = {name: json.dumps(value, default=np.generic.item) for name, value in given.items()}
    found = {name: np.asarray(getattr(estimator, name)) for name in results}
    write_archive(path, {_key(type(estimator)): np.array(_VERSION), **parameters, **found, **arrays})


@contextmanager
def read_estimator(
    path: str | Path, kind: type[_Kind], **readers: Callable[[Any], Any]
) -> Iterator[tuple[_Kind, dict[str, Any]]]:
    """Yield an estimator with the parameters of a file, and the arrays of the file.

    `readers` return parameters that are no text from their arrays. Errors inside the block are those of a damaged file.

    Raises
    ------
    FileFormatError
        If the file is not of this kind and version, and for missing or wrong arrays.
    """
    key, writer = _key(kind), f"{kind.__name__}.save"
    arrays = read_archive(path, writer)
    if key not in arrays:
        raise FileFormatError(f"not a file of {writer}: {key} missing", path=path)
    if (version := str(arrays[key])) != str(_VERSION):
        raise FileFormatError(f"version {version} of {writer}, this package reads {_VERSION}", path=path, key=key)
    try:
        parameters = {
            name: readers.get(name, lambda text: json.loads(str(text)))(arrays[name]) for name in kind._defaults()
        }
        yield kind(**parameters), arrays
    except KeyError as error:
        raise FileFormatError(f"not a file of {writer}: {error.args[0]} missing", path=path) from None
    except (ThunderError, OverflowError, TypeError, ValueError) as error:
        raise FileFormatError(f"not a file of {writer}: {error}", path=path) from error


def scalar(arrays: Mapping[str, Any], name: str) -> float:
    """Return a number, which may be NaN."""
    return float(numbers(arrays[name], name, 0))


def texts(arrays: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return an array of texts; an empty one of any type is no text."""
    if arrays[name].ndim != 1 or (arrays[name].dtype.kind != "U" and arrays[name].size):
        raise ThunderError(f"{name} must be texts, got {arrays[name]!r}")
    return tuple(map(str, arrays[name]))
