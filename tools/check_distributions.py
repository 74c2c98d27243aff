"""Look into an sdist and wheels: all that must be there is, and nothing else.

Usage: python tools/check_distributions.py FOLDER [BUILD_TREE]

With the build tree of a wheel that was made in the checkout, the sdist must hold every file of the checkout that the
compiler and CMake read: then the wheel is the one that the sdist makes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
SDIST_TOP = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CMakeLists.txt",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "cpp",
    "pyproject.toml",
    "src",
}
SDIST_MUST = {
    "cpp/bindings/module.cpp",
    "cpp/tests/CMakeLists.txt",
    "src/thunder_py/_core.pyi",
    *SDIST_TOP - {"cpp", "src"},
}
WHEEL_MUST = {
    "thunder_py/__init__.py",
    "thunder_py/py.typed",
    "thunder_py/_core.pyi",
    "thunder_py/codegen/templates/core.h.j2",
    "thunder_py/robots/panda.yaml",
    "thunder_py/cpp/thunder_pyConfig.cmake",
    "thunder_py/cpp/thunder_core.cmake",
    "thunder_py/cpp/include/thunder/realtime/control_loop.hpp",
    "thunder_py/cpp/src/realtime/control_loop.cpp",
}
SOURCES = {".py", ".pyi", ".typed", ".yaml", ".j2", ".inc", ".md"}
#: the C++ interface, under thunder_py/cpp
CPP_SOURCES = {".hpp", ".cpp", ".inc", ".cmake"}


def sdist_names(path: Path) -> set[str]:
    """Files of an sdist, without its folder."""
    with tarfile.open(path) as archive:
        return {str(PurePosixPath(*PurePosixPath(m.name).parts[1:])) for m in archive.getmembers() if m.isfile()}


def wheel_names(path: Path) -> set[str]:
    """Files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {item.filename for item in archive.infolist() if not item.is_dir()}


def _missing(names: set[str], must: Iterable[str]) -> list[str]:
    return [f"{name} is missing" for name in sorted(must) if name not in names]


def check_sdist(names: set[str]) -> list[str]:
    """Return what is wrong with the files of an sdist, a line each."""
    wrong = _missing(names, SDIST_MUST)
    for name in sorted(names):
        parts = PurePosixPath(name).parts
        if parts[0] not in SDIST_TOP or "__pycache__" in parts:
            wrong.append(f"{name} does not belong into an sdist")
    return wrong


def check_wheel(names: set[str]) -> list[str]:
    """Return what is wrong with the files of a wheel, a line each."""
    wrong = _missing(names, WHEEL_MUST)
    extensions = [name for name in names if name.startswith("thunder_py/_core.") and name.endswith(".so")]
    if len(extensions) != 1:
        wrong.append(f"one compiled thunder_py/_core is expected, there are {sorted(extensions)}")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        wrong.append("the license is missing")
    for name in sorted(names - set(extensions)):
        top, path = name.split("/")[0], PurePosixPath(name)
        kinds = CPP_SOURCES if path.parts[:2] == ("thunder_py", "cpp") else SOURCES
        inside = top == "thunder_py" and path.suffix in kinds and "__pycache__" not in path.parts
        if not inside and not top.endswith(".dist-info"):
            wrong.append(f"{name} does not belong into a wheel")
    return wrong


def check_cpp(sdist: set[str], wheel: set[str]) -> list[str]:
    """Return the C++ sources of the core, as an sdist has them, that a wheel lacks, a line each."""
    folders = ("cpp/include/", "cpp/src/")
    return _missing(wheel, [f"thunder_py/{name}" for name in sdist if name.startswith(folders)])


def files_read(tree: Path) -> set[str]:
    """Return the files of the checkout, outside its build folder, that made what is in a build tree."""
    compiled = subprocess.run(["ninja", "-t", "deps"], cwd=tree, capture_output=True, text=True, check=True).stdout
    (configured,) = re.findall(
        r"^build build\.ninja.*: RERUN_CMAKE (.*)$", (tree / "build.ninja").read_text(), re.MULTILINE
    )
    paths = {(tree / name.strip()).resolve() for name in [*compiled.splitlines(), *configured.split()]}
    inside = {path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT)}
    return {str(path) for path in inside if path.parts[0] not in {"build", ".venv"}}


def main(folder: Path, tree: Path | None) -> int:
    """Check one sdist and the wheels beside it."""
    sdists, wheels = sorted(folder.glob("*.tar.gz")), sorted(folder.glob("*.whl"))
    if len(sdists) != 1 or not wheels:
        print(f"{folder} must hold one sdist and a wheel, found {len(sdists)} and {len(wheels)}")
        return 1
    sdist = sdist_names(sdists[0])
    lines = check_sdist(sdist) + (_missing(sdist, files_read(tree)) if tree else [])
    wrong = [f"{sdists[0].name}: {line}" for line in lines]
    for wheel in wheels:
        names = wheel_names(wheel)
        wrong += [f"{wheel.name}: {line}" for line in check_wheel(names) + check_cpp(sdist, names)]
    print("\n".join(wrong) or f"{sdists[0].name} and {len(wheels)} wheel(s) hold what they must")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
