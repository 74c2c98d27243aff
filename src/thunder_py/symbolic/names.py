"""Short names of a model's symbols, for reading and for LaTeX: q1, dq1, mc_x1, I_xx1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .quantities import SymbolicQuantities


class ReadableName(NamedTuple):
    """Store a symbol's name as an identifier and in LaTeX."""

    text: str
    latex: str


# "#" is replaced by the number of the joint or link
_STATES = {
    "q": ("q#", "q_{#}"),
    "dq": ("dq#", r"\dot{q}_{#}"),
    "ddq": ("ddq#", r"\ddot{q}_{#}"),
    "d3q": ("d3q#", r"\dddot{q}_{#}"),
    "d4q": ("d4q#", r"\ddddot{q}_{#}"),
    "dq_r": ("dq_r#", r"\dot{q}_{r#}"),
    "ddq_r": ("ddq_r#", r"\ddot{q}_{r#}"),
    "tau": ("tau#", r"\tau_{#}"),
    "s": ("s#", r"\mathsf{s}_{#}"),
    "pi": ("pi#", r"\pi_{#}"),
    "x": ("x#", "x_{#}"),
    "dx": ("dx#", r"\dot{x}_{#}"),
    "ddx": ("ddx#", r"\ddot{x}_{#}"),
}
_AXES = "xyz"
_TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
_POSE = ("x", "y", "z", "yaw", "pitch", "roll")
_MASS = ("m#", "m_{#}")
_LINK_ROWS = {
    "par_REG": [
        _MASS,
        *((f"mc_{a}#", f"{{mc}}_{{{a}#}}") for a in _AXES),
        *((f"I_{a}#", f"I_{{{a}#}}") for a in _TENSOR),
    ],
    "par_DYN": [
        _MASS,
        *((f"c_{a}#", f"c_{{{a}#}}") for a in _AXES),
        *((f"Ic_{a}#", rf"{{\bar{{I}}}}_{{{a}#}}") for a in _TENSOR),
    ],
    "par_DHtable": [("a#", "a_{#}"), ("alpha#", r"\alpha_{#}"), ("d#", "d_{#}"), ("theta#", r"\theta_{#}")],
}


def _of_template(template: tuple[str, str], index: int) -> ReadableName:
    return ReadableName(template[0].replace("#", str(index)), template[1].replace("#", str(index)))


def _subscripted(name: str, *subscripts: str) -> ReadableName:
    shown = name.replace("_", r"\_")
    return ReadableName("_".join((name, *subscripts)), rf"\mathrm{{{shown}}}_{{{','.join(subscripts)}}}")


def _parameter_names(model: SymbolicQuantities, argument: str, size: int) -> list[ReadableName]:
    d = model.robot.description
    if argument in _LINK_ROWS:
        row = _LINK_ROWS[argument]
        return [_of_template(row[k % len(row)], k // len(row) + 1) for k in range(size)]
    if argument == "par_gravity":
        return [ReadableName(f"g_{a}", f"g_{{{a}}}") for a in "xyz"]
    if argument in ("par_world2L0", "par_Ln2EE"):
        return [_subscripted("base" if argument == "par_world2L0" else "tool", a) for a in _POSE]
    if argument == "par_Dl" and d.friction is not None:
        terms = d.friction.terms
        return [_subscripted(terms[k % len(terms)], str(k // len(terms) + 1)) for k in range(size)]
    if argument == "par_rotor":
        return [ReadableName(f"I_r{rotor.joint}", f"I_{{r{rotor.joint}}}") for rotor in d.rotors]
    if argument == "par_armature":
        return [ReadableName(f"I_a{k + 1}", f"I_{{a{k + 1}}}") for k in range(size)]
    return _elastic_names(model, argument, size)


def _elastic_names(model: SymbolicQuantities, argument: str, size: int) -> list[ReadableName]:
    """Return names of K, D, Dm, with a row of coefficients per elastic joint, and Mm, with one number."""
    group = argument.removeprefix("par_")
    order = size // model.robot.e
    names = []
    for k in range(size):
        joint = model.robot.elastic[k // order].joint
        subscripts = (str(joint),) if group == "Mm" else (str(joint), str(k % order + 1))
        names.append(_subscripted(group, *subscripts))
    return names


def _of_user(name: str, shape: tuple[int, ...]) -> list[ReadableName]:
    if not shape:
        shown = name.replace("_", r"\_")
        return [ReadableName(name, name if len(name) == 1 else rf"\mathrm{{{shown}}}")]
    return [_subscripted(name, *(str(i + 1) for i in index)) for index in np.ndindex(shape)]


def _unique(name: ReadableName, taken: set[str]) -> ReadableName:
    """Append underscores if a user's symbol has the same short name."""
    while name.text in taken:
        name = ReadableName(name.text + "_", name.latex + "'")
    taken.add(name.text)
    return name


def readable_names(model: SymbolicQuantities) -> dict[str, list[ReadableName]]:
    """Return the names of the entries of every argument of a model, joints and links counted from 1.

    States are ``q1, dq1, ddq1, dq_r1, ddq_r1, tau1``; REG parameters ``m1, mc_x1, I_xx1``; DYN parameters ``m1, c_x1,
    Ic_xx1``; the DH table ``a1, alpha1, d1, theta1``; gravity ``g_x``; poses ``base_x, tool_yaw``; friction
    ``viscous_1``; rotors ``I_r1``; armature ``I_a1``; elastic joints ``K_1_1, Mm_1``; a user's array ``name_1_2``.
    """
    groups = {group.argument for group in model.parameters.values()}
    names: dict[str, list[ReadableName]] = {}
    taken: set[str] = set()
    for argument, symbols in model.symbols.items():
        if argument in _STATES:
            names[argument] = [_of_template(_STATES[argument], k + 1) for k in range(symbols.size)]
        elif argument in groups:
            names[argument] = _parameter_names(model, argument, symbols.size)
        else:
            names[argument] = _of_user(argument, symbols.shape)
        names[argument] = [_unique(name, taken) for name in names[argument]]
    return names
