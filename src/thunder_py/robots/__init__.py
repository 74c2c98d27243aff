"""Bundled robots: YAML files with the sources of their data."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from ..checks import known_name
from ..public import publish

__all__ = ["names", "path"]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Return the names of the bundled robots, sorted.

    Examples
    --------
    >>> import thunder_py as th
    >>> th.robots.names()
    ('cart_pendulum', 'elbow', 'gen3', 'human_arm', 'iiwa14', 'panda', 'scara', 'ur5e')
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def path(name: str) -> Path:
    """Return the path of the file of a bundled robot.

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

    Examples
    --------
    >>> import thunder_py as th
    >>> th.robots.path("panda").name
    'panda.yaml'
    """
    known_name(name, names(), "no robot is called")
    return Path(str(resources.files(__name__) / f"{name}.yaml"))


publish(__name__)
