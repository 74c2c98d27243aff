"""Tables of experiments, as Markdown: notebooks show it, and it reads well in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = ["markdown"]


def markdown(header: Iterable[str], rows: Iterable[Iterable[object]], digits: int = 3) -> str:
    """Return a table as Markdown with aligned columns.

    Parameters
    ----------
    header : iterable of str
    rows : iterable of iterables
        Floats are written with `digits` significant digits, NaN and None as empty cells, the rest as it is.
    digits : int
    """
    lines = [list(header), *([_cell(x, digits) for x in row] for row in rows)]
    widths = [max(3, *(len(line[k]) for line in lines)) for k in range(len(lines[0]))]
    padded = [[cell.rjust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    padded.insert(1, ["-" * (width - 1) + ":" for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)


def _cell(value: object, digits: int) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
