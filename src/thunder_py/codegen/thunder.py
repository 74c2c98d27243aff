"""The interface of the class that Thunder Dynamics 0.8 generates: its functions and its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ThunderError
from ..io.yaml_thunder import FRICTION_TERMS
from ..model.model import RobotModel
from ..robot import Robot
from ..symbolic import SymbolicModel
from ..symbolic.mathematics import Expressions
from ..symbolic.parameters import ParameterGroup
from .contents import Contents, Item, Record

#: names that the catalogue shares, beside the poses and Jacobians of frames
_SHARED = (
    "T_0_ee", "J_ee", "J_ee_dot", "J_ee_ddot", "J_ee_pinv", "M", "C", "C_std", "G", "M_dot", "C_dot", "G_dot",
    "M_ddot", "C_ddot", "G_ddot", "dl", "Yr", "reg_M", "reg_C", "reg_G", "reg_Jdq", "reg_JTw", "k", "d", "dm", "Mm",
)  # fmt: skip
#: parameters with one matrix for each coefficient, and regressors with a column for each run-time entry
_COEFFICIENTS = {
    "Dl": ("friction", "reg_dl", "friction of the links"),
    "K": ("elastic_K", "reg_k", "stiffness"),
    "D": ("elastic_D", "reg_d", "damping of the springs"),
    "Dm": ("elastic_Dm", "reg_dm", "damping of the motors"),
    "Mm": ("elastic_Mm", "reg_Mm", "inertia of the motors"),
}
#: parameter -> group; setters and getters of the second row have all entries, those of the first the run-time ones
_PACKED = {"DHtable": "dh", "gravity": "gravity", "world2L0": "base", "Ln2EE": "tool"}
_WHOLE = {"DYN": "inertial"} | {key: group for key, (group, _, _) in _COEFFICIENTS.items()}
#: sum in Thunder's pseudo-inverse, J' (J J' + 0.02 1)^-1
DAMPING = 0.02**0.5


def thunder_arguments(robot: Robot, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run-time parameters of Thunder's class, whose functions take DYN.

    Raises
    ------
    ThunderError
        If the class has no place for parameters of the robot.
    """
    friction, masks, constant = robot.description.friction, robot.description.masks, {}
    if friction is not None:
        terms = [term for term in friction.terms if term in FRICTION_TERMS]
        if tuple(terms) != FRICTION_TERMS[: len(terms)]:
            raise ThunderError(
                f"friction terms of Thunder's class must be {', '.join(FRICTION_TERMS)}, from the first on, got "
                f"{', '.join(friction.terms)}; change them with replace(friction=...), or leave out thunder"
            )
        given = arguments.get("friction", masks.get("friction", not masks))
        whole = np.full(friction.coefficients.shape, given) if np.ndim(given) == 0 else np.reshape(given, (robot.n, -1))
        constant["friction"] = whole & np.isin(friction.terms, terms)
    for group in ("rotor", "armature"):
        if np.any(arguments.get(group, robot.description.masks.get(group, False))):
            raise ThunderError(f"{group}: Thunder's class has no such parameters; bake them, or leave out thunder")
    if arguments.get("inertial_as", "DYN") != "DYN":
        raise ThunderError("inertial_as must be 'DYN' with thunder, whose functions take par_DYN")
    return {**arguments, **constant, "inertial_as": "DYN"}


def thunder_items(items: dict[str, Item], model: SymbolicModel) -> dict[str, Item]:
    """Return Thunder's functions, and those of the catalogue, which are then generated where they are selected."""
    n = model.n
    shared = {*_SHARED, *(f"T_0_{i}" for i in range(n + 1)), *(f"J_{i}" for i in range(1, n + 1))}
    found = {name: dataclasses.replace(item, by_default=name in shared) for name, item in items.items()}
    for key, (group, regressor, text) in _COEFFICIENTS.items():
        item, parameters = found.pop(regressor, None), model.parameters.get(group)
        if parameters is None or item is None:
            found.pop(regressor.removeprefix("reg_"), None)  # of order zero
            continue
        if parameters.mask.any():
            found[regressor] = dataclasses.replace(item, record=_masked(item, parameters), by_default=True)
        columns = _by_joint(parameters.entries, group, model.robot).T
        for k, column in enumerate(() if key == "Mm" else columns):
            order = 2 * k + 1 if key == "K" else k + 1
            about = f"Diagonal matrix of the coefficients of order {order}: {text}"
            found[f"{key}{order}"] = Item(f"{key}{order}", (), _diagonal(column), about, "")
    found |= {item.name: item for item in _frames(items, n)}
    return found


