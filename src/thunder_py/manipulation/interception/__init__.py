"""Grasping of moving objects: motion estimate, replanning decision, reach, and a simulated conveyor."""

from .conveyor import Belt, BeltObject, Camera, Conveyor, Feed, Grasp, GraspTolerance, evaluate_grasp
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
    misses,
    new_arrival,
)

__all__ = [
    "Belt",
    "BeltObject",
    "Camera",
    "ConstantVelocityFilter",
    "Conveyor",
    "Feed",
    "FollowedInterception",
    "Grasp",
    "GraspTolerance",
    "InterceptionOptions",
    "Interceptor",
    "PlannedArrival",
    "SingleShot",
    "Strategy",
    "TimeAugmentation",
    "VariableStructure",
    "arrival_time",
    "evaluate_grasp",
    "misses",
    "new_arrival",
]
