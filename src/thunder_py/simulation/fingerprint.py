"""Digests of the content of arguments and functions: equal in every process, and after a restart."""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import importlib.util
import math
import os
import struct
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["fingerprint", "fingerprints"]


def fingerprint(value: object) -> str:
    """Return a digest of the content of a value, 16 hexadecimal digits; see `fingerprints`.

    Examples
    --------
    >>> from thunder_py.simulation.fingerprint import fingerprint
    >>> fingerprint({"K_d": 4.0, "seed": 1}) == fingerprint({"seed": 1, "K_d": 4.0})
    True
    >>> fingerprint(0.1 + 0.2) == fingerprint(0.3)
    False
    """
    return _hash(text.encode() for item in sorted(fingerprints(value).items()) for text in item).hex()[:16]


def fingerprints(value: object) -> dict[str, str]:
    """Return digests by name: of a value (``""``), and of the user's code that it uses, directly or through other code.

    Numbers enter with their bits, arrays with shape and type, mappings and sets without their order. Functions and
    classes of the user enter with their compiled code, which is what runs, their defaults, the variables of modules
    that they use and what they import; those of libraries with their name, and with the functions that they wrap. Other
    objects enter with what is pickled (those that cannot be with their attributes, if there are any), except for the
    state of objects of the core, such as the estimate of a controller, which is reset before each run.

    Examples
    --------
    >>> from thunder_py.simulation.fingerprint import fingerprints
    >>> GAIN = 2.0
    >>> def law(error):
    ...     return GAIN * error
    >>> len(fingerprints([law, 3.0]))  # of the list, the function and the variable that it uses
    3
    """
    return _Digest().all_of(value)


