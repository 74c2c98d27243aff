"""CMakeLists.txt of a library."""

from __future__ import annotations

from .eigen_class import template

__all__ = ["cmake_file"]


def cmake_file(name: str, *, with_class: bool, python: bool) -> str:
    """Return the text of CMakeLists.txt.

    Parameters
    ----------
    name : str
        Name of the robot.
    with_class, python : bool
        The library has the class, and bindings.
    """
    parts = [template("class.cmake.in")] if with_class else []
    parts += [template("python.cmake.in")] if python else []
    return template("CMakeLists.txt.in").replace("@class@", "".join(parts)).replace("@name@", name)
