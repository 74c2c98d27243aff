"""Many runs as Markdown: beside MuJoCo's rollout, overhead of workers, memory."""

from __future__ import annotations

from typing import Any

from _table_text import marked, table

#: least efficiency of two workers with runs of this duration [s]
EFFICIENCY_GOAL = {0.1: 0.95}


def sweeps(found: dict[str, Any]) -> list[str]:
    """Return the tables of many runs."""
    free = found["free"]
    rows = [["thunder_py, `simulate_many`", f"{free['ours']:.0f}"], ["MuJoCo, `rollout`", f"{free['theirs']:.0f}"]]
    return [
        f"### Free motions of the Panda: runs of {free['steps']} steps per second",
        f"{free['cores']} threads, RK4, MuJoCo {free['version']}. Final positions differ by at most "
        f"{free['difference']:.1e} rad. `simulate_many` / `rollout`: {free['ours'] / free['theirs']:.2f}.",
        table(["", "runs/s"], rows),
        "### Runs in two workers: overhead, and speed relative to two processes that share nothing",
        table(
            [
                "workers, duration of a run",
                "runs",
                "overhead",
                "overhead with a store",
                "efficiency (goal at 100 ms: 0.95)",
            ],
            [_overhead(case) for case in found["overhead"]],
        ),
        "### Many short runs: memory of client and scheduler",
        table(
            ["workers", "runs", "microseconds a run", "resident [MB]", "growth after the first tenth [MB]"],
            [
                [
                    one["workers"],
                    one["count"],
                    f"{one['us']:.0f}",
                    f"{one['resident_mb']:.0f}",
                    f"{one['growth_mb']:.1f}",
                ]
                for one in found["memory"]
            ],
        ),
    ]


def _overhead(case: dict[str, Any]) -> list[str]:
    shares = [f"{100.0 * case[name]:.1f} %" for name in ("overhead", "with_store")]
    efficiency = marked(case["efficiency"], EFFICIENCY_GOAL.get(case["length"]))
    return [f"{case['workers']}, {1e3 * case['length']:g} ms", str(case["count"]), *shares, efficiency]
