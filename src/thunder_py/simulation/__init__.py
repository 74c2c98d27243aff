"""Closed-loop simulation: a plant with its own parameters, a sampled controller, a reference, and what lies between."""

from ..robot.payload import Payload
from .loop import INTEGRATORS, simulate
from .many import Run, Runs, simulate_many
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
    "Run",
    "Runs",
    "Sensors",
    "simulate",
    "simulate_many",
]
