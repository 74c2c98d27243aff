"""Grasping what moves: estimate of its motion, decision to plan anew, the reach, and a conveyor to try it on."""

from .belt import Belt
from .conditions import arrival_time, misses, new_arrival
from .conveyor import BeltObject, Camera, Conveyor, Feed
from .filter import ConstantVelocityFilter
from .grasp import Grasp, GraspTolerance, judge
from .interceptor import FollowedInterception, InterceptionOptions, Interceptor, PlannedArrival
from .strategies import SingleShot, Strategy, TimeAugmentation, VariableStructure

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
    "judge",
    "misses",
    "new_arrival",
]
