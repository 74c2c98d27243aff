"""tools/sweep_check.py with few runs: a cluster loses a worker, then its scheduler; the rest is simulated here."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import thunder_py as th

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
TOOL = Path(__file__).parents[2] / "tools" / "sweep_check.py"


@pytest.mark.release
def test_a_sweep_survives_worker_and_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool = SimpleNamespace(**runpy.run_path(str(TOOL)))
    sets = tool.parameters(120)
    expected = tool.sweep(sets, workers=1)
    assert tool.on_cluster(sets, tmp_path, worker=0.2, scheduler=0.5) is None
    printed = capsys.readouterr().out
    assert re.search(r"at \d\d %: killed worker process \d+\nat \d\d %: killed the scheduler, process \d+\n", printed)
    kept = 120 - len(th.simulation.Runs.load(tmp_path / "sweep").pending)
    assert 60 <= kept < 120
    fractions: list[float] = []
    runs = tool.sweep(sets, store=tmp_path / "sweep", progress=fractions.append)
    assert len(fractions) == 120 - kept
    assert tool.report(runs, expected)
