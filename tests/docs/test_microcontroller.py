"""The commands of the microcontroller's tutorial, where a cross compiler and an emulator are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thunder_py as th
from tests.docs.pages import DOCS, blocks, snippets
from thunder_py.model.description import Friction, Rotor

PAGE = DOCS / "tutorials" / "microcontroller.md"
TOOLS = ("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm")


def commands(text: str) -> str:
    """What stands behind the prompts of a page, as one shell script."""
    lines = [line for block in blocks(text) if block.language == "console" for line in block.text.splitlines()]
    return "\n".join(line[2:] for line in lines if line.startswith("$ "))


def test_the_program_holds_for_an_arm_with_friction_rotors_and_armature(tmp_path, monkeypatch):
    """The page's programs, with such an arm in place of the Panda: C and Python move the arm alike."""
    monkeypatch.chdir(tmp_path)
    panda = th.Robot.load("panda")
    friction = Friction(terms=("viscous", "coulomb"), coefficients=np.tile([2.0, 1.5], (7, 1)))
    rotors = tuple(Rotor(joint=j, inertia=1e-5, gear_ratio=50.0, carrier=j - 1) for j in range(1, 8))
    panda.replace(friction=friction, rotors=rotors, armature=[0.3] * 4 + [0.1] * 3).save("my_arm.yaml")
    programs = snippets(PAGE.read_text(encoding="utf-8"))
    last = next(k for k, program in enumerate(programs) if "in_python = " in program.code)
    names = {"__name__": "__main__"}
    for program in programs[: last + 1]:
        code = program.code.replace('Robot.load("panda")', 'Robot.load("my_arm.yaml")')
        exec(code.replace("./control.so", str(tmp_path / "control.so")), names)  # ./control.so may be another test's
    assert names["in_c"].memory.size == (70 + 14 + 7 + 7) * 8
    assert names["difference"].max() < 1e-5


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
