"""Packages that only some need: imported when used, with a sentence on how to get them."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["MissingExtraError", "require"]

_NAMES = {"cv2": "OpenCV", "sklearn": "scikit-learn", "mujoco": "MuJoCo", "collada": "pycollada"}


class MissingExtraError(ModuleNotFoundError):
    """A package of an extra is not installed; the message says how to install it."""


def require(module: str, extra: str) -> Any:
    """Import a module of a package that comes with an extra.

    Parameters
    ----------
    module : str
        As for ``import``.
    extra : str
        Of `thunder_py`.

    Raises
    ------
    MissingExtraError
        It is not installed; the message says how to install it.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtraError(
            f'{_NAMES.get(package, package)} is not installed, and this needs it: pip install "thunder_py[{extra}]"',
            name=package,
        ) from None
