"""The inventory of docs/papers.md has one row for each figure and table, an outcome, and commands that exist."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from typing import get_type_hints

import pytest

from tests.docs.pages import DOCS
from thunder_py.cli.command import _parser
from thunder_py.papers.registry import _module

ROOT = DOCS.parent
#: by paper: numbers of figures and tables, counted in the papers
NUMBERS = {
    "Thunder article": {"Figure": [str(k) for k in range(1, 14)], "Table": [*map(str, range(1, 9)), "A1", "A2"]},
    "Regressors of 2009": {"Figure": ["1", "2"], "Table": []},
    "SCARA project": {
        "Figure": ["1.1", "2.1", "2.2", *(f"3.{k}" for k in range(1, 10)), *(f"4.{k}" for k in range(1, 8))],
        "Table": [],
    },
    "D4.2": {"Figure": [str(k) for k in range(1, 46)], "Table": [str(k) for k in range(1, 17)]},
    "Lecture notes": {"Figure": [str(k) for k in range(1, 15)], "Lecture": [str(k) for k in range(3, 35)]},
}
OUTCOMES = re.compile(r"reproduced|within a band|outside the band|not\b|as in the article above")


def sections() -> dict[str, list[list[str]]]:
    """Return the rows of each paper's table: names, content, outcome, commands."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8").split("## Inventory", 1)[1].split("```{toctree}")[0]
    found = {}
    for part in text.split("\n### ")[1:]:
        title, body = part.split("\n", 1)
        lines = [line for line in body.splitlines() if line.startswith("|")][2:]
        found[title] = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return found


SECTIONS = sections()
ROWS = [(paper, *row) for paper, rows in SECTIONS.items() for row in rows]


def named(cell: str) -> set[tuple[str, str]]:
    """Return the kind and the number of everything that a first cell names, such as "Figures 1 to 3, Table 2"."""
    found = set()
    for part in cell.split(", "):
        kind, numbers = part.split(" ", 1)
        kind = kind.removesuffix("s")
        ends = numbers.split(" to ")
        if len(ends) == 2:
            numbers_of = [str(k) for k in range(int(ends[0]), int(ends[1]) + 1)]
        else:
            numbers_of = numbers.split(" and ")
        found |= {(kind, number) for number in numbers_of}
    return found


def test_all_papers_are_there():
    assert list(SECTIONS) == list(NUMBERS)


@pytest.mark.parametrize("paper", NUMBERS)
def test_no_row_is_missing_and_none_is_double(paper):
    rows = [named(row[0]) for row in SECTIONS[paper]]
    expected = {(kind, number) for kind, numbers in NUMBERS[paper].items() for number in numbers}
    assert set().union(*rows) == expected
    assert sum(map(len, rows)) == len(expected)


@pytest.mark.parametrize(("paper", "name", "content", "outcome", "by"), ROWS, ids=lambda cell: cell[:30])
def test_a_row_is_whole_and_its_commands_exist(paper, name, content, outcome, by):
    assert content
    assert OUTCOMES.match(outcome), outcome
    if outcome.startswith("not"):
        assert len(outcome) > len("not: "), "the reason is missing"
        return
    codes = re.findall(r"`([^`]+)`", by)
    assert codes or re.search(r"\]\(.+?\)", by), "a command or a page is missing"
    for code in codes:
        check(code)


def check(code: str) -> None:
    """Fail if a command, an expression or a test does not exist."""
    if code.startswith("thunder "):
        _parser().parse_args(shlex.split(code)[1:])
    elif code.startswith("python "):
        assert (ROOT / code.split()[1]).is_file()
    elif code.startswith("tests/"):
        path, _, test = code.partition("::")
        assert f"def {test}" in (ROOT / path).read_text(encoding="utf-8")
    else:
        assert callable(attribute(ast.parse(code, mode="eval").body))


def attribute(call: ast.expr) -> object:
    """Return the method of ``run_experiment("name").part.plot()`` by the annotations of the results."""
    assert isinstance(call, ast.Call)
    node, names = call.func, []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    assert isinstance(node, ast.Call)
    assert ast.unparse(node.func) == "run_experiment"
    place = get_type_hints(_module(ast.literal_eval(node.args[0])).run)["return"]
    for name in names[:-1]:
        place = get_type_hints(place, vars(importlib.import_module(place.__module__)))[name]
    return getattr(place, names[-1])
