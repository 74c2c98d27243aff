"""Digest of the content of arguments and functions: equal in every process, and after a restart."""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import math
import os
import struct
import sys
import sysconfig
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["fingerprint"]


def fingerprint(value: object) -> str:
    """Return a digest of the content of a value, 16 hexadecimal digits.

    Numbers enter with their bits, arrays with shape and type, mappings and sets without their order. Functions and
    classes of the user enter with their source (comments and layout aside), defaults and the values that they use from
    outside; those of libraries with their name. Other objects enter with what is pickled, except for the state of
    objects of the core, such as the estimate of a controller, which is reset before each run.

    Examples
    --------
    >>> from thunder_py.simulation.fingerprint import fingerprint
    >>> fingerprint({"K_d": 4.0, "seed": 1}) == fingerprint({"seed": 1, "K_d": 4.0})
    True
    >>> fingerprint(0.1 + 0.2) == fingerprint(0.3)
    False
    """
    return _Digest().of(value).hex()[:16]


class _Digest:
    """Recursive digest; a reference to an object that contains it enters as a number of levels."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # objects that contain the present one, and their levels
        self._outermost: float = math.inf  # lowest level referred to from within the present object
        self._known: dict[int, tuple[object, bytes]] = {}  # objects are kept: their id must not be used again

    def of(self, value: object) -> bytes:
        plain = _plain(value)
        if plain is not None:
            return _hash([plain])
        if id(value) in self._known:
            return self._known[id(value)][1]
        level = len(self._open)
        if id(value) in self._open:
            self._outermost = min(self._outermost, self._open[id(value)])
            return _hash([b"within", str(level - self._open[id(value)]).encode()])
        before, self._outermost = self._outermost, math.inf
        self._open[id(value)] = level
        try:
            digest = _hash(self._parts(value))
        finally:
            del self._open[id(value)]
        if self._outermost >= level and not isinstance(value, (list, tuple, dict)):
            self._known[id(value)] = value, digest  # robots and functions are shared by many runs
        self._outermost = min(before, self._outermost)
        return digest

    def _parts(self, value: Any) -> Iterator[bytes]:
        if isinstance(value, np.ndarray) and value.dtype != object:
            yield from (b"array", value.dtype.str.encode(), repr(value.shape).encode(), value.tobytes())
        elif isinstance(value, Mapping):
            yield b"mapping"
            yield from sorted(self.of(key) + self.of(entry) for key, entry in value.items())
        elif isinstance(value, (set, frozenset)):
            yield b"set"
            yield from sorted(map(self.of, value))
        elif isinstance(value, (list, tuple, np.ndarray)):
            yield b"sequence"
            yield from map(self.of, value)
        elif isinstance(value, functools.partial):
            yield b"partial"
            yield from map(self.of, (value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            yield from map(self.of, (value.__self__, value.__name__))
        elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            yield from self._code(value)
        else:
            yield from self._object(value)

    def _code(self, value: Any) -> Iterator[bytes]:
        """Yield the name, and of the user's own code what it does."""
        yield from (b"code", _name(value))
        if not _of_user(value):
            return
        if isinstance(value, types.ModuleType):
            yield Path(str(value.__file__)).read_bytes()
        elif isinstance(value, type):
            yield from map(self.of, value.__bases__)
            methods = {name: entry for name, entry in vars(value).items() if isinstance(entry, types.FunctionType)}
            yield self.of(methods)
        elif isinstance(value, types.FunctionType):
            source = _source(value)
            yield from self._compiled(value.__code__) if source is None else [source]
            yield self.of([value.__defaults__, value.__kwdefaults__])
            yield self.of([_content(cell) for cell in value.__closure__ or ()])
            used = value.__globals__.keys() & set(_globals(value.__code__))
            yield self.of({name: value.__globals__[name] for name in used})

    def _compiled(self, code: types.CodeType) -> Iterator[bytes]:
        """Yield the instructions, which another version of Python would compile differently."""
        yield from (code.co_code, repr(code.co_names).encode())
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._compiled(constant)
            else:
                yield self.of(constant)

    def _object(self, value: Any) -> Iterator[bytes]:
        yield b"object"
        yield self.of(type(value))
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # no pickle, as of a lock: only the type enters
            return
        if isinstance(parts, str):
            yield parts.encode()
        elif hasattr(value, "_core_state"):
            yield self.of(list(parts[2][:3]))  # arguments and attributes
        else:
            yield self.of(list(parts[1:3]))
            yield from (self.of(list(items)) for items in parts[3:5] if items is not None)


def _hash(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(struct.pack("<q", len(part)))
        digest.update(part)
    return digest.digest()


def _plain(value: object) -> bytes | None:
    """Return the bytes of a value without parts."""
    value = value.item() if isinstance(value, np.generic) and not isinstance(value, np.void) else value
    if isinstance(value, Enum):
        return b"enum" + _name(type(value)) + value.name.encode()
    if isinstance(value, float):
        return b"float" + struct.pack("<d", value)
    if value is None or isinstance(value, (bool, int, str, bytes, complex)):
        return type(value).__name__.encode() + repr(value).encode()
    return None


def _name(value: Any) -> bytes:
    if isinstance(value, types.ModuleType):
        return value.__name__.encode()
    return f"{value.__module__}.{value.__qualname__}".encode()


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Folders of the standard library, of installed packages and of this package."""
    folders = (sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return tuple(f"{folder}{os.sep}" for folder in {*folders, str(Path(__file__).parents[1])})


def _of_user(value: Any) -> bool:
    """Return whether code is from a script, a notebook or a module that is not installed."""
    module = value if isinstance(value, types.ModuleType) else sys.modules.get(value.__module__ or "")
    file = getattr(module, "__file__", None)
    if file is None:  # a notebook, unless compiled into Python
        return getattr(module, "__name__", "") == "__main__"
    return not str(Path(file).absolute()).startswith(_libraries())


def _source(function: types.FunctionType) -> bytes | None:
    """Return the source without comments and layout; None for a lambda, whose line may have others, and for `exec`."""
    if function.__name__ == "<lambda>":
        return None
    try:
        return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function)))).encode()
    except (OSError, TypeError, SyntaxError):
        return None


def _globals(code: types.CodeType) -> Iterator[str]:
    """Yield the names of global variables that a function uses, functions inside it included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals(constant)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # assigned later
        return None
