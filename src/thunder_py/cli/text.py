"""Plain text for terminals."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["number", "table"]


def number(value: float, digits: int = 4) -> str:
    """Return a number with some significant digits, without noise: zero is ``0``."""
    return f"{value:.{digits}g}" if value else "0"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return lines with aligned columns: the first to the left, the others to the right."""
    cells = [header, *rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()

    return "\n".join([line(header), "-" * (sum(widths) + 2 * len(widths) - 2), *map(line, rows)])
