"""The commands of the microcontroller's tutorial, where a cross compiler and an emulator are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks, snippets

PAGE = DOCS / "tutorials" / "microcontroller.md"
TOOLS = ("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm")


def commands(text: str) -> str:
    """What stands behind the prompts of a page, as one shell script."""
    lines = [line for block in blocks(text) if block.language == "console" for line in block.text.splitlines()]
    return "\n".join(line[2:] for line in lines if line.startswith("$ "))


@pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}")
def test_the_board_computes_what_this_computer_does(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    programs = snippets(text)
    *before, last = programs
    assert "board.txt" in last.skip
    names = {"__name__": "__main__"}
    for program in before:
        exec(program.code, names)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # thunder is beside Python
    script = commands(text)
    assert script.count("\n") >= 7
    subprocess.run(["bash", "-ec", script], check=True, timeout=120, env={**os.environ, "PATH": path})
    exec(last.code, names)
    difference = abs(names["board"] - names["here"])
    assert difference.shape == (17,)
    assert difference.max() < 1e-4
