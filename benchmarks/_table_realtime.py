"""The loop in a thread of its own as Markdown."""

from __future__ import annotations

from typing import Any

from _table_text import table

WORDS = {
    "period": "time between states",
    "latency": "wake-up after the timer's instant",
    "computing": "state to command",
}


def realtime(found: dict[str, Any]) -> list[str]:
    """Return the tables."""
    rows = [[WORDS[name], *(f"{x:.1f}" for x in found["microseconds"][name])] for name in WORDS]
    settings = ", ".join(f"{name}: {outcome}" for name, outcome in found["settings"].items()) or "none asked for"
    counts = [
        ["minutes", f"{found['minutes']:.1f}"],
        ["answered states", str(found["cycles"])],
        ["missed cycles, most in a row", f"{found['missed']}, {found['worst_missed']}"],
        ["periods begun before the end of a cycle", str(found["overruns"])],
        ["allocations in the thread", "not counted" if found["allocations"] is None else str(found["allocations"])],
        ["page faults, minor and major", f"{found['minor_faults']}, {found['major_faults']}"],
        ["preemptions", str(found["preemptions"])],
        ["rows of the log dropped", str(found["log_dropped"])],
        ["processor time", f"{found['processor_percent']:.1f} % of a core"],
        ["load average, mean and largest", f"{found['load'][0]:.2f}, {found['load'][1]:.2f}"],
        ["taken from the core by a hypervisor", f"{found['stolen']:.2f} s"],
        ["settings of the thread", settings],
        ["end of the run", found["reason"]],
    ]
    title = "### The Panda's loop at 1 kHz in a thread of its own: microseconds"
    return [
        title,
        table(["", "median", "p99", "p99.9", "worst"], rows),
        table(["", "count"], counts),
    ]
