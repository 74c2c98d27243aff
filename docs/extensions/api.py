"""Blocks ``{api} MODULE`` with names, one a line: a table of them, then each with its docstring and its members."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

_BLOCK = re.compile(r"^```\{api\} (?P<module>[\w.]+)\n(?P<names>.*?)^```$", re.MULTILINE | re.DOTALL)
#: classes whose members say nothing about the package
_FOREIGN = "object, tuple, dict, int, str, Enum, IntEnum, ValueError, RuntimeError, Exception, BaseException"


def entries(text: str) -> list[str]:
    """Return the full names that a page documents."""
    found = []
    for block in _BLOCK.finditer(text):
        found += [f"{block['module']}.{name}" for name in block["names"].split()]
    return found


def find(name: str) -> tuple[Any, Any]:
    """Return an object by its full name, and what it is a member of."""
    parts = name.split(".")
    thing, owner = importlib.import_module(parts[0]), None
    for i, part in enumerate(parts[1:], 2):
        owner = thing
        try:
            thing = inspect.getattr_static(thing, part) if inspect.isclass(thing) else getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(".".join(parts[:i]))
    return thing, owner


def directive(name: str, members: bool = True) -> list[str]:
    """Return the reStructuredText that documents an object, a class with its members unless the page has them."""
    thing, owner = find(name)
    if inspect.isclass(owner):
        plain = isinstance(thing, property) or inspect.isdatadescriptor(thing)
        return [f".. auto{'property' if isinstance(thing, property) else 'attribute' if plain else 'method'}:: {name}"]
    if inspect.ismodule(thing):
        return [f".. automodule:: {name}"]
    if inspect.isclass(thing):
        lines = [f".. autoclass:: {name}"]
        if members:
            lines += ["   :members:", f"   :inherited-members: {_FOREIGN}"]
        call = getattr(thing, "__call__", None)  # noqa: B004 its docstring is wanted
        if inspect.isfunction(call) and call.__doc__:
            lines.append("   :special-members: __call__")
        return lines
    if callable(thing):
        return [f".. autofunction:: {name}"]
    if type(thing).__module__ == "numpy":  # an array: its value, and not what NumPy's documentation says of arrays
        return [f".. py:data:: {name}", f"   :value: {' '.join(repr(thing).split())}"]
    return [f".. autodata:: {name}"]


def expand(block: re.Match[str], there: list[str]) -> str:
    """Return a block of a page as reStructuredText; `there` is all that the page documents."""
    names = [f"{block['module']}.{name}" for name in block["names"].split()]
    lines = ["```{eval-rst}", f".. currentmodule:: {block['module']}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in block["names"].split()]
    for name in names:
        lines += ["", *directive(name, members=not any(other.startswith(f"{name}.") for other in there))]
    return "\n".join([*lines, "```"])


def read_page(app: Any, docname: str, content: list[str]) -> None:
    """Replace the blocks of a page."""
    there = entries(content[0])
    content[0] = _BLOCK.sub(lambda block: expand(block, there), content[0])


def setup(app: Any) -> dict[str, bool]:
    """Join in when Sphinx reads a page."""
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True}
