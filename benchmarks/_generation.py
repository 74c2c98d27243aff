"""What a generated library costs: time to write it, size, time and memory to compile it, 3 to 30 joints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _build import ROOT

FILES = ROOT / "tests" / "data" / "thunder"
JOINTS = (3, 5, 7, 9, 15, 30)
COMPILE = ["-std=c++17", "-O2", "-c"]


def generation(joints: tuple[int, ...], compilers: list[str], rounds: int) -> list[dict[str, Any]]:
    """Run `thunder gen` as a user does and compile the core of what it wrote; of some rounds keep the quickest."""
    with tempfile.TemporaryDirectory() as scratch:
        return [_arm(n, compilers, rounds, Path(scratch)) for n in joints]


def _arm(n: int, compilers: list[str], rounds: int, scratch: Path) -> dict[str, Any]:
    name = f"arm{n}"
    command = [sys.executable, "-m", "thunder_py", "gen", str(FILES / f"{name}.yaml"), "-o", str(scratch)]
    folder = scratch / f"{name}_generatedFiles"
    source, header = folder / f"{name}_gen.cpp", folder / f"{name}_gen.h"
    record = {"joints": n, "generate": _quickest(command, rounds)}
    record["in_process"] = min(_in_process(n, scratch) for _ in range(rounds))
    record["source_mb"] = source.stat().st_size / 1e6
    record["all_mb"] = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    record["functions"] = len(re.findall(rf"^void {name}_\w+\(", header.read_text(), re.MULTILINE))
    record["compile"] = {
        compiler: _quickest([compiler, *COMPILE, str(source), "-o", str(scratch / "core.o")], min(rounds, 2))
        for compiler in compilers
    }
    return record


def _quickest(command: list[str], rounds: int) -> dict[str, float]:
    """Wall time of the quickest round [s], peak resident memory of the largest process in it [MB]."""
    found = [_run(command) for _ in range(rounds)]
    return min(found, key=lambda record: record["seconds"])


def _run(command: list[str]) -> dict[str, float]:
    child = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_child.py")), *command]
    output = subprocess.run(child, capture_output=True, text=True, check=True)
    record: dict[str, float] = json.loads(output.stdout.splitlines()[-1])
    if record["status"] != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{output.stderr}")
    return record


def _in_process(n: int, scratch: Path) -> float:
    """Seconds from a robot's file to the library's, once the package is imported."""
    program = (
        "import sys, time; import thunder_py as th, thunder_py.codegen as codegen; start = time.perf_counter(); "
        "codegen.generate(th.Robot.load(sys.argv[1]), sys.argv[2]); print(time.perf_counter() - start)"
    )
    arguments = [str(FILES / f"arm{n}.yaml"), str(scratch)]
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return float(result.stdout)
