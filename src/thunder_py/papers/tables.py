"""Tables of experiments, as Markdown: notebooks show it, and it reads well in a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_whole
from ..table import Table


def markdown(header: Iterable[str], rows: Iterable[Iterable[object]], digits: int = 3) -> str:
    """Return a table as Markdown with aligned columns.

    Parameters
    ----------
    header : iterable of str
        Names of the columns.
    rows : iterable of iterables
        Floats are written with `digits` significant digits, NaN and None as empty cells, the rest as it is.
    digits : int
        Significant digits of floats.
    """
    return Table(header, rows, digits).to_markdown()


def plain(value: Any) -> Any:
    """Return nested dicts, lists, numbers and texts, as JSON knows them.

    Parameters
    ----------
    value : object
        Mappings, sequences, arrays, numbers, texts, paths, None. What is not finite becomes None: JSON has no NaN.

    Raises
    ------
    TypeError
        Anything else.
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}")


def write_results(path: str | Path, document: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all; one that is there is replaced.

    Parameters
    ----------
    path : path-like
        File to write.
    document : mapping
        What `plain` takes.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    text = json.dumps(plain(document), indent=1, allow_nan=False, ensure_ascii=False)
    write_whole(text + "\n", path)
