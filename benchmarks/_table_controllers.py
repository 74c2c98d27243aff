"""Step times of controllers and times of simulations as Markdown, beside their goals."""

from __future__ import annotations

from typing import Any

from _loop import MINUTE, RUN_SECONDS, RUNS
from _measure import Record, fastest
from _reasons import explain
from _table_text import table

#: every row of the table: the median step, warm, at most [us]
GOALS = {
    "IndependentJoint": 10.0,
    "IndependentJoint (model feedforward)": 10.0,
    "PDGravity": 10.0,
    "ComputedTorque (Craig)": 10.0,
    "ComputedTorque (impedance)": 10.0,
    "PassivityBased": 10.0,
    "RobustUnitVector": 10.0,
    "SlotineLi": 10.0,
    "SlotineLi (natural law)": 10.0,
    "ACT (regressor)": 10.0,
    "ACT (acceleration)": 10.0,
    "MACT (gamma = 0)": 4.0,
    "MACT (regressor)": 4.0,
    "MACT (acceleration)": 4.0,
    "MotorPD (constant)": 10.0,
    "MotorPD (on-line)": 10.0,
    "ElasticFeedbackLinearization": 20.0,
    "ElasticSlotineLi": 10.0,
    "CompositeControl (ComputedTorque)": 10.0,
    "Backstepping": 4.0,
    "CartesianMACT (gamma = 0)": 4.0,
    "CartesianMACT (regressor)": 4.0,
    "OperationalSpace": 10.0,
    "CartesianComputedTorque": 10.0,
    "Impedance": 10.0,
    "Impedance (shaped inertia)": 10.0,
    "CLIK (pseudo-inverse)": 10.0,
    "CLIK (damped)": 10.0,
    "CLIK (manipulability)": 10.0,
    "CLIK (second order)": 10.0,
    "MomentumObserver": 1.0,
    "MomentumObserver (second order)": 1.0,
    "EnergyObserver": 1.0,
}
SIMULATION_GOAL = 0.5  # [s], of a minute
LOOPS = {"loop": "1 kHz loop, emulated", "real-loop": "1 kHz loop"}
HEADER = ("controller", "goal, at most", "median", "p99", "p99.9", "worst")


def controllers(records: list[Record]) -> list[str]:
    """Return a table for each compiler, and the goals that one of them misses."""
    found = {r["quantity"] for r in records}
    if found != set(GOALS):
        raise SystemExit(f"controllers that were not measured, or have no goal: {sorted(found ^ set(GOALS))}")
    loop = next(mode for mode in LOOPS if fastest(records, mode=mode))
    parts, missed = [], []
    for compiler in dict.fromkeys(r["compiler"] for r in records):
        here = [r for r in records if r["compiler"] == compiler]
        rows = []
        for name, goal in GOALS.items():
            warm, ticks = (fastest(here, quantity=name, mode=mode) for mode in ("warm", loop))
            assert warm is not None
            assert ticks is not None
            if warm["median_ns"] > 1e3 * goal:
                missed.append(name)
            rows.append([name, f"{goal:g}", *_times(warm, goal), *_times(ticks)[:3:2]])
        parts += [f"### Controllers, 7 joints: microseconds a step ({compiler}, {records[0]['flags']} flags)"]
        parts += [table([*HEADER, f"{LOOPS[loop]}: median", "p99.9"], rows)]
    return parts + explain("controllers", missed)


def _times(record: Record, goal: float | None = None) -> list[str]:
    """Return median, p99, p99.9 and worst; the median beside its goal."""
    microseconds = [1e-3 * record[k] for k in ("median_ns", "p99_ns", "p999_ns", "worst_ns")]
    times = [f"{t:.2f}" for t in microseconds]
    return times if goal is None else [_at_most(microseconds[0], goal, times[0]), *times[1:]]


def _at_most(value: float, goal: float, text: str) -> str:
    return f"**{text}**" if value <= goal else f"{text} †"


def simulations(minutes: dict[str, float], many: dict[str, Any]) -> list[str]:
    """Return the table of simulated minutes, and how many runs at once scale."""
    missed = [name for name, seconds in minutes.items() if seconds > SIMULATION_GOAL]
    rows = [
        [name, f"{SIMULATION_GOAL:g} s", f"{_at_most(seconds, SIMULATION_GOAL, f'{seconds:.2f} s')}"]
        for name, seconds in minutes.items()
    ]
    cores = many["cores"]
    return [
        f"### Simulation: {MINUTE:g} s of adaptive control of the Panda (dt = 1 ms, RK4, all parameters unknown)",
        table(["controller", "goal, at most", "takes"], rows),
        *explain("simulation", missed),
        f"`simulate_many`, {RUNS} runs of {RUN_SECONDS:g} s with SlotineLi: {many['one']:.2f} s on one thread, "
        f"{many['all']:.2f} s on {cores}, {many['one'] / many['all']:.2f} times faster.",
    ]
