"""docs/properties.md: each statement stands on its page, its tests exist, and no promise of a page is missing."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache

import numpy as np

import thunder_py as th
from tests.dynamics.quantities import INSTRUCTION_SETS, use_instruction_set
from tests.named_tests import ROOT, exists, named_tests

PAGE = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
#: words of a sentence that promises a property
PROMISE = re.compile(
    r"\b(?:never|always|guarantees?|guaranteed|prove[nd]|converges?|bit for bit|conserve[sd]?|"
    r"(?:do|does) not depend|independent of|stays? (?:bounded|finite|positive|physical\w*))\b",
    re.IGNORECASE,
)
#: further words of pages; in docstrings they mostly describe arguments and files ("files that cannot be read")
OF_PAGES = re.compile(
    r"\b(?:keeps|keep (?:their|its)|stays|(?<!must )stay (?:as|in|within|below|near|away|zero|the same)|"
    r"remains? (?:smooth|finite|constant|as)|cannot|at most|(?:is|are|have) exact|exact to|exactly|unchanged|"
    r"holds? (?:for|between|everywhere|in every|exactly|the arm|until))\b",
    re.IGNORECASE,
)
#: pages about the papers' errors and about this list
EXCLUDED = ("docs/errata.md", "docs/properties.md")


@dataclass(frozen=True)
class Statement:
    page: str
    text: str
    shown_by: str


def spaced(text: str) -> str:
    return " ".join(text.split())


def statements() -> list[Statement]:
    found, page = [], ""
    for line in PAGE.splitlines():
        heading = re.match(r"## (?:\[.*\]\((.+\.md)\)|`(.+\.py)`)$", line)
        if heading:
            page = f"docs/{heading[1]}" if heading[1] else heading[2]
            page = page.replace("docs/../", "")
        elif page and line.startswith("| ") and line != "| statement | shown by |":
            text, shown_by = line.strip("| ").rsplit(" | ", 1)
            found.append(Statement(page, spaced(text.replace("\\|", "|")), shown_by))
    return found


STATEMENTS = statements()


def docstrings(path: str) -> str:
    """Docstrings of the public classes and functions of a file, without examples."""
    found, waiting = [], [ast.parse((ROOT / path).read_text(encoding="utf-8"))]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                found.append((ast.get_docstring(node) or "").split("Examples\n---")[0])
                waiting.append(node)
    return "\n\n".join(found)


@cache
def text_of(path: str) -> str:
    return docstrings(path) if path.endswith(".py") else (ROOT / path).read_text(encoding="utf-8")


def sentences(path: str) -> list[str]:
    """Sentences, rows of tables and items of a page, without programs and headers of tables."""
    text = re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL)
    text = re.sub(r"^\|.*\n(?=\|[-: |]+\|$)", "", text, flags=re.MULTILINE)
    parts = re.split(r"\n\s*\n|\n(?=\s*[-|#] ?)", text)
    return [s for part in parts for s in re.split(r"(?<=[.:;!?])\s+(?=[A-Z`*\[])", spaced(part))]


def test_the_page_is_read() -> None:
    assert len(STATEMENTS) > 80
    assert len({statement.page for statement in STATEMENTS}) > 20


def test_named_tests_exist() -> None:
    assert not [f"{path}::{name}" for path, name in named_tests(PAGE) if not exists(path, name)]


def test_statements_stand_on_their_page() -> None:
    """A sentence that was changed is changed in docs/properties.md too, after a look at its test."""
    pages = {page: spaced(text_of(page)) for page in {statement.page for statement in STATEMENTS}}
    assert not [statement for statement in STATEMENTS if statement.text not in pages[statement.page]]


def test_statements_name_a_test_or_a_reason() -> None:
    assert not [s for s in STATEMENTS if bool(named_tests(s.shown_by)) == s.shown_by.startswith("no property: ")]


def promises(sentence: str, path: str) -> bool:
    return bool(PROMISE.search(sentence) or (path.endswith(".md") and OF_PAGES.search(sentence)))


def unlisted(path: str) -> list[str]:
    """Sentences that promise and contain no statement of docs/properties.md and are no part of one."""
    if not promises((ROOT / path).read_text(encoding="utf-8"), path):
        return []
    known = [statement.text for statement in STATEMENTS if statement.page == path]
    found = (s for s in sentences(path) if promises(s, path))
    return [f"{path}: {s}" for s in found if not any(k in s or s in k for k in known)]


def test_every_promise_is_listed() -> None:
    """List a new one in docs/properties.md, with the test that would fail if it were false."""
    files = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "src" / "thunder_py").rglob("*.py")]
    generated = ROOT / "docs" / "generated"
    pages = sorted(str(p.relative_to(ROOT)) for p in files if not p.name.startswith("_") and generated not in p.parents)
    assert not [sentence for page in pages if page not in EXCLUDED for sentence in unlisted(page)]


def test_a_promise_is_recognized() -> None:
    assert promises("The estimate always stays finite.", "a.py")
    assert promises("Results do not depend on it.", "a.py")
    assert promises("The arm stays within its limits.", "a.md")
    assert promises("An obstacle cannot be penetrated.", "a.md")
    assert not promises("A batch gives the results of single targets.", "a.md")
    assert not promises("K must stay below 2 / T.", "a.md")


# --- properties that no other test shows ------------------------------------------------------------------------------


def test_no_build_flag_binds_to_a_processor_or_breaks_arithmetic() -> None:
    for name in ("CMakeLists.txt", "pyproject.toml"):
        text = re.sub(r"#.*", "", (ROOT / name).read_text(encoding="utf-8"))
        assert not re.search(r"-march=native|-mtune=native|-ffast-math|-funsafe-math", text)


def test_no_module_imports_ros() -> None:
    for path in (ROOT / "src" / "thunder_py").rglob("*.py"):
        assert not re.search(r"^\s*(?:import|from) (?:rospy|rclpy)\b", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_instruction_sets_agree_to_rounding() -> None:
    robot, rng = th.Robot.load("panda"), np.random.default_rng(0)
    q, dq, ddq = rng.uniform(-2.0, 2.0, (3, 20, 7))
    found = []
    for name in INSTRUCTION_SETS:
        with use_instruction_set(name):
            found.append((robot.inverse_dynamics(q, dq, ddq), robot.coriolis_matrix(q, dq), robot.jacobian(q)))
    for values in zip(*found, strict=True):
        for value in values[1:]:
            np.testing.assert_allclose(value, values[0], rtol=0, atol=1e-12 * np.abs(values[0]).max())
