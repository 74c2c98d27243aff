"""What generated functions must give: the methods of Robot, at any parameters."""

import dataclasses
from typing import Any

import numpy as np

import thunder_py as th
from thunder_py.model.description import describe_dh
from thunder_py.model.inertia import reg_from_dyn
from thunder_py.spatial import pose_from_rpy, rpy_from_rotation

from .libraries import Array

_DIRECT = {
    "M": "mass_matrix", "C": "coriolis_matrix", "C_std": "coriolis_matrix", "G": "gravity_vector",
    "dl": "friction_torque", "M_dot": "mass_matrix_dot", "C_dot": "coriolis_matrix_dot",
    "G_dot": "gravity_vector_dot", "M_ddot": "mass_matrix_ddot",
    "C_ddot": "coriolis_matrix_ddot", "G_ddot": "gravity_vector_ddot", "inverse_dynamics": "inverse_dynamics",
    "inverse_dynamics_dot": "inverse_dynamics_dot", "inverse_dynamics_ddot": "inverse_dynamics_ddot",
    "slotine_li_torque": "slotine_li_torque", "generalized_momentum": "generalized_momentum",
    "momentum_drift": "momentum_drift",
    "forward_dynamics": "forward_dynamics", "kinetic_energy": "kinetic_energy", "potential_energy": "potential_energy",
    "T_0_ee": "forward_kinematics", "J_ee": "jacobian", "J_ee_dot": "jacobian_dot", "J_ee_ddot": "jacobian_ddot",
    "k": "elastic_torque", "d": "elastic_damping_torque", "dm": "motor_damping_torque",
    "motor_inertia_torque": "motor_inertia_torque",
    "reg_k": "elastic_regressor", "reg_d": "elastic_damping_regressor", "reg_dm": "motor_damping_regressor",
    "reg_Mm": "motor_inertia_regressor", "elastic_forward_dynamics": "elastic_forward_dynamics",
}  # fmt: skip
_REGRESSORS = {
    "Y": "regressor", "Yr": "slotine_li_regressor", "reg_M": "mass_regressor", "reg_C": "coriolis_regressor",
    "reg_G": "gravity_regressor",
}  # fmt: skip


def random_state(robot: th.Robot, seed: int = 0) -> dict[str, Array]:
    """A value for everything that functions take besides parameters."""
    rng = np.random.default_rng(seed)
    state = {key: rng.normal(size=robot.n) for key in ("q", "dq", "ddq", "d3q", "d4q", "dq_r", "ddq_r", "tau")}
    state |= {key: rng.normal(size=robot.e) for key in ("x", "dx", "ddx")}
    return state | {"w": rng.normal(size=6), "damping": np.array(0.3)}


def with_groups(robot: th.Robot, groups: dict[str, Array]) -> th.Robot:
    """The robot with other numbers in some groups of parameters (``inertial_as_DYN`` for DYN rows)."""
    d, changes = robot.description, {}
    if "dh" in groups:
        chain = describe_dh(groups["dh"].reshape(-1, 4), convention=d.convention, joint_types=d.joint_types)
        changes |= {key: getattr(chain, key) for key in ("dh", "placements", "axes", "offsets")}
    if "inertial" in groups:
        changes["inertial"] = groups["inertial"].reshape(-1, 10)
    if "inertial_as_DYN" in groups:
        changes["inertial"] = reg_from_dyn(groups["inertial_as_DYN"].reshape(-1, 10))
    for key in ("base", "tool"):
        if key in groups:
            changes[key] = pose_from_rpy(groups[key][:3], groups[key][:2:-1])
    if "gravity" in groups:
        changes["gravity"] = groups["gravity"]
    if "friction" in groups:
        coefficients = groups["friction"].reshape(robot.n, -1)
        changes["friction"] = dataclasses.replace(d.friction, coefficients=coefficients)
    if "rotor" in groups:
        pairs = zip(d.rotors, groups["rotor"], strict=True)
        changes["rotors"] = tuple(dataclasses.replace(rotor, inertia=float(value)) for rotor, value in pairs)
    if "armature" in groups:
        changes["armature"] = groups["armature"]
    return th.Robot(d.replace(**changes))


