"""What benchmarks/run.py says about goals, from made-up measurements; nothing is timed."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import _table_generated

    yield _table_generated
    for name in [
        name
        for name, module in sys.modules.items()
        if (getattr(module, "__file__", None) or "").startswith(str(FOLDER))
    ]:
        del sys.modules[name]


def record(library, quantity, variant, ns, mode="warm"):
    times = {"median_ns": ns, "p99_ns": 2 * ns, "worst_ns": 9 * ns}
    build = {"compiler": "g++", "flags": "baseline", "mode": mode, "joints": 7}
    return {"library": library, "quantity": quantity, "variant": variant, **build, **times}


def records(ours, casadi, pinocchio):
    """One quantity, with the goal 5."""
    return [
        record("generated", "M", "baked", ours),
        record("CasADi", "M", "baked", casadi),
        record("Pinocchio", "M", "slow way", 2 * pinocchio),
        record("Pinocchio", "M", "crba", pinocchio),
    ]


def test_goals_that_are_met_are_bold_and_need_no_reason(tables):
    text = "\n".join(tables.generated(records(100.0, 150.0, 600.0)))
    assert "| M | baked | 5 | **6.00** | 6.00 |" in text
    assert "| M | baked | 1 | **1.50** | 1.50 |" in text
    assert "| M | baked | 100 / 200 / 900 | 150 / 300 / 1350 | 600 / 1200 / 5400 | - |" in text
    assert "Missed" not in text


def test_goals_that_are_missed_say_why(tables):
    text = "\n".join(tables.generated(records(100.0, 90.0, 400.0)))
    assert "| M | baked | 5 | 4.00 † | 4.00 |" in text
    assert "| M | baked | 1 | 0.90 † | 0.90 |" in text
    assert text.count("Missed, and why") == 2
    assert text.count("- **M**: ") == 2


def test_every_reason_is_of_a_goal(tables):
    from _interception import GOALS as INTERCEPTION
    from _loop import LAWS
    from _reasons import REASONS
    from _table_controllers import GOALS as CONTROLLERS
    from _table_planning import GOALS as PLANNING
    from _table_planning import SAME_IN_CPP

    rows = {"controllers": {*CONTROLLERS}, "simulation": {*LAWS}}
    rows |= {"Pinocchio": {*tables.GOALS}, "Pinocchio, loop": {*tables.GOALS, "*"}, "CasADi": {*tables.GOALS}}
    for table, row in REASONS:
        if table == "generation":
            assert int(row.split()[0]) in tables.GENERATION_GOALS
        elif table == "planning":
            assert row == "*" or row.startswith(tuple(PLANNING))
        elif table == "interception":
            assert row == "*" or row in INTERCEPTION
        elif table.startswith("planning, "):
            assert row in {"*", *SAME_IN_CPP}
        else:
            assert row in rows[table]


def test_generated_libraries_stand_beside_their_goals(tables):
    measured = {
        "joints": 7,
        "functions": 43,
        "generate": {"seconds": 0.4, "peak_mb": 50.0},
        "in_process": 0.1,
        "source_mb": 0.6,
        "all_mb": 0.7,
        "compile": {"g++": {"seconds": 4.0, "peak_mb": 170.0}},
    }
    text = "\n".join(tables.generation([measured]))
    assert "| 7 | 43 | 0.40 | 0.10 | 0.60 | 0.70 | 4.0 | 170 | 1.1 | 1.8 | 20.2 |" in text
    assert "| 7 joints, `thunder gen` | 0.5 s | **0.4 s** |" in text
    assert "| 7 joints, source of the core | 0.5 MB | 0.6 MB † |" in text
    assert "- **7 joints, source of the core**: " in text


def steps(table, **medians):
    """Steps of every controller; 1 us where nothing else is given."""
    records = []
    for name in table.GOALS:
        for mode, ns in (("warm", medians.get(name, 1000.0)), ("loop", 3000.0)):
            records.append(record("thunder_py", name, "", ns, mode) | {"p999_ns": 5 * ns})
    return records


def test_steps_of_controllers_stand_beside_their_goals(tables):
    import _table_controllers

    text = "\n".join(_table_controllers.controllers(steps(_table_controllers, Backstepping=4100.0, Impedance=4100.0)))
    assert "| MACT (gamma = 0) | 4 | **1.00** | 2.00 | 5.00 | 9.00 | 3.00 | 15.00 |" in text
    assert "| Backstepping | 4 | 4.10 † | 8.20 | 20.50 | 36.90 | 3.00 | 15.00 |" in text
    assert "| Impedance | 10 | **4.10** |" in text
    assert "- **Backstepping**: " in text
    assert "- **Impedance**" not in text


def test_a_controller_without_goal_or_measurement_stops_the_run(tables):
    import _table_controllers

    records = steps(_table_controllers)
    with pytest.raises(SystemExit, match="PDGravity"):
        _table_controllers.controllers([r for r in records if r["quantity"] != "PDGravity"])
    with pytest.raises(SystemExit, match="Another"):
        _table_controllers.controllers([*records, record("thunder_py", "Another", "", 1.0)])


def test_simulated_minutes_stand_beside_their_goal(tables):
    import _table_controllers

    parts = _table_controllers.simulations({"SlotineLi": 0.4, "MACT": 0.6}, {"cores": 2, "one": 1.0, "all": 0.5})
    text = "\n".join(parts)
    assert "| SlotineLi | 0.5 s | **0.40 s** |" in text
    assert "| MACT | 0.5 s | 0.60 s † |" in text
    assert "- **MACT**: " in text
    assert "2.00 times faster" in text


def planning_record(quantity, variant, ns, mode="warm"):
    return record("thunder_py", quantity, variant, ns, mode) | {"p999_ns": 5 * ns}


def retimed(method, cells, worst, part):
    found = {"method": method, "cells": cells, "worst_ratio": worst, "largest_part": part}
    return found | {"paths": 20, "mean_ratio": 1.0, "median_ms": 250.0}


def test_plans_stand_beside_their_goals(tables):
    import _table_planning

    search = "via search, 1000 candidates, 3 spheres"
    timed = [
        planning_record("plan, 3 DoF", "map", 2000.0),
        planning_record("plan, 3 DoF", "map", 3000.0, "loop"),
        planning_record("replan, 6 x 6", "map", 11000.0),
        planning_record(search, "default", 60000.0),
        planning_record(search, "paper", 600000.0),  # its p99, 1.2 ms, is too long as well
        planning_record("via search, 1000 candidates, 5 spheres", "default", 9e6),  # no goal is for so many
    ]
    failures = [{"quantity": search, "variant": "default", "failures": 3, "searches": 500}]
    calls = [
        {"quantity": "plan, 3 DoF", "median_ns": 9000.0, "p99_ns": 2e4},
        {"quantity": "replan", "median_ns": 40000.0, "p99_ns": 9e4},
    ]
    family = {"candidates": 1000, "settings": 1000, "median_us": 80.0, "p99_us": 300.0}
    results = {
        "planning": timed,
        "failures": failures,
        "planning_python": calls,
        "scenarios": [{"family": 1, "failures": 2, **family}, {"family": 2, "failures": 3, **family}],
        "fpca": {"trials": 3000.0, "per coordinate": 0.5, "joint, aligned, shrunk": 2.5},
        "time_optimal": [
            retimed("time_optimal", 100, 1.012, 1.0),
            retimed("time_optimal", 200, 1.0002, 1.0),
            retimed("time_optimal, torque rate", 200, 1.08, 1.0),
            retimed("toppra", 2000, 1.0, 1.0925),
        ],
    }
    text = "\n".join(_table_planning.planning(results))
    assert "| plan, 3 DoF: map | 5 | **2.00** | 4.00 | 10.00 | 3.00 |  |  |" in text
    assert "| replan, 6 x 6: map | 10 | 11.00 † | 22.00 |" in text
    assert f"| {search}: default | 120 | **60.00** | 120.00 | 300.00 |  | 3 of 500 | 6880 |" in text
    assert f"| {search}: paper | 120 | 600.00 † | 1200.00 † |" in text
    assert "| via search, 1000 candidates, 5 spheres: default |  | 9000.00 | 18000.00 |" in text
    assert "| plan, 3 DoF | 9.0 | 20.0 | **7.00** |" in text
    assert "| replan | 40.0 | 90.0 | 29.00 † |" in text
    assert "| 1 | 1000 | 1000 | 0.20 % | 80 | 300 |" in text
    assert "| 2 | 1000 | 1000 | 0.30 % † | 80 | 300 |" in text
    assert "| per coordinate | **0.50** |" in text
    assert "| joint, aligned, shrunk | 2.50 † |" in text
    assert f"- **replan, 6 x 6, map**; **{search}, paper**: " in text  # one reason for all searches
    assert "| time_optimal | 100 | 1.0000 | 1.0120 † | **1.0000** | 250 |" in text
    assert "| time_optimal | 200 | 1.0000 | **1.0002** | **1.0000** | 250 |" in text
    assert "| time_optimal, torque rate | 200 | 1.0000 | 1.0800 | **1.0000** | 250 |" in text
    assert "| toppra | 2000 | 1.0000 | 1.0000 | 1.0925 | 250 |" in text
    assert "over those of toppra with 2000 cells" in text
    missed = ["replan", "family 2", "joint, aligned, shrunk", "time_optimal, 100 cells"]
    assert text.count("Missed, and why") == 5
    for row in missed:
        assert f"- **{row}**: " in text


def test_replans_in_the_loop_and_runs_of_the_conveyor_stand_beside_their_goals(tables):
    import _table_interception

    quantity = "measurement to reference"
    results = {
        "interception": [
            planning_record(quantity, "6 x 6", 9000.0),
            planning_record(quantity, "6 x 6", 16000.0, "loop"),
            planning_record(quantity, "late", 15100.0),
        ],
        "interception_replans": [{"quantity": quantity, "variant": "6 x 6", "replans": 90, "calls": 100}],
        "interception_python": {"replans": 5000, "median_us": 11.0, "p99_us": 20.0, "p999_us": 101.0},
        "conveyor": [
            {"runs": 1000, "jobs": 2, "arm": False, "seconds": 15.0},
            {"runs": 1000, "jobs": 2, "arm": True, "seconds": 61.0},
            {"runs": 20, "jobs": 2, "arm": True, "seconds": 4.0},
        ],
    }
    text = "\n".join(_table_interception.interception(results))
    assert f"| {quantity}: 6 x 6, g++ | 15 | **9.00** | 18.00 | 45.00 | 16.00 | 80.00 | 90 of 100 |" in text
    assert f"| {quantity}: late, g++ | 15 | 15.10 † | 30.20 | 75.50 |  |  |  |" in text
    assert "| `measure` and `reference` from Python | 100 | **11.00** | 20.00 | 101.00 |  |  | 5000 timed |" in text
    assert "| the planned point | 1000 | 2 | 60 s | **15.00 s** |" in text
    assert "| the Panda follows, under MACT | 1000 | 2 | 60 s | 61.00 s † |" in text
    assert "| 20 | 2 |  | 4.00 s |" in text
    assert text.count("Missed, and why") == 2


def test_many_runs_stand_beside_their_goal(tables):
    import _table_sweeps

    free = {"cores": 2, "steps": 1000, "ours": 300.0, "theirs": 200.0, "version": "4.0", "difference": 1e-7}
    case = {"workers": "Dask", "count": 100, "overhead": 0.024, "with_store": 0.031}
    found = {
        "free": free,
        "overhead": [
            {**case, "length": 0.01, "efficiency": 0.90},
            {**case, "length": 0.1, "efficiency": 0.96},
            {**case, "length": 0.1, "efficiency": 0.94},
        ],
        "memory": [{"workers": "Dask", "count": 100000, "us": 12.0, "resident_mb": 200.0, "growth_mb": 1.0}],
    }
    text = "\n".join(_table_sweeps.sweeps(found))
    assert "`simulate_many` / `rollout`: 1.50." in text
    assert "| Dask, 10 ms | 100 | 2.4 % | 3.1 % | 0.90 |" in text
    assert "| Dask, 100 ms | 100 | 2.4 % | 3.1 % | **0.96** |" in text
    assert "| Dask, 100 ms | 100 | 2.4 % | 3.1 % | 0.94 † |" in text
    assert "| Dask | 100000 | 12 | 200 | 1.0 |" in text
