"""Robots that come with the package, as YAML files with their sources."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from ..errors import UnknownNameError, nearest_hint

__all__ = ["names", "path"]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Names of the bundled robots, sorted."""
    files = resources.files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def path(name: str) -> Path:
    """Path of a bundled robot's file.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    pathlib.Path
        An existing file.

    Raises
    ------
    UnknownNameError
        If there is no such robot; the nearest name is suggested.
    """
    if name not in names():
        raise UnknownNameError(f"no robot is called {name!r}{nearest_hint(name, names())}")
    return Path(str(resources.files(__name__) / f"{name}.yaml"))
