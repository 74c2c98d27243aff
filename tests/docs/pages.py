"""The pages of the documentation, and the programs in them with what they print.

Comments in a page that a reader does not see:

``<!-- skip: reason -->``
    before a program: it is not run.
``<!-- last digits within 2 -->``
    before what a program prints: numbers with a decimal point agree up to so many of their last digit, words exactly.
"""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>[^`\n]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
_SKIP = re.compile(r"<!-- skip: (.+?) -->\s*\Z")
_PRINTS = re.compile(r"\s*prints\s*(?:<!-- last digits within (\d+) -->\s*)?\Z")


@dataclass
class Block:
    """A fenced block of a page: its language, its text, the line it begins at, and the page's text before it."""

    language: str
    text: str
    line: int
    before: str


@dataclass
class Snippet:
    """A program of a page.

    Attributes
    ----------
    code : str
    line : int
        Of the page, where the code begins.
    shown : str or None
        What the page says that it prints.
    digits : int
        How far numbers in what it prints may be off, in units of their last digit; 0 is to the letter.
    skip : str or None
        Why it is not run.
    """

    code: str
    line: int
    shown: str | None = None
    digits: int = 0
    skip: str | None = None


def pages() -> list[Path]:
    """All pages that people wrote: those of the site, and the texts beside it."""
    made = DOCS / "generated"
    here = [path for path in DOCS.rglob("*.md") if made not in path.parents]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(here)]


def name(path: Path) -> str:
    """Name of a page from the project's root on."""
    return path.relative_to(ROOT).as_posix()


def extension(module: str, *names: str) -> list[Any]:
    """Return names of one of the site's own extensions, which are no package."""
    there = runpy.run_path(str(DOCS / "extensions" / f"{module}.py"))
    return [there[name] for name in names]


def blocks(text: str) -> list[Block]:
    """Return fenced blocks in order."""
    found, end = [], 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        found.append(Block(match["language"].strip(), match["text"], line + 1, text[end : match.start()]))
        end = match.end()
    return found


def snippets(text: str) -> list[Snippet]:
    """Return the programs of a page in order, with what they print where it follows the word "prints"."""
    found: list[Snippet] = []
    previous = None
    for block in blocks(text):
        if block.language == "python":
            reason = _SKIP.search(block.before)
            found.append(Snippet(block.text, block.line, skip=reason and reason[1]))
        elif block.language == "text" and previous == "python":
            prints = _PRINTS.match(block.before)
            if prints:
                found[-1].shown, found[-1].digits = block.text, int(prints[1] or 0)
        previous = block.language
    return found


def without_code(text: str) -> str:
    """Return the text with code blocks and literals blanked; lines stay where they are."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", blank, _FENCE.sub(blank, text), flags=re.DOTALL)
