"""Pieces of Markdown that all tables are made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from _measure import Record

MODES = {
    "warm": "warm",
    "loop": "one call per tick of an emulated 1 kHz loop, cold caches",
    "real-loop": "one call per tick of a 1 kHz loop, cold caches",
}


def table(header: Iterable[str], rows: Iterable[Iterable[object]], text: int = 1) -> str:
    """Return a Markdown table: some columns of text, then numbers, to the right."""
    head = list(header)
    lines = [head, [*["---"] * text, *["--:"] * (len(head) - text)], *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def marked(ratio: float, goal: float | None) -> str:
    """Return a ratio in bold where the goal is met, with a dagger where it is missed; plain without a goal."""
    text = f"{ratio:.2f}"
    if goal is None:
        return text
    return f"**{text}**" if ratio >= goal else f"{text} †"


def marked_below(value: float, goal: float | None, unit: str = "") -> str:
    """Return a number in bold where it is not above its goal, with a dagger where it is; plain without a goal."""
    text = f"{value:.2f}{unit}"
    if goal is None:
        return text
    return f"**{text}**" if value <= goal else f"{text} †"


def times(record: Record | None) -> str:
    """Return median, p99 and worst."""
    return " / ".join(f"{record[k]:.0f}" for k in ("median_ns", "p99_ns", "worst_ns")) if record else "-"


def renew(path: Path, name: str, text: str) -> None:
    """Put the tables between the two marks of a Markdown file that have this name."""
    begin, end = f"<!-- made by {name}: begin -->", f"<!-- made by {name}: end -->"
    before, rest = path.read_text().split(begin)
    after = rest.split(end)[1]
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{after}")
