"""The results as Markdown, ratios first."""

from __future__ import annotations

from typing import Any

from _build import FLAGS
from _measure import Record, fastest
from _table_controllers import controllers, simulations
from _table_generated import generated, generation
from _table_interception import interception
from _table_jax import jax_functions
from _table_planning import planning
from _table_realtime import realtime
from _table_ros import ros
from _table_sweeps import sweeps
from _table_text import MODES, marked, marked_below, table, times

GOALS = {
    "J": 2.5,
    "J_dot": 2.8,
    "M": 1.9,
    "C + M_dot": 4.0,
    "inverse dynamics": 3.0,
    "forward dynamics": 2.8,
    "inverse dynamics derivatives": 1.5,
    "forward dynamics derivatives": 1.5,
    "tau_r": None,
    "p + C' dq": None,
    "Y": 4.0,
    "Y_r": 8.0,
}
#: of the time of Y_r, at most
TORQUE_GOAL = 0.6
SLOPE_GOALS = {"inverse dynamics": 1.1, "M + C": 1.6, "Y_r": 1.95}


def markdown(results: dict[str, Any]) -> str:
    """Return all tables of one run."""
    machine = results["machine"]
    parts = [
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}. Ratios in bold meet their goal, "
        "those with a dagger (†) miss it.",
        *_cpp(results["cpp"]),
        *_python(results["python"]),
        *generated(results["cpp"]),
        *generation(results["generation"]),
        *_growth(results["growth"]),
        *_batches(results["batch"], results["baseline"]),
        *_rest(results),
        "### Machine, compilers, flags",
        table(["", ""], machine.items()),
    ]
    return "\n\n".join(parts) + "\n"


def control_markdown(results: dict[str, Any]) -> str:
    """Return the tables of controllers and simulations."""
    machine = results["machine"]
    parts = [
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}. Times in bold meet their goal, "
        "those with a dagger (†) miss it.",
        *controllers(results["controllers"]),
        *simulations(results["minutes"], results["many"]),
    ]
    return "\n\n".join(parts) + "\n"


def planning_markdown(results: dict[str, Any]) -> str:
    """Return the tables of human-like planning."""
    machine = results["machine"]
    parts = [
        f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}. Times in bold meet their goal, "
        "those with a dagger (†) miss it.",
        *planning(results),
        *interception(results),
    ]
    return "\n\n".join(parts) + "\n"


def ros_markdown(results: dict[str, Any]) -> str:
    """Return the tables of the loop over ROS 1 and 2."""
    machine = results["machine"]
    where = f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['Python']}."
    return "\n\n".join([where, *ros(results["ros1"], 1), *ros(results["ros2"], 2)]) + "\n"


def realtime_markdown(results: dict[str, Any]) -> str:
    """Return the tables of the loop in a thread of its own."""
    machine = results["machine"]
    where = f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['Python']}."
    return "\n\n".join([where, *realtime(results["realtime"])]) + "\n"


def jax_markdown(results: dict[str, Any]) -> str:
    """Return the table of functions of JAX."""
    machine = results["machine"]
    where = f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['Python']}."
    return "\n\n".join([where, *jax_functions(results["jax"])]) + "\n"


def sweeps_markdown(results: dict[str, Any]) -> str:
    """Return the tables of many runs."""
    machine = results["machine"]
    where = f"Measured on {machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['Python']}."
    return "\n\n".join([where, *sweeps(results["sweeps"])]) + "\n"


def _cpp(records: list[Record]) -> list[str]:
    compilers = list(dict.fromkeys(r["compiler"] for r in records if r["library"] == "thunder_py"))
    builds = [(f, c) for f in FLAGS for c in compilers if fastest(records, flags=f, library="thunder_py", compiler=c)]
    ratios, times = [], []
    for mode, title in MODES.items():
        here = [r for r in records if r["mode"] == mode]
        if not here:
            continue
        rows = [[q, f"{goal or '-'}", *(_ratio(here, q, f, c) for f, c in builds)] for q, goal in GOALS.items()]
        rows.append(["tau_r / Y_r, ours", f"at most {TORQUE_GOAL}", *(_part(here, f, c) for f, c in builds)])
        ratios += [f"### C++, 7 joints: times faster than Pinocchio ({title}, median)"]
        ratios += [table(["quantity", "goal", *(f"{f}, {c}" for f, c in builds)], rows)]
        for flags in FLAGS:
            rows = [_times_row(here, q, flags, compilers) for q in GOALS]
            if any(cell != "-" for row in rows for cell in row[1:]):
                times += [f"### C++, 7 joints: nanoseconds ({title}, {flags} flags): median / p99 / worst"]
                times += [table(["quantity", *(f"ours, {c}" for c in compilers), "Pinocchio", "by"], rows)]
    return ratios + times


