"""Names in inline code lead to the reference: `th.simulate`, `SlotineLi`, `robot.mass_matrix`, `run.plot()`."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from docutils import nodes

#: what the variables of the pages are
_VARIABLES = {"robot": "Robot", "run": "SimulationResult", "result": "SimulationResult"}
_NAME = re.compile(r"(?:th\.|thunder_py\.)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?")
#: kinds of objects that a name without its class or module may mean
_ALONE = ("class", "function", "exception")
_INDEX = "thunder_py_names"


def index(objects: Any) -> dict[str, set[str]]:
    """Return the full names by every part that may stand for them: one name alone, or one with what it is in."""
    found: dict[str, set[str]] = defaultdict(set)
    for full, entry in objects.items():
        parts = full.split(".")
        for first in range(1, len(parts)):
            if first < len(parts) - 1 or entry.objtype in _ALONE:
                found[".".join(parts[first:])].add(full)
    return found


def target(text: str, names: dict[str, set[str]]) -> str | None:
    """Return the full name that a piece of code means, or None where it is none or there are several."""
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    first, _, rest = match[1].partition(".")
    name = f"{_VARIABLES[first]}.{rest}" if rest and first in _VARIABLES else match[1]
    found = names.get(name, set())
    return next(iter(found)) if len(found) == 1 else None


def link_names(app: Any, doctree: Any, docname: str) -> None:
    """Make links of inline code, unless it stands in a link or a heading, or its object on the same page."""
    domain = app.env.domains["py"]
    if not hasattr(app, _INDEX):
        setattr(app, _INDEX, index(domain.objects))
    for node in list(doctree.findall(nodes.literal)):
        inside = node.parent
        while inside is not None and not isinstance(inside, (nodes.reference, nodes.title)):
            inside = inside.parent
        full = None if inside is not None else target(node.astext(), getattr(app, _INDEX))
        if full is None or domain.objects[full].docname == docname:
            continue
        entry = domain.objects[full]
        link = nodes.reference("", "", internal=True, reftitle=full)
        link["refuri"] = f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"
        node.replace_self(link)
        link += node


def setup(app: Any) -> dict[str, bool]:
    """Join in when all names are known."""
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
