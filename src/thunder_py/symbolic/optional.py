"""Packages of the extra ``symbolic``, imported on use."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(package: str) -> Any:
    """Import a package of the extra ``symbolic``.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message has the command that installs it.
    """
    return optional.require(package, "symbolic")
