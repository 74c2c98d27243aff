"""Drawings of results, in the module ``figure.py`` beside them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawing(name: str) -> Callable[..., Figure]:
    """Return a method that draws a result by the function `name` of ``figure.py``, beside the result's module.

    It passes its arguments on. The module is imported when something is drawn, so that tables need no matplotlib.
    """

    def draw(result: Any, *arguments: Any, **options: Any) -> Any:
        figures = import_module(f"{type(result).__module__.rpartition('.')[0]}.figure")
        return getattr(figures, name)(result, *arguments, **options)

    draw.__doc__ = f"Draw it in a new figure of pyplot: see `figure.{name}`."
    return draw
