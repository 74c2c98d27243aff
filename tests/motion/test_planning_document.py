"""What docs/human_like_planning.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path


def test_snippets_run() -> None:
    page = (Path(__file__).parents[2] / "docs" / "human_like_planning.md").read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(snippets) >= 4
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "human_like_planning.md", "exec"), names)
