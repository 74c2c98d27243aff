"""Files of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from ...checks import Array


class Table(Protocol):
    """A file with a row for each instant."""

    expected: ClassVar[str]

    @property
    def rows(self) -> int:
        """Number of rows, or an estimate of it."""

    def names(self) -> list[str]:
        """Return the names of the columns."""

    def parts(self, order: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of these columns, in parts of `size` rows."""

    def line(self, row: int) -> int | None:
        """Return the line of a row, for an error."""
