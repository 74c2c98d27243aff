"""Closed-loop simulation: plant, sampled controller, reference, sensors, actuators and payloads."""

from ..public import publish
from ..robot.payload import Payload
from .loop import INTEGRATORS, simulate
from .many import simulate_many
from .protocols import ControllerLike, PlantLike
from .run_spec import RunSpec
from .runs import Runs
from .sensors import Actuators, ExternalTorque, ExternalWrench, Sensors

__all__ = [
    "INTEGRATORS",
    "Actuators",
    "ControllerLike",
    "ExternalTorque",
    "ExternalWrench",
    "Payload",
    "PlantLike",
    "RunSpec",
    "Runs",
    "Sensors",
    "simulate",
    "simulate_many",
]

publish(__name__)
