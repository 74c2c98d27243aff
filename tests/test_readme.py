"""README.md: its code prints what it says, its links lead somewhere, its commands stand alone."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
VENV = "python3 -m venv .venv && . .venv/bin/activate && "


def test_code_prints_what_the_readme_shows():
    blocks = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 1
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        assert printed.getvalue() == shown


@pytest.mark.parametrize("command", ["pip install . && thunder demo", 'pip install ".[test]" && pytest'])
def test_commands_are_complete_lines(command):
    assert README.splitlines().count(VENV + command) == 1


def documents():
    names = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
    return [ROOT / name for name in names] + sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (document.parent / target).exists(), target
