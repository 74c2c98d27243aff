"""Generated libraries for tests: compiled once, called through ctypes by the prototypes in their headers."""

import ctypes
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
COMPILERS = tuple(name for name in ("gcc", "cc", "clang") if shutil.which(name))
_PROTOTYPE = re.compile(r"void (\w+)\(([^)]*)\);")


class Parameter(NamedTuple):
    """Of a C function."""

    name: str
    size: int
    is_result: bool


def run(command: Sequence[str | Path], cwd: Path | None = None) -> str:
    """Run a command that must succeed; its output."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def eigen_include() -> Path | None:
    """Folder of Eigen's headers: the cmeel-eigen wheel's, or the system's."""
    wheel = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/include/eigen3"
    return next((path for path in (wheel, Path("/usr/include/eigen3")) if (path / "Eigen/Core").is_file()), None)


def prototypes(folder: Path, name: str) -> dict[str, list[Parameter]]:
    """Functions of a library's header, without prefix."""
    found = {}
    for match in _PROTOTYPE.finditer((folder / f"{name}_gen.h").read_text()):
        parameters = []
        for text in filter(None, (part.strip() for part in match[2].split(","))):
            entry = re.fullmatch(r"(const )?(double|float) (\w+)\[(\d+)\]", text)
            if entry is None:
                break
            parameters.append(Parameter(entry[3], int(entry[4]), entry[1] is None))
        else:
            found[match[1].removeprefix(f"{name}_")] = parameters
    return found


class Core:
    """The C functions of a generated folder, compiled as strict C99."""

    def __init__(self, folder: Path, name: str, scalar: str = "double") -> None:
        self.name, self.dtype = name, np.dtype(scalar if scalar == "double" else "float32")
        self.functions = prototypes(folder, name)
        library = folder.parent / f"lib{name}_{scalar}.so"
        source = folder / f"{name}_gen.cpp"
        run(["gcc", "-x", "c", "-std=c99", "-O0", *STRICT, "-shared", "-fPIC", source, "-o", library, "-lm"])
        self._library = ctypes.CDLL(str(library))

    def call(self, function: str, values: dict[str, Array]) -> list[Array]:
        """Results of a function for arguments by name."""
        pointers, results = [], []
        for parameter in self.functions[function]:
            if parameter.is_result:
                array = np.full(parameter.size, np.nan, dtype=self.dtype)
                results.append(array)
            else:
                array = np.ascontiguousarray(np.ravel(values[parameter.name]), dtype=self.dtype)
                assert array.size == parameter.size, parameter.name
            pointers.append(array)
        getattr(self._library, f"{self.name}_{function}")(*[ctypes.c_void_p(p.ctypes.data) for p in pointers])
        return [result.astype(np.float64) for result in results]

    def elastic_joints(self, size: int) -> list[int]:
        """Joints of the motors' vectors, as the library lists them."""
        return list((ctypes.c_int * size).in_dll(self._library, f"{self.name}_elasticJoints"))

    def default(self, argument: str, size: int) -> Array:
        """The robot's numbers in the library."""
        kind = ctypes.c_double if self.dtype == np.float64 else ctypes.c_float
        return np.array((kind * size).in_dll(self._library, f"{self.name}_default_{argument}"), dtype=np.float64)
