"""Optional packages, imported on use, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {"cv2": "OpenCV", "mujoco": "MuJoCo", "collada": "pycollada"}


class MissingExtraError(ModuleNotFoundError):
    """Missing package of an extra; the message has the command that installs it.

    Examples
    --------
    >>> from thunder_py.optional import MissingExtraError, require
    >>> try:
    ...     require("missing_package", "vision")
    ... except MissingExtraError as error:
    ...     print(error)
    missing_package is not installed, and this needs it: pip install "thunder_py[vision]"
    """


def require(module: str, extra: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        Extra of `thunder_py` that installs the package.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        If the package is not installed.

    Examples
    --------
    >>> from thunder_py.optional import require
    >>> require("sympy", "symbolic").__name__
    'sympy'
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


class LazyModule:
    """A module of an optional package as a name of another module: `require` imports it when it is used.

    Parameters
    ----------
    module, extra : str
        As of `require`.

    Raises
    ------
    MissingExtraError
        At the first use, if the package is not installed.

    Examples
    --------
    >>> from thunder_py.optional import LazyModule
    >>> sympy = LazyModule("sympy", "symbolic")  # not imported yet
    >>> sympy.cos(0)
    1
    """

    def __init__(self, module: str, extra: str) -> None:
        self._of = (module, extra)

    def __getattr__(self, name: str) -> Any:
        """Return a name of the module."""
        if name == "_of":  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(require(*self._of), name)
