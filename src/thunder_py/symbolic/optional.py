"""Packages of the extra ``symbolic``: imported when used, with a sentence on how to get them."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(package: str) -> Any:
    """Import a package of the extra ``symbolic``.

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says how to install it.
    """
    return optional.require(package, "symbolic")
