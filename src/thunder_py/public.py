"""Public names of packages: no others are listed, and a wrong name or argument is answered with the nearest one."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .errors import MissingAttributeError, fold, nearest_hint

__all__ = ["attach", "publish"]

#: arguments in the signatures that messages of compiled classes list
_COMPILED = re.compile(r"[(,] \*{0,2}(\w+): |\((\w+): ")

#: where a function that `_guard` replaced is found
_ORIGINAL = ".__wrapped__"


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports what its stub names when needed.

    Calls of what it gives out are answered as those of `publish`.
    """
    tree, module = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")), sys.modules[package]
    homes = {
        alias.name: resolve_name("." * line.level + (line.module or ""), package)
        for line in tree.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }

    def get(name: str) -> Any:
        if name not in homes:
            raise _missing(module, name)
        home = homes[name]
        value = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(module, name, _guard(value))
        return getattr(module, name)

    return get, lambda: sorted(homes), list(homes)


def publish(name: str) -> None:
    """Let a module show only the names in its ``__all__``, and answer other names and wrong arguments with near ones.

    Called at the end of the module. Functions, constructors and class methods then say, where a call has an argument
    that they do not know, which one is the nearest.
    """
    module = sys.modules[name]
    for public in module.__all__:
        setattr(module, public, _guard(getattr(module, public)))
    hooks = {"__dir__": lambda: sorted(module.__all__), "__getattr__": functools.partial(_raise_missing, module)}
    for hook, function in hooks.items():
        setattr(module, hook, function)


def _raise_missing(module: ModuleType, name: str) -> Any:
    raise _missing(module, name)


def _missing(module: ModuleType, name: str) -> AttributeError:
    def hint() -> str:
        names = module.__all__
        if fold(name) not in map(fold, names):  # perhaps a package that this one gives out has it
            for inner in (getattr(module, public) for public in names):
                found = [public for public in getattr(inner, "__all__", ()) if fold(public) == fold(name)]
                if isinstance(inner, ModuleType) and found:
                    return f"; did you mean '{inner.__name__}.{found[0]}'?"
        return nearest_hint(name, names)

    return MissingAttributeError(f"module {module.__name__!r} has no attribute {name!r}", hint)


def _guard(thing: Any) -> Any:
    """Return a public object whose calls answer wrong keyword arguments; classes are changed in place."""
    if isinstance(thing, type):
        _guard_class(thing)
    if not isinstance(thing, FunctionType) or hasattr(thing, "_guarded") or not _ours(thing):
        return thing
    name, home = thing.__name__, vars(sys.modules[thing.__module__])
    guarded = _answering(thing, name)
    thing.__qualname__ += _ORIGINAL  # what others imported before can be pickled too
    if home.get(name) is thing:
        home[name] = guarded
    return guarded


def _ours(thing: Any) -> bool:
    return str(thing.__module__).partition(".")[0] == __package__


def _guard_class(kind: Any) -> None:
    if issubclass(kind, (Enum, BaseException, tuple)) or getattr(kind, "_is_protocol", False):
        return
    owner = next(base for base in kind.__mro__ if "__init__" in vars(base))
    owner = kind if owner.__module__ == f"{__package__}._core" else owner
    if _ours(owner) and not hasattr(owner.__init__, "_guarded"):
        name = "__init__"
        setattr(owner, name, _answering(owner.__init__, owner.__name__))
    for base in kind.__mro__:
        for name, method in list(vars(base).items()) if _ours(base) else ():
            call = method.__func__ if isinstance(method, classmethod) else None
            if call and not name.startswith("_") and not hasattr(call, "_guarded"):
                setattr(base, name, classmethod(_answering(call, f"{kind.__name__}.{name}")))


def _answering(call: Any, title: str) -> Any:
    """Return a function that calls another one and names the nearest argument where a keyword is none of its own."""

    def guarded(*args: Any, **keywords: Any) -> Any:
        try:
            return call(*args, **keywords)
        except TypeError as error:
            text = _wrong_argument(call, title, keywords, str(error))
            if text is None and _ORIGINAL not in str(error):
                raise
            text = text or str(error).replace(_ORIGINAL, "")
        raise TypeError(text)

    guarded._guarded = True  # type: ignore[attr-defined]
    return functools.wraps(call)(guarded)


def _wrong_argument(call: Any, title: str, keywords: dict[str, Any], message: str) -> str | None:
    """Return the answer to a call with a keyword that is no argument, or None where the mistake is another."""
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # compiled; the message has the signatures
        known = ["".join(found) for found in _COMPILED.findall(message)]
        if not known or "incompatible" not in message:
            return None
    else:
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return None
        known = [parameter.name for parameter in parameters]
    known = [name for name in dict.fromkeys(known) if name not in ("self", "cls")]
    for name in keywords:
        if name not in known:
            hint = nearest_hint(name, known) or f"; its arguments are {', '.join(known) or 'none'}"
            return f"{title}() has no argument {name!r}{hint}"
    return None


publish(f"{__package__}.errors")
