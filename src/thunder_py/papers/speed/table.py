"""Tables 2 and 3 of the Thunder article compared with our measurements, and its figure 2."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import codegen
from ...plotting.panels import new_panels
from ...plotting.style import BLUE, GREEN, LINE, THIN, TRUTH, VERMILION, label, outside_legend
from ..tables import markdown
from .formulas import ArticleFormulas, panda_of
from .run import Timing

#: joints -> robot creation [ms], library creation [s]; we separated the milliseconds from text without columns
TABLE_2 = {3: (23, 0.6), 5: (81, 0.8), 7: (326, 1.1), 9: (954, 2.3), 15: (5582, 12.1), 30: (18454, 155.1)}
#: quantity -> Thunder, Pinocchio [ns]; Y is Y_r for Thunder and the classical regressor for Pinocchio
TABLE_3 = {
    "J": (101, 402),
    "J_dot": (149, 908),
    "M": (534, 969),
    "C": (6003, 3444),
    "M_dot": (1607, 5774),
    "Y": (32279, 5197),
}
#: quantity -> standard deviation [ns] and coefficient of variation [%] of Thunder's calls
JITTER = {
    "J": (21.3, 21.2),
    "J_dot": (7.6, 4.4),
    "M": (22.1, 4.2),
    "C": (697, 12.0),
    "M_dot": (74.0, 4.6),
    "Y": (1834, 6.1),
}

_STYLES = {  # curve -> color, line, marker; C_std is wide, to be visible below C
    "C_std": (VERMILION, "-", ""),
    "C": (BLUE, "-", ""),
    "Y": (GREEN, "-", ""),
    "ours: C": (BLUE, "-", "o"),
    "ours: Y": (GREEN, "-", "o"),
    "Pinocchio: C": (BLUE, ":", "x"),
    "Pinocchio: Y": (GREEN, ":", "x"),
}


def count_operations(joints: Iterable[int], most: int) -> list[dict[str, float]]:
    """Count the operations of the article's Coriolis matrices, as written and with shared operations, and of ours.

    Parameters
    ----------
    joints : iterable of int
        Numbers of joints.
    most : int
        Number of joints up to which C_std is counted; it grows with the fifth power.

    Returns
    -------
    list of dict
        ``joints, C_std, C, C_std_shared, C_shared, ours``; NaN where not counted.
    """
    import casadi  # type: ignore[import-untyped,unused-ignore]

    rows = []
    for n in joints:
        row: dict[str, float] = {"joints": n}
        for name, function in ArticleFormulas(panda_of(n)).functions(("C_std", "C") if n <= most else ("C",)).items():
            inputs = function.sx_in()
            row[name] = function.n_instructions()
            row[f"{name}_shared"] = casadi.Function(name, inputs, [casadi.cse(function(*inputs))]).n_instructions()
        model = panda_of(n).symbolic(inertial=True)
        row["ours"] = model.function("C", model.coriolis_matrix()).operation_count
        rows.append({"C_std": np.nan, "C_std_shared": np.nan} | row)
    return rows


def plot_operations(counts: Sequence[dict[str, float]]) -> Figure:
    """Draw the number of operations of a Coriolis matrix."""
    title = "Thunder article, section 3.2: operations of a Coriolis matrix"
    figure, panels = new_panels([["operations"]], (9, 4.5), title)
    axes = panels["operations"]
    joints = [row["joints"] for row in counts]
    for name, color, line, caption in (
        ("C_std", VERMILION, "-", "C_std as written"),
        ("C", BLUE, "-", "C as written"),
        ("C_std_shared", VERMILION, "-.", "C_std, equal operations shared"),
        ("C_shared", BLUE, ":", "C, equal operations shared"),
        ("ours", TRUTH, "-", "our recording"),
    ):
        axes.semilogy(joints, [row[name] for row in counts], color=color, linestyle=line, label=caption, marker=".")
    label(axes, "", "joints [1]", "operations [1]")
    axes.locator_params(axis="x", integer=True)
    return outside_legend(figure, axes, ncols=3)


def plot_times(timings: Sequence[Timing], levels: Sequence[str] = ("-O0", "-O2")) -> Figure:
    """Draw figure 2 of the article once for each option of the compiler."""
    title = "Thunder article, Figure 2: time of a call"
    figure, panels = new_panels([list(levels)], (12, 6), title, sharey=True)
    for level, axes in panels.items():
        _plot_level(axes, timings, level)
    return outside_legend(figure, *panels.values(), ncols=5)


def _plot_level(axes: Axes, timings: Sequence[Timing], level: str) -> None:
    for curve, (color, line, marker) in _STYLES.items():
        for build in (level, "interpreted", "as installed"):
            points = [(t.joints, 1e6 * t.seconds) for t in timings if t.curve == curve and t.build == build]
            if not points:
                continue
            interpreted = build == "interpreted"
            caption = curve if interpreted or ":" in curve else f"{curve}_built"
            width = 4.0 if curve == "C_std" and not interpreted else LINE
            look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 4, "linewidth": width}
            axes.plot(*zip(*points, strict=True), "--" if interpreted else line, label=caption, **look)
    axes.axhline(1000.0, color=TRUTH, linewidth=THIN)
    axes.annotate("a period at 1 kHz", (0.02, 1000.0), xycoords=("axes fraction", "data"), ha="left", va="bottom")
    label(axes, f"compiled with {level}", "joints [1]", "time of a call [µs]", yscale="log")
    axes.locator_params(axis="x", integer=True)


def table_2(joints: Iterable[int]) -> str:
    """Create symbolic robots and whole libraries; return the times with the article's, as Markdown."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in joints:
            robot = panda_of(n)
            start = perf_counter()
            # the matrices and regressors of the article; those of long arms as functions, as in libraries
            model = robot.symbolic(inertial=True, outline=codegen.library.outlining(robot))
            for quantity in ("jacobian", "jacobian_dot", "mass_matrix", "coriolis_matrix", "slotine_li_regressor"):
                model.function(quantity, getattr(model, quantity)())
            recorded = perf_counter()
            path = codegen.generate(robot, Path(folder))
            written = perf_counter()
            size = (path / f"{robot.name}_gen.cpp").stat().st_size / 1e6
            rows.append([n, 1e3 * (recorded - start), TABLE_2[n][0], written - recorded, TABLE_2[n][1], size])
    header = ["joints", "robot, ours [ms]", "article [ms]", "library, ours [s]", "article [s]", "source, ours [MB]"]
    return markdown(header, rows)


