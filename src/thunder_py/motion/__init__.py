"""Human-like motion: recordings, functional components, a planner made of them, movement primitives, metrics."""

from __future__ import annotations

import importlib
from typing import Any

# what costs an import of its own comes when it is first used
_LAZY = {
    "Clearance": "obstacles",
    "ConditionedPlan": "plan_conditions",
    "Constraint": "plan_conditions",
    "DMP": "dmp",
    "DynamicPotential": "dynamic_potential",
    "FPCA": "fpca",
    "HumanLikeJointPlan": "plan",
    "HumanLikePlan": "plan",
    "HumanLikePlanner": "planner",
    "MotionSet": "motion_set",
    "MovingObstacle": "obstacles",
    "PlannedBatch": "plan_batch",
    "ProMP": "promp",
    "QuaternionDMP": "quaternion_dmp",
    "SplineBasis": "basis",
    "Trial": "trial",
    "ViaSearch": "via_search",
    "clearance": "obstacles",
    "minimum_jerk": "min_jerk",
    "turns_from_start": "from_start",
}
_LAZY_MODULES = ("downloads", "loaders", "metrics", "processing", "statistics", "synthetic")

__all__ = [*_LAZY, *_LAZY_MODULES]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    if name in _LAZY_MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
