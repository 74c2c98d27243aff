"""What docs/throwing.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "throwing.md").read_text(encoding="utf-8")


def test_snippet_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    """But for the last digit, which depends on the optimiser."""
    snippet, printed = (re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL) for kind in ("python", "text"))
    assert len(snippet) == len(printed) == 1
    exec(compile(snippet[0], "throwing.md", "exec"), {})
    numbers = [[float(x) for x in re.findall(r"-?\d+\.\d+", text)] for text in (capsys.readouterr().out, printed[0])]
    assert len(numbers[0]) == len(numbers[1]) > 8
    near, far = numbers[0][-1], numbers[0][-2]
    assert near < 0.5 < 2.0 < far
    assert numbers[0][:4] == pytest.approx(numbers[1][:4], abs=0.02)
