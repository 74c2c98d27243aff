"""C++ class of a library over Eigen, ``thunder_<name>.h`` and ``.cpp``."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..symbolic.parameters import ParameterGroup
from .contents import STATES, Contents, LibraryFunction
from .parameter_files import row_length

__all__ = [
    "Getter",
    "ParameterMember",
    "Setter",
    "check_members",
    "check_own_names",
    "class_header",
    "class_source",
    "cpp_type",
    "frame_getters",
    "getters",
    "parameters",
    "return_type",
    "setters",
    "template",
]

Shape = tuple[int, ...]

_UNITS = {
    "q": "position", "dq": "velocity", "ddq": "acceleration", "d3q": "jerk", "dq_r": "reference velocity",
    "ddq_r": "reference acceleration", "tau": "torque", "x": "motor position", "dx": "motor velocity",
    "ddx": "motor acceleration", "w": "wrench on the end effector, force first",
    "damping": "of the pseudo-inverse, default 0.001",
}  # fmt: skip
_MEANINGS = {
    "inertial": "the links' rows", "dh": "rows a, alpha, d, theta", "friction": "joint after joint",
    "gravity": "acceleration in the world", "base": "x y z, yaw pitch roll of the base in the world",
    "tool": "x y z, yaw pitch roll of the end effector in the last link", "rotor": "inertias of the rotors",
    "armature": "inertias on the diagonal of M", "elastic_K": "stiffness coefficients, joint after joint",
    "elastic_D": "damping coefficients, joint after joint",
    "elastic_Dm": "motor damping coefficients, joint after joint",
    "elastic_Mm": "motor inertias",
}  # fmt: skip
_REG = "m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin, link after link"
_DYN = "m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the center of mass, link after link"


@dataclass(frozen=True)
class Setter:
    """Describe the setter of one state vector."""

    name: str
    state: str
    shape: Shape
    description: str


@dataclass(frozen=True)
class Getter:
    """Describe the getter of a function, with one value or a tuple of several."""

    name: str
    function: LibraryFunction


@dataclass(frozen=True)
class ParameterMember:
    """Describe setter and getter of a parameter vector, stored directly or converted.

    Attributes
    ----------
    key : str
        ``"REG"``, ``"DHtable"``, ...
    group : ParameterGroup
        Stored group.
    stored : bool
        False for REG if DYN is stored, and vice versa.
    """

    key: str
    group: ParameterGroup
    stored: bool

    @property
    def run_time(self) -> bool:
        """True if there is a setter."""
        return bool(self.group.mask.any())

    @property
    def description(self) -> str:
        """Description of the entries."""
        return {"REG": _REG, "DYN": _DYN}.get(self.key, _MEANINGS[self.group.name])


def setters(contents: Contents) -> list[Setter]:
    """Return one setter for every vector of the state."""
    return [
        Setter(f"set_{STATES.get(key, key)}", key, shape, _UNITS.get(key, "own argument of custom functions"))
        for key, shape in contents.state.items()
    ]


def getters(contents: Contents) -> list[Getter]:
    """Return one getter for every function."""
    return [Getter(f"get_{function.name}", function) for function in contents.functions]


def parameters(contents: Contents) -> list[ParameterMember]:
    """Return the stored parameters, and the other form of the links' parameters."""
    members = []
    for group in contents.groups:
        members.append(ParameterMember(group.argument.removeprefix("par_"), group, True))
        if group.name == "inertial":
            other = "DYN" if group.argument == "par_REG" else "REG"
            members.append(ParameterMember(other, group, False))
    return members


def frame_getters(contents: Contents) -> dict[str, list[int]]:
    """Return the frame numbers of ``get_T_0(i)`` and ``get_J(i)``."""
    known = {}
    for name, prefix in (("get_T_0", "T_0_"), ("get_J", "J_")):
        rest = [function.name.removeprefix(prefix) for function in contents.functions if not function.custom]
        frames = sorted(int(text) for text in rest if text.isdigit())
        if frames:
            known[name] = frames
    return known


