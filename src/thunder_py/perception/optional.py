"""Packages of the extra ``vision``, imported on use, with installation advice in the error."""

from __future__ import annotations

from typing import Any

from .. import optional

__all__ = ["require"]


def require(module: str) -> Any:
    """Import a module of the extra ``vision``.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message contains the command that installs it.
    """
    return optional.require(module, "vision")
