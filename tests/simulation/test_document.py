"""docs/simulation.md prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


def test_every_snippet_shows_what_it_prints() -> None:
    assert len(SNIPPETS) == DOCUMENT.count("```python") == 9


def test_snippets_print_what_the_document_shows() -> None:
    namespace: dict[str, object] = {}
    for code, shown in SNIPPETS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "simulation.md", "exec"), namespace)
        assert printed.getvalue() == shown
