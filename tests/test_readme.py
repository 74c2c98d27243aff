from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
VENV = "python3 -m venv .venv && . .venv/bin/activate && "


@pytest.mark.parametrize("command", ["pip install . && thunder demo", 'pip install ".[test]" && pytest'])
def test_commands_are_complete_lines(command):
    assert README.splitlines().count(VENV + command) == 1
