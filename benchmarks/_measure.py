"""Run the C++ benchmark programs in turns, pinned to one core, and keep the quietest turn of each."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _build import Program

Record = dict[str, Any]


def run(program: Program, arm: Path, *options: str, **environment: str) -> list[Record]:
    """Run one program on one arm, with more variables in its environment."""
    core = max(os.sched_getaffinity(0))
    result = subprocess.run(
        [str(program.path), str(arm), *options],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        env={**os.environ, **environment},
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def run_in_turns(programs: list[Program], arm: Path, rounds: int, *options: str) -> list[Record]:
    """Run all programs, one after the other, `rounds` times: a noisy moment hits everybody alike."""
    records = [r for _ in range(rounds) for program in programs for r in run(program, arm, *options)]
    return quietest(records)


def quietest(records: Iterable[Record]) -> list[Record]:
    """Of each measurement's rounds keep the lowest median and percentiles, and the worst case of them all."""
    best: dict[tuple[Any, ...], Record] = {}
    for r in records:
        key = tuple(r[k] for k in ("library", "compiler", "flags", "quantity", "variant", "mode", "joints"))
        if key not in best:
            best[key] = dict(r)
            continue
        kept = best[key]
        for name, choose in (("median_ns", min), ("p99_ns", min), ("p999_ns", min), ("worst_ns", max)):
            kept[name] = choose(kept[name], r[name])
    return list(best.values())


def fastest(records: Iterable[Record], **wanted: Any) -> Record | None:
    """Of the records that match, return the one with the lowest median."""
    matching = [r for r in records if all(r[k] == v for k, v in wanted.items())]
    return min(matching, key=lambda r: r["median_ns"], default=None)


def check_same_numbers(records: Iterable[Record]) -> None:
    """Refuse to compare libraries whose answers differ: it would be another arm, or a wrong one."""
    squares: dict[tuple[str, int], float] = {}
    for r in records:
        if r["quantity"] == "M upper":  # half a matrix
            continue
        expected = squares.setdefault((r["quantity"], r["joints"]), r["square"])
        if abs(r["square"] - expected) > 1e-10 * abs(expected):
            raise SystemExit(f"{r['library']}, {r['quantity']}: {r['square']!r}, others {expected!r}")
