"""The inventory of docs/papers.md has one row for each figure and table, an outcome, and commands that exist."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
from dataclasses import dataclass
from functools import cache
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


# --- rows about the band of a sweep -----------------------------------------------------------------------------------

ARTICLE, HAND = "Thunder article, Tables 6 and 7, Figure 10", "Thunder article, Table 8: link 7 with the hand"
JOINT, TASK = "D4.2, Table 7: RMSE [rad]", "D4.2, Tables 8 and 9: RMSE of the position [m]"
ESTIMATION = "D4.2, Figures 19 and 20: errors of the estimate and of tracking"
SCARA = "SCARA project, chapter 4: errors with the payload"
BELT, THROWS = "D4.2, Table 16: grasped objects", "D4.2, Figures 27 and 28: throws"
#: sweep of each row about a band, and the results that the row is about
SWEPT = {
    ("Thunder article", "Figure 6"): (ARTICLE, r"K_d.: norm"),
    ("Thunder article", "Figure 7"): (ARTICLE, r"K_d.: rise"),
    ("Thunder article", "Figure 8"): (ARTICLE, r"r_7 = \d+: norm"),
    ("Thunder article", "Figure 10"): (ARTICLE, r"not adaptive|K_d|r_7"),
    ("Thunder article", "Figure 12"): (HAND, r"error settles"),
    ("Thunder article", "Figure 13"): (HAND, r"estimate"),
    ("Thunder article", "Table 6"): (ARTICLE, r"K_d"),
    ("Thunder article", "Table 7"): (ARTICLE, r"r_7"),
    ("Thunder article", "Table 8"): (HAND, r"true|estimate"),
    ("SCARA project", "Figure 4.4"): (SCARA, r"Figure 4\.4"),
    ("SCARA project", "Figure 4.5"): (SCARA, r"Figure 4\.5"),
    ("D4.2", "Figure 14"): (JOINT, r".*"),
    ("D4.2", "Figure 17"): (TASK, r"Table 8, liss3D: \w+$"),
    ("D4.2", "Figure 19"): (ESTIMATION, r"mass|first|inertia"),
    ("D4.2", "Figure 20"): (ESTIMATION, r"RMSE"),
    ("D4.2", "Figure 21"): (TASK, r"Table 9, liss3D: \w+$"),
    ("D4.2", "Figure 22"): (TASK, r"Table 9, linear: \w+$"),
    ("D4.2", "Figure 23"): (TASK, r"Table 9, circle: \w+$"),
    ("D4.2", "Figure 27"): (THROWS, r".*(miss|RMSE)"),
    ("D4.2", "Figure 28"): (THROWS, r".*share in the box"),
    ("D4.2", "Figure 39"): (BELT, r".*replan"),
    ("D4.2", "Table 7"): (JOINT, r".*"),
    ("D4.2", "Table 8"): (TASK, r"Table 8"),
    ("D4.2", "Table 9"): (TASK, r"Table 9"),
    ("D4.2", "Table 10"): ("D4.2, Tables 10 and 11", r".*distance"),
    ("D4.2", "Table 11"): ("D4.2, Tables 10 and 11", r".*jerk"),
    ("D4.2", "Table 12"): ("D4.2, Tables 12 and 13", r"DMP, error"),
    ("D4.2", "Table 13"): ("D4.2, Tables 12 and 13", r".*jerk"),
    ("D4.2", "Table 14"): ("D4.2, Tables 14 and 15", r".*plan"),
    ("D4.2", "Table 15"): ("D4.2, Tables 14 and 15", r".*(arm|final error)"),
    ("D4.2", "Table 16"): (BELT, r".*replan"),
}


@dataclass(frozen=True)
class Swept:
    """One row of a sweep's table: whose method the result is of, the paper's number, the band, and the verdict."""

    name: str
    paper: float
    band: tuple[float, float]
    within: bool

    @property
    def method(self) -> str:
        """``CT`` of ``Table 8, liss3D: CT``, ``DMP`` of ``DMP, distance [m]``, ``reach / fPC`` of a ratio of jerks."""
        return self.name.split(": ")[-1].removeprefix("jerk, ").split(",")[0]


@cache
def stored() -> dict[str, list[Swept]]:
    """Return the results with a number of the paper, of every sweep whose table a notebook of a full run holds."""
    found: dict[str, list[Swept]] = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
        texts = ["".join(output.get("data", {}).get("text/markdown", ())) for output in outputs]
        tables = [text for text in texts if "| paper within |" in text]
        assert not (tables and notebook["metadata"]["thunder_py"]["quick"]), path
        for text in tables:
            assert text.splitlines()[0] not in found
            found[text.splitlines()[0]] = results(text)
    return found


def results(table: str) -> list[Swept]:
    lines = table.split("| paper within |", 1)[1].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.split("|")[1:6]] for line in lines]
    spans = [[float(end.replace("diverged", "inf")) for end in row[3].split(" to ")] for row in rows]
    return [
        Swept(name, float(paper), (span[0], span[1]), within == "yes")
        for (name, paper, _, _, within), span in zip(rows, spans, strict=True)
        if paper
    ]


def contradictions(outcome: str, swept: list[Swept]) -> list[str]:
    """Return what a row's outcome says about a band that the table of the sweep does not."""
    found = []
    inside = {one.method for one in swept if one.within} - (outside := {one.method for one in swept if not one.within})
    start = "outside the band" if not inside else "within a band"
    if not outcome.startswith((start, "reproduced") if not outside else start):
        found.append(f"must start with {start!r}")
    clause = re.search(r"outside (?:the band|for ([^,;]*))", outcome)
    if bool(clause) != bool(outside):
        found.append(f"outside are {sorted(outside)}")
    if clause and clause[1]:
        spoken = clause[1].replace(" over ", " / ")
        found += [f"{m} is outside" for m in outside if not re.search(rf"\b{m}\b", spoken)]
    claimed = re.match(r"within a band for ([^(;:]*?)(?=[,;:(]? (?:outside|\()|[;:(])", outcome)
    if claimed:
        names = set(re.split(r", | and ", claimed[1].strip(" ,")))
        found += [f"{m} is not within" for m in names - inside]
    return found + wrong_numbers(outcome, swept)


