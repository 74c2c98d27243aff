"""Closed-loop simulation: plant, sampled controller, reference, sensors, actuators, payloads; results, comparisons."""

from ..public import publish
from ..robot.payload import Payload
from ..table import Table
from .comparison import DEFAULT_METRICS, Comparison, Metric, compare_results, metrics_table
from .loop import INTEGRATORS, simulate
from .many.runs import Runs
from .many.simulate import simulate_many
from .many.spec import RunSpec
from .protocols import ControllerLike, PlantLike
from .result import (
    ALWAYS_LOGGED,
    MOTORS_LOGGED,
    MOTORS_MEASURED,
    PARTS_LOGGED,
    ConditionNumbers,
    EnergyBalance,
    Lyapunov,
    SimulationResult,
)
from .sensors import Actuators, ExternalTorque, ExternalWrench, Sensors

__all__ = [
    "ALWAYS_LOGGED",
    "DEFAULT_METRICS",
    "INTEGRATORS",
    "MOTORS_LOGGED",
    "MOTORS_MEASURED",
    "PARTS_LOGGED",
    "Actuators",
    "Comparison",
    "ConditionNumbers",
    "ControllerLike",
    "EnergyBalance",
    "ExternalTorque",
    "ExternalWrench",
    "Lyapunov",
    "Metric",
    "Payload",
    "PlantLike",
    "RunSpec",
    "Runs",
    "Sensors",
    "SimulationResult",
    "Table",
    "compare_results",
    "metrics_table",
    "simulate",
    "simulate_many",
]

publish(__name__)
