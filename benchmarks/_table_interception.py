"""Interception as Markdown: replans in the control loop and runs of the conveyor, beside their goals."""

from __future__ import annotations

from typing import Any

from _interception import CONVEYOR_SECONDS, GOALS
from _measure import fastest
from _reasons import explain
from _table_text import marked_below, table


def interception(results: dict[str, Any]) -> list[str]:
    """Return all tables about interception."""
    return [
        *_replans(results["interception"], results["interception_replans"], results["interception_python"]),
        *_conveyor(results["conveyor"]),
    ]


def _replans(records: list[dict[str, Any]], counted: list[dict[str, Any]], python: dict[str, float]) -> list[str]:
    rows, missed = [], []
    for r in (r for r in records if r["mode"] == "warm"):
        same = {"compiler": r["compiler"], "quantity": r["quantity"], "variant": r["variant"]}
        loop = fastest(records, **same, mode="loop")
        median = 1e-3 * r["median_ns"]
        name = f"{r['quantity']}: {r['variant']}, {r['compiler']}"
        if median > GOALS["C++"]:
            missed.append(name)
        replans = next((c for c in counted if (c["quantity"], c["variant"]) == (r["quantity"], r["variant"])), None)
        rows.append(
            [
                name,
                f"{GOALS['C++']:g}",
                marked_below(median, GOALS["C++"]),
                *(f"{1e-3 * r[k]:.2f}" for k in ("p99_ns", "p999_ns")),
                *([f"{1e-3 * loop[k]:.2f}" for k in ("median_ns", "p999_ns")] if loop else ["", ""]),
                f"{replans['replans']} of {replans['calls']}" if replans else "",
            ]
        )
    if python["median_us"] > GOALS["Python"]:
        missed.append("Python")
    rows.append(
        [
            "`measure` and `reference` from Python",
            f"{GOALS['Python']:g}",
            marked_below(python["median_us"], GOALS["Python"]),
            f"{python['p99_us']:.2f}",
            f"{python['p999_us']:.2f}",
            "",
            "",
            f"{python['replans']:.0f} timed",
        ]
    )
    header = ["what", "goal, at most", "median", "p99", "p99.9", "1 kHz loop, emulated", "its p99.9", "new plans"]
    title = "### A replan inside the control loop, from measurement to reference: microseconds"
    return [title, table(header, rows), *explain("interception", missed)]


def _conveyor(runs: list[dict[str, Any]]) -> list[str]:
    rows, missed = [], []
    for r in runs:
        name = "the Panda follows, under MACT" if r["arm"] else "the planned point"
        goal = CONVEYOR_SECONDS if r["runs"] == 1000 else None  # of few, most is the start of the processes
        if goal is not None and r["seconds"] > goal:
            missed.append(name)
        told = "" if goal is None else f"{goal:g} s"
        rows.append([name, r["runs"], r["jobs"], told, marked_below(r["seconds"], goal, " s")])
    header = ["what", "runs", "processes", "goal, at most", "takes"]
    return ["### Runs of the conveyor at 0.26 m/s", table(header, rows), *explain("conveyor", missed)]
