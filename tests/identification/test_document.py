"""docs/identification.md prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "identification.md").read_text(encoding="utf-8")


def test_snippets_print_what_they_say():
    blocks = re.findall(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(blocks) == 2
    names = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "identification.md", "exec"), names)
        assert printed.getvalue() == shown
