"""Columns of a store: values of Python as Arrow arrays from which they come back exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..optional import require

__all__ = ["MISSING", "column", "printable", "values_of"]

#: a run without this parameter
MISSING: Any = type("Missing", (), {})()
#: key of the metadata of a field that tells how its values are read
_KEY = "thunder_py"
_KINDS = "biufU"


def column(values: Sequence[Any]) -> tuple[Any, dict[str, str]]:
    """Return values as an Arrow array, and the metadata of its field, with which `values_of` returns them exactly.

    Values of one type are stored as such and arrays as lists; values of several types, or of one that Arrow changes, as
    JSON; objects that JSON does not know as their text.

    Examples
    --------
    >>> from thunder_py.simulation.columns import column, values_of
    >>> array, metadata = column([1, 1.5, "diverged", (0, 3)])
    >>> values_of(array, {key.encode(): text.encode() for key, text in metadata.items()})
    [1, 1.5, 'diverged', (0, 3)]
    """
    pa = require("pyarrow", "cluster")
    empty = {value is MISSING for value in values if value is None or value is MISSING}
    note = {"missing": True} if True in empty else {}
    note |= _layout([value for value in values if value is not None and value is not MISSING])
    try:
        plain = [None if value is MISSING else _plain(value) for value in values]
        array = pa.array(plain)
        exact = len(empty) < 2 and "mixed" not in note and repr(array.to_pylist()) == repr(plain)
    except Exception:  # of pyarrow, and of a text that is no UTF-8
        exact = False
    if not exact:
        array, note = pa.array([None if value is MISSING else _json(value) for value in values]), {"json": True}
    return array, {_KEY: json.dumps(note)} if note else {}


def values_of(array: Any, metadata: Mapping[bytes, bytes] | None) -> list[Any]:
    """Return the values of a `column`; `MISSING` for runs without one.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.simulation.columns import column, values_of
    >>> array, metadata = column([np.zeros((0, 3))])
    >>> values_of(array, {key.encode(): text.encode() for key, text in metadata.items()})[0].shape
    (0, 3)
    """
    note = json.loads((metadata or {}).get(_KEY.encode(), b"{}"))
    values = array.to_pylist()
    if "json" in note:
        return [MISSING if value is None else _decoded(json.loads(value)) for value in values]
    none = MISSING if "missing" in note else None
    if "dtype" not in note:
        return [none if value is None else value for value in values] if none is MISSING else values
    arrays = [none if value is None else np.array(value, dtype=note["dtype"]) for value in values]
    return [one.reshape(note["shape"]) if isinstance(one, np.ndarray) and "shape" in note else one for one in arrays]


def printable(value: object) -> str:
    r"""Return the text of an object, of which UTF-8 can be made.

    Examples
    --------
    >>> from thunder_py.simulation.columns import printable
    >>> print(printable("a\udc80"))
    a\udc80
    """
    try:
        text = str(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose text raises {type(error).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()


def _layout(values: Sequence[Any]) -> dict[str, Any]:
    """Return type and, where it is one, shape of arrays."""
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if not arrays:
        return {}
    types, shapes = {one.dtype.str for one in arrays}, {one.shape for one in arrays}
    if len(arrays) < len(values) or len(types) > 1 or (len(shapes) > 1 and any(one.size == 0 for one in arrays)):
        return {"mixed": True}
    return {"dtype": types.pop()} | ({"shape": list(shapes.pop())} if len(shapes) == 1 else {})


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind in _KINDS else value
    return value.item() if isinstance(value, np.generic) else value


def _json(value: Any) -> str:
    try:
        return json.dumps(_encoded(value))
    except (RecursionError, ValueError):  # of a list that contains itself
        return json.dumps({"text": printable(value)})


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": value.shape}
    value = _plain(value)
    if isinstance(value, (list, tuple)):
        entries = [_encoded(entry) for entry in value]
        return entries if isinstance(value, list) else {"tuple": entries}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encoded(entry) for key, entry in value.items()}}
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, Enum)):
        return value
    return {"text": printable(value)}


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "tuple" in value:
        return tuple(_decoded(entry) for entry in value["tuple"])
    if "dict" in value:
        return {key: _decoded(entry) for key, entry in value["dict"].items()}
    return value["text"]
