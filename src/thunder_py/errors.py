"""Exceptions of the package; every one of them is a `ThunderError`, and so a `ValueError`."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "CompilerError",
    "ConcurrentUseError",
    "FileFormatError",
    "ModelError",
    "NoPathError",
    "NotFittedError",
    "ReleaseError",
    "ThunderError",
    "UnknownNameError",
    "nearest_hint",
]


class ThunderError(ValueError):
    """Base of every error raised on bad input."""


class ModelError(ThunderError):
    """A robot that cannot exist: negative mass, empty chain, wrong number of entries."""


class UnknownNameError(ThunderError):
    """A name (robot, frame, link, parameter) that is not there; the nearest known one is suggested."""


class NoPathError(ThunderError):
    """No motion found that keeps clear of the obstacles, or start or goal lie inside one."""


class ReleaseError(ThunderError):
    """A throw that the arm cannot do.

    Parameters
    ----------
    message : str
        What was asked for and what stands against it.
    limit : str
        What binds: ``"velocity of joint4"``, ``"reach"``, ``"target"``, ...
    """

    def __init__(self, message: str, limit: str = "") -> None:
        self.limit = limit
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ReleaseError], tuple[str, str]]:
        """Pickle with the limit: processes send their errors."""
        return type(self), (str(self), self.limit)


class NotFittedError(ThunderError, AttributeError):
    """A result of `fit` is used before `fit`.

    Once scikit-learn has been imported, new errors are instances of `sklearn.exceptions.NotFittedError` as well.

    Examples
    --------
    >>> from thunder_py.errors import NotFittedError
    >>> from thunder_py.motion import FPCA
    >>> try:
    ...     FPCA().scores_
    ... except NotFittedError as error:
    ...     print(error)
    FPCA must be fitted before scores_ is used: call fit first
    """

    def __new__(cls, *args: Any) -> NotFittedError:
        """Derive from scikit-learn's error too, if its module is loaded: nothing can catch it otherwise."""
        module = sys.modules.get("sklearn.exceptions")
        theirs = getattr(module, "NotFittedError", None)
        if theirs is None or issubclass(cls, theirs):
            return super().__new__(cls, *args)
        return super().__new__(_joined(theirs), *args)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by message: the class with scikit-learn's error as a base has no importable name."""
        return NotFittedError, self.args


@cache
def _joined(theirs: type) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})


class CompilerError(ThunderError):
    """No C compiler, one that failed (its own message is shown), or nowhere to write what it made."""


class ConcurrentUseError(ThunderError, RuntimeError):
    """An object with state, such as a controller, is in use by another thread.

    Robots, references, plans and recorded functions never change and may be shared. Make one of all others for each
    thread, or use it in one thread at a time.
    """


class FileFormatError(ThunderError):
    """A file that cannot be read as a robot.

    Parameters
    ----------
    message : str
        What was expected and what came.
    path : path-like, optional
        The file.
    line : int, optional
        Line in the file, counted from 1.
    key : str, optional
        Key (YAML, dotted) or element (URDF) the message is about.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        self.path, self.line, self.key = path, line, key
        where = "" if path is None else f"{path}:" + ("" if line is None else f"{line}:") + " "
        what = "" if key is None else f"{key}: "
        super().__init__(f"{where}{what}{message}")


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, or ``""``."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {match[0]!r}?" if match else ""