#: names with another use in the core or the class, or macros of C headers
_TAKEN_FUNCTIONS = ("numJoints", "numElasticJoints")
_TAKEN_SYMBOLS = ("errno", "stdin", "stdout", "stderr", "assert")


def check_own_names(contents: Contents) -> None:
    """Refuse names of the user that the library uses itself.

    Raises
    ------
    ModelError
        If there is one; the message has the name.
    """
    for function in contents.functions:
        name = function.name
        if not function.custom:
            continue
        if (
            name in _TAKEN_FUNCTIONS
            or name.startswith(("default_par_", "numPar"))
            or name.endswith(("_batch", "_packed"))
        ):
            raise ModelError(f"function name {name!r} is taken: the library uses it itself; choose another name")
    for symbol in contents.own_symbols:
        if symbol in _TAKEN_SYMBOLS or (len(symbol) > 1 and symbol.isupper()):
            raise ModelError(
                f"symbol name {symbol!r} is taken by the library or may be a macro of C; choose another, in lower case"
            )


def check_members(contents: Contents) -> None:
    """Refuse names of the user that collide with members of the class.

    Raises
    ------
    ModelError
        If there is one; the message has the name.
    """
    names = [setter.name for setter in setters(contents)] + [getter.name for getter in getters(contents)]
    names += [f"{verb}_par_{member.key}" for member in parameters(contents) for verb in ("set", "get")]
    names += [f"get_numPar{member.key}" for member in parameters(contents)]
    names += [*frame_getters(contents), "get_numJoints", "get_numElasticJoints", "get_T_0", "get_J"]
    own = {f"get_{function.name}" for function in contents.functions if function.custom}
    own |= {f"set_{symbol}" for symbol in contents.own_symbols}
    for name in own:
        # get_T_0 and get_J are counted twice where they exist
        if names.count(name) > 1 or name in ("get_T_0", "get_J", "get_damping"):
            raise ModelError(f"{name[4:]!r} is taken: the class has a member {name} already; choose another name")


def cpp_type(shape: Shape) -> str:
    """Return the C++ type of a value; with more than two dimensions, the last one is the columns."""
    if not shape:
        return "double"
    if len(shape) == 1:
        return f"Vector<{shape[0]}>"
    return f"Matrix<{prod(shape[:-1])}, {shape[-1]}>"


#: largest size of a fixed-size object of Eigen by default [bytes]
_EIGEN_LIMIT = 128 * 1024


def return_type(function: LibraryFunction) -> str:
    """Return the C++ type of the getter of a function."""
    types = [cpp_type(shape) for shape in function.results.values()]
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def class_header(contents: Contents) -> str:
    """Return the text of the header."""
    name = contents.name
    guard = f"THUNDER_{name.upper()}_H_INCLUDED"
    return f"""\
// {name} as a class over Eigen. Generated by thunder_py; changes are lost when it is generated again.
#ifndef {guard}
#define {guard}

{_eigen(contents)}#include <Eigen/Core>

#include <stdexcept>
#include <string>
#include <tuple>

/// State, parameters and everything that is computed of them: set, then get. Nothing here allocates but the functions
/// of files. Setters throw std::invalid_argument for a vector of the wrong size, functions of files std::runtime_error
/// that says file, line and key. Objects are independent; one object is for one thread.
class thunder_{name} {{
 public:
  template <int rows, int columns>
  using Matrix = Eigen::Matrix<double, rows, columns, columns == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
  template <int size>
  using Vector = Eigen::Matrix<double, size, 1>;

  /// State zero, parameters as they were when this was generated.
  thunder_{name}();

  // sizes
{_sizes(contents)}
  // state
{_setters(contents)}
  // results
{_getters(contents)}
  // parameters
{_parameters(contents)}
  // parameter files
{_files(contents)}
 private:
  template <class To, class From>
  static void assign(To& to, const Eigen::MatrixBase<From>& from, const char* what) {{
    if (from.rows() != to.rows() || from.cols() != to.cols())
      throw std::invalid_argument(std::string("thunder_{name}::") + what + " needs " + std::to_string(to.rows()) +
                                  " x " + std::to_string(to.cols()) + " numbers, got " +
                                  std::to_string(from.rows()) + " x " + std::to_string(from.cols()));
    to = from;
  }}
{_private(contents)}}};

#endif
"""


