"""The reference is complete: every public name, method of a robot, option of the command line and extra."""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import inspect
import pkgutil
import re

import pytest

import thunder_py
from tests.docs.pages import DOCS, ROOT, extension, pages, snippets
from thunder_py.cli.command import _parser

directive, entries, find = extension("api", "directive", "entries", "find")
REFERENCE = DOCS / "reference"
#: packages without names of their own, and what is no library
NOT_PUBLIC = ("thunder_py.cli",)


@functools.cache
def documented():
    """Full names of what the reference documents."""
    return tuple(name for path in sorted(REFERENCE.glob("*.md")) for name in entries(path.read_text(encoding="utf-8")))


@functools.cache
def public_modules():
    """The package, its subpackages and every module that one of them names as public."""
    names = {thunder_py.__name__} | {
        module.name
        for module in pkgutil.walk_packages(thunder_py.__path__, "thunder_py.")
        if module.ispkg and not module.name.startswith(NOT_PUBLIC)
    }
    for name in sorted(names):
        module = importlib.import_module(name)
        for member in getattr(module, "__all__", ()):
            if inspect.ismodule(getattr(module, member)):
                names.add(f"{name}.{member}")
    return tuple(sorted(names))


def missing(module, names):
    """Public names of a module that are not among the documented ones, by name or as the same class or function."""
    things = [find(name)[0] for name in names]
    modules = {name.rpartition(".")[0] for name in names}
    lost = []
    for name in getattr(module, "__all__", ()):
        full, thing = f"{module.__name__}.{name}", getattr(module, name)
        same = callable(thing) and any(thing is other for other in things)
        inner = any(module.startswith(f"{full}.") for module in modules)
        if not (
            full in names or same or full in modules or inner or full == "thunder_py.__version__" or _holds_none(thing)
        ):
            lost.append(full)
    return lost


def _holds_none(thing):
    """Whether it is a module without public names of its own."""
    return inspect.ismodule(thing) and not getattr(thing, "__all__", ())


def test_every_public_name_is_in_the_reference():
    assert [
        name for module in public_modules() for name in missing(importlib.import_module(module), documented())
    ] == []


def test_nothing_is_there_twice():
    names = documented()
    assert sorted(names) == sorted(set(names))


def test_every_method_of_a_robot_is_in_the_reference():
    public = {f"thunder_py.Robot.{name}" for name in dir(thunder_py.Robot) if not name.startswith("_")}
    assert public == {name for name in documented() if name.startswith("thunder_py.Robot.")}


def test_what_is_documented_has_a_docstring():
    for name in documented():
        assert directive(name)
        thing, _ = find(name)
        if inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, property):
            assert inspect.getdoc(thing), name


def test_index_leads_to_every_page():
    index = (REFERENCE / "index.md").read_text(encoding="utf-8")
    for path in REFERENCE.glob("*.md"):
        if path.stem != "index":
            assert f"({path.name})" in index, path.name


def commands():
    """Parsers of the command line by their names."""
    parser = _parser()
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return {"thunder": parser, **{f"thunder {name}": sub for name, sub in subparsers.choices.items()}}


def section(page, heading):
    """Text under a heading of the second order."""
    return re.split(r"^## ", page.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("command", commands())
def test_command_line_is_described(command):
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    there = set(re.findall(r"(?<![\w-])--?\w[\w-]*", section(page, command)))
    options = {option for action in commands()[command]._actions for option in action.option_strings}
    if command != "thunder":
        options -= {"-h", "--help"}
    assert there == options


def test_every_extra_is_described():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = re.findall(
        r"^(\w+) = \[", text.partition("[project.optional-dependencies]")[2].split("\n[")[0], re.MULTILINE
    )
    install = (DOCS / "install.md").read_text(encoding="utf-8")
    assert set(extras) == set(re.findall(r"^\| `(\w+)` \|", install, re.MULTILINE))


def imported(text):
    """Full names that the programs of a page import from this package."""
    for snippet in snippets(text):
        for node in ast.walk(ast.parse(snippet.code)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("thunder_py"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_what_pages_import_is_in_the_reference():
    """By its name or as the same thing; the insides of experiments are explained where they are used."""
    names = documented()
    things = [find(name)[0] for name in names]
    for page in pages():
        for name in imported(page.read_text(encoding="utf-8")):
            thing = find(name)[0]
            if not inspect.ismodule(thing) and not name.startswith("thunder_py.papers."):
                assert name in names or any(thing is other for other in things), f"{page}: {name}"


def test_names_in_code_lead_to_the_only_object_that_they_mean():
    index, target = extension("links", "index", "target")

    class Entry:
        def __init__(self, objtype):
            self.objtype = objtype

    kinds = {"Robot": "class", "Robot.plot": "method", "control.tune": "function", "a.Same": "class", "b.Same": "class"}
    names = index({f"thunder_py.{name}": Entry(kind) for name, kind in kinds.items()})
    meant = {
        text: target(text, names)
        for text in ("th.tune", "tune(robot)", "robot.plot()", "Robot.plot", "plot", "Same", "a.Same", "x = 1")
    }
    tune, plot = "thunder_py.control.tune", "thunder_py.Robot.plot"
    assert list(meant.values()) == [tune, tune, plot, plot, None, None, "thunder_py.a.Same", None]
