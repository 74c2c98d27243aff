"""Results of simulations: arrays over time, metrics, energy, files, comparisons."""

from ..public import publish
from ..table import Table
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
from .tables import DEFAULT_METRICS, Comparison, Metric, compare_results, metrics_table

__all__ = [
    "ALWAYS_LOGGED",
    "DEFAULT_METRICS",
    "MOTORS_LOGGED",
    "MOTORS_MEASURED",
    "PARTS_LOGGED",
    "Comparison",
    "ConditionNumbers",
    "EnergyBalance",
    "Lyapunov",
    "Metric",
    "SimulationResult",
    "Table",
    "compare_results",
    "metrics_table",
]

publish(__name__)
