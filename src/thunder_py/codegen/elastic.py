"""Inertia of motors, and inverse dynamics of elastic joints with linear springs, as expressions.

Nonlinear springs need the root of a polynomial, and dampers beside the springs a differential equation; see
`Robot.elastic_inverse_dynamics`.
"""

from __future__ import annotations

from typing import Any

from ..model.model import RobotModel
from ..symbolic import SymbolicModel, jacobian
from ..symbolic.mathematics import Expressions


def has_linear_springs(robot: RobotModel) -> bool:
    """Return whether springs have one coefficient each, and no damping."""
    return all(len(drive.K) == 1 and not drive.D for drive in robot.elastic)


def record_Mm(model: SymbolicModel, symbols: dict[str, Expressions]) -> Expressions:
    """Return the inertia matrix of the motors (e, e)."""
    return jacobian(model.quantity("motor_inertia_torque"), symbols["ddx"])


def record_inverse_dynamics(model: SymbolicModel, symbols: dict[str, Expressions]) -> dict[str, Any]:
    """Return tau (n,), x and dx (e,): x = q + t / K, and tau = Mm ddx + Dm(dx) + t, where t is the torque of the links.

    The derivatives of x follow from those of t along the motion.
    """
    joints = list(model.robot.motor_joints)
    K, Mm, Dm = (model.parameters[f"elastic_{key}"].entries for key in ("K", "Mm", "Dm"))
    tau = model.quantity("inverse_dynamics").copy()
    t, t_dot, t_ddot = (model.quantity(f"inverse_dynamics{order}")[joints] for order in ("", "_dot", "_ddot"))
    x, dx, ddx = (symbols["q"][joints] + t / K, symbols["dq"][joints] + t_dot / K, symbols["ddq"][joints] + t_ddot / K)
    tau[joints] = t + Mm * ddx
    for k, coefficients in enumerate(Dm.reshape(len(joints), -1).T):
        tau[joints] += coefficients * dx * abs(dx) ** k
    return {"tau": tau, "x": x, "dx": dx}
