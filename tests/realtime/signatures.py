"""Signatures of the published packages that the adapters use: those of the fakes, and those of installed packages.

The fakes have those of franky-control 2.0.0 and ur_rtde 1.6.5, as read from
documentation strings. An argument is its name, with ``=`` if it has a default; ``/`` follows arguments without a name.
An attribute that is no function is "attribute".
"""

import importlib
import inspect
import json
import sys
from types import ModuleType

#: objects that come from the package, however it makes them
MADE = ("Duration", "RobotState")


def signatures(module: ModuleType, prefix: str = "") -> dict[str, str]:
    """The arguments of what a fake has, by dotted names."""
    parts: dict[str, str] = {}
    for name, thing in vars(module).items():
        if isinstance(thing, ModuleType):
            parts |= signatures(thing, f"{prefix}{name}.")
        for part, value in vars(thing).items() if isinstance(thing, type) else ():
            if (part == "__init__" and name not in MADE) or not part.startswith("_"):
                parts[f"{prefix}{name}.{part}"] = written(value) if inspect.isfunction(value) else "attribute"
    return parts


def arguments(line: str) -> str:
    """The arguments of a signature in a documentation string of pybind11."""
    text, depth, quoted, parts = line[line.index("(") + 1 :], 0, False, [""]
    for character in text:
        if character == '"':
            quoted = not quoted
        if not quoted:
            depth += (character in "([{<") - (character in ")]}>")
            if depth < 0:
                break
            if character == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += character
    names = [part.partition(":")[0].strip() + "=" * (" = " in part) for part in parts if part.strip()]
    return ", ".join(names + ["/"] * any(name.startswith("arg0") for name in names))


def written(function: object) -> str:
    """The arguments of a function in Python, in the same form."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name + "=" * (p.default is not p.empty) for p in parameters]
    only = any(p.kind is p.POSITIONAL_ONLY and p.name != "self" for p in parameters)
    return ", ".join(names + ["/"] * only)


def found(thing: object) -> set[str]:
    """Every form in which a member of a package may be called."""
    if inspect.isfunction(thing):
        return {written(thing)}
    if not callable(thing):
        return {"attribute"}
    lines = (thing.__doc__ or "").splitlines()
    return {arguments(line) for line in lines if "(self" in line} or {"self"}  # those of slots are not written


def member(module: object, name: str) -> object:
    """A member of a module by its dotted name."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


if __name__ == "__main__":
    package, names = importlib.import_module(sys.argv[1]), sys.argv[2:]
    print(json.dumps({name: sorted(found(member(package, name))) for name in names}))
