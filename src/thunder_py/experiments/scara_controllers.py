"""SCARA project, chapter 4: the three controllers with the gains that the report prints, and where we had to choose."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..control import OperationalSpace, RobustUnitVector, SlotineLi
from ..joint_data import Friction
from ..kinematics.clik import SampledJointReference
from ..robot import Robot
from ..simulation import Payload
from ..trajectory import Path
from .scara_clik import PERIOD, TASK, schemes, start

__all__ = [
    "ADAPTED",
    "EPSILON",
    "K_D",
    "K_I",
    "K_P",
    "LAMBDA",
    "LAMBDA_Z",
    "OPERATIONAL",
    "PAYLOAD",
    "Q_Z",
    "RHO",
    "adaptive",
    "joint_reference",
    "operational",
    "robust",
    "scara",
]

PAYLOAD = Payload(5.0)  # at the origin of the last frame, the end effector
#: sections 4.1 and 4.2; K_D is the same in both [1/s] and [N m s/rad]
K_P, K_D = (1000.0, 1000.0, 2000.0, 1000.0), (10.0, 10.0, 50.0, 1.0)
RHO, EPSILON = 10.0, 0.2
#: a right side of the Lyapunov equation that has the unit vector act along z; the report prints none
Q_Z = (1.0, 1.0, 1e6, 1.0, 1.0, 1.0, 1.0, 1.0)
LAMBDA = (500.0, 500.0, 10000.0, 500.0)  # [1/s]
LAMBDA_Z = 1000.0  # in place of the third, which is unstable at 1 ms
#: twelve parameters of which the third is the mass of link 3: our reading, the report does not name the others
ADAPTED = (
    *(f"link{i}.m" for i in range(1, 5)),
    *(f"link{i}.Izz" for i in range(1, 5)),
    *(f"joint{i}.viscous" for i in range(1, 5)),
)
_GAINS_OF_ADAPTED = 10.0 * np.array([1.0, 1.0, 1e-3, *[1.0] * 9])
#: section 4.3
OPERATIONAL = {"K_p": (5000.0, 5000.0, 10000.0, 5000.0), "K_v": (50.0, 50.0, 100.0, 50.0)}
K_I: dict[str, tuple[float, ...] | None] = {
    "no integral": None,
    "integral": (20.0, 20.0, 2000.0, 20.0),
    "integral, 15 times": (20.0, 20.0, 30000.0, 20.0),
}


def scara(viscous: float = 0.0) -> Robot:
    """Return the bundled arm with viscous friction in every joint; the report does not print its F_v.

    Parameters
    ----------
    viscous : float
        [N m s/rad], [N s/m]. Zero still is a parameter that adaptation may move.
    """
    robot = Robot.load("scara")
    friction = Friction(terms=("viscous",), coefficients=np.full((robot.n, 1), viscous))
    return Robot(dataclasses.replace(robot.description, friction=friction))


def joint_reference(path: Path) -> SampledJointReference:
    """Return the joint motion that the second-order CLIK makes of the path."""
    return schemes(Robot.load("scara"))["second order"].joint_reference(path, start(path), path.duration, PERIOD)


def robust(robot: Robot, Q: tuple[float, ...] | float = 1.0) -> RobustUnitVector:
    """Return the controller of section 4.1."""
    return RobustUnitVector(robot, K_P, K_D, RHO, EPSILON, Q=Q)


def adaptive(robot: Robot, Lambda_z: float = LAMBDA_Z, *, adapts: bool = True) -> SlotineLi:
    """Return the controller of section 4.2; the gains of K_pi are put where their parameters are."""
    Lambda = [*LAMBDA[:2], Lambda_z, LAMBDA[3]]
    if not adapts:
        return SlotineLi(robot, Lambda, K_D, adaptive=False)
    gain = dict(zip(ADAPTED, _GAINS_OF_ADAPTED, strict=True))
    names = robot.unknown(ADAPTED).names
    return SlotineLi(robot, Lambda, K_D, [gain[name] for name in names], unknown=ADAPTED)


def operational(robot: Robot, K_i: tuple[float, ...] | None) -> OperationalSpace:
    """Return the controller of section 4.3."""
    return OperationalSpace(robot, OPERATIONAL["K_p"], OPERATIONAL["K_v"], K_D, K_i, rows=TASK)
