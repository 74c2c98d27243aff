"""Computing as on another processor: what `tools/processors.sh` relies on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tools.numpy_baseline import core, dispatched_features

ROOT = Path(__file__).parents[2]


def run(*command: str, **environment: str) -> str:
    """Run in this checkout and return what was printed."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, env=variables, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_every_dispatched_instruction_of_numpy_is_off() -> None:
    """NumPy refuses, by a warning, names that it does not know or that this processor does not have."""
    features = run(sys.executable, "tools/numpy_baseline.py").strip()
    assert features.split() == dispatched_features()
    already = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")  # the whole suite may run so
    script = "from tools.numpy_baseline import dispatched_features; print(dispatched_features())"
    left = run(sys.executable, "-W", "error", "-c", script, NPY_DISABLE_CPU_FEATURES=f"{already} {features}".strip())
    assert left.strip() == "[]"


def test_none_of_these_is_one_that_numpy_needs() -> None:
    assert not set(dispatched_features()) & set(core.__cpu_baseline__)
    assert all(core.__cpu_features__[name] for name in dispatched_features())


def test_the_script_runs_tests_that_exist() -> None:
    script = (ROOT / "tools/processors.sh").read_text(encoding="utf-8")
    arrays = script[script.index("own=(") : script.index("echo")] + 'printf "%s\\n" "${own[@]}" "${all[@]}"'
    paths = run("bash", "-c", arrays).split()
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_no_build_flag_binds_to_a_processor_or_breaks_arithmetic() -> None:
    for name in ("CMakeLists.txt", "cpp/thunder_core.cmake", "pyproject.toml"):
        text = re.sub(r"#.*", "", (ROOT / name).read_text(encoding="utf-8"))
        assert not re.search(r"-march=native|-mtune=native|-ffast-math|-funsafe-math", text)
