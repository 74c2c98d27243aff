"""Parameters of a symbolic model: run-time arguments and constants, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, known_name, one_of
from ..errors import ThunderError
from ..model.inertia import dyn_from_reg
from ..model.model import RobotModel
from ..spatial import rpy_from_rotation

Expressions = npt.NDArray[np.object_]

#: group -> name of the argument of generated functions (Thunder's names, except rotor and armature)
ARGUMENT_NAMES = {
    "dh": "par_DHtable",
    "inertial": "par_REG",
    "friction": "par_Dl",
    "gravity": "par_gravity",
    "base": "par_world2L0",
    "tool": "par_Ln2EE",
    "rotor": "par_rotor",
    "armature": "par_armature",
    "elastic_K": "par_K",
    "elastic_D": "par_D",
    "elastic_Dm": "par_Dm",
    "elastic_Mm": "par_Mm",
}
GROUPS = tuple(ARGUMENT_NAMES)


@dataclass(frozen=True)
class ParameterGroup:
    """Store one group of parameters of a symbolic model.

    Attributes
    ----------
    name : str
        ``"inertial"``, ``"dh"``, ...
    argument : str
        Name of the argument of functions, ``"par_REG"``, ``"par_DHtable"``, ...
    values : (k,) array
        Values of the robot.
    mask : (k,) array of bool
        True for run-time arguments.
    symbols : (k,) array of Expression
        Symbols of the whole argument; nothing depends on entries that are constants.
    entries : (k,) array of Expression or float
        Symbol or constant that the model uses.
    """

    name: str
    argument: str
    values: Array
    mask: npt.NDArray[np.bool_]
    symbols: Expressions
    entries: Expressions


def _pose_values(T: Array) -> Array:
    """Return x y z, yaw pitch roll."""
    return np.concatenate([T[:3, 3], rpy_from_rotation(T[:3, :3])[::-1]])


def _values(robot: RobotModel, inertial_as: str) -> dict[str, Array]:
    d = robot.description
    values = {
        "inertial": (d.inertial if inertial_as == "REG" else dyn_from_reg(d.inertial)).ravel(),
        "gravity": d.gravity,
        "base": _pose_values(d.base),
        "tool": _pose_values(d.tool),
    }
    if d.dh is not None:
        values["dh"] = d.dh.ravel()
    if d.friction is not None:
        values["friction"] = d.friction.coefficients.ravel()
    if d.rotors:
        values["rotor"] = np.array([rotor.inertia for rotor in d.rotors])
    if d.armature is not None:
        values["armature"] = d.armature
    if robot.e:
        values |= {f"elastic_{key}": np.asarray(value) for key, value in robot.elastic_parameters.items()}
    return {key: values[key] for key in GROUPS if key in values}


def _mask(value: Any, size: int, name: str) -> npt.NDArray[np.bool_]:
    if isinstance(value, (bool, np.bool_)):
        return np.full(size, bool(value))
    mask = np.concatenate([np.ravel(row) for row in value]) if isinstance(value, (tuple, list)) else np.ravel(value)
    if mask.size != size or not np.isin(mask, (0, 1)).all():
        raise ThunderError(f"mask of {name} must be True, False or {size} entries of 0 and 1, got {value!r}")
    return mask.astype(bool)


def _default_inertial(masks: Mapping[str, Any]) -> str:
    """Return DYN if a file's mask, which refers to DYN entries, selects a part of a link's entries; otherwise REG."""
    rows = masks.get("inertial", ())
    return "DYN" if any(0 < sum(row) < len(row) for row in rows) else "REG"


def parameter_groups(
    robot: RobotModel, graph: _core.Graph, arguments: Mapping[str, Any], inertial_as: str | None
) -> tuple[dict[str, ParameterGroup], str]:
    """Create the parameter groups of a robot.

    Parameters
    ----------
    robot : Robot
        Robot whose description may have masks, as from Thunder's files.
    graph : Graph
        Graph of the symbols.
    arguments : mapping
        Group -> True, False or a mask; other groups use the description's mask, otherwise constants.
    inertial_as : {"REG", "DYN"} or None
        Form of the inertial entries; default REG, or DYN where the description masks a part of a link's entries.

    Returns
    -------
    groups : dict of str to ParameterGroup
    inertial_as : str
    """
    masks = robot.description.masks
    if inertial_as is None:
        inertial_as = "REG" if "inertial" in arguments else _default_inertial(masks)
    one_of(inertial_as, ("REG", "DYN"), "inertial_as")
    values = _values(robot, inertial_as)
    for name in arguments:
        known_name(name, GROUPS, "no parameter group is called")
        if name not in values and np.any(arguments[name]):
            raise ThunderError(f"{robot.name} has no parameters of the group {name!r}; it has {', '.join(values)}")
    groups = {}
    for name, numbers in values.items():
        argument = "par_DYN" if name == "inertial" and inertial_as == "DYN" else ARGUMENT_NAMES[name]
        mask = _mask(arguments.get(name, masks.get(name, False)), numbers.size, name)
        symbols = np.empty(numbers.size, dtype=object)
        symbols[:] = [graph.symbol(f"{argument}[{k}]") for k in range(numbers.size)]
        entries = np.where(mask, symbols, numbers.astype(object))
        groups[name] = ParameterGroup(name, argument, numbers, mask, symbols, entries)
    return groups, inertial_as
