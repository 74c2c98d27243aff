"""Step times of all controllers and of kinematic control, in C++."""

from __future__ import annotations

from pathlib import Path

from _build import Program, build_all, compilers
from _measure import Record, check_same_numbers, run_in_turns

#: p99.9 of the loop needs thousands of ticks
FULL = ["--ticks", "4000"]
QUICK = ["--ticks", "200", "--passes", "10"]


def programs(quick: bool) -> list[Program]:
    """Return the programs to run: with the flags of a wheel, by every compiler; by the first one in a quick run."""
    return [Program("controllers", compiler, "baseline") for compiler in compilers()[: 1 if quick else None]]


def steps(arm: Path, quick: bool, real_loop: bool) -> list[Record]:
    """Time the steps of every controller."""
    options = [*(QUICK if quick else FULL), *(["--real-loop"] if real_loop else [])]
    records = run_in_turns(build_all(programs(quick)), arm, 1 if quick else 3, *options)
    check_same_numbers(records)
    return records
