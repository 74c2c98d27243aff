"""docs/motion_data.md prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "motion_data.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)


def test_snippets_print_what_the_document_shows(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # what snippets write goes with the test
    assert len(SNIPPETS) == DOCUMENT.count("```python") >= 6
    namespace: dict[str, object] = {}
    for code, shown in SNIPPETS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "motion_data.md", "exec"), namespace)
        assert printed.getvalue() == shown
