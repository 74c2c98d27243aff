"""Links of all pages and notebooks lead somewhere, to the heading that they name; no network is needed for it."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from tests.docs.pages import DOCS, ROOT, extension, name, pages, without_code

PAGES, lead_links = extension("outside", "PAGES", "lead_links")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_PATH = re.compile(r"`((?:src|cpp|tests|tools|examples|benchmarks|notebooks|docs)/[\w./-]+)(?:::\w+)?`")
_EXTERNAL = ("http://", "https://", "mailto:", "doi:")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def slug(heading):
    """Anchor of a heading, as code hosts and MyST make it."""
    text = re.sub(r"`|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    """All anchors of a page; a heading that comes again has a number."""
    found = []
    # literals in headings count, blocks do not
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        anchor = slug(heading)
        found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return found + re.findall(r"^\((\w[\w-]*)\)=$", text, re.MULTILINE)


def links(text):
    """Targets of all links that are not code."""
    return [first or second for first, second in _LINK.findall(without_code(text))]


def broken(path, text):
    """Internal links of a text that lead nowhere, and why."""
    found = []
    for target in links(text):
        if target.startswith(_EXTERNAL):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file) if file else path
        if not there.exists():
            found.append(f"{target}: no such file")
        elif anchor and (there.suffix != ".md" or anchor not in anchors(there)):
            found.append(f"{target}: no such heading")
    return found


def test_links_of_pages_and_notebooks():
    lost = []
    for path in (*pages(), *NOTEBOOKS):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
            text = "\n\n".join("".join(cell["source"]) for cell in cells)
        lost += [f"{name(path)}: {link}" for link in broken(path, text)]
    assert lost == []


def test_every_notebook_is_among_the_papers():
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\(\.\./(notebooks/\w+\.ipynb)\)", page))) == [name(path) for path in NOTEBOOKS]


SOURCES = [
    path
    for folder in ("src", "cpp", "tests", "tools", "examples", "benchmarks", "notebooks")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".hpp", ".cpp", ".h", ".yaml", ".cmake", ".ipynb") and path.is_file()
]


def test_pages_that_sources_name_are_there():
    """Pages in docstrings, messages and comments."""
    lost = []
    for path in SOURCES:
        for page in re.findall(r"\bdocs/[\w/]+\.md", path.read_text(encoding="utf-8")):
            if not (ROOT / page).is_file():
                lost.append(f"{name(path)}: {page}")
    assert lost == []


def test_files_that_pages_name_are_there():
    """Paths in literals, such as `tests/control/test_mact.py`, from the project's root on."""
    lost = []
    for page in pages():
        if page.name == "CHANGELOG.md":  # what it tells of may have gone since
            continue
        for path in _PATH.findall(page.read_text(encoding="utf-8")):
            if not (ROOT / path).exists() and not path.startswith("docs/generated"):
                lost.append(f"{name(page)}: {path}")
    assert lost == []


def test_every_page_is_linked_from_another():
    """From the start page on, in steps."""
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in links(page.read_text(encoding="utf-8")):
            file = Path(posixpath.normpath(posixpath.join(page.parent.as_posix(), target.partition("#")[0])))
            if file.suffix == ".md" and file.exists():
                waiting.append(file)
    lost = [name(page) for page in pages() if DOCS in page.parents and page not in reached]
    assert lost == []


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "a.md").write_text("# One\n\n## Two words\n")
    text = "[x](a.md#two-words) [y](a.md#three) [z](b.md) `[w](c.md)` [v](https://example.org/none)"
    assert broken(tmp_path / "p.md", text) == ["a.md#three: no such heading", "b.md: no such file"]


def test_links_are_led_to_pages_of_the_site():
    text = (
        "[a](../notebooks/x.ipynb) [b](../CONTRIBUTING.md#style) [c](errata.md) `[d](../README.md)` [e](https://e.org)"
    )
    assert lead_links(text, "docs", "docs") == (
        "[a](generated/notebooks/x.ipynb) [b](generated/contributing.md#style) [c](errata.md) `[d](../README.md)` "
        "[e](https://e.org)"
    )
    assert lead_links("[x](docs/errata.md) [y](examples)", "", "docs/generated") == "[x](../errata.md) [y](examples.md)"


def test_pages_that_stand_for_files_are_there():
    for path, page in PAGES.items():
        assert (ROOT / path).exists()
        assert page.startswith("docs/generated/") or (ROOT / page).is_file()
