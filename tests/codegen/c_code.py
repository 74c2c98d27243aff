"""Recorded functions as C for tests: emitted, compiled by every compiler there is, called through ctypes."""

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from thunder_py import _core

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
# (program, language options)
LANGUAGES = {
    "gcc": ("gcc", "-x", "c", "-std=c99"),
    "clang": ("clang", "-x", "c", "-std=c99"),
    "g++": ("g++", "-x", "c++", "-std=c++17"),
    "clang++": ("clang++", "-x", "c++", "-std=c++17"),
}


def language(name: str) -> tuple[str, ...]:
    """Command of a compiler, or a skipped test."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return LANGUAGES[name]


def symbols(name: str, size: int, graph: _core.Graph) -> npt.NDArray[np.object_]:
    """A vector of symbols."""
    vector = np.empty(size, dtype=object)
    vector[:] = [graph.symbol(f"{name}{k}") for k in range(size)]
    return vector


def core_function(name: str, arguments: Mapping[str, Any], results: Mapping[str, Any]) -> _core.Function:
    """A recorded function whose names nobody has looked at yet."""
    ports = [[(key, list(np.shape(v)), list(np.ravel(v))) for key, v in p.items()] for p in (arguments, results)]
    return _core.Function(name, *ports)


class Compiled:
    """Functions in a shared library."""

    def __init__(
        self,
        functions: Sequence[_core.Function],
        folder: Path,
        compiler: str = "gcc",
        flags: Sequence[str] = (),
        **options: Any,
    ) -> None:
        command = language(compiler)
        self.functions = {f.name: f for f in functions}
        self.dtype = np.dtype("float32" if options.get("scalar") == "float" else "float64")
        header, self.source = _core.emit_c(list(functions), header_name="gen.h", **options)
        (folder / "gen.h").write_text(header)
        (folder / "gen.c").write_text(self.source)
        library, unit = folder / "libgen.so", folder / "gen.o"
        compiled = [*command, "-O2", *STRICT, "-ffp-contract=off", "-fPIC", *flags, "-c", str(folder / "gen.c")]
        # linked with -ffast-math, loading the library would turn subnormal numbers off for the whole process
        linking = [flag for flag in flags if flag != "-ffast-math"]
        for step in (
            [*compiled, "-o", str(unit)],
            [command[0], "-O2", "-fPIC", "-shared", *linking, str(unit), "-o", str(library), "-lm"],
        ):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def call(self, name: str, *values: npt.ArrayLike, suffix: str = "", count: int | None = None) -> Any:
        """Results of one sample, or of `count` samples through the batched variant."""
        f = self.functions[name]
        batch = () if count is None else (count,)
        inputs = [np.ascontiguousarray(v, dtype=self.dtype) for v in values]
        outputs = [np.full(batch + tuple(shape), 777.0, dtype=self.dtype) for shape in f.result_shapes]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in inputs + outputs]
        if suffix == "_packed":
            ins, outs = pointers[: len(inputs)], pointers[len(inputs) :]
            pointers = [(ctypes.c_void_p * max(len(p), 1))(*p) for p in (ins, outs)]
        sizes = [] if count is None else [ctypes.c_size_t(count)]
        getattr(self.library, name + suffix)(*sizes, *pointers)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
