"""Closed-loop simulation: plant, sampled controller, reference, sensors, actuators and payloads."""

from ..robot.payload import Payload
from .loop import INTEGRATORS, simulate
from .many import Runs, RunSpec, simulate_many
from .protocols import ControllerLike, PlantLike
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
