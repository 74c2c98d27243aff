"""Robot models: the description, inertial parameters, elastic joints, payloads, workspaces and the class `Robot`."""

from ..model.derivatives import (
    ForwardDynamicsDerivatives,
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsDerivatives,
    InverseDynamicsSecondDerivatives,
)
from ..model.description import Elastic, Friction, Limits, RobotDescription, Rotor
from ..model.elastic import ElasticMotion
from ..model.parameters import BaseParameters, UnknownParameters
from ..public import publish
from .payload import Payload
from .robot import Ellipsoid, Robot
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
