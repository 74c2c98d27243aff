"""Tables of values: aligned text, Markdown, dictionaries, pandas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checks import whole
from .errors import ThunderError
from .optional import require

__all__ = ["Table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Table of values; the first column names the rows. Notebooks show it as Markdown.

    Attributes
    ----------
    header : iterable of str
        Names of all columns, with units where needed.
    rows : iterable of iterables
        Values of each row. None and NaN are empty cells in text and Markdown.
    digits : int
        Significant digits of floats in text and Markdown.

    Raises
    ------
    ThunderError
        If there are no columns, or a row is not iterable or has another length than the header.

    Examples
    --------
    >>> from thunder_py.table import Table
    >>> table = Table(["law", "rmse [rad]", "status"], [["MACT", 0.0123456, "ok"], ["PD", None, "diverged"]])
    >>> print(table)
    law   rmse [rad]    status
    MACT     0.01235        ok
    PD                diverged
    >>> print(table.to_markdown())
    |  law | rmse [rad] |   status |
    | ---: | ---------: | -------: |
    | MACT |    0.01235 |       ok |
    |   PD |            | diverged |
    >>> table.to_dict()["MACT"]
    {'rmse [rad]': 0.0123456, 'status': 'ok'}
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    digits: int

    def __init__(self, header: Iterable[str], rows: Iterable[Iterable[Any]], digits: int = 4) -> None:
        object.__setattr__(self, "header", tuple(header))
        object.__setattr__(self, "rows", tuple(_row(row, k) for k, row in enumerate(rows)))
        object.__setattr__(self, "digits", whole(digits, "digits", 1))
        if not self.header:
            raise ThunderError("header must name at least one column")
        for k, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ThunderError(f"row {k} must have {len(self.header)} values, got {len(row)}")

    def cells(self) -> list[list[str]]:
        """Return the header and the rows as text."""
        return [list(self.header), *([_text(value, self.digits) for value in row] for row in self.rows)]

    def __str__(self) -> str:
        """Return lines of aligned columns, the first to the left, the others to the right."""
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in cells
        )

    def to_markdown(self) -> str:
        """Return the table in Markdown, with aligned columns."""
        cells = [[cell.replace("|", r"\|") for cell in row] for row in self.cells()]
        widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, ["-" * (width - 1) + ":" for width in widths])
        return "\n".join("| " + " | ".join(map(str.rjust, row, widths)) + " |" for row in cells)

    _repr_markdown_ = to_markdown

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the values by row and column.

        Raises
        ------
        ThunderError
            If two rows or two columns have the same name.
        """
        for what, names in (("rows", [row[0] for row in self.rows]), ("columns", self.header)):
            if len(set(names)) < len(names):
                raise ThunderError(f"{what} of a table must have different names to be a dictionary, got {names!r}")
        return {row[0]: dict(zip(self.header[1:], row[1:], strict=True)) for row in self.rows}

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` whose index is the first column.

        Raises
        ------
        MissingExtraError
            If pandas is not installed (extra ``tables``).

        Examples
        --------
        >>> from thunder_py.table import Table
        >>> frame = Table(["law", "rmse [rad]"], [["MACT", 0.25], ["PD", 0.5]]).to_pandas()
        >>> float(frame.loc["PD", "rmse [rad]"])
        0.5
        """
        frame = require("pandas", "tables").DataFrame(list(self.rows), columns=list(self.header))
        return frame.set_index(self.header[0])


def _row(row: Iterable[Any], k: int) -> tuple[Any, ...]:
    try:
        return tuple(row)
    except TypeError:
        raise ThunderError(f"row {k} must be a sequence of values, got {row!r:.80}") from None


def _text(value: object, digits: int) -> str:
    if isinstance(value, np.ndarray):
        return " ".join(_text(entry, digits) for entry in value.ravel().tolist())
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.{digits}g}"
    return "" if value is None else " ".join(str(value).split("\n"))
