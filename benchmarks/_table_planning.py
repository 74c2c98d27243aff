"""Planning as Markdown, beside the goals and the report's times."""

from __future__ import annotations

from typing import Any

from _measure import Record, fastest
from _reasons import explain
from _table_text import marked_below, table

#: median, warm, at most [us]: by what a row's name begins with
GOALS = {"plan, ": 5.0, "replan, ": 10.0, "via search, 1000 ": 120.0, "via search, 10000 ": 1200.0, "DMP step": 1.0}
#: D4.2, section 5.3.1, MATLAB [us]: by the number of candidates
REPORT = {"via search, 1000 ": "6880", "via search, 10000 ": "46000"}
WORST_P99 = 1000.0  # [us], of 1000 candidates
SPHERES = ("1 sphere", "2 spheres", "3 spheres")  # the goals of searches are for these
MOST_FAILURES = 0.002
FPCA_SECONDS = 2.0
LONGER = 1.01  # durations of time-optimal motions, over those of the finest grid
PYTHON_MORE = 15.0  # [us] above C++


def planning(results: dict[str, Any]) -> list[str]:
    """Return all tables about planning."""
    return [
        *_programs(results["planning"], results["failures"]),
        *_python(results["planning_python"], results["planning"]),
        *_families(results["scenarios"]),
        *_fpca(results["fpca"]),
        *_time_optimal(results["time_optimal"]),
    ]


def _starting(names: dict[str, Any], quantity: str) -> Any:
    return next((value for start, value in names.items() if quantity.startswith(start)), None)


def _programs(records: list[Record], failures: list[dict[str, Any]]) -> list[str]:
    parts, missed = [], []
    for compiler in dict.fromkeys(r["compiler"] for r in records):
        rows = []
        for r in (r for r in records if r["compiler"] == compiler and r["mode"] == "warm"):
            quantity, variant = r["quantity"], r["variant"]
            searching = quantity.startswith("via search")
            goal = None if searching and not quantity.endswith(SPHERES) else _starting(GOALS, quantity)
            median, p99, p999, _ = (1e-3 * r[k] for k in ("median_ns", "p99_ns", "p999_ns", "worst_ns"))
            late = quantity.startswith("via search, 1000 ") and goal is not None and p99 > WORST_P99
            if goal is not None and (median > goal or late):
                missed.append(f"{quantity}, {variant}")
            lost = next((f for f in failures if (f["quantity"], f["variant"]) == (quantity, variant)), None)
            loop = fastest(records, compiler=compiler, quantity=quantity, variant=variant, mode="loop")
            rows.append(
                [
                    f"{quantity}: {variant}",
                    "" if goal is None else f"{goal:g}",
                    marked_below(median, goal),
                    marked_below(p99, WORST_P99 if late else None),
                    f"{p999:.2f}",
                    f"{1e-3 * loop['median_ns']:.2f}" if loop else "",
                    f"{lost['failures']} of {lost['searches']}" if lost else "",
                    _starting(REPORT, quantity) or "",
                ]
            )
        header = ["what", "goal, at most", "median", "p99", "p99.9", "1 kHz loop, emulated", "no path", "report"]
        parts += [f"### Planning in C++: microseconds ({compiler}, {records[0]['flags']} flags)", table(header, rows)]
    return parts + explain("planning", missed)


#: rows from Python, and the C++ rows they are compared with
SAME_IN_CPP = {
    "plan, 3 DoF": ("plan, 3 DoF", "map"),
    "replan": ("replan, 6 x 6", "map"),
    "plan around 3 spheres, 1000 candidates": ("via search, 1000 candidates, 3 spheres", "default"),  # other problems
    "DMP step, 3 DoF": ("DMP step, 3 DoF", "21 Gaussians, rotated and scaled"),
}


def _python(calls: list[dict[str, Any]], records: list[Record]) -> list[str]:
    rows, missed = [], []
    for call in calls:
        quantity, variant = SAME_IN_CPP[call["quantity"]]
        core = fastest(records, quantity=quantity, variant=variant, mode="warm", compiler="g++")
        median, p99 = 1e-3 * call["median_ns"], 1e-3 * call["p99_ns"]
        alone = call.get("core_ns") or (core["median_ns"] if core else None)
        more = median - 1e-3 * alone if alone else None
        if more is not None and more > PYTHON_MORE:
            missed.append(call["quantity"])
        rows.append(
            [call["quantity"], f"{median:.1f}", f"{p99:.1f}", "" if more is None else marked_below(more, PYTHON_MORE)]
        )
    header = ["call", "median", "p99", f"more than in C++ (goal {PYTHON_MORE:g}, at most)"]
    return ["### Planning from Python: microseconds a call", table(header, rows), *explain("planning, Python", missed)]


def _families(families: list[dict[str, Any]]) -> list[str]:
    rows, missed = [], []
    for f in families:
        rate = f["failures"] / f["settings"]
        if f["candidates"] == 1000 and rate > MOST_FAILURES:
            missed.append(f"family {f['family']}")
        rows.append(
            [
                f"{f['family']}",
                f["candidates"],
                f["settings"],
                f"{100 * rate:.2f} %" + ("" if f["candidates"] != 1000 or rate <= MOST_FAILURES else " †"),
                f"{f['median_us']:.0f}",
                f"{f['p99_us']:.0f}",
            ]
        )
    header = ["family", "candidates", "settings", "no path (goal 0.2 %, at most)", "median", "p99"]
    return [
        "### The four families of obstacle settings, default search, from Python: microseconds",
        table(header, rows),
        *explain("scenarios", missed),
    ]


def _fpca(fits: dict[str, float]) -> list[str]:
    rows = [[name, marked_below(seconds, FPCA_SECONDS)] for name, seconds in fits.items() if name != "trials"]
    missed = [name for name, seconds in fits.items() if name != "trials" and seconds > FPCA_SECONDS]
    title = f"### Functional components of {fits['trials']:.0f} trials of 6 coordinates (goal {FPCA_SECONDS:g} s)"
    return [title, table(["way", "seconds"], rows), *explain("fpca", missed)]


def _time_optimal(records: list[Record]) -> list[str]:
    rows, missed = [], []
    for r in records:
        ours = r["method"].startswith("time_optimal")
        # longer motions are what limited torque rates cost
        met = {
            "worst_ratio": r["worst_ratio"] <= LONGER if r["method"] == "time_optimal" else None,
            "largest_part": r["largest_part"] <= 1.0 + 1e-9 if ours else None,
        }
        text = {
            key: {None: "{}", True: "**{}**", False: "{} †"}[value].format(f"{r[key]:.4f}")
            for key, value in met.items()
        }
        if False in met.values():
            missed.append(f"{r['method']}, {r['cells']} cells")
        rows.append([r["method"], r["cells"], f"{r['mean_ratio']:.4f}", *text.values(), f"{r['median_ms']:.0f}"])
    header = [
        "method",
        "cells",
        "duration, mean",
        f"worst (goal {LONGER:g}, at most)",
        "largest part of a limit (goal 1)",
        "ms",
    ]
    paths, reference = records[0]["paths"], records[-1]
    title = (
        f"### Time-optimal motions of the Panda along {paths} paths within velocity and torque: durations over those "
        f"of {reference['method']} with {reference['cells']} cells, and times of planning"
    )
    return [title, table(header, rows), *explain("time-optimal", missed)]
