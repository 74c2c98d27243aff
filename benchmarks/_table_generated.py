"""Results of generated code as Markdown: beside Pinocchio and CasADi, and what generating and compiling costs."""

from __future__ import annotations

from typing import Any

from _build import FLAGS
from _measure import Record, fastest
from _reasons import explain
from _table_text import MODES, marked, table, times

GOALS = {"J": 6.0, "M": 5.0, "M + C + M_dot": 8.0, "inverse dynamics": 5.0, "Y_r": 12.0}  # times faster than Pinocchio
#: joints: most for seconds of `thunder gen`, MB of source, seconds and MB of compilation
GENERATION_GOALS = {7: (0.5, 0.5, 5.0, None), 30: (3.0, 6.0, 30.0, 2000.0)}
#: joints: the article's Table 2, library creation [s]; the tool itself, measured: seconds and MB of source
ARTICLE = {3: 0.6, 5: 0.8, 7: 1.1, 9: 2.3, 15: 12.1, 30: 155.1}
MEASURED = {7: (1.8, 20.2), 15: (32.5, 378.0), 30: (155.0, 1700.0)}

Row = tuple[str, str]  # quantity, parameters


def generated(records: list[Record]) -> list[str]:
    """Return the tables of calls."""
    ours = [r for r in records if r["library"] == "generated"]
    rows = list(dict.fromkeys((r["quantity"], r["variant"]) for r in ours))
    builds = [(f, c) for f in FLAGS for c in dict.fromkeys(r["compiler"] for r in ours) if _has(ours, f, c)]
    parts, nanoseconds = [], []
    for mode, title in MODES.items():
        here = [r for r in records if r["mode"] == mode]
        if not here:
            continue
        parts += _beside_pinocchio(here, rows, builds, title, mode)
        parts += _beside_casadi(here, rows, builds, title)
        for flags in dict.fromkeys(f for f, _ in builds):
            nanoseconds += _nanoseconds(here, rows, flags, title)
    return parts + nanoseconds


def _has(records: list[Record], flags: str, compiler: str) -> bool:
    return fastest(records, flags=flags, compiler=compiler) is not None


def _ours(records: list[Record], row: Row, **build: str) -> Record | None:
    return fastest(records, library="generated", quantity=row[0], variant=row[1], **build)


def _best_ratio(records: list[Record], row: Row, flags: str, compiler: str | None = None) -> float | None:
    """Pinocchio's best, of all compilers and all its ways, over generated code, by one compiler or the better one."""
    ours = _ours(records, row, flags=flags, **({"compiler": compiler} if compiler else {}))
    theirs = fastest(records, library="Pinocchio", quantity=row[0], flags=flags)
    return theirs["median_ns"] / ours["median_ns"] if ours and theirs else None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _beside_pinocchio(
    records: list[Record], rows: list[Row], builds: list[tuple[str, str]], title: str, mode: str
) -> list[str]:
    cells, missed = [], []
    for row in rows:
        goal, reached = GOALS.get(row[0]), _best_ratio(records, row, "baseline")
        if goal and reached and reached < goal:
            missed.append(row[0])
        shown = marked(reached, goal) if goal and reached else _number(reached)
        ratios = [_number(_best_ratio(records, row, f, c)) for f, c in builds]
        cells.append([*row, f"{goal:g}" if goal else "-", shown, *ratios])
    header = ["quantity", "parameters", "goal", "reached", *(f"{f}, {c}" for f, c in builds)]
    name = "Pinocchio" if mode == "warm" else "Pinocchio, loop"
    return [
        f"### Generated code, 7 joints: times faster than Pinocchio ({title}, median)",
        "Reached: the better compiler of ours over the best of Pinocchio's, baseline flags.",
        table(header, cells, text=2),
        *explain(name, missed),
    ]


