"""Why goals are missed, as far as it was found out; the page says so where a run misses them, and only there."""

from __future__ import annotations

#: (goal's table, row): reason
REASONS = {
    ("Pinocchio", "Y_r"): (
        "the 1578 operations come with 490 stores of results and about as many reloads of values that 16 registers do "
        "not hold (objdump), and g++ does them one at a time, clang half of them two at a time."
    ),
    ("Pinocchio, loop", "*"): (
        "goals were set for warm medians. With cold caches a call first fetches its code, and straight-line code is "
        "longer than loops."
    ),
    ("controllers", "CartesianMACT (regressor)"): (
        "it is the sum of its parts: the law with gamma = 0, whose task kinematics and their exact derivatives take "
        "about 1.7 us more than the joint-space law, and 2.2 us for the regressors of momentum, drift and gravity, "
        "their filter and the prediction error, 490 numbers each, as in MACT (regressor) over MACT (gamma = 0)."
    ),
    ("generation", "7 joints, `thunder gen`"): (
        "most of it is the command's own start, Python and its imports; the rest is what *of which in it* says."
    ),
    ("planning", "*"): (
        "where all coordinates share their scores and frames turn with the path, each candidate costs two quadratic "
        "forms in the world's axes and a system of 6 x 6 for its velocity and acceleration, and 18 numbers act on a "
        "control point. Coordinates of their own have 2 x 2 in closed form, and 6 numbers."
    ),
}
UNKNOWN = "no reason found yet."


def explain(table: str, missed: list[str]) -> list[str]:
    """Return a list, as Markdown, of what a table's goals miss."""
    rows: dict[str, list[str]] = {}
    for row in dict.fromkeys(missed):
        reason = REASONS.get((table, row)) or REASONS.get((table, "*"))
        if reason is None or (table, row) in REASONS:
            rows[row] = [reason or UNKNOWN]
        else:
            rows.setdefault("*", [reason]).append(row)
    lines = []
    for row, (reason, *shared) in rows.items():
        lines.append(f"- {'; '.join(f'**{name}**' for name in shared or [row])}: {reason}")
    return ["Missed, and why:\n\n" + "\n".join(lines)] if lines else []
