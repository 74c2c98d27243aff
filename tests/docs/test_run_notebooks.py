"""tools/run_notebooks.py: what is run is kept with what it shows; a failure names notebook and cell."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def notebook(path, *sources):
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [{**empty, "id": f"cell{i}", "source": source} for i, source in enumerate(sources)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel}
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return str(path)


def test_notebooks_are_run_and_failures_named(tmp_path):
    good = notebook(tmp_path / "good.ipynb", "import os\nprint(os.environ['QUICK'], os.path.basename(os.getcwd()))")
    bad = notebook(tmp_path / "bad.ipynb", "x = 1", "x / 0")
    made = tmp_path / "made"
    made.mkdir()
    (made / "bad.ipynb").write_text("of an earlier run")
    command = [sys.executable, str(ROOT / "tools" / "run_notebooks.py"), good, bad, "--output", str(made)]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "QUICK": "1"}, timeout=300)
    assert run.returncode == 1
    assert "bad.ipynb, cell 1: " in run.stderr
    assert "ZeroDivisionError" in run.stderr
    assert "good.ipynb: done" in run.stdout
    assert sorted(path.name for path in made.iterdir()) == ["good.ipynb"]
    kept = json.loads((made / "good.ipynb").read_text())
    assert "".join(kept["cells"][0]["outputs"][0]["text"]) == f"1 {tmp_path.name}\n"
    assert kept["metadata"]["thunder_py"] == {"quick": True}