def wrong_numbers(outcome: str, swept: list[Swept]) -> list[str]:
    number = r"(\d[\d.]*(?:e-?\d+)?)"
    unit = r"(?: (?:rad|m|s))?"
    spoken = [(texts, [(one.paper,) for one in swept]) for texts in re.findall(rf"()\b{number}{unit} printed", outcome)]
    spoken += [(texts, [one.band[1:] for one in swept]) for texts in re.findall(rf"()at most {number}", outcome)]
    spoken += [
        (texts, [one.band for one in swept]) for texts in re.findall(rf"{number} to {number}{unit} ours", outcome)
    ]
    return [
        f"no result has {' '.join(texts)}"
        for texts, known in spoken
        if not any(all(map(rounds_to, values, filter(None, texts))) for values in known)
    ]


def rounds_to(value: float, text: str) -> bool:
    """Return True if the text is the value to the text's digits; the value has been rounded to three before."""
    mantissa, _, exponent = text.partition("e")
    step = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(value - float(text)) <= 0.5 * step * (1 + 1e-9)


@pytest.mark.parametrize(("paper", "name", "content", "outcome", "by"), ROWS, ids=lambda cell: cell[:30])
def test_a_row_about_a_band_agrees_with_the_sweep(paper, name, content, outcome, by):
    if (paper, name) not in SWEPT:
        assert not re.search(r"within a band|outside the band|within the band", outcome), "no sweep is named"
        return
    title, pattern = SWEPT[paper, name]
    swept = [one for one in stored()[title] if re.match(pattern, one.name)]
    assert swept
    assert not contradictions(outcome, swept)


def test_rows_of_sweeps_exist():
    assert SWEPT.keys() <= {row[:2] for row in ROWS}


@pytest.mark.parametrize(
    "outcome",
    [
        "within a band",
        "within a band: gains",
        "reproduced",
        "outside the band",
        "within a band for CT and AIRC, outside for ACT",
        "within a band for AIRC and MACT, outside for CT",
        "within a band for AIRC, outside for CT and ACT, 0.05 m printed",
        "within a band for AIRC, outside for CT and ACT, 0.06 m printed, at most 0.09 m ours",
        "within a band for AIRC, outside for CT and ACT, 0.01 to 0.2 m ours",
    ],
)
def test_a_false_row_is_found(outcome):
    bands = {"CT": (0.06, 0.01, 0.051), "ACT": (0.3, 0.02, 0.2), "AIRC": (0.04, 0.02, 0.08)}
    swept = [Swept(f"Table 8, linear: {m}", p, (a, b), a <= p <= b) for m, (p, a, b) in bands.items()]
    assert contradictions(outcome, swept)
    true = "within a band for AIRC (eta), outside for CT and ACT"
    assert not contradictions(f"{true}, 0.06 m printed, at most 0.2 m ours", swept)
    assert not contradictions(f"{true}, 0.02 to 0.08 m ours", swept)
