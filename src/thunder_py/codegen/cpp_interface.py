"""The C++ sources of this package, for programs in C++: folders, and robots as headers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import of_kind
from ..errors import ThunderError
from ..model.model import core_arguments
from ..robot import Robot


def get_cmake_dir() -> str:
    """Return the folder of the CMake package ``thunder_py``, for ``thunder_py_DIR``.

    Raises
    ------
    ThunderError
        If the package was installed without its C++ sources.

    Examples
    --------
    >>> import thunder_py as th
    >>> from pathlib import Path
    >>> (Path(th.get_cmake_dir()) / "thunder_pyConfig.cmake").is_file()
    True
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "cpp", package.parents[1] / "cpp"):  # installed, or in the repository
        if (folder / "thunder_pyConfig.cmake").is_file():
            return str(folder)
    raise ThunderError("thunder_py was installed without its C++ sources")


def get_include() -> str:
    """Return the folder of the C++ headers, ``#include <thunder/...>``.

    Examples
    --------
    >>> import thunder_py as th
    >>> from pathlib import Path
    >>> (Path(th.get_include()) / "thunder" / "realtime" / "control_loop.hpp").is_file()
    True
    """
    return str(Path(get_cmake_dir()) / "include")


def model_header(robot: Robot) -> str:
    """Return a C++ header with a function of the robot's name that returns its model.

    Parameters
    ----------
    robot : Robot
        The robot; write the text to a file of a C++ project.

    Examples
    --------
    >>> import thunder_py as th
    >>> text = th.model_header(th.Robot.load("elbow"))
    >>> [line for line in text.splitlines() if "shared_ptr" in line]
    ['inline std::shared_ptr<const thunder::Model> elbow() {']
    """
    data = core_arguments(of_kind(robot, Robot, "robot").description)
    lines = [f"  data.{line};" for line in _assignments(data)]
    return "\n".join(
        [
            f"// Model of {robot.name}, written by thunder_py.model_header.",
            "#pragma once",
            "",
            "#include <limits>",
            "#include <memory>",
            "",
            "#include <thunder/model/model.hpp>",
            "",
            "namespace robots {",
            "",
            f"inline std::shared_ptr<const thunder::Model> {robot.name}() {{",
            "  constexpr double inf = std::numeric_limits<double>::infinity();",
            "  (void)inf;",
            "  thunder::ModelData data;",
            *lines,
            "  return std::make_shared<const thunder::Model>(std::move(data));",
            "}",
            "",
            "}  // namespace robots",
            "",
        ]
    )


def _assignments(d: dict[str, Any]) -> Iterable[str]:
    yield f"name = {c_text(d['name'])}"
    yield f"prismatic = {{{', '.join('true' if x else 'false' for x in d['prismatic'])}}}"
    for name in ("placements", "offsets"):
        yield f"{name} = {{{', '.join(_matrix(T, 'Eigen::Matrix4d') for T in d[name])}}}"
    yield f"axes = {{{', '.join(_matrix(axis, 'Eigen::Vector3d') for axis in d['axes'])}}}"
    yield _rows("inertial", d["inertial"])
    yield f"gravity = {_matrix(d['gravity'], 'Eigen::Vector3d')}"
    for name in ("base", "tool"):
        yield f"{name} = {_matrix(d[name], 'Eigen::Matrix4d')}"
    terms = (f"static_cast<thunder::FrictionTerm>({term})" for term in d["friction_terms"])
    yield f"friction_terms = {{{', '.join(terms)}}}"
    yield _rows("friction", d["friction"])
    yield f"friction_delta = {_number(d['friction_delta'])}"
    for name in ("armature", "lower", "upper"):
        yield f"{name} = {_list(d[name])}"
    for joint, carrier, axis, ratio, inertia in d["rotors"]:
        vector = _matrix(np.zeros(3) if axis is None else axis, "Eigen::Vector3d")
        known = "false" if axis is None else "true"
        yield f"rotors.push_back({{{joint}, {carrier}, {known}, {vector}, {_number(ratio)}, {_number(inertia)}}})"
    joints, K, D, Dm, Mm = d["elastic"]
    yield f"elastic.joints = {{{', '.join(str(joint) for joint in joints)}}}"
    for name, rows in (("K", K), ("D", D), ("Dm", Dm)):
        yield _rows(f"elastic.{name}", rows)
    yield f"elastic.Mm = {_list(Mm)}"
    for name in ("joint_names", "link_names"):
        yield f"{name} = {{{', '.join(c_text(x) for x in d[name])}}}"
    for name, link, pose in d["frames"]:
        yield f"frames.push_back({{{c_text(name)}, {link}, {_matrix(pose, 'Eigen::Matrix4d')}}})"


def c_text(text: str) -> str:
    """Return a string literal of C."""
    escaped = "".join(c if c.isascii() and c.isprintable() and c not in '"\\?' else _octal(c) for c in text)
    return f'"{escaped}"'


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def _number(x: float) -> str:
    return repr(float(x)) if np.isfinite(x) else "inf" if x > 0.0 else "-inf"


def _list(values: Iterable[float]) -> str:
    return f"{{{', '.join(_number(x) for x in values)}}}"


def _matrix(values: Any, kind: str) -> str:
    return f"({kind}() << {', '.join(_number(x) for x in np.asarray(values).ravel())}).finished()"


def _rows(name: str, values: Any) -> str:
    """Return what sets a matrix of any size, by rows."""
    rows = np.asarray(values, dtype=np.float64)
    rows = rows.reshape(rows.shape[0], -1) if rows.size else np.zeros((rows.shape[0], 0))
    text = f"{name}.resize({rows.shape[0]}, {rows.shape[1]})"
    return f"{text}; data.{name} << {', '.join(_number(x) for x in rows.ravel())}" if rows.size else text
