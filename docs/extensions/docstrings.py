"""What docstrings need on their way to the site: norms are no substitutions, pages and short names become links."""

from __future__ import annotations

import re
from typing import Any

_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
_PAGE = re.compile(r"\bdocs/([\w/]+)\.md\b")


def prepare(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Norms such as |e| stay text, and docs/errata.md becomes a link to that page."""
    for i, line in enumerate(lines):
        pieces = _LITERAL.split(line)
        pieces[::2] = [_PAGE.sub(r":doc:`\g<0> </\1>`", piece.replace("|", r"\|")) for piece in pieces[::2]]
        lines[i] = "".join(pieces)


def find_short_name(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Lead a name without its module to the only object that is called so, if there is just one."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains["py"]
    target = node["reftarget"].lstrip(".").removeprefix("thunder_py.")
    found = [name for name in domain.objects if name.endswith(f".{target}")]
    if len(found) != 1:
        return None
    node["reftarget"] = found[0]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, contnode)


def setup(app: Any) -> dict[str, bool]:
    """Join in after numpydoc, and where a name was not found."""
    app.connect("autodoc-process-docstring", prepare, priority=900)
    app.connect("missing-reference", find_short_name)
    return {"parallel_read_safe": True}
