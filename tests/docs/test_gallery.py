"""The gallery shows every experiment, its pictures are small, and its commands and expressions exist."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import shlex
from typing import get_type_hints

import pytest

from tests.docs.pages import DOCS
from thunder_py.cli.command import _parser
from thunder_py.papers.registry import REGISTRY, _module

PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
FOLDER = DOCS / "images" / "gallery"
SCRIPT = runpy.run_path(str(DOCS / "images" / "make_gallery.py"))
ENTRIES = SCRIPT["entries"](PAGE)


def test_every_experiment_has_a_picture_and_its_command():
    commands = re.findall(r"^thunder (experiment .+)$", PAGE, re.MULTILINE)
    parsed = [_parser().parse_args(shlex.split(command)) for command in commands]
    assert sorted(each.name for each in parsed) == sorted(REGISTRY)
    for each in parsed:
        assert each.name in ENTRIES
        assert str(each.output) == f"{each.name}.png"


def test_pictures_of_the_page_are_those_of_the_folder():
    assert sorted(ENTRIES) == sorted(path.stem for path in FOLDER.iterdir())
    assert len(ENTRIES) == PAGE.count("](images/gallery/")


@pytest.mark.parametrize("picture", ENTRIES)
def test_a_picture_is_a_small_png_with_a_palette(picture):
    content = (FOLDER / f"{picture}.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert content[25] == 3  # color type of the header: palette
    assert len(content) <= SCRIPT["LARGEST"]


def test_all_pictures_together_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1.5e6


def test_quick_runs_say_so():
    for part in PAGE.split("![")[1:]:
        quick = "--quick" in part or "quick=True" in part
        assert quick == ("quick run" in part)


@pytest.mark.parametrize("expression", [e for e in ENTRIES.values() if e.startswith("run_experiment")])
def test_an_expression_names_an_experiment_and_a_figure_of_it(expression):
    """Follow the attributes through the annotations of the result's classes."""
    names = []
    node = ast.parse(expression, mode="eval").body
    assert isinstance(node, ast.Call)
    node = node.func
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    name = ast.literal_eval(node.args[0])
    place = get_type_hints(_module(name).run)["return"]
    for attribute in names[:-1]:
        place = get_type_hints(place, vars(importlib.import_module(place.__module__)))[attribute]
    assert names[-1].startswith("plot")
    assert callable(getattr(place, names[-1]))


def test_imports_that_the_page_names_are_there():
    for module, names in re.findall(r"`from (thunder_py[\w.]*) import ([\w, ]+)`", PAGE):
        for name in names.split(", "):
            assert callable(getattr(importlib.import_module(module), name))


def test_arguments_select_pictures(tmp_path, capsys, monkeypatch):
    script = SCRIPT["main"].__globals__
    monkeypatch.setitem(script, "FOLDER", tmp_path / "gallery")
    assert SCRIPT["main"](["elbow"]) == 0
    assert [path.name for path in (tmp_path / "gallery").iterdir()] == ["elbow.png"]
    assert SCRIPT["main"](["elbows"]) == 1
    assert "no picture of gallery.md is called elbows" in capsys.readouterr().err
