"""Files beside the documentation become pages of the site: notebooks, examples, the changelog, how to contribute.

They are written to docs/generated, with their relative links led to where things are in the site. Links of the pages
that people wrote are led there too: on a code host they go to the files themselves.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MADE = "docs/generated"
#: pages that stand for files and folders
PAGES = {
    "README.md": "docs/index.md",
    "CONTRIBUTING.md": f"{MADE}/contributing.md",
    "CHANGELOG.md": f"{MADE}/changelog.md",
    "SECURITY.md": f"{MADE}/security.md",
    "notebooks": "docs/papers.md",
    "docs": "docs/index.md",
}
_LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
_CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def led(target: str, origin: str, page: str) -> str:
    """Return a relative link of a text in folder `origin` as it has to be on a page in folder `page` of the site.

    Both folders are relative to the project's root.
    """
    path = posixpath.normpath(posixpath.join(origin, target))
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        path = f"{MADE}/{path}"
    elif path.startswith("examples") and (ROOT / path).is_dir():
        path = f"{MADE}/examples.md"
    else:
        path = PAGES.get(path, path)
    return posixpath.relpath(path, page)


def lead_links(text: str, origin: str, page: str) -> str:
    """Lead all relative links of a text but those in code."""
    pieces, end = [], 0

    def link(match: re.Match[str]) -> str:
        there = led(match[2], origin, page)
        # the start page has no headings of the README's
        return match[1] + there + (")" if posixpath.basename(match[2]) == "README.md" else match[3])

    for code in _CODE.finditer(text):
        pieces += [_LINK.sub(link, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, _LINK.sub(link, text[end:])])


def write(path: Path, text: str) -> None:
    """Write what has changed, so that Sphinx reads only that again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)


def notebook_page(path: Path) -> str:
    """Return a notebook with its stored outputs, as the site shows it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = lead_links("".join(cell["source"]), "notebooks", f"{MADE}/notebooks")
    return json.dumps(notebook, indent=1)


def examples_page() -> str:
    """Return a page with all example programs."""
    parts = ["# Examples\n\nPrograms to start from; each runs as it is.\n"]
    for path in sorted((ROOT / "examples").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        language = "{code-block} python"
        parts.append(f"## {path.relative_to(ROOT / 'examples').as_posix()}\n\n````{language}\n:caption: {name}\n\n")
        parts.append(path.read_text(encoding="utf-8").rstrip() + "\n````\n")
    return "\n".join(parts)


def generate(*_: Any) -> None:
    """Write all pages of docs/generated, and remove those of notebooks that are gone."""
    folder = ROOT / MADE
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        write(ROOT / PAGES[name], lead_links((ROOT / name).read_text(encoding="utf-8"), "", MADE))
    write(folder / "examples.md", examples_page())
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in notebooks:
        write(folder / "notebooks" / path.name, notebook_page(path))
    for path in (folder / "notebooks").glob("*.ipynb"):
        if path.name not in {notebook.name for notebook in notebooks}:
            path.unlink()


def read_page(app: Any, docname: str, content: list[str]) -> None:
    """Lead the links of a page that people wrote."""
    if not docname.startswith("generated/"):
        folder = posixpath.join("docs", posixpath.dirname(docname)).rstrip("/")
        content[0] = lead_links(content[0], folder, folder)


def setup(app: Any) -> dict[str, bool]:
    """Join in before Sphinx looks for pages, and when it reads one."""
    app.connect("config-inited", generate)
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True}
