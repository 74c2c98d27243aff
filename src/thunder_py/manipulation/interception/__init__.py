"""Grasping of moving objects: motion estimate, replanning decision, reach, and a simulated conveyor."""

from .conveyor import Belt, BeltObject, Conveyor, Feed, Grasp, GraspTolerance, MeasurementModel, evaluate_grasp
from .filter import ConstantVelocityFilter
from .interceptor import (
    FollowedInterception,
    InterceptionOptions,
    Interceptor,
    PlannedArrival,
    SingleShot,
    Strategy,
    TimeAugmentation,
    VariableStructure,
    arrival_time,
    misses_target,
    new_arrival,
)

__all__ = [
    "Belt",
    "BeltObject",
    "ConstantVelocityFilter",
    "Conveyor",
    "Feed",
    "FollowedInterception",
    "Grasp",
    "GraspTolerance",
    "InterceptionOptions",
    "Interceptor",
    "MeasurementModel",
    "PlannedArrival",
    "SingleShot",
    "Strategy",
    "TimeAugmentation",
    "VariableStructure",
    "arrival_time",
    "evaluate_grasp",
    "misses_target",
    "new_arrival",
]
