"""What a simulation leaves behind: arrays over time, figures of merit, energy, files, comparisons."""

from .comparison import Comparison, compare
from .condition import ConditionNumbers
from .energy import EnergyBalance
from .lyapunov import Lyapunov
from .names import ALWAYS_LOGGED, MOTORS_LOGGED, PARTS_LOGGED
from .run import Result
from .table import DEFAULT_METRICS, Metric, Table, metrics_table

__all__ = [
    "ALWAYS_LOGGED",
    "DEFAULT_METRICS",
    "MOTORS_LOGGED",
    "PARTS_LOGGED",
    "Comparison",
    "ConditionNumbers",
    "EnergyBalance",
    "Lyapunov",
    "Metric",
    "Result",
    "Table",
    "compare",
    "metrics_table",
]
