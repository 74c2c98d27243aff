"""Values as JSON, from which they come back with their types; reading runs no code."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any

import numpy as np


def encoded(value: Any) -> Any:
    """Return a value as JSON holds it; other objects as their text, with a digest where they can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.simulation.many.encoding import decoded, encoded
    >>> decoded(encoded([1, 1.5, (0, None), np.zeros((0, 3))]))
    [1, 1.5, (0, None), array([], shape=(0, 3), dtype=float64)]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": value.shape}
    if isinstance(value, list):
        return [encoded(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encoded(entry) for entry in value]}
    if isinstance(value, (set, frozenset)):  # whose order differs between processes
        return {"set": sorted((encoded(entry) for entry in value), key=as_json)}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: encoded(entry) for key, entry in value.items()}}
    return {"text": re.sub(r" at 0x[0-9a-f]+", "", printable(value)), "digest": digest(value)}


def decoded(value: Any) -> Any:
    """Return what was encoded."""
    if isinstance(value, list):
        return [decoded(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "tuple" in value:
        return tuple(decoded(entry) for entry in value["tuple"])
    if "set" in value:
        return {decoded(entry) for entry in value["set"]}
    if "dict" in value:
        return {key: decoded(entry) for key, entry in value["dict"].items()}
    return value["text"]


def digest(value: Any) -> str | None:
    """Return joblib's digest of the pickle of a value, equal in every process; None if it cannot be pickled."""
    from joblib import hash as digest_of

    try:
        found: str = digest_of(value)
    except Exception:
        return None
    return found


def printable(value: object) -> str:
    r"""Return the text of an object, of which UTF-8 can be made.

    Examples
    --------
    >>> from thunder_py.simulation.many.encoding import printable
    >>> print(printable("a\udc80"))
    a\udc80
    """
    try:
        text = str(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose text raises {type(error).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()


def as_json(value: Any) -> str:
    """Return an encoded value as one line, with the bits of all numbers."""
    return json.dumps(value, separators=(",", ":"))
