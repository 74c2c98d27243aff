"""Dynamic manipulation: throwing, throwing with an elastic wrist, grasping what moves, picking what is seen."""

from __future__ import annotations

import importlib
from typing import Any

# what costs an import of its own comes when it is first used
_LAZY: dict[str, str] = {
    "Belt": "interception",
    "Camera": "interception",
    "ConstantVelocityFilter": "interception",
    "Conveyor": "interception",
    "GraspTolerance": "interception",
    "InterceptionOptions": "interception",
    "Interceptor": "interception",
    "SingleShot": "interception",
    "TimeAugmentation": "interception",
    "VariableStructure": "interception",
    "HandOpening": "throwing",
    "Palm": "throwing",
    "Release": "throwing",
    "ReleaseNoise": "throwing",
    "ThrowMotion": "throwing",
    "Thrown": "throwing",
    "find_release": "throwing",
    "find_releases": "throwing",
    "flight_range": "throwing",
    "fly": "throwing",
    "landing": "throwing",
    "landing_sensitivity": "throwing",
    "plan_throw": "throwing",
    "release_velocity": "throwing",
    "throw": "throwing",
    "PickLoop": "servoing.pick_loop",
    "PickMachine": "servoing.pick_machine",
    "PickPhase": "servoing.pick_phases",
    "PickReason": "servoing.pick_phases",
    "PickSettings": "servoing.pick_phases",
    "PickingController": "servoing.pick_loop",
    "PoseFilter": "servoing.pose_filter",
    "ServoState": "servoing.law",
    "TargetTracker": "servoing.tracker",
    "ToolEstimator": "servoing.tool_estimator",
    "VisualServo": "servoing.law",
    "ArmThrow": "wrist",
    "ElasticWrist": "wrist",
    "WristOscillator": "wrist",
    "WristThrow": "wrist",
    "floating_wrist": "wrist",
    "free_switching": "wrist",
    "one_switch": "wrist",
    "optimise_base_motion": "wrist",
    "plan_motor": "wrist",
    "throw_together": "wrist",
    "with_rigid_hand": "wrist",
    "with_wrist": "wrist",
}

__all__ = [*_LAZY]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
