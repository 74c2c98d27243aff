"""Every quantity a robot computes from joint vectors, with the names of these vectors, as the methods have them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import thunder_py as th
from thunder_py import _core

#: what this machine runs
INSTRUCTION_SETS = tuple(_core.build_config()["instruction_sets"])


@contextmanager
def use_instruction_set(name: str) -> Iterator[None]:
    """Compute with the kernels of an instruction set, then with those of before."""
    before = _core.build_config()["instruction_set"]
    _core.use_instruction_set(name)
    try:
        yield
    finally:
        _core.use_instruction_set(before)


INPUTS = {
    "forward_kinematics": ("q",),
    "jacobian": ("q",),
    "jacobian_dot": ("q", "dq"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "dq"),
    "mass_and_coriolis": ("q", "dq"),
    "gravity_vector": ("q",),
    "friction_torque": ("dq",),
    "mass_matrix_dot": ("q", "dq"),
    "coriolis_matrix_dot": ("q", "dq", "ddq"),
    "gravity_vector_dot": ("q", "dq"),
    "jacobian_ddot": ("q", "dq", "ddq"),
    "mass_matrix_ddot": ("q", "dq", "ddq"),
    "coriolis_matrix_ddot": ("q", "dq", "ddq", "d3q"),
    "gravity_vector_ddot": ("q", "dq", "ddq"),
    "inverse_dynamics": ("q", "dq", "ddq"),
    "forward_dynamics": ("q", "dq", "tau"),
    "inverse_dynamics_dot": ("q", "dq", "ddq", "d3q"),
    "inverse_dynamics_ddot": ("q", "dq", "ddq", "d3q", "d4q"),
    "christoffel_symbols": ("q",),
    "regressor": ("q", "dq", "ddq"),
    "slotine_li_regressor": ("q", "dq", "dq_r", "ddq_r"),
    "mass_regressor": ("q", "ddq_r"),
    "coriolis_regressor": ("q", "dq", "dq_r"),
    "gravity_regressor": ("q",),
    "friction_regressor": ("dq",),
    "kinetic_energy": ("q", "dq"),
    "potential_energy": ("q",),
    "slotine_li_torque": ("q", "dq", "dq_r", "ddq_r"),
    "generalized_momentum": ("q", "dq"),
    "momentum_drift": ("q", "dq"),
    "momentum_regressor": ("q", "dq"),
    "kinetic_energy_regressor": ("q", "dq"),
    "potential_energy_regressor": ("q",),
    "operational_space_inertia": ("q",),
    "manipulability": ("q",),
    "elastic_torque": ("q", "x"),
    "elastic_damping_torque": ("dq", "dx"),
    "motor_damping_torque": ("dx",),
    "motor_inertia_torque": ("ddx",),
    "elastic_regressor": ("q", "x"),
    "elastic_damping_regressor": ("dq", "dx"),
    "motor_damping_regressor": ("dx",),
    "motor_inertia_regressor": ("ddx",),
    "elastic_forward_dynamics": ("q", "dq", "x", "dx", "tau"),
    "inverse_dynamics_derivatives": ("q", "dq", "ddq"),
    "forward_dynamics_derivatives": ("q", "dq", "tau"),
    "inverse_dynamics_second_derivatives": ("q", "dq", "ddq"),
    "forward_dynamics_second_derivatives": ("q", "dq", "tau"),
    "jacobian_derivative": ("q",),
    "coriolis_matrix_derivative": ("q", "dq"),
    "operational_space_inertia_derivative": ("q",),
    "regressor_product_derivatives": ("q", "dq", "ddq", "pi"),
    "slotine_li_product_derivatives": ("q", "dq", "dq_r", "ddq_r", "pi"),
    "transposed_regressor_derivatives": ("q", "dq", "ddq", "s"),
    "transposed_slotine_li_derivatives": ("q", "dq", "dq_r", "ddq_r", "s"),
    "mass_matrix_derivative": ("q",),
    "coriolis_matrix_algebra": ("q", "dq"),
    "coriolis_matrix_christoffel": ("q", "dq"),
    "mass_blocks": ("q",),
    "coriolis_blocks": ("q", "dq"),
    "gravity_blocks": ("q",),
}


def size(robot: th.Robot, vector: str) -> int:
    """Length of an input: an entry for each elastic joint of motors, p of parameters, else one for each joint."""
    return robot.e if vector in ("x", "dx", "ddx") else robot.p if vector == "pi" else robot.n


def kernel(robot: th.Robot, name: str) -> Callable[..., Any]:
    """Method of the compiled model, whose result is one array also where the robot names its parts."""
    return functools.partial(getattr(_core.Model, name), robot)


def bound() -> set[str]:
    """Names of the methods of the compiled model that compute something."""
    return {name for name, member in vars(_core.Model).items() if callable(member) and not name.startswith("_")}
