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
