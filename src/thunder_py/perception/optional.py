"""Packages of the extra ``vision``."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(module: str) -> Any:
    """Import a module of a package of the extra ``vision``; see `thunder_py.optional.require`."""
    return optional.require(module, "vision")