def _beside_casadi(records: list[Record], rows: list[Row], builds: list[tuple[str, str]], title: str) -> list[str]:
    cells, missed = [], []
    for row in rows:
        ratios = []
        for flags, compiler in builds:
            ours = _ours(records, row, flags=flags, compiler=compiler)
            theirs = fastest(records, library="CasADi", quantity=row[0], variant=row[1], flags=flags, compiler=compiler)
            ratios.append(theirs["median_ns"] / ours["median_ns"] if ours and theirs else None)
        known = [r for r in ratios if r is not None]
        if known and min(known) < 1.0:
            missed.append(row[0])
        reached = marked(min(known), 1.0) if known else "-"
        cells.append([*row, "1", reached, *map(_number, ratios)])
    header = ["quantity", "parameters", "goal", "reached", *(f"{f}, {c}" for f, c in builds)]
    return [
        f"### Generated code, 7 joints: times faster than CasADi's code of the same expressions ({title}, median)",
        "Reached: the worst of the builds; in each, both are compiled alike.",
        table(header, cells, text=2),
        *explain("CasADi", missed),
    ]


def _nanoseconds(records: list[Record], rows: list[Row], flags: str, title: str) -> list[str]:
    found = [r["compiler"] for r in records if r["library"] == "generated" and r["flags"] == flags]
    compilers = list(dict.fromkeys(found))
    cells = []
    for row in rows:
        measured = [_ours(records, row, flags=flags, compiler=c) for c in compilers]
        measured += [
            fastest(records, library="CasADi", quantity=row[0], variant=row[1], flags=flags, compiler=c)
            for c in compilers
        ]
        measured += [
            fastest(records, library=name, quantity=row[0], flags=flags) for name in ("Pinocchio", "thunder_py")
        ]
        cells.append([*row, *map(times, measured)])
    header = ["quantity", "parameters", *(f"generated, {c}" for c in compilers), *(f"CasADi, {c}" for c in compilers)]
    header += ["Pinocchio, best", "our kernels, best"]
    return [
        f"### Generated code, 7 joints: nanoseconds ({title}, {flags} flags): median / p99 / worst",
        table(header, cells, text=2),
    ]


def generation(records: list[dict[str, Any]]) -> list[str]:
    """Return the table of generated libraries, and their goals."""
    compilers = list(records[0]["compile"])
    header = ["joints", "functions", "`thunder gen` [s]", "of which in it [s]", "core's source [MB]", "all files [MB]"]
    for c in compilers:
        header += [f"{c} -O2 [s]", "peak [MB]"]
    header += ["article [s]", "Thunder 0.8, measured [s]", "[MB]"]
    rows = []
    for r in records:
        row = [r["joints"], r["functions"], f"{r['generate']['seconds']:.2f}", f"{r['in_process']:.2f}"]
        row += [f"{r['source_mb']:.2f}", f"{r['all_mb']:.2f}"]
        for c in compilers:
            row += [f"{r['compile'][c]['seconds']:.1f}", f"{r['compile'][c]['peak_mb']:.0f}"]
        seconds, megabytes = MEASURED.get(r["joints"], ("-", "-"))
        rows.append([*row, ARTICLE[r["joints"]], seconds, megabytes])
    return [
        "### Generated libraries, everything: time, size, compilation",
        table(header, rows),
        *_generation_goals(records, compilers),
    ]


def _generation_goals(records: list[dict[str, Any]], compilers: list[str]) -> list[str]:
    rows, missed = [], []
    for r in records:
        for goal, (what, unit, value) in zip(GENERATION_GOALS.get(r["joints"], ()), _costs(r, compilers), strict=False):
            if goal is None:
                continue
            name = f"{r['joints']} joints, {what}"
            rows.append(
                [name, f"{goal:g} {unit}", f"**{value:.3g} {unit}**" if value <= goal else f"{value:.3g} {unit} †"]
            )
            missed += [name] if value > goal else []
    return [table(["what", "goal, at most", "reached"], rows), *explain("generation", missed)] if rows else []


def _costs(record: dict[str, Any], compilers: list[str]) -> list[tuple[str, str, float]]:
    """Return what goals are set for; compilation by the first compiler, g++ where it is there."""
    compiled = record["compile"][compilers[0]]
    return [
        ("`thunder gen`", "s", record["generate"]["seconds"]),
        ("source of the core", "MB", record["source_mb"]),
        (f"{compilers[0]} -O2", "s", compiled["seconds"]),
        (f"peak memory of {compilers[0]}", "MB", compiled["peak_mb"]),
    ]
