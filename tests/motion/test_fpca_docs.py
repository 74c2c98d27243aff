"""What docs/fpca.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path


def test_code_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "fpca.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), "docs/fpca.md", "exec"), {})
