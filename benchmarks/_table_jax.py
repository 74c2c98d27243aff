"""Recorded functions in JAX as Markdown."""

from __future__ import annotations

from typing import Any

from _table_text import marked_below, table

#: largest time to compile a function [s]
GOAL = 20.0


def jax_functions(found: dict[str, Any]) -> list[str]:
    """Return the table, or why there is none."""
    title = "### Functions of JAX: nanoseconds per state of a batch"
    if "reason" in found:
        return [title, f"Not measured: {found['reason']}."]
    rows = []
    for case in found["cases"]:
        ratio, compilation = case["jax_ns"] / case["ours_ns"], marked_below(case["compile_s"], GOAL)
        rows.append([case["quantity"], f"{ratio:.2f}", f"{case['ours_ns']:.0f}", f"{case['jax_ns']:.0f}", compilation])
    header = ["quantity", "JAX's time / ours", "robot's method, all threads", "JAX", "compilation [s]"]
    text = (
        f"JAX {found['version']} on {found['device']}, {found['states']} states. Compilation has a goal of {GOAL:g} s."
    )
    return [title, text, table(header, rows)]
