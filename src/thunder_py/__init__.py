"""Dynamics, regressors and adaptive control of serial manipulators."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _core, errors
from .robot import Robot

if TYPE_CHECKING:
    from . import (
        codegen,
        control,
        description,
        experiments,
        identification,
        inertia,
        io,
        kinematics,
        manipulation,
        motion,
        mujoco,
        perception,
        plotting,
        realtime,
        reference,
        result,
        robots,
        simulation,
        symbolic,
        trajectory,
    )
    from .control import (
        ACT,
        MACT,
        Backstepping,
        CartesianComputedTorque,
        CartesianMACT,
        ComputedTorque,
        Impedance,
        IndependentJoint,
        OperationalSpace,
        PassivityBased,
        PDGravity,
        RobustUnitVector,
        SlotineLi,
    )
    from .result import Result, compare
    from .simulation import Actuators, ExternalWrench, Payload, Run, Sensors, simulate, simulate_many

__version__: str = _core.__version__

# what costs an import of its own comes when it is first used
_LAZY = {
    "ACT": "control",
    "Actuators": "simulation",
    "Backstepping": "control",
    "CartesianComputedTorque": "control",
    "CartesianMACT": "control",
    "ComputedTorque": "control",
    "ExternalWrench": "simulation",
    "Impedance": "control",
    "IndependentJoint": "control",
    "MACT": "control",
    "OperationalSpace": "control",
    "PDGravity": "control",
    "PassivityBased": "control",
    "Payload": "simulation",
    "Result": "result",
    "RobustUnitVector": "control",
    "Run": "simulation",
    "Sensors": "simulation",
    "SlotineLi": "control",
    "compare": "result",
    "simulate": "simulation",
    "simulate_many": "simulation",
}
_LAZY_MODULES = (
    "codegen",
    "control",
    "description",
    "experiments",
    "identification",
    "inertia",
    "io",
    "kinematics",
    "manipulation",
    "motion",
    "mujoco",
    "perception",
    "plotting",
    "realtime",
    "reference",
    "result",
    "robots",
    "simulation",
    "symbolic",
    "trajectory",
)

__all__ = [
    "ACT",
    "MACT",
    "Actuators",
    "Backstepping",
    "CartesianComputedTorque",
    "CartesianMACT",
    "ComputedTorque",
    "ExternalWrench",
    "Impedance",
    "IndependentJoint",
    "OperationalSpace",
    "PDGravity",
    "PassivityBased",
    "Payload",
    "Result",
    "Robot",
    "RobustUnitVector",
    "Run",
    "Sensors",
    "SlotineLi",
    "__version__",
    "codegen",
    "compare",
    "control",
    "description",
    "errors",
    "experiments",
    "identification",
    "inertia",
    "io",
    "kinematics",
    "manipulation",
    "motion",
    "mujoco",
    "perception",
    "plotting",
    "realtime",
    "reference",
    "result",
    "robots",
    "simulate",
    "simulate_many",
    "simulation",
    "symbolic",
    "trajectory",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    if name in _LAZY_MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
