"""Members of the C++ class of a library: setters, getters and parameter vectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import ThunderError
from ..symbolic.parameters import ParameterGroup
from .contents import STATES, Contents, Shape

_UNITS = {
    "q": "position", "dq": "velocity", "ddq": "acceleration", "d3q": "jerk",
    "d4q": "snap", "dq_r": "reference velocity",
    "ddq_r": "reference acceleration", "tau": "torque", "x": "motor position", "dx": "motor velocity",
    "ddx": "motor acceleration", "w": "wrench on the end effector, force first",
    "damping": "damping of the pseudo-inverse, 0.001 by default",
}  # fmt: skip
_MEANINGS = {
    "dh": "rows a, alpha, d, theta of the Denavit-Hartenberg table",
    "friction": "friction coefficients, joint by joint",
    "gravity": "acceleration in the world",
    "base": "x y z, yaw pitch roll of the base in the world",
    "tool": "x y z, yaw pitch roll of the end effector in the last link",
    "rotor": "inertias of the rotors", "armature": "inertias on the diagonal of M",
    "elastic_K": "stiffness coefficients, joint by joint", "elastic_D": "damping coefficients, joint by joint",
    "elastic_Dm": "motor damping coefficients, joint by joint", "elastic_Mm": "motor inertias",
}  # fmt: skip
_INERTIAL = {
    "REG": "m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link's origin, link by link",
    "DYN": "m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the center of mass, link by link",
}


class Setter(NamedTuple):
    """Setter of one state vector."""

    name: str
    state: str
    shape: Shape
    description: str


class FrameGetter(NamedTuple):
    """Getter of a pose or Jacobian with the number of the frame as its argument."""

    name: str
    shape: Shape
    frames: list[int]


@dataclass(frozen=True)
class ParameterMember:
    """Describe setter and getter of a parameter vector, stored directly or converted.

    Attributes
    ----------
    key : str
        ``"REG"``, ``"DHtable"``, ...
    group : ParameterGroup
        Stored group.
    row : int
        Count of numbers per line of a file: those of a link, of a joint or all.
    stored : bool
        False for REG if DYN is stored, and vice versa.
    """

    key: str
    group: ParameterGroup
    row: int
    stored: bool = True

    @property
    def name(self) -> str:
        """Name of the argument of functions."""
        return f"par_{self.key}"

    @property
    def size(self) -> int:
        """Count of entries."""
        return self.group.values.size

    @property
    def run_time(self) -> list[int]:
        """Indices of run-time entries; there is a setter if there are any."""
        indices: list[int] = np.flatnonzero(self.group.mask).tolist()
        return indices

    @property
    def partial(self) -> bool:
        """True if some entries are run-time entries and others are constants."""
        return 0 < len(self.run_time) < self.size

    @property
    def description(self) -> str:
        """Description of the entries."""
        return _INERTIAL[self.key] if self.group.name == "inertial" else _MEANINGS[self.group.name]


def setters(contents: Contents) -> list[Setter]:
    """Return one setter for every vector of the state."""
    return [
        Setter(f"set_{STATES.get(key, key)}", key, shape, _UNITS.get(key, "argument of user-defined functions"))
        for key, shape in contents.state.items()
    ]


def parameters(contents: Contents) -> list[ParameterMember]:
    """Return the stored parameters, and the other form of the links' parameters."""
    counts = dict.fromkeys(("inertial", "dh", "friction"), contents.n)
    counts |= dict.fromkeys(("elastic_K", "elastic_D", "elastic_Dm"), contents.robot.e)
    members = []
    for group in contents.groups:
        row = group.values.size // counts.get(group.name, 1)
        members.append(ParameterMember(group.argument.removeprefix("par_"), group, row))
        if group.name == "inertial":
            members.append(ParameterMember("DYN" if group.argument == "par_REG" else "REG", group, row, stored=False))
    return members


def frame_getters(contents: Contents) -> list[FrameGetter]:
    """Return ``get_T_0(i)`` and ``get_J(i)`` where the library has their functions."""
    names = [function.name for function in contents.functions if not function.custom]
    families: tuple[tuple[str, Shape], ...] = (("T_0", (4, 4)), ("J", (6, contents.n)))
    found = []
    for family, shape in families:
        rest = [name.removeprefix(f"{family}_") for name in names]
        if frames := sorted(int(text) for text in rest if text.isdigit()):
            found.append(FrameGetter(f"get_{family}", shape, frames))
    return found


#: names with another use in the core or the class, or macros of C headers
_TAKEN_FUNCTIONS = ("numJoints", "numElasticJoints", "elasticJoints", "numParameters", "default_parameters")
_TAKEN_SYMBOLS = ("errno", "stdin", "stdout", "stderr", "assert")


def check_own_names(contents: Contents) -> None:
    """Refuse names of the user that the library uses itself.

    Raises
    ------
    ThunderError
        If there is one; the message has the name.
    """
    for function in contents.functions:
        name = function.name
        own = name.startswith(("default_par_", "numPar")) or name.endswith(("_batch", "_packed"))
        if function.custom and (own or name in _TAKEN_FUNCTIONS):
            raise ThunderError(f"function name {name!r} is taken: the library uses it itself; choose another name")
    for symbol in contents.own_symbols:
        if symbol in _TAKEN_SYMBOLS or (len(symbol) > 1 and symbol.isupper()):
            raise ThunderError(
                f"symbol name {symbol!r} is taken by the library or may be a macro of C; choose another, in lower case"
            )


def check_members(contents: Contents) -> None:
    """Refuse names of the user that collide with members of the class.

    Raises
    ------
    ThunderError
        If there is one; the message has the name.
    """
    names = Counter(setter.name for setter in setters(contents))
    names.update(f"get_{function.name}" for function in contents.functions)
    for member in parameters(contents):
        names.update((f"set_{member.name}", f"get_{member.name}", f"get_numPar{member.key}"))
    names.update(("get_numJoints", "get_numElasticJoints", "get_elasticJoints", "get_T_0", "get_J", "get_damping"))
    own = {f"get_{function.name}" for function in contents.functions if function.custom}
    own |= {f"set_{symbol}" for symbol in contents.own_symbols}
    for name in own:
        if names[name] > 1:
            raise ThunderError(f"{name[4:]!r} is taken: the class has a member {name} already; choose another name")
