"""docs/symbolic.md prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCUMENT = (Path(__file__).parents[2] / "docs" / "symbolic.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


def test_every_snippet_shows_what_it_prints():
    assert len(SNIPPETS) == DOCUMENT.count("```python") == 5


def test_snippets_print_what_the_document_shows():
    pytest.importorskip("sympy")
    pytest.importorskip("casadi")
    namespace: dict[str, object] = {}
    for code, shown in SNIPPETS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "symbolic.md", "exec"), namespace)
        assert printed.getvalue() == shown