def _eigen(contents: Contents) -> str:
    largest = max(8 * prod(shape) for function in contents.functions for shape in function.results.values())
    if largest <= _EIGEN_LIMIT:
        return ""
    return (
        "// the largest matrices exceed what Eigen puts on the stack by default\n"
        "#ifndef EIGEN_STACK_ALLOCATION_LIMIT\n#define EIGEN_STACK_ALLOCATION_LIMIT 0\n#endif\n"
    )


def _sizes(contents: Contents) -> str:
    sizes = {"numJoints": contents.n}
    if contents.robot.e:
        sizes["numElasticJoints"] = contents.robot.e
    sizes |= {f"numPar{member.key}": member.group.values.size for member in parameters(contents)}
    return "".join(f"  static constexpr int get_{name}() {{ return {size}; }}\n" for name, size in sizes.items())


def _setters(contents: Contents) -> str:
    text = "".join(_setter(setter) for setter in setters(contents))
    return text + (
        "  template <class A, class B, class C, class D>\n"
        "  void setArguments(const Eigen::MatrixBase<A>& q, const Eigen::MatrixBase<B>& dq,\n"
        "                    const Eigen::MatrixBase<C>& dqr, const Eigen::MatrixBase<D>& ddqr) {\n"
        "    set_q(q), set_dq(dq), set_dqr(dqr), set_ddqr(ddqr);\n  }\n"
    )


def _setter(setter: Setter) -> str:
    if not setter.shape:
        return f"  /// {setter.description}\n  void {setter.name}(double value) {{ {setter.state}_ = value; }}\n"
    return (
        f"  /// {setter.description}\n  template <class V>\n"
        f"  void {setter.name}(const Eigen::MatrixBase<V>& value) {{\n"
        f'    assign({setter.state}_, value, "{setter.name}");\n  }}\n'
    )


def _getters(contents: Contents) -> str:
    lines = []
    for getter in getters(contents):
        text = " ".join(getter.function.description.replace("\\", "/").split())
        unit = f" [{getter.function.unit}]" if getter.function.unit else ""
        lines.append(f"  /// {text}{unit}\n  {return_type(getter.function)} {getter.name}() const;\n")
    for name, frames in frame_getters(contents).items():
        shape = "Matrix<4, 4>" if name == "get_T_0" else f"Matrix<6, {contents.n}>"
        lines.append(
            f"  /// {name}_{frames[0]}() ... by number; std::out_of_range for another\n"
            f"  {shape} {name}(int frame) const;\n"
        )
    return "".join(lines)


def _parameters(contents: Contents) -> str:
    text = ""
    for member in parameters(contents):
        size, name = member.group.values.size, f"par_{member.key}"
        text += f"  /// {member.description}\n  Vector<{size}> get_{name}() const;\n"
        if not member.run_time:
            text += "  // baked: there is no setter\n"
            continue
        if not member.group.mask.all():
            text += f"  /// entries that are baked keep their numbers, at run time are: {_ones(member.group.mask)}\n"
        text += (
            f"  template <class V>\n  void set_{name}(const Eigen::MatrixBase<V>& value) {{\n"
            f'    Vector<{size}> vector;\n    assign(vector, value, "set_{name}");\n    take_{name}(vector);\n  }}\n'
        )
    return text


def _ones(mask: npt.NDArray[np.bool_]) -> str:
    indices = [str(k) for k in np.flatnonzero(mask)]
    return ", ".join(indices[:20]) + (", ..." if len(indices) > 20 else "")


def _files(contents: Contents) -> str:
    load = "".join(
        f"  /// links' parameters of a file that save_par_{key} wrote\n"
        f"  void load_par_{key}(const std::string& path);\n"
        for key in ("REG", "DYN")
        if contents.inertial.mask.any()
    )
    return f"""\
  /// all parameters, of a file that save_par wrote or of {contents.name}_conf.yaml; on an error nothing changes
  void load_conf(const std::string& path);
{load}\
  /// all parameters, with 17 digits: they read back exactly
  void save_par(const std::string& path) const;
  void save_par_REG(const std::string& path) const;
  void save_par_DYN(const std::string& path) const;

"""


