"""Tests that a page of the documentation names."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def named_tests(text: str) -> list[tuple[str, str]]:
    """Return (path, function) of each ``tests/...py::test_...``, and (path, "") of each ``cpp/tests/...cpp``."""
    return sorted(
        set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)) | set(re.findall(r"`(cpp/tests/\w+\.cpp)()`", text))
    )


def exists(path: str, name: str) -> bool:
    """Return whether the test is there."""
    file = ROOT / path
    return file.is_file() and (not name or f"def {name}(" in file.read_text(encoding="utf-8"))
