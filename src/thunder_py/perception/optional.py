"""Packages of the extra ``vision``: imported when used, with a sentence on how to get them."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(module: str) -> Any:
    """Import a module of the extra ``vision``.

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says how to install it.
    """
    return optional.require(module, "vision")
