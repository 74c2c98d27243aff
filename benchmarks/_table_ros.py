"""The loop over ROS as Markdown."""

from __future__ import annotations

from typing import Any

from _table_text import table


def ros(found: dict[str, Any], generation: int) -> list[str]:
    """Return the table, or why there is none."""
    title = f"### The Panda's loop at 1 kHz over ROS {generation}, three processes: milliseconds, median / p99 / worst"
    if "reason" in found:
        return [title, f"Not measured: {found['reason']}."]
    rows = []
    for r in found["cases"]:
        times = (" / ".join(f"{1e3 * x:.2f}" for x in r[k]) for k in ("latency", "period", "computing"))
        rows.append([r["case"], f"{r['rate']:.0f}", *times])
    header = ["listened to", "commands a second", "state's stamp to command", "between states", "in the control loop"]
    return [title, f"{found['cases'][0]['seconds']:g} s each.", table(header, rows)]