def _frames(items: dict[str, Item], n: int) -> Iterable[Item]:
    """Yield relative poses, Jacobians of centers of mass, and the second names of the base and the end effector."""
    yield dataclasses.replace(items["T_0_0"], name="T_0")
    yield dataclasses.replace(items["T_0_ee"], name=f"T_0_{n + 1}")
    yield dataclasses.replace(items["J_ee"], name=f"J_{n + 1}")
    for i in range(1, n + 1):
        yield Item(f"T_{i}", ("q",), _relative(i), f"Pose of link frame {i} in link frame {i - 1}", "1, m")
        text = f"Jacobian of the center of mass of link {i}: linear rows first, in world axes"
        yield Item(f"J_cm_{i}", ("q",), _center(i), text, "m, 1")


def _masked(item: Item, parameters: ParameterGroup) -> Record:
    whole = item.record
    assert whole is not None
    return lambda model, symbols: whole(model, symbols)[:, parameters.mask]


def _by_joint(entries: np.ndarray[Any, Any], group: str, robot: RobotModel) -> np.ndarray[Any, Any]:
    """Return the entries that Thunder knows, a row for each joint or motor: not those of Coulomb friction."""
    friction = robot.description.friction
    if group != "friction" or friction is None:
        return entries.reshape(robot.e, -1)
    return entries.reshape(robot.n, -1)[:, np.isin(friction.terms, FRICTION_TERMS)]


def _diagonal(entries: Expressions) -> Record:
    return lambda model, symbols: np.diag(entries)


def _relative(i: int) -> Record:
    """Record the pose of frame i in frame i - 1, from those for zero positions of the joints before."""

    def record(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
        q = np.array([0.0] * (i - 1) + list(symbols["q"][i - 1 :]), dtype=object)
        before, after = (model.quantity("forward_kinematics", q, frame=frame) for frame in (i - 1, i))
        turn = before[:3, :3].T
        T = np.zeros((4, 4), dtype=object)
        T[:3, :3], T[:3, 3], T[3, 3] = turn @ after[:3, :3], turn @ (after[:3, 3] - before[:3, 3]), 1.0
        return T

    return record


def _center(i: int) -> Record:
    def record(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
        center = model.parameters["inertial"].entries[10 * i - 9 : 10 * i - 6]
        r = model.quantity("forward_kinematics", frame=i)[:3, :3] @ center
        J: Expressions = model.quantity("jacobian", frame=i).copy()
        J[:3] += np.array([J[4] * r[2] - J[5] * r[1], J[5] * r[0] - J[3] * r[2], J[3] * r[1] - J[4] * r[0]])
        return J

    return record


def thunder_values(contents: Contents) -> dict[str, Any]:
    """Return what the templates of Thunder's class need beside the variables of all templates."""
    robot, n, e = contents.robot, contents.n, contents.robot.e
    groups = {group.name: group for group in contents.groups}
    members: list[dict[str, Any]] = []
    for key, name in {**_WHOLE, **_PACKED}.items():
        group = groups.get(name)
        size = 0 if group is None else group.values.size
        known = np.arange(size) if key != "Dl" or not size else _by_joint(np.arange(size), name, robot).ravel()
        entries = known if group is None else known[group.mask[known]]
        packed = key in _PACKED or known.size < size
        members.append(
            {
                "key": key, "size": size, "known": known.size, "partial": entries.size < known.size, "packed": packed,
                "entries": (entries if key in _PACKED else known).tolist(), "run_time": entries.size,
            }
        )  # fmt: skip
    known_of = {member["key"]: member["known"] for member in members}
    orders = {key: known_of[key] // (n if key == "Dl" else max(e, 1)) for key in ("K", "D", "Dm", "Dl")}
    sizes = dict.fromkeys(("q", "dq", "ddq", "d3q", "d4q", "dq_r", "ddq_r"), n)
    sizes |= dict.fromkeys(("x", "dx", "ddx", "ddx_r"), e) | {"w": 6}
    return {
        "members": members, "orders": orders,
        "elastic_flags": [int(i in robot.motor_joints) for i in range(n)], "sizes": sizes,
        "more_state": {key: shape for key, shape in contents.state.items() if key not in sizes},
        "damping": repr(DAMPING),
    }  # fmt: skip