def table_3(timings: Sequence[Timing]) -> str:
    """Return times and jitter of calls for seven joints with the article's numbers, in nanoseconds, as Markdown."""
    seconds = {(t.curve, t.build): 1e9 * t.seconds for t in timings if t.joints == 7}
    columns = [(curve, build) for curve in ("ours: {}", "{}") for build in ("-O0", "-O2")]
    columns.append(("Pinocchio: {}", "as installed"))
    rows = []
    for quantity, (thunder, pinocchio) in TABLE_3.items():
        times = [seconds.get((curve.format(quantity), build)) for curve, build in columns]
        rows.append([quantity, *("" if x is None else f"{x:.0f}" for x in times), thunder, pinocchio])
    header = ["", "ours, -O0", "ours, -O2", "article's formula, -O0", "article's formula, -O2", "Pinocchio from Python"]
    text = markdown([*header, "article: Thunder", "article: Pinocchio"], rows)
    return f"{text}\n\n{_jitter(timings)}"


def _jitter(timings: Sequence[Timing]) -> str:
    """Return standard deviations and coefficients of variation, as Markdown."""
    ours = {t.curve: t for t in timings if t.joints == 7 and t.build == "-O2" and np.isfinite(t.sigma)}
    rows: list[list[object]] = []
    for quantity, printed in JITTER.items():
        found = ours.get(f"ours: {quantity}")
        cells = (None, None) if found is None else (1e9 * found.sigma, 100.0 * found.sigma / found.seconds)
        rows.append([quantity, *cells, *printed])
    return markdown(["", "ours, -O2: sigma [ns]", "ours: CV [%]", "article: sigma [ns]", "article: CV [%]"], rows)
