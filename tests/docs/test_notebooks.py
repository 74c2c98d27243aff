"""Notebooks as they are stored: with outputs, in short cells that compile. The CI runs them and compares."""

import json

import pytest

from tests.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_whole(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    words = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert {output["name"] for output in outputs if output["output_type"] == "stream"} <= {"stdout"}
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size <= 300_000
    assert notebook["metadata"]["thunder_py"]["quick"] == ("stored outputs are those of a quick run" in words[0])
    for cell in code:
        source = "".join(cell["source"])
        assert source.count("\n") < 25
        compile(source, path.name, "exec")
