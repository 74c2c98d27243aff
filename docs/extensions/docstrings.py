"""What docstrings need before Sphinx reads them: bars that are no substitutions."""

from __future__ import annotations

import re
from typing import Any

_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")


def escape_bars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Norms such as |e| are text, and no substitutions."""
    for i, line in enumerate(lines):
        pieces = _LITERAL.split(line)
        pieces[::2] = [piece.replace("|", r"\|") for piece in pieces[::2]]
        lines[i] = "".join(pieces)


def setup(app: Any) -> dict[str, bool]:
    """Join in after numpydoc."""
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    return {"parallel_read_safe": True}
