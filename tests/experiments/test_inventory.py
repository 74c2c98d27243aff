"""Rows of the inventory of docs/papers.md; `test_options` compares those of experiments with what is drawn."""

import json
import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import thunder_py as th
from tests.docs.pages import ROOT
from tests.named_tests import exists, named_tests
from thunder_py import cli
from thunder_py.papers import run_experiment
from thunder_py.papers.registry import PHYSICS
from thunder_py.robot.frames import default_posture

from .inventory import DRAWN, PAGE, PICTURES, PRINTED, assert_shown, axes_of, items, numbers, rows, shown


def test_items_are_read() -> None:
    assert numbers("Figures 5 to 7, (3.8)") == {"Figure 5", "Figure 6", "Figure 7", "Figure 3.8"}
    assert numbers("Tables 6 and 7, Figure 4.7a; Figures (3.3) to (3.5)") == {
        *("Table 6", "Table 7", "Figure 4.7"),
        *("Figure 3.3", "Figure 3.4", "Figure 3.5"),
    }
    assert len(rows()) > 120


def test_every_row_claims_one_outcome_with_a_source() -> None:
    for item, outcome, sources in rows():
        assert re.match(r"(reproduced|factor [\d.]+|reversed|not\b|as in)", outcome), (item, outcome)
        assert sources or outcome.startswith("not"), item


def test_every_row_of_an_experiment_says_what_is_drawn_or_printed() -> None:
    wanted = {(name, one) for name, item, _, _ in shown() for one in items(item)}
    assert wanted == {(name, one) for table in (DRAWN, PRINTED) for name, known in table.items() for one in known}


def test_every_row_has_a_source_that_is_tested() -> None:
    """Experiments, pictures of `thunder view`, pages, notebooks, benchmarks, tests; not what is not reproduced."""
    for item, outcome, sources in rows():
        tested = re.search(r"experiment|thunder view|\]\(|benchmarks/run|tests/", sources)
        assert tested or outcome.startswith("not"), item


def test_axes_are_those_of_the_panel_that_names_the_figure() -> None:
    figure, (one, other, empty) = plt.subplots(1, 3)
    for axes, title, unit in ((one, "Figures 3 and 4: error", "mm"), (other, "section 1.4", "s")):
        axes.plot([0.0, 1.0], [0.0, 1.0])
        axes.set(title=title, xlabel="time [s]", ylabel=f"error [{unit}]")
    empty.set(title="Figure 5", xlabel="x", ylabel="y")
    assert axes_of(figure, "Figure 4") == [("time [s]", "error [mm]")]
    assert axes_of(figure, "Section 1.4") == [("time [s]", "error [s]")]
    assert axes_of(figure, "Figure 5") == axes_of(figure, "Figure 34") == []
    figure.suptitle("Figures 33 to 35")
    assert len(axes_of(figure, "Figure 34")) == 2
    plt.close(figure)


def test_linked_pages_show_what_the_row_names() -> None:
    """A notebook has outputs, a section of a page a picture or a table; one of a row's sources names it."""
    for item, outcome, sources in rows():
        named = "thunder " in sources or "tests/" in sources or "benchmarks/" in sources or not numbers(item)
        for target in re.findall(r"\]\(([^)]+)\)", sources):
            path, _, anchor = target.partition("#")
            text = (ROOT / "docs" / path).read_text(encoding="utf-8")
            section = text
            if path.endswith(".ipynb"):
                assert any(cell.get("outputs") for cell in json.loads(text)["cells"]), item
            else:
                heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
                ids = {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-"): head for head in heads}
                section = text.partition(f"# {ids[anchor]}\n")[2].partition("\n## ")[0] if anchor else text
                assert re.search(r"!\[|^\|", section, re.MULTILINE), (item, target)
            lectures = {one for one in numbers(f"{item}, {outcome}") if one.startswith("Lecture")}
            named |= bool(numbers(item) & numbers(section) or lectures & numbers(section))
        assert named or "](" not in sources, item


def test_named_tests_exist() -> None:
    assert [(path, name) for path, name in named_tests(PAGE) if not exists(path, name)] == []
    for item, _, sources in rows():
        for path in re.findall(r"`(tests/[\w/.]+)", sources):
            assert (ROOT / path).exists(), item


def test_pictures_of_pages_have_their_axes() -> None:
    """D4.2, Figures 24, 29 and 35, as the script beside the picture draws them."""
    figure = runpy.run_path(str(ROOT / "docs" / "images" / "make_theory.py"))["draw_report"]()
    for one, labels in PICTURES.items():
        assert labels in axes_of(figure, one), one
        assert any(item == one and "theory/manipulation.md" in sources for item, _, sources in rows())
    plt.close(figure)


@pytest.mark.parametrize("name", ["panda", "scara"])
def test_the_command_of_the_row_draws_the_frames_of_all_links(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Article, Figure 4, and SCARA, Figure 1.1."""
    monkeypatch.chdir(tmp_path)
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, target, **_: (drawn.append(figure), target.touch()))
    (command,) = re.findall(f"`thunder (view {name} [^`]+)`", PAGE)
    assert cli.main(command.split()) == 0
    (axes,) = drawn[0].axes
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()] == ["x [m]", "y [m]", "z [m]"]  # type: ignore[attr-defined]
    robot = th.Robot.load(name)
    ends = np.array([np.transpose(line.get_data_3d()) for line in axes.lines[1:]])  # type: ignore[attr-defined]
    arrows = ends[:, 1] - ends[:, 0]
    for link in robot.link_names:
        T = robot.forward_kinematics(default_posture(robot), link)
        at = np.abs(ends[:, 0] - T[:3, 3]).max(axis=1) < 1e-12
        for axis in T[:3, :3].T:
            parallel = arrows[at] @ axis / np.linalg.norm(arrows[at], axis=1)
            assert np.isclose(parallel, 1.0, atol=1e-12).any(), link
    plt.close(drawn[0])


@pytest.mark.release
@pytest.mark.parametrize("name", ["grasping", "picking --physics", "throwing --physics"])
def test_rows_of_loops_with_contact(name: str) -> None:
    pytest.importorskip("mujoco", reason="the extra mujoco is not installed")
    word, _, physics = name.partition(" ")
    assert not physics or word in PHYSICS
    assert_shown(name, run_experiment(word, True, seeds=1, physics=bool(physics)))
