"""Dynamics of the end effector's position.

``thunder gen panda --functions examples/functions/operational_space.py``

With J_p the rows of the position, Lambda = (J_p M^-1 J_p')^-1 is the inertia that a force at the end effector meets,
J_bar = M^-1 J_p' Lambda the dynamically consistent inverse, whose null space holds motions that cost the task no
force, and p = J_bar' G the force that carries the arm's weight (Khatib 1987).
"""

from __future__ import annotations

from thunder_py.symbolic import SymbolicModel, inverse, solve


def functions(model: SymbolicModel) -> None:
    """Add ``position_inertia`` (m, m), ``position_inverse`` (n, m) and ``position_gravity`` (m,), m = min(n, 3)."""
    J = model.jacobian()[: min(model.n, 3)]
    M_inverse_J = solve(model.mass_matrix(), J.T, assume_a="pos")
    Lambda = inverse(J @ M_inverse_J, assume_a="pos")
    J_bar = M_inverse_J @ Lambda
    model.add_function("position_inertia", Lambda, description="inertia that a force at the end effector meets")
    model.add_function("position_inverse", J_bar, description="dynamically consistent inverse of J_p")
    model.add_function(
        "position_gravity", J_bar.T @ model.gravity_vector(), description="force that carries the arm's weight"
    )