def quantity(robot: th.Robot, name: str, state: dict[str, Array]) -> Array:
    """A quantity at a state."""
    inputs = th._core.quantities(robot)[name][0]
    return np.asarray(getattr(robot, name)(*[state[key] for key in inputs]))


def expected(robot: th.Robot, function: str, state: dict[str, Array]) -> Array:
    """What a function of the library must give."""
    first = 10 * robot.n
    if function in _DIRECT:
        return quantity(robot, _DIRECT[function], state)
    if function == "Mm":
        return np.diag([drive.Mm for drive in robot.elastic])
    if function in _REGRESSORS.values():
        return quantity(robot, function, state)
    if function in _REGRESSORS:
        return quantity(robot, _REGRESSORS[function], state)[:, :first]
    if function.startswith("T_0_"):
        return robot.forward_kinematics(state["q"], int(function[4:]))
    if function == "elastic_inverse_dynamics":
        motion = robot.elastic_inverse_dynamics(*(state[key] for key in ("q", "dq", "ddq", "d3q", "d4q")))
        return np.concatenate(motion)
    if function == "J_ee_pinv":
        J, damping = robot.jacobian(state["q"]), float(state["damping"])
        return J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(6))
    if function in ("reg_Jdq_lengths", "reg_JTw_lengths"):
        return _by_lengths(robot, function, state)
    if function in ("reg_Jdq", "reg_JTw"):
        return _by_entries(robot, function, state)
    if function.startswith("J_"):
        return robot.jacobian(state["q"], int(function[2:]))
    return _drives(robot, function, state)


def _drives(robot: th.Robot, function: str, state: dict[str, Array]) -> Array:
    d, first = robot.description, 10 * robot.n
    friction = 0 if d.friction is None else robot.n * len(d.friction.terms)
    columns: dict[str, tuple[str, int, int]] = {
        "reg_dl": ("friction_regressor", first, friction),
        "reg_rotor": ("slotine_li_regressor", first + friction, len(d.rotors)),
        "reg_armature": ("slotine_li_regressor", first + friction + len(d.rotors), robot.n),
    }
    name, start, count = columns[function]
    return quantity(robot, name, state)[:, start : start + count]


def _by_lengths(robot: th.Robot, function: str, state: dict[str, Array]) -> Array:
    """Differences of J dq or J' w for unit steps of each length: exact, for both are affine in them."""
    d: Any = robot.description

    def value(changed: th.Robot) -> Array:
        J = changed.jacobian(state["q"])
        return J @ state["dq"] if function == "reg_Jdq_lengths" else J.T @ state["w"]

    columns = []
    for i in range(robot.n):
        for key in (0, 2):
            dh = d.dh.copy()
            dh[i, key] += 1.0
            columns.append(value(with_groups(robot, {"dh": dh})) - value(robot))
    for k in range(3):
        tool = d.tool.copy()
        tool[k, 3] += 1.0
        columns.append(value(robot.replace(tool=tool)) - value(robot))
    return np.array(columns).T


def pose_values(T: Array) -> Array:
    """x y z, yaw pitch roll."""
    return np.concatenate([T[:3, 3], rpy_from_rotation(T[:3, :3])[::-1]])


def _by_entries(robot: th.Robot, function: str, state: dict[str, Array]) -> Array:
    """Differences of J dq or J' w for steps of each masked entry of DH table, base and tool.

    Both are affine in lengths, and in the sine and cosine of each angle: unit steps and right angles are exact.
    """
    d, columns = robot.description, []

    def value(changed: th.Robot) -> Array:
        J = changed.jacobian(state["q"])
        return J @ state["dq"] if function == "reg_Jdq" else J.T @ state["w"]

    whole = {"dh": None if d.dh is None else d.dh.ravel(), "base": pose_values(d.base), "tool": pose_values(d.tool)}
    for group, values in whole.items():
        for k in np.flatnonzero(np.ravel(d.masks.get(group, ()))):
            is_angle = k % 2 == 1 if group == "dh" else k >= 3
            step = np.eye(values.size)[k] * (np.pi / 2 if is_angle else 1.0)
            ends = [value(with_groups(robot, {group: values + sign * step})) for sign in (1, -1)]
            columns.append((ends[0] - ends[1]) / 2.0)
    return np.array(columns).T
