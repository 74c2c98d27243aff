"""The page on moving objects: its programs run."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "moving_objects.md"


def test_programs_run():
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, PAGE.name, "exec"), {})
