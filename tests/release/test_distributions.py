"""What goes into a source distribution, and what would be told if something else did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_distributions import WHEEL_MUST, check_cpp, check_sdist, check_wheel, sdist_names

ROOT = Path(__file__).parents[2]
WHEEL = WHEEL_MUST | {
    "thunder_py/_core.cpython-311-x86_64-linux-gnu.so",
    "thunder_py-0.2.0.dist-info/METADATA",
    "thunder_py-0.2.0.dist-info/licenses/LICENSE",
}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Files of an sdist of this checkout; no build tool is downloaded and nothing compiled."""
    folder = tmp_path_factory.mktemp("sdist")
    script = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True)
    return sdist_names(next(folder.glob("*.tar.gz")))


@pytest.mark.release
def test_sdist_holds_what_it_must_and_nothing_else(names):
    sources = [path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.py")]
    sources += [path.relative_to(ROOT) for path in (ROOT / "cpp").rglob("*.[hc]pp")]
    sources += [path.relative_to(ROOT) for path in (ROOT / "src/thunder_py/codegen/templates").iterdir()]
    assert len(sources) > 300
    assert {str(path) for path in sources} <= names
    assert check_sdist(names) == []
    assert check_sdist(names - {"LICENSE"}) == ["LICENSE is missing"]
    for stray in (".ci/run", "build/x.o", "notebooks/a.ipynb", "cpp/__pycache__/a.pyc"):
        assert check_sdist(names | {stray}) == [f"{stray} does not belong into an sdist"]


def test_what_a_wheel_lacks_and_strays_in_it_are_told():
    assert check_wheel(WHEEL) == []
    for name in WHEEL:
        if not name.endswith("METADATA"):
            assert len(check_wheel(WHEEL - {name})) == 1
    for stray in ("tests/test_cli.py", "thunder_py/dynamics.cpp", "thunder_py/cpp/src/a.o"):
        assert check_wheel(WHEEL | {stray}) == [f"{stray} does not belong into a wheel"]
    (line,) = check_wheel(WHEEL | {"thunder_py/_core.abi3.so"})
    assert line.startswith("one compiled thunder_py/_core is expected, there are")


def test_a_wheel_has_every_source_of_the_sdist():
    sdist = {"cpp/src/a.cpp", "cpp/include/thunder/a.hpp", "cpp/tests/test_a.cpp", "cpp/bindings/a.cpp"}
    assert check_cpp(sdist, {"thunder_py/cpp/src/a.cpp"}) == ["thunder_py/cpp/include/thunder/a.hpp is missing"]
