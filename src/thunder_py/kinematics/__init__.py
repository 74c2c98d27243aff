"""Kinematic control and inverse kinematics: CLIK, numeric and analytic solvers, wrenches."""

from __future__ import annotations

from .clik import CLIK, CLIKResult
from .inverse import IKSolution, InverseKinematics
from .objectives import JointCentering, Manipulability, Posture
from .spherical_wrist import SphericalWristIK
from .wrench import joint_torque, wrench_from_torque

__all__ = [
    "CLIK",
    "CLIKResult",
    "IKSolution",
    "InverseKinematics",
    "JointCentering",
    "Manipulability",
    "Posture",
    "SphericalWristIK",
    "joint_torque",
    "wrench_from_torque",
]
