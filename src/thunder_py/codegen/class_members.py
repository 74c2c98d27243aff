"""Members of the generated class, as header, source, bindings and README need them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..errors import ModelError
from ..symbolic.parameters import ParameterGroup
from .contents import STATES, Contents, LibraryFunction

__all__ = [
    "Getter", "ParameterMember", "Setter", "check_members", "check_own_names", "cpp_type", "frame_getters", "getters",
    "parameters", "setters",
]  # fmt: skip

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
_DYN = "m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass, link after link"


@dataclass(frozen=True)
class Setter:
    """Sets one vector of the state."""

    name: str
    state: str
    shape: Shape
    description: str


@dataclass(frozen=True)
class Getter:
    """Returns what a function computes: one value, or a tuple of several."""

    name: str
    function: LibraryFunction


@dataclass(frozen=True)
class ParameterMember:
    """Sets and returns a parameter vector, stored as it is or converted.

    Attributes
    ----------
    key : str
        ``"REG"``, ``"DHtable"``, ...
    group : ParameterGroup
        What is stored.
    stored : bool
        False for REG where DYN is stored, and the other way round.
    """

    key: str
    group: ParameterGroup
    stored: bool

    @property
    def run_time(self) -> bool:
        """Whether it may be set."""
        return bool(self.group.mask.any())

    @property
    def description(self) -> str:
        """What its entries are."""
        return {"REG": _REG, "DYN": _DYN}.get(self.key, _MEANINGS[self.group.name])


def setters(contents: Contents) -> list[Setter]:
    """One for every vector of the state."""
    return [
        Setter(f"set_{STATES.get(key, key)}", key, shape, _UNITS.get(key, "own argument of custom functions"))
        for key, shape in contents.state.items()
    ]


def getters(contents: Contents) -> list[Getter]:
    """One for every function."""
    return [Getter(f"get_{function.name}", function) for function in contents.functions]


def parameters(contents: Contents) -> list[ParameterMember]:
    """Those that are stored, and the other form of the links' parameters."""
    members = []
    for group in contents.groups:
        members.append(ParameterMember(group.argument.removeprefix("par_"), group, True))
        if group.name == "inertial":
            other = "DYN" if group.argument == "par_REG" else "REG"
            members.append(ParameterMember(other, group, False))
    return members


def frame_getters(contents: Contents) -> dict[str, list[int]]:
    """``get_T_0(i)`` and ``get_J(i)``: which frames they know."""
    found = {}
    for name, prefix in (("get_T_0", "T_0_"), ("get_J", "J_")):
        rest = [function.name.removeprefix(prefix) for function in contents.functions if not function.custom]
        frames = sorted(int(text) for text in rest if text.isdigit())
        if frames:
            found[name] = frames
    return found


#: names that the core or the class gives to other things, or that headers of C make macros of
_TAKEN_FUNCTIONS = ("numJoints", "numElasticJoints")
_TAKEN_SYMBOLS = ("errno", "stdin", "stdout", "stderr", "assert")


def check_own_names(contents: Contents) -> None:
    """Refuse names of the user that the library has another use for.

    Raises
    ------
    ModelError
        Naming them.
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
    """Refuse custom names that two members would share.

    Raises
    ------
    ModelError
        Naming them.
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
    """Return type of a value; of more than two dimensions, the last becomes the columns."""
    if not shape:
        return "double"
    if len(shape) == 1:
        return f"Vector<{shape[0]}>"
    return f"Matrix<{prod(shape[:-1])}, {shape[-1]}>"
