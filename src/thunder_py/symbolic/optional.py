"""Packages that only some need: imported when used, with a sentence on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["require"]


def require(package: str) -> Any:
    """Import a package of the extra ``symbolic``.

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(
            f'{package} is not installed, and this needs it: pip install "thunder_py[symbolic]"', name=package
        ) from None
