"""Why goals are missed, as far as it was found out; the page says so where a run misses them, and only there."""

from __future__ import annotations

#: (goal's table, row): reason
REASONS = {
    ("Pinocchio", "Y_r"): (
        "1578 operations and 490 results to store take about 0.2 ns each, one by one: straight-line code fills half "
        "of a register of two doubles. CasADi's code of the same operations takes half as long again."
    ),
    (
        "Pinocchio, loop",
        "*",
    ): "the goals were set for warm medians; here every call first reads its code and its results' "
    "memory from afar, and straight-line code has more of it than Pinocchio's loops.",
}
UNKNOWN = "no reason found yet."


def explain(table: str, missed: list[str]) -> list[str]:
    """Return a list, as Markdown, of what a table's goals miss."""
    lines = []
    for row in dict.fromkeys(missed):
        reason = REASONS.get((table, row), REASONS.get((table, "*"), UNKNOWN))
        lines.append(f"- **{row}**: {reason}")
    return ["Missed, and why:\n\n" + "\n".join(lines)] if lines else []
