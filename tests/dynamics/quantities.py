"""Every quantity a robot computes from joint vectors, with the names of these vectors, as the methods have them."""

from __future__ import annotations

from thunder_py import _core

INPUTS = {
    "forward_kinematics": ("q",),
    "jacobian": ("q",),
    "jacobian_dot": ("q", "dq"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "dq"),
    "gravity_vector": ("q",),
    "friction_torque": ("dq",),
    "mass_matrix_dot": ("q", "dq"),
    "coriolis_matrix_dot": ("q", "dq", "ddq"),
    "gravity_vector_dot": ("q", "dq"),
    "inverse_dynamics": ("q", "dq", "ddq"),
    "forward_dynamics": ("q", "dq", "tau"),
    "christoffel_symbols": ("q",),
    "regressor": ("q", "dq", "ddq"),
    "slotine_li_regressor": ("q", "dq", "dq_r", "ddq_r"),
    "mass_regressor": ("q", "ddq_r"),
    "coriolis_regressor": ("q", "dq", "dq_r"),
    "gravity_regressor": ("q",),
    "friction_regressor": ("dq",),
    "kinetic_energy": ("q", "dq"),
    "potential_energy": ("q",),
    "operational_space_inertia": ("q",),
    "manipulability": ("q",),
    "mass_matrix_derivative": ("q",),
    "coriolis_matrix_algebra": ("q", "dq"),
    "coriolis_matrix_christoffel": ("q", "dq"),
    "mass_blocks": ("q",),
    "coriolis_blocks": ("q", "dq"),
    "gravity_blocks": ("q",),
}


def bound() -> set[str]:
    """Names of the methods of the compiled model that compute something."""
    return {name for name, member in vars(_core.Model).items() if callable(member) and not name.startswith("_")}