def _ratio(records: list[Record], quantity: str, flags: str, compiler: str) -> str:
    """Pinocchio's best, of all compilers and all its ways, over our build by one compiler."""
    ours = fastest(records, library="thunder_py", quantity=quantity, flags=flags, compiler=compiler)
    theirs = fastest(records, library="Pinocchio", quantity=quantity, flags=flags)
    return marked(theirs["median_ns"] / ours["median_ns"], GOALS[quantity]) if ours and theirs else "-"


def _part(records: list[Record], flags: str, compiler: str) -> str:
    """Time of the reference torque, as a part of that of its regressor."""
    part, whole = (
        fastest(records, library="thunder_py", quantity=q, flags=flags, compiler=compiler) for q in ("tau_r", "Y_r")
    )
    return marked_below(part["median_ns"] / whole["median_ns"], TORQUE_GOAL) if part and whole else "-"


def _times_row(records: list[Record], quantity: str, flags: str, compilers: list[str]) -> list[str]:
    ours = [fastest(records, library="thunder_py", quantity=quantity, flags=flags, compiler=c) for c in compilers]
    theirs = fastest(records, library="Pinocchio", quantity=quantity, flags=flags)
    by = f"{theirs['compiler']}, {theirs['variant']}" if theirs else "-"
    return [quantity, *map(times, ours), times(theirs), by]


def _python(records: list[Record]) -> list[str]:
    rows = []
    for q in GOALS:
        ours, theirs = (fastest(records, library=library, quantity=q) for library in ("thunder_py", "Pinocchio"))
        if ours and theirs:
            rows.append([q, f"**{theirs['median_ns'] / ours['median_ns']:.2f}**", times(ours), times(theirs)])
    header = ["quantity", "times faster", "ours, with `out=`", "Pinocchio"]
    return ["### From Python, one call, 7 joints: nanoseconds, median / p99 / worst", table(header, rows)]


def _growth(growth: list[dict[str, Any]]) -> list[str]:
    header = ["quantity", "slope", "goal, at most", *(f"n = {n}" for n in growth[0]["joints"])]
    rows = [
        [g["quantity"], f"**{g['slope']:.2f}**", SLOPE_GOALS[g["quantity"]], *(f"{t:.0f}" for t in g["median_ns"])]
        for g in growth
    ]
    return [
        "### Growth with the number of joints: log-log slope, and nanoseconds (random general chains, g++, baseline)",
        table(header, rows),
    ]


#: how many times faster a state of a batch is than a single call of the baseline kernels
BATCH_GOALS = {
    "avx2": {"M": 3.0, "inverse dynamics": 3.0, "forward dynamics": 3.0, "Y_r": 2.5},
    "avx512": {"M": 5.0, "inverse dynamics": 5.0, "forward dynamics": 5.0},
}


def _batch_ratio(ratio: float, instructions: str, quantity: str) -> str:
    goal = BATCH_GOALS[instructions].get(quantity)
    return f"{ratio:.2f}" if goal is None else marked(ratio, goal)


def _batches(records: list[dict[str, Any]], baseline: list[Record]) -> list[str]:
    short, long = sorted({r["count"] for r in records})
    sets = list(dict.fromkeys(r["instructions"] for r in records if r["count"] == short))
    widest = sets[-1]
    rows = []
    for q in dict.fromkeys(r["quantity"] for r in records):
        scalar = fastest(baseline, quantity=q, mode="warm")
        assert scalar is not None
        ns = {(r["count"], r["instructions"], r["threads"]): r["ns"] for r in records if r["quantity"] == q}
        one, two = ns[long, widest, 1], ns[long, widest, 2]
        ratios = [_batch_ratio(scalar["median_ns"] / ns[short, name, 1], name, q) for name in sets[1:]]
        times = [f"{t:.0f}" for t in (*(ns[short, name, 1] for name in sets), one, two)]
        rows.append([q, *ratios, marked(one / two, 1.8), f"{scalar['median_ns']:.0f}", *times])
    header = ["quantity", *(f"baseline call / {name} batch" for name in sets[1:]), "two threads (goal 1.8)"]
    header += ["baseline call", *(f"{name}, {short}" for name in sets)]
    header += [f"{widest}, {long}", f"{widest}, {long}, 2 threads"]
    return [
        f"### Batches from Python, 7 joints: times faster than a single call of the baseline kernels (goals: AVX2 3, "
        f"Y_r 2.5; AVX-512 5, Y_r none), and nanoseconds per state ({short} states stay in the cache, {long} do not)",
        table(header, rows),
    ]


def _rest(results: dict[str, Any]) -> list[str]:
    speed = f"{results['steps_per_second']:,.0f}".replace(",", " ")
    rows = [
        ["closed loop, adaptive backstepping and RK4 plant", "100 000 steps/s", f"{speed} steps/s"],
        [
            "`import thunder_py` and its `Robot`, less the interpreter's start",
            "under 150 ms",
            f"{results['import_ms']['thunder_py']:.0f} ms",
        ],
        ["of which `import numpy`", "", f"{results['import_ms']['numpy']:.0f} ms"],
    ]
    return ["### The rest", table(["what", "goal", "measured"], rows)]
