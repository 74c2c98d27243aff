"""Notebooks as they are kept: without outputs, in short cells, installable. The CI runs them."""

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
        "d42_moving_objects",
        "d42_servoing",
        "d42_throwing",
        "lecture_course",
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
def test_no_outputs_are_kept(path):
    for cell in cells(path, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


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