class _Digest:
    """Digests of data, recursively, and of the code found in them, one after the other.

    Within data a reference to an object that contains it enters as a number of levels, and code as its name. Of several
    with one name, such as lambdas, each has the number in which it was found.
    """

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # objects that contain the present one, and their levels
        self._outermost: float = math.inf  # lowest level referred to from within the present object
        self._known: dict[int, tuple[object, bytes]] = {}  # objects are kept: their id must not be used again
        self._names: dict[Any, tuple[object, str]] = {}  # of code and variables; objects are kept
        self._count: dict[str, int] = {}
        self._found: deque[tuple[str, Any, bool]] = deque()  # name, value, whether it is a variable

    def all_of(self, value: object) -> dict[str, str]:
        digests = {"": self.of(value).hex()[:16]}
        while self._found:
            name, found, variable = self._found.popleft()
            digests[name] = (self.of(found) if variable else _hash(self._code(found))).hex()[:16]
        return digests

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
        if isinstance(value, Enum):
            yield from (b"enum", self.of(type(value)), str(value.name).encode(), self.of(value.value))
        elif isinstance(value, np.ndarray) and value.dtype != object:
            yield from (b"array", value.dtype.str.encode(), repr(value.shape).encode(), value.tobytes())
        elif isinstance(value, Mapping):
            yield b"mapping"
            for key, entry in sorted(((self.of(key), entry) for key, entry in value.items()), key=lambda pair: pair[0]):
                yield from (key, self.of(entry))
        elif isinstance(value, (set, frozenset)):
            yield b"set"
            yield from sorted(self.of(entry) for entry in sorted(value, key=_rank))
        elif isinstance(value, (list, tuple, np.ndarray)):
            yield b"sequence"
            yield from map(self.of, value)
        elif isinstance(value, functools.partial):
            yield b"partial"
            yield from map(self.of, (value.func, value.args, value.keywords))
        elif isinstance(value, (types.MethodType, classmethod, staticmethod)):
            yield from (b"method", self.of(getattr(value, "__self__", None)), self.of(value.__func__))
        elif isinstance(value, property):
            yield b"property"
            yield from map(self.of, (value.fget, value.fset, value.fdel))
        elif isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
            yield from self._named(value)
        else:
            yield from self._object(value)

    def _named(self, value: Any) -> Iterator[bytes]:
        """Yield the name of code; its content enters later."""
        owner = getattr(value, "__self__", None)
        if isinstance(value, types.BuiltinFunctionType) and not isinstance(owner, (types.ModuleType, type)):
            yield self.of(owner)
        if _of_user(value):
            yield self._name(id(value), value, _name(value)).encode()
            return
        yield from (b"library", _name(value).encode())
        if isinstance(value, types.FunctionType):  # that wraps one of the user
            yield from (self.of(_content(cell)) for cell in value.__closure__ or ())

    def _name(self, key: Any, value: Any, text: str, variable: bool = False) -> str:
        """Return the name of code or of a variable, which is new where it was not found before."""
        if key not in self._names:
            number = self._count[text] = self._count.get(text, 0) + 1
            self._names[key] = value, text if number == 1 else f"{text} #{number}"
            self._found.append((self._names[key][1], value, variable))
        return self._names[key][1]

    def _code(self, value: Any) -> Iterator[bytes]:
        """Yield what the user's own code does."""
        if isinstance(value, types.FunctionType):
            yield from self._compiled(value.__code__)
            yield from map(self.of, (value.__defaults__, value.__kwdefaults__, vars(value)))
            yield from (self.of(_content(cell)) for cell in value.__closure__ or ())
            yield from self._variables(value)
        elif isinstance(value, type):
            yield from map(self.of, (type(value), value.__bases__))
            if issubclass(value, Enum):
                yield self.of([[member.name, member.value] for member in value.__members__.values()])
            yield self.of({name: entry for name, entry in vars(value).items() if _matters(name, value)})
        else:
            yield self.of({name: entry for name, entry in vars(value).items() if not name.startswith("__")})

    def _compiled(self, code: types.CodeType) -> Iterator[bytes]:
        """Yield the instructions, which another version of Python would compile differently."""
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        yield from (code.co_code, repr((names, counts)).encode(), getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._compiled(constant)
            elif "__firstlineno__" not in code.co_names or constant != code.co_firstlineno:
                yield self.of(constant)

    def _variables(self, function: types.FunctionType) -> Iterator[bytes]:
        """Yield names and digests of the variables of modules that a function uses, and of those that it imports."""
        known, words = function.__globals__, _words(function.__code__)
        home = str(known.get("__name__", ""))
        modules = [_content(cell) for cell in function.__closure__ or ()]
        modules += _imported(function.__code__, str(known.get("__package__") or ""))
        for name in sorted(set(_globals(function.__code__)) & known.keys()):
            yield from (name.encode(), self._variable(known, home, name))
            modules.append(known[name])
        seen: set[int] = set()
        while modules:
            module = modules.pop()
            if not isinstance(module, types.ModuleType) or not _of_user(module) or id(module) in seen:
                continue
            seen.add(id(module))
            for name in sorted(words & vars(module).keys()):
                yield from (name.encode(), self._variable(vars(module), module.__name__, name))
                modules.append(vars(module)[name])

    def _variable(self, namespace: dict[str, Any], module: str, name: str) -> bytes:
        value = namespace[name]
        if isinstance(value, types.ModuleType):  # what is used of it enters by itself
            return value.__name__.rpartition(".")[2].encode()
        if isinstance(value, (type, types.FunctionType)):
            return self.of(value)
        return self._name((id(namespace), name), value, f"{_stem(module)}.{name}", variable=True).encode()

    def _object(self, value: Any) -> Iterator[bytes]:
        yield from (b"object", self.of(type(value)))
        wrapped = getattr(value, "__dict__", {}).get("__wrapped__")
        if wrapped is not None:  # as by functools.cache
            yield self.of(wrapped)
            return
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # no pickle: of a lock only the type enters
            yield self.of(dict(getattr(value, "__dict__", {})))
            return
        if isinstance(parts, str):
            yield parts.encode()
        elif hasattr(value, "_core_state"):
            yield self.of(list(parts[2][:3]))  # arguments and attributes
        else:
            yield self.of(list(parts[:3]))
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
        return None
    if isinstance(value, float):
        return b"float" + struct.pack("<d", value)
    if value is None or isinstance(value, (bool, int, str, bytes, complex)):
        return type(value).__name__.encode() + repr(value).encode()
    return None


def _rank(value: object) -> bytes:
    """Return the place of an entry among those of a set, whose own order differs between processes."""
    plain = _plain(value)
    return _name(value if hasattr(value, "__qualname__") else type(value)).encode() if plain is None else plain


def _stem(module: str) -> str:
    """Return the last part of a module's name: of a script that runs, that which it has when it is imported."""
    file = getattr(sys.modules.get(module), "__file__", None) if module == "__main__" else None
    return Path(file).stem if file else module.rpartition(".")[2]


def _name(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return value.__name__
    module = str(value.__module__)
    return f"{_stem(module) if _of_user(value) else module}.{value.__qualname__}"


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Folders of the standard library, of installed packages and of this package."""
    folders = (sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return tuple(f"{folder}{os.sep}" for folder in {*folders, str(Path(__file__).parents[1])})


@functools.lru_cache(maxsize=4096)
def _in_library(file: str) -> bool:
    path = Path(file).absolute()
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return file.startswith("<frozen ") or bool(installed) or str(path).startswith(_libraries())


def _of_user(value: Any) -> bool:
    """Return whether code is from a script, a notebook or a module that is not installed."""
    if isinstance(value, types.FunctionType):
        return not _in_library(value.__code__.co_filename)
    if isinstance(value, types.BuiltinFunctionType):
        return False
    name = value.__name__ if isinstance(value, types.ModuleType) else str(value.__module__)
    module = value if isinstance(value, types.ModuleType) else sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:  # a notebook or `exec`, unless compiled into Python
        return name.partition(".")[0] not in sys.stdlib_module_names
    return not _in_library(file)


#: attributes of classes that Python adds, or that change while a program runs
_ADDED = {
    *("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__firstlineno__", "__static_attributes__"),
    *("__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "_abc_impl"),
    *("_member_map_", "_member_names_", "_value2member_map_"),  # members of an enumeration enter by themselves
    *("_hashable_values_", "_unhashable_values_", "_unhashable_values_map_"),
}


def _matters(name: str, owner: type) -> bool:
    """Return whether an attribute of a class determines what it does."""
    return name not in _ADDED and not (issubclass(owner, Enum) and name in owner.__members__)


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _globals(code: types.CodeType) -> Iterator[str]:
    """Yield the names of global variables that a function uses."""
    for part in _nested(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                yield instruction.argval


def _words(code: types.CodeType) -> set[str]:
    """Return the names of all attributes that a function may use, as texts too (of `getattr`)."""
    parts = list(_nested(code))
    texts = {constant for part in parts for constant in part.co_consts if isinstance(constant, str)}
    return texts.union(*(part.co_names for part in parts))


def _imported(code: types.CodeType, package: str) -> list[types.ModuleType]:
    """Return the user's modules that a function imports, and the packages that hold them."""
    names = []
    for part in _nested(code):
        steps = [step for step in dis.get_instructions(part) if step.opname != "EXTENDED_ARG"]
        for level, _, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opname == "IMPORT_NAME":
                dots = level.argval if isinstance(level.argval, int) else 0
                names.append((dots * "." + step.argval, package))
    return [module for name in names for module in _modules(*name)]


def _modules(name: str, package: str) -> list[types.ModuleType]:
    """Import a module of the user; none where it fails, as it may on this machine only."""
    if name.partition(".")[0] in sys.stdlib_module_names:
        return []
    try:
        spec = importlib.util.find_spec(name, package or None)
        if spec is None or (spec.origin is not None and _in_library(spec.origin)):
            return []
        return [importlib.import_module(spec.name), sys.modules[spec.name.partition(".")[0]]]
    except Exception:
        return []


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # assigned later
        return None
