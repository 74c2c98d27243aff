"""Robot models: the description, inertial parameters, elastic joints, payloads, workspaces and the class `Robot`."""

from ..public import publish
from .derivatives import (
    ForwardDynamicsDerivatives,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
)
from .description import Elastic, Friction, Limits, RobotDescription, Rotor
from .elastic import ElasticMotion
from .payload import Payload
from .robot import BaseParameters, Ellipsoid, Robot, UnknownParameters
from .robot import require_robot as require_robot
from .workspace import Workspace

__all__ = [
    "BaseParameters",
    "Elastic",
    "ElasticMotion",
    "Ellipsoid",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsSecondDerivatives",
    "Friction",
    "InverseDynamicsDerivatives",
    "InverseDynamicsSecondDerivatives",
    "Limits",
    "Payload",
    "Robot",
    "RobotDescription",
    "Rotor",
    "UnknownParameters",
    "Workspace",
]

publish(__name__)
