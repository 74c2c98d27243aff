"""Tables of values: aligned text, Markdown, HTML, LaTeX, CSV, dictionaries, pandas."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from .checks import whole
from .errors import ThunderError
from .files import write_whole
from .optional import require


class Tabular:
    """Base of what has columns of equal length: data frames, CSV files, and the first rows in notebooks.

    Examples
    --------
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> columns = minimum_jerk_reaches(2, seed=0)[0].to_columns()
    >>> list(columns)
    ['t', 'x', 'y', 'z']
    """

    __slots__ = ()

    @abstractmethod
    def to_columns(self) -> dict[str, Any]:
        """Return the columns by name, each with one value for each row."""

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` of `to_columns`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed (extra ``tables``).
        """
        return require("pandas", "tables").DataFrame(self.to_columns())

    def to_csv(self, path: str | Path) -> None:
        """Write `to_columns` to a CSV file, numbers with all their digits; an existing file is replaced in one step.

        Parameters
        ----------
        path : path-like
            The file.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = self.to_columns()
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column, dtype=object) for column in columns.values()), strict=True))
        write_whole(text.getvalue(), path)

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        return html_text(self, Table(columns, zip(*(column[:_SHOWN] for column in columns.values()), strict=True)))


#: rows in notebooks of what may have many
_SHOWN = 5


def html_text(thing: object, table: Table) -> str:
    """Return the text of an object and a table below it, as notebooks show them.

    Examples
    --------
    >>> from thunder_py.table import Table, html_text
    >>> html_text("<Arm>", Table(["joint"], [["a"]]))[:25]
    '<p>&lt;Arm&gt;</p><table>'
    """
    return f"<p>{escape(str(thing))}</p>{table.to_html()}"


@dataclass(frozen=True, eq=False)
class Table(Tabular):
    """Table of values; the first column names the rows.

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

    def to_html(self) -> str:
        """Return the table in HTML."""
        head, *rows = ([escape(cell) for cell in row] for row in self.cells())
        lines = [f"<tr><th>{'</th><th>'.join(head)}</th></tr>"]
        lines += [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows]
        return f"<table>{''.join(lines)}</table>"

    _repr_html_ = to_html

    def to_latex(self) -> str:
        r"""Return the table as LaTeX's ``tabular``, with special characters escaped.

        Examples
        --------
        >>> from thunder_py.table import Table
        >>> print(Table(["law", "rmse [rad]"], [["K_0", 0.25]]).to_latex())
        \begin{tabular}{lr}
        \hline
        law & rmse [rad] \\
        \hline
        K\_0 & 0.25 \\
        \hline
        \end{tabular}
        """
        head, *rows = (f"{' & '.join(cell.translate(_LATEX) for cell in row)} \\\\" for row in self.cells())
        alignment = "l" + "r" * (len(self.header) - 1)
        lines = [f"\\begin{{tabular}}{{{alignment}}}", "\\hline", head, "\\hline", *rows, "\\hline", "\\end{tabular}"]
        return "\n".join(lines)

    def to_columns(self) -> dict[str, Any]:
        """Return the values by column.

        Raises
        ------
        ThunderError
            If two columns have the same name.
        """
        self._require_distinct("columns", self.header)
        return {name: [row[k] for row in self.rows] for k, name in enumerate(self.header)}

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the values by row and column.

        Raises
        ------
        ThunderError
            If two rows or two columns have the same name.
        """
        self._require_distinct("rows", [row[0] for row in self.rows])
        self._require_distinct("columns", self.header)
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
        return super().to_pandas().set_index(self.header[0])

    @staticmethod
    def _require_distinct(what: str, names: Sequence[Any]) -> None:
        if len(set(names)) < len(names):
            raise ThunderError(f"{what} of a table must have different names to be a dictionary, got {names!r}")


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


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