def _private(contents: Contents) -> str:
    text = ""
    for member in parameters(contents):
        if member.run_time:
            text += f"  void take_par_{member.key}(const Vector<{member.group.values.size}>& value);\n"
    text += "\n"
    for key, shape in contents.state.items():
        text += f"  {_member_type(shape)} {key}_;\n"
    for group in contents.groups:
        text += f"  Vector<{group.values.size}> {group.argument}_;\n"
    return text


def _member_type(shape: tuple[int, ...]) -> str:
    return cpp_type(shape) if len(shape) <= 2 else f"Vector<{prod(shape)}>"


def template(name: str) -> str:
    """Return the text of a template file of this package."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def class_source(contents: Contents) -> str:
    """Return the text of the source."""
    name = contents.name
    parts = [
        f"""\
// Generated by thunder_py; changes are lost when it is generated again.
#include "thunder_{name}.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <locale>
#include <map>
#include <sstream>
#include <system_error>
#include <vector>

#include "{name}_gen.h"

using Robot = thunder_{name};

namespace {{

{template("parameter_file.inc")}
{template("inertia.inc")}
{_masks(contents)}}}  // namespace
""",
        _constructor(contents),
        *(_getter(contents, getter.function) for getter in getters(contents)),
        *(_frame_getter(name, frames) for name, frames in frame_getters(contents).items()),
        *(_parameter(member) for member in parameters(contents)),
        _load_conf(contents),
        *(_load_inertial(contents, key) for key in ("REG", "DYN") if contents.inertial.mask.any()),
        _save(contents),
    ]
    return "\n".join(parts).replace("Robot::Robot()", f"thunder_{name}::thunder_{name}()")


def _masks(contents: Contents) -> str:
    """Return the masks of run-time entries of partially constant groups."""
    text = ""
    for group in contents.groups:
        if group.mask.any() and not group.mask.all():
            bits = ", ".join("true" if bit else "false" for bit in group.mask)
            text += f"constexpr bool {group.argument}_run_time[] = {{{bits}}};\n"
    return text


def _constructor(contents: Contents) -> str:
    lines = []
    for key, shape in contents.state.items():
        value = ("1e-3" if key == "damping" else "0.0") if not shape else None
        lines.append(f"{key}_ = {value};" if value else f"{key}_.setZero();")
    for group in contents.groups:
        size = group.values.size
        lines.append(f"{group.argument}_ = Eigen::Map<const Vector<{size}>>({contents.name}_default_{group.argument});")
    return "Robot::Robot() {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _getter(contents: Contents, function: LibraryFunction) -> str:
    values = []
    for key in function.arguments:
        values.append(f"&{key}_" if contents.state.get(key) == () else f"{key}_.data()")
    results, declared = [], ""
    for key, shape in function.results.items():
        declared += f"  {_qualified(cpp_type(shape))} {key}_value;\n"
        results.append(f"&{key}_value" if not shape else f"{key}_value.data()")
    returned = [f"{key}_value" for key in function.results]
    value = returned[0] if len(returned) == 1 else "{" + ", ".join(returned) + "}"
    return (
        f"{_qualified(return_type(function))} Robot::get_{function.name}() const {{\n{declared}"
        f"  {contents.name}_{function.name}({', '.join([*values, *results])});\n  return {value};\n}}\n"
    )


def _qualified(cpp: str) -> str:
    return cpp.replace("Vector<", "Robot::Vector<").replace("Matrix<", "Robot::Matrix<")


def _frame_getter(name: str, frames: list[int]) -> str:
    shape = "Matrix<4, 4>" if name == "get_T_0" else "Matrix<6, get_numJoints()>"
    cases = "".join(f"    case {frame}: return {name}_{frame}();\n" for frame in frames)
    return (
        f"{_qualified(shape)} Robot::{name}(int frame) const {{\n  switch (frame) {{\n{cases}"
        f'    default: throw std::out_of_range("{name}: there is no function of frame " + std::to_string(frame));\n'
        "  }\n}\n"
    ).replace("get_numJoints()", "Robot::get_numJoints()")


def _parameter(member: ParameterMember) -> str:
    group, name = member.group, f"par_{member.key}"
    size, stored = group.values.size, f"{member.group.argument}_"
    vector = f"Robot::Vector<{size}>"
    if member.stored:
        text = f"{vector} Robot::get_{name}() const {{ return {stored}; }}\n"
        if member.run_time and group.mask.all():
            text += f"\nvoid Robot::take_{name}(const Vector<{size}>& value) {{ {stored} = value; }}\n"
        elif member.run_time:
            text += (
                f"\nvoid Robot::take_{name}(const Vector<{size}>& value) {{\n  for (int k = 0; k < {size}; ++k)\n"
                f"    if ({group.argument}_run_time[k]) {stored}[k] = value[k];\n}}\n"
            )
        return text
    here, there = member.key.lower(), group.argument.removeprefix("par_").lower()
    text = (
        f"{vector} Robot::get_{name}() const {{\n  Vector<{size}> value;\n"
        f"  {here}_from_{there}({stored}.data(), value.data(), get_numJoints());\n  return value;\n}}\n"
    )
    if member.run_time:
        text += (
            f"\nvoid Robot::take_{name}(const Vector<{size}>& value) {{\n  Vector<{size}> converted;\n"
            f"  {there}_from_{here}(value.data(), converted.data(), get_numJoints());\n"
            f"  take_{group.argument}(converted);\n}}\n"
        )
    return text


def _load_conf(contents: Contents) -> str:
    keys = ", ".join(f'"{group.argument}"' for group in contents.groups)
    text = (
        "void Robot::load_conf(const std::string& path) {\n  const ParameterFile file(path);\n"
        f'  file.expect_robot("{contents.name}");\n  file.expect_only({{{keys}}});\n'
    )
    taken = ""
    for group in contents.groups:
        size, name = group.values.size, group.argument
        text += f'  Vector<{size}> {name};\n  file.numbers("{name}", {name}.data(), {size});\n'
        if not group.mask.all():
            mask = f"{name}_run_time" if group.mask.any() else "nullptr"
            default = f"{contents.name}_default_{name}"
            text += f'  file.expect_baked("{name}", {name}.data(), {default}, {mask}, {size});\n'
        if group.mask.any():
            taken += f"  take_{name}({name});\n"
    return text + taken + "}\n"


def _load_inertial(contents: Contents, key: str) -> str:
    group, name = contents.inertial, f"par_{key}"
    size, check = group.values.size, ""
    if group.argument == name and not group.mask.all():
        check = (
            f'  file.expect_baked("{name}", value.data(), {contents.name}_default_{name}, {name}_run_time, {size});\n'
        )
    return (
        f"void Robot::load_{name}(const std::string& path) {{\n  const ParameterFile file(path);\n"
        f'  file.expect_robot("{contents.name}");\n  file.expect_only({{"{name}"}});\n'
        f'  Vector<{size}> value;\n  file.numbers("{name}", value.data(), {size});\n{check}  take_{name}(value);\n}}\n'
    )


def _save(contents: Contents) -> str:
    def text(head: str, lists: list[str]) -> str:
        start = f'"# {head} of {contents.name}\\nrobot: {contents.name}\\n"'
        return "  write_file(path, " + " +\n                   ".join([f"std::string({start})", *lists]) + ");\n}\n"

    groups = [
        f'list_of("{g.argument}", {g.argument}_.data(), {g.values.size}, {row_length(contents, g)})'
        for g in contents.groups
    ]
    result = "void Robot::save_par(const std::string& path) const {\n" + text("Parameters", groups)
    for key in ("REG", "DYN"):
        lists = [f'list_of("par_{key}", value.data(), {contents.inertial.values.size}, 10)']
        result += (
            f"\nvoid Robot::save_par_{key}(const std::string& path) const {{\n  const auto value = get_par_{key}();\n"
        )
        result += text(f"Links' parameters ({key})", lists)
    return result
