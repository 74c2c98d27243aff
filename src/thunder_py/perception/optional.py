"""Packages that only perception needs: imported when used, with a sentence on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["require"]

_NAMES = {"cv2": "OpenCV", "sklearn": "scikit-learn"}


def require(module: str) -> Any:
    """Import a module of a package of the extra ``vision``.

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says how to install it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(
            f'{_NAMES[package]} is not installed, and this needs it: pip install "thunder_py[vision]"', name=package
        ) from None
