"""Build the C++ benchmark programs, each library by each compiler with the same flags; nothing is built twice."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "benchmarks"
SOURCES = ROOT / "cpp" / "benchmarks"

COMMON = ["-std=c++17", "-O3", "-DNDEBUG"]
FLAGS = {"baseline": [], "native": ["-march=native"]}  # a wheel's build, and one for this machine only

LIBRARIES = {"generated": "generated", "casadi": "CasADi"}  # programs of bench_generated.cpp, as records name them

# what Pinocchio's own CMake target asks of its users
PINOCCHIO_DEFINITIONS = [
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]


@dataclass(frozen=True)
class Program:
    """One benchmark program: a library, by a compiler with a set of flags; `folder` holds generated code."""

    library: str
    compiler: str
    flags: str
    folder: Path | None = None

    @property
    def command(self) -> list[str]:
        """The compiler's command line, without the output."""
        include = wheel_headers()
        options = [*COMMON, *FLAGS[self.flags], f'-DBENCH_FLAGS="{self.flags}"', "-isystem", str(include / "eigen3")]
        sources = self._main_sources()
        if self.folder is not None:
            options += [f'-DBENCH_LIBRARY="{LIBRARIES[self.library]}"', "-I", str(self.folder)]
        elif self.library == "pinocchio":
            options += [*PINOCCHIO_DEFINITIONS, "-isystem", str(include)]
        else:
            options += ["-I", str(ROOT / "cpp" / "include")]
        return [self.compiler, *options, *map(str, sources)]

    @cached_property
    def path(self) -> Path:
        """Where it is built: named after all that goes into it, so that a change builds anew."""
        digest = hashlib.sha256("\0".join([*self.command, compiler_version(self.compiler)]).encode())
        for source in self._sources():
            digest.update(source.read_bytes())
        return CACHE / f"{self.library}-{self.compiler}-{self.flags}-{digest.hexdigest()[:12]}"

    @property
    def is_built(self) -> bool:
        return self.path.exists()

    def build(self) -> None:
        """Compile; only a finished program gets its name."""
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        subprocess.run([*self.command, "-o", str(unfinished)], check=True)
        unfinished.rename(self.path)

    def _main_sources(self) -> list[Path]:
        """Return what the compiler is given."""
        if self.folder is not None:
            return [SOURCES / "bench_generated.cpp", self.folder / "functions.cpp"]
        sources = [SOURCES / f"bench_{self.library}.cpp"]
        return [*sources, ROOT / "cpp" / "src" / "model.cpp"] if self.library == "thunder" else sources

    def _sources(self) -> list[Path]:
        """Return all files whose change means to build anew."""
        sources = [*self._main_sources(), SOURCES / "arm.hpp", SOURCES / "harness.hpp"]
        if self.library == "thunder":
            sources += sorted((ROOT / "cpp" / "include").rglob("*.hpp"))
        if self.folder is not None:
            sources += [self.folder / "functions.h", self.folder / "calls.inc"]
        return sources


def compilers() -> list[str]:
    """Return the compilers that this machine has."""
    found = [name for name in ("g++", "clang++") if shutil.which(name)]
    if not found:
        raise SystemExit("benchmarks need g++ or clang++ on the path")
    return found


def compiler_version(compiler: str) -> str:
    """Return what the compiler calls itself."""
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def wheel_headers() -> Path:
    """Return the include folder that the `pin` wheel brings: Pinocchio's headers, Boost's and Eigen's."""
    spec = importlib.util.find_spec("pinocchio")
    if spec is None or spec.origin is None:
        raise SystemExit("benchmarks need Pinocchio: pip install pin")
    prefix = next(p for p in Path(spec.origin).parents if p.name == "cmeel.prefix")
    return prefix / "include"


def build_all(programs: list[Program]) -> list[Program]:
    """Build what is missing, one at a time: Pinocchio takes gigabytes, and minutes, so say what goes on."""
    for program in programs:
        if not program.is_built:
            print(f"building {program.library} by {program.compiler}, {program.flags} flags", flush=True)
            program.build()
    return programs
