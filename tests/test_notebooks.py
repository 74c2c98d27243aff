"""Notebooks as they are stored: with outputs, in short cells, installable. The CI runs them and compares."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize(
    "name",
    [
        "d42_control",
        "d42_elastic_wrist",
        "d42_human_motion",
        "d42_human_motion_sweeps",
        "d42_moving_objects",
        "d42_servoing",
        "d42_throwing",
        "lecture_course",
        "lecture_examples",
        "mujoco_plant",
        "regressors_2009",
        "scara_project",
        "thunder_article_adaptive",
        "thunder_article_speed",
    ],
)
def test_papers_have_notebooks(name):
    assert name in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored(path):
    found = cells(path, "code")
    outputs = [output for cell in found for output in cell["outputs"]]
    assert [cell["execution_count"] for cell in found] == list(range(1, len(found) + 1))
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert {output["name"] for output in outputs if output["output_type"] == "stream"} <= {"stdout"}
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert path.stat().st_size <= 300_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_quick_runs_say_so(path):
    metadata = json.loads(path.read_text())["metadata"]
    first = "".join(cells(path, "markdown")[0]["source"])
    assert metadata["thunder_py"]["quick"] == ("stored outputs are those of a quick run" in first)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_are_short_and_compile(path):
    found = cells(path, "code")
    assert found
    for cell in found:
        source = "".join(cell["source"])
        assert source.count("\n") < 25
        compile(source, path.name, "exec")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_files_that_a_notebook_names_exist(path):
    text = "".join("".join(cell["source"]) for cell in cells(path, "markdown"))
    named = [word.strip("()[]`,;").rstrip(".") for word in text.replace("](", " ").split()]
    files = [word.removeprefix("../") for word in named if word.endswith((".md", ".py", ".ipynb"))]
    assert files
    for name in files:
        assert (ROOT / name).is_file(), name
