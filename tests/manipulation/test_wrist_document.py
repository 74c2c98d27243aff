"""What docs/elastic_wrist.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "elastic_wrist.md").read_text(encoding="utf-8")


def test_snippets_print_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    """But for the last digit of what a solver found."""
    snippets, printed = (re.findall(rf"```{kind}\n(.*?)```", PAGE, flags=re.DOTALL) for kind in ("python", "text"))
    assert len(snippets) == len(printed) == 2
    names: dict[str, Any] = {}
    for snippet, expected in zip(snippets, printed, strict=True):
        exec(compile(snippet, "elastic_wrist.md", "exec"), names)
        out = capsys.readouterr().out
        number = r"-?\d+\.\d+"
        assert re.sub(number, "#", out) == re.sub(number, "#", expected)
        got, wanted = ([float(x) for x in re.findall(number, text)] for text in (out, expected))
        assert len(got) >= 4
        assert got == pytest.approx(wanted, rel=1e-3, abs=1e-3)
