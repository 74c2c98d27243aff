"""Texts of a library's files, from the templates in ``templates/`` and the contents of the library."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, _core
from ..errors import ThunderError
from ..io.yaml_native import number_text
from ..io.yaml_thunder import FRICTION_TERMS, rest_lines, write_links, write_thunder
from ..robot.lengths import length_names
from .contents import Contents, Shape
from .cpp_interface import c_text
from .members import check_members, check_own_names, frame_getters, parameters, setters
from .thunder import thunder_values

if TYPE_CHECKING:
    from jinja2 import Environment

#: largest size of a fixed-size object of Eigen by default [bytes]
_EIGEN_LIMIT = 128 * 1024


def library_files(contents: Contents, *, python: bool) -> dict[str, str]:
    """Return the texts of all files by path.

    Parameters
    ----------
    contents : Contents
        The library.
    python : bool
        Add bindings.

    Raises
    ------
    ThunderError
        If a name of the user is a keyword, or in use in the library, or a parameter is too large for float.
    """
    name, with_class = contents.name, contents.scalar == "double"
    check_own_names(contents)
    if with_class:
        check_members(contents)
    description = contents.robot.description.replace(name=name)
    values = _values(contents) | {"with_class": with_class, "python": python, "thunder": contents.thunder}
    values["rest"] = "\n".join(rest_lines(description, numbers=True))
    files = {f"{name}_gen.h": "core.h", f"{name}_gen.cpp": "core.cpp"}
    if with_class:
        kind = "thunder" if contents.thunder else "class"
        files |= {f"thunder_{name}.h": f"{kind}.h", f"thunder_{name}.cpp": f"{kind}.cpp"}
        files |= {f"{name}_conf.yaml": "conf.yaml"}
    if contents.thunder:
        values |= thunder_values(contents)
    if python:
        package = f"python/thunder_{name}"
        files |= {"pyproject.toml": "pyproject.toml", "python/bindings.cpp": "bindings.cpp"}
        files |= {f"{package}/__init__.py": "package.py", f"{package}/_core.pyi": "stub.pyi"}
    files |= {"CMakeLists.txt": "CMakeLists.txt", "README.md": "README.md"}
    texts = {path: _environment().get_template(f"{template}.j2").render(values) for path, template in files.items()}
    if with_class:
        texts[f"{name}_par_REG.yaml"] = write_links(description, "REG")
    if contents.thunder:
        masks = {group.name: group.mask for group in contents.groups}
        texts[f"{name}_conf.yaml"] = write_thunder(description, masks)
    return texts | ({f"{package}/py.typed": ""} if python else {})


@cache
def _environment() -> Environment:
    """Return the environment of all templates. Names are identifiers; texts of users are values, never templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), undefined=StrictUndefined, autoescape=False,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "braced": _braced, "c_text": c_text, "c_number": _c_number, "cpp_type": _cpp_type, "extents": _extents,
        "python_type": _python_type, "return_type": _return_type, "size": prod,
        "thunder_type": _thunder_type, "yaml_number": number_text,
    }  # fmt: skip
    return environment


def _values(contents: Contents) -> dict[str, Any]:
    """Return the variables of the templates."""
    prototypes, emitted = _core_functions(contents)
    members = parameters(contents)
    inertial = sorted((m for m in members if m.group.name == "inertial"), key=lambda m: ("REG", "DYN").index(m.key))
    loads = [f"load_{member.name}" for member in inertial if member.run_time]
    largest = max(8 * prod(shape) for function in contents.functions for shape in function.results.values())
    functions = {function.name: function for function in contents.functions}
    robot, friction = contents.robot, contents.robot.description.friction
    terms = () if friction is None else friction.terms
    return {
        "name": contents.name, "n": robot.n, "e": robot.e, "joint_types": robot.joint_types,
        "elastic_joints": list(robot.motor_joints),
        "has_dh": robot.description.dh is not None, "convention": robot.description.convention, "version": __version__,
        "scalar": contents.scalar, "batch": contents.batch,
        "functions": contents.functions, "example": functions.get("G", contents.functions[0]),
        "has_regressors": any("egressor" in function.description for function in contents.functions),
        "all_parameters": robot.parameters.tolist() if contents.has_all_parameters else [], "missing": contents.missing,
        "has_lengths": any(name.endswith("_lengths") for name in functions), "lengths": length_names(robot.n),
        "prototypes": prototypes, "emitted": emitted,
        "state": contents.state, "setters": setters(contents), "frame_getters": frame_getters(contents),
        "exceeds_stack": largest > _EIGEN_LIMIT,
        "parameters": members, "stored": [member for member in members if member.stored], "inertial": inertial,
        "friction_columns": [FRICTION_TERMS.index(term) if term in FRICTION_TERMS else -1 for term in terms],
        "file_functions": ["load_conf", *loads, "save_par", "save_par_REG", "save_par_DYN"],
    }  # fmt: skip


def _core_functions(contents: Contents) -> tuple[dict[str, str], str]:
    """Return the prototypes of all functions by name, without semicolon, and the definitions of recorded ones."""
    recorded = [function.recorded for function in contents.functions if function.recorded is not None]
    try:
        header, source = _core.emit_c(
            recorded, header_name=f"{contents.name}_gen.h", scalar=contents.scalar, batch=contents.batch
        )
    except ValueError as error:
        raise ThunderError(str(error)) from None
    found = re.finditer(rf"^(void {contents.name}_(\w+)\([^;]*\));$", header, re.MULTILINE)
    prototypes = {match[2]: match[1] for match in found}
    M_dot, C_std = f"{contents.name}_M_dot", f"{contents.name}_C_std"  # of the same arguments
    for end in ("", "_batch"):
        prototypes[f"C_std{end}"] = prototypes.get(f"M_dot{end}", "").replace(M_dot, C_std, 1)
    return prototypes, source


def _braced(items: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, items)) + "}"


def _extents(shape: Shape, scalar: str) -> str:
    return " x ".join(map(str, shape)) if shape else scalar


def _cpp_type(shape: Shape, scope: str = "") -> str:
    """Return the C++ type of a value; with more than two dimensions, the last one is the columns."""
    if not shape:
        return "double"
    if len(shape) == 1:
        return f"{scope}Vector<{shape[0]}>"
    return f"{scope}Matrix<{prod(shape[:-1])}, {shape[-1]}>"


def _together(types: list[str], kind: str = "std::tuple<{}>") -> str:
    """Return the type of a result, or of several."""
    return types[0] if len(types) == 1 else kind.format(", ".join(types))


def _return_type(results: dict[str, Shape], scope: str = "") -> str:
    """Return the C++ type of the getter of a function."""
    return _together([_cpp_type(shape, scope) for shape in results.values()])


def _thunder_type(results: dict[str, Shape]) -> str:
    """Return the type of a getter of Thunder's class: a matrix of fixed size, also for vectors and scalars."""
    sizes = [(prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (*shape, 1, 1)[:2] for shape in results.values()]
    return _together([f"Eigen::Matrix<double, {rows}, {columns}>" for rows, columns in sizes])


def _python_type(results: dict[str, Shape]) -> str:
    """Return the Python type of the getter of a function."""
    return _together(["Array" if shape else "float" for shape in results.values()], "tuple[{}]")


def _c_number(value: float, scalar: str) -> str:
    if scalar == "double":
        return repr(float(value))
    with np.errstate(over="raise"):
        try:
            return f"{np.float32(value)!s}f"
        except FloatingPointError:
            raise ThunderError(f"the parameter {value:g} is too large for float") from None
