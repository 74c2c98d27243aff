"""Build the C++ benchmark programs, each library by each compiler with the same flags; nothing is built twice."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "benchmarks"
SOURCES = ROOT / "cpp" / "benchmarks"
CORE = ROOT / "cpp" / "src"
#: a libthunder_core.a of a release build of the same sources, which spares compiling the core: ``run.py --core``
LIBRARY_OF_CORE = "THUNDER_CORE_LIBRARY"
TOGETHER = 5  # sources of the core in a translation unit, as in CMakeLists.txt

COMMON = ["-std=c++17", "-O3", "-DNDEBUG"]
FLAGS = {"baseline": [], "native": ["-march=native"]}  # a wheel's build, and one for this machine only

ARCHITECTURE = ["-mavx2", "-mfma", "-ffp-contract=fast"]
#: options of the tables of kernels beside those of all sources, as in CMakeLists.txt; g++ alone knows the last ones
TABLES = {
    "kernels_avx2": (ARCHITECTURE, ["-mmove-max=256", "-mstore-max=256"]),
    "kernels_avx512": (
        [*ARCHITECTURE, "-mavx512f", "-mavx512vl", "-mavx512dq", "-mprefer-vector-width=256"],
        ["-mmove-max=512", "-mstore-max=512"],
    ),
}

LIBRARIES = {"generated": "generated", "casadi": "CasADi"}  # programs of bench_generated.cpp, as records name them

#: programs of this package's own sources, and the headers they have beside arm.hpp and harness.hpp
OURS = {
    "thunder": ["thunder_model.hpp"],
    "controllers": ["thunder_model.hpp", "control_states.hpp", "controllers.hpp"],
    "planning": ["planning_problems.hpp"],
    "interception": ["planning_problems.hpp"],
}
KINEMATICS = [
    "box_least_squares",
    "clik",
    "joint_limits",
    "null_objective",
    "orientation_error",
    "references",
    "task_motion",
]  # beside all control laws
#: of the core's planning, what needs no robot
PLANNING = ["functional_*", "score_solver", "small_system", "motion_frame", "bezier_path", "piecewise_polynomial"]
PLANNING += ["obstacle", "clearance", "parallel_for"]
#: and what only one of its programs needs
MORE_PLANNING = {
    "planning": ["via_*", "dmp", "dmp_basis", "damped_step"],
    "interception": ["interception", "interceptor", "rotation_vector_path", "constant_velocity_filter", "rotations"],
}

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
        """The compiler and its options."""
        include = wheel_headers()
        options = [*COMMON, *FLAGS[self.flags], f'-DBENCH_FLAGS="{self.flags}"', "-isystem", str(include / "eigen3")]
        if self.folder is not None:
            options += [f'-DBENCH_LIBRARY="{LIBRARIES[self.library]}"', "-I", str(self.folder)]
        elif self.library == "pinocchio":
            options += [*PINOCCHIO_DEFINITIONS, "-isystem", str(include)]
        else:
            options += ["-I", str(ROOT / "cpp" / "include")]
            options += ["-DTHUNDER_HAVE_X86_KERNELS"] if len(self._tables()) > 1 else []
        return [self.compiler, *options]

    @cached_property
    def path(self) -> Path:
        """Where it is built: named after all that goes into it, so that a change builds anew."""
        return CACHE / f"{self.library}-{self.compiler}-{self.flags}-{self._digest(self.command, self._sources())}"

    def _digest(self, command: list[str], files: list[Path]) -> str:
        """Return a name of all that goes into what a command of the compiler makes of files."""
        digest = hashlib.sha256("\0".join([*command, compiler_version(self.compiler)]).encode())
        for file in files:
            digest.update(file.name.encode() + file.read_bytes())
        return digest.hexdigest()[:12]

    @property
    def is_built(self) -> bool:
        return self.path.exists()

    def build(self) -> None:
        """Compile, as many sources at a time as there are cores; only a finished program gets its name."""
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
            sources = self._units(Path(scratch))
            objects = [Path(scratch) / f"{source.stem}.o" for source in sources]
            list(pool.map(self._compile, sources, objects))
            core = [str(path) for path in self._core_library()]
            subprocess.run([self.compiler, *map(str, objects), *core, "-pthread", "-o", str(unfinished)], check=True)
        unfinished.rename(self.path)

    def _compile(self, source: Path, target: Path) -> None:
        options, of_gcc = TABLES.get(source.stem, ([], []))
        more = [*options, *(of_gcc if self.compiler == "g++" else [])]
        command = [*self.command, *more, "-c", str(source), "-o"]
        if source.parent.name != "kernels":
            subprocess.run([*command, str(target)], check=True)
            return
        # the longest to compile, and the same in several programs
        kept = CACHE / f"{source.stem}-{self._digest(command, [source, *headers()])}.o"
        if not kept.exists():
            unfinished = kept.with_suffix(".part")
            subprocess.run([*command, str(unfinished)], check=True)
            unfinished.rename(kept)
        target.symlink_to(kept)

    def _units(self, scratch: Path) -> list[Path]:
        """Return what is compiled: the program, and the core's sources several together, as the package is built."""
        first, *core = self._main_sources()
        if self.library not in OURS:
            return [first, *core]
        units = [first, *(source for source in core if source.parent.name == "kernels")]
        core = [source for source in core if source not in units]
        for k in range(0, len(core), TOGETHER):
            units.append(scratch / f"unit_{k}.cpp")
            units[-1].write_text("".join(f'#include "{source}"\n' for source in core[k : k + TOGETHER]))
        return units

    def _main_sources(self) -> list[Path]:
        """Return what the compiler is given."""
        if self.folder is not None:
            return [SOURCES / "bench_generated.cpp", self.folder / "functions.cpp"]
        sources = [SOURCES / f"bench_{self.library}.cpp"]
        if self._core_library():
            return sources
        if self.library in MORE_PLANNING:
            names = [*PLANNING, *MORE_PLANNING[self.library]]
            return sources + sorted(path for name in names for path in CORE.rglob(f"{name}.cpp"))
        if self.library != "pinocchio":
            sources += [CORE / "model" / "model.cpp", CORE / "kernels" / "kernels.cpp", *self._tables()]
            sources += [CORE / "threads" / "parallel_for.cpp"]
        if self.library == "controllers":
            sources += sorted((CORE / "control").glob("*.cpp"))
            sources += [CORE / "estimation" / f"{name}.cpp" for name in ("derivative_filters", "external_observer")]
            sources += [CORE / "kinematics" / f"{name}.cpp" for name in KINEMATICS] + sorted(
                (CORE / "math").glob("*.cpp")
            )
        return sources

    def _core_library(self) -> list[Path]:
        """Return the library to link, if one is given."""
        given = os.environ.get(LIBRARY_OF_CORE)
        return [Path(given)] if given and self.library in OURS else []

    @staticmethod
    def _tables() -> list[Path]:
        """Return the sources of the kernels that this processor's architecture has."""
        names = ["kernels_baseline", *(TABLES if platform.machine() in ("x86_64", "AMD64") else [])]
        return [CORE / "kernels" / f"{name}.cpp" for name in names]

    def _sources(self) -> list[Path]:
        """Return all files whose change means to build anew."""
        sources = [*self._main_sources(), *self._core_library(), SOURCES / "arm.hpp", SOURCES / "harness.hpp"]
        if self.library in OURS:
            sources += [SOURCES / name for name in OURS[self.library]]
            sources += headers()
        if self.folder is not None:
            sources += [self.folder / "functions.h", self.folder / "calls.inc"]
        return sources


def headers() -> list[Path]:
    """Return the headers of the core."""
    return sorted((ROOT / "cpp" / "include").rglob("*.hpp"))


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
