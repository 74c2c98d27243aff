"""Packages of the extra ``symbolic``."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(package: str) -> Any:
    """Import a package of the extra ``symbolic``; see `thunder_py.optional.require`."""
    return optional.require(package, "symbolic")
