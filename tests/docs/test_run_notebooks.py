"""tools/run_notebooks.py: stored outputs are compared with those of a run; differences name notebook, cell and line."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
TOOL = ROOT / "tools" / "run_notebooks.py"
tool = runpy.run_path(str(TOOL))
PICTURE = "import matplotlib.pyplot as plt\nplt.plot([0, 1])\nplt.show()"


def notebook(path, *sources, **marks):
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    cells = [{**empty, "source": source} for source in sources]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "thunder_py": {"quick": False, **marks}}
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}))
    return path


def run(*arguments):
    environment = {**os.environ, "QUICK": "other", "MPLBACKEND": "agg"}  # the caller's do not count
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_outputs_are_stored_compared_and_failures_named(tmp_path):
    mode = "import os\nprint(os.environ.get('QUICK'), os.path.basename(os.getcwd()), 1.25)"
    whole = notebook(tmp_path / "whole.ipynb", mode, PICTURE)
    quick = notebook(tmp_path / "quick.ipynb", mode, quick=True)
    bad = notebook(tmp_path / "bad.ipynb", "x = 1", "x / 0")
    untouched = bad.read_text()
    first = run("--write", whole, quick, bad)
    assert first.returncode == 1
    assert "bad.ipynb, cell 1: " in first.stderr
    assert "ZeroDivisionError" in first.stderr
    assert bad.read_text() == untouched
    stored = nbformat.read(whole, as_version=4)
    assert stored.cells[0].outputs[0].text == f"None {tmp_path.name} 1.25\n"
    assert list(stored.cells[1].outputs[0].data) == ["image/png", "text/plain"]
    quick.write_text(quick.read_text().replace('1.25\\n"', '1.29\\n"'))
    second = run(whole, quick)
    assert second.returncode == 1
    assert "whole.ipynb: done" in second.stdout
    assert f"quick.ipynb, cell 0, line 1: stored 1.29, now 1.25 in '1 {tmp_path.name} 1.25'" in second.stderr


def cell(*lines, tags=()):
    output = nbformat.v4.new_output("stream", text="\n".join(lines))
    return nbformat.v4.new_code_cell(outputs=[output], metadata={"tags": list(tags)})


@pytest.mark.parametrize(
    ("old", "new", "tags", "message"),
    [
        ("error 1.23 mm", "error 1.24  mm", (), None),
        ("error 9.9e-05", "error 1.0e-04", (), None),
        ("residual 2.2e-16", "residual 4.1e-13", (), None),
        ("error -0.0", "error 0.0", (), None),
        ("MuJoCo 3.3.1", "MuJoCo 4.0.12", (), None),
        ("error 100.0 in 7 s", "error 104.0 in 8 s", ("tolerance=5%",), None),
        ("took 3 s", "took 17 s", ("varies",), None),
        ("error 1.23 mm", "error 1.25 mm", (), "stored 1.23, now 1.25 in 'error 1.25 mm'"),
        ("40 picked", "39 picked", (), "stored 40, now 39 in '39 picked'"),
        ("1.0 diverged", "1.0 done", ("tolerance=5%",), "stored '1.0 diverged', now '1.0 done'"),
        ("rate 0.02", "rate 0.95", ("tolerance=5%",), "stored 0.02, now 0.95 in 'rate 0.95'"),
        ("error 100.0", "error 107.0", ("tolerance=5%",), "stored 100.0, now 107.0 in 'error 107.0'"),
        ("error 0.5", "error -0.5", (), "stored 0.5, now -0.5 in 'error -0.5'"),
        ("error 0.5", "", (), "stored 'error 0.5', now ''"),
    ],
)
def test_outputs_beyond_tolerance_are_named_with_line_and_values(old, new, tags, message):
    told = [] if message is None else [f"line 2: {message}"]
    assert tool["cell_differences"](cell("first", old, tags=tags), cell("first", new)) == told


def test_a_missing_picture_is_a_difference():
    picture = nbformat.v4.new_output("display_data", data={"image/png": "AAAA", "text/plain": "<Figure>"})
    with_picture, without = nbformat.v4.new_code_cell(outputs=[picture]), nbformat.v4.new_code_cell()
    assert tool["cell_differences"](with_picture, without) == ["stored outputs ['image/png, text/plain'], now []"]
