"""Packages that only some need: imported when used, with a sentence on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["require"]

#: what people call a module
_NAMES = {"cv2": "OpenCV", "sklearn": "scikit-learn", "mujoco": "MuJoCo", "collada": "pycollada"}


def require(module: str, extra: str) -> Any:
    """Import a module of a package that belongs to an extra of this one.

    Parameters
    ----------
    module : str
        With dots where it is part of a package.
    extra : str
        Such as ``"mujoco"``.

    Raises
    ------
    ModuleNotFoundError
        The package is not installed; the message says how to install it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(
            f'{_NAMES.get(package, package)} is not installed, and this needs it: pip install "thunder_py[{extra}]"',
            name=package,
        ) from None
