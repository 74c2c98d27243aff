"""Throwing with an elastic wrist (D4.2, section 4): models, optimal switching, base motion, joint optimization."""

from .arm_throw import ArmThrow, WristRelease
from .base_motion import BaseMotion, optimize_base_motion
from .carried import CarriedWrist, CarrierControl
from .collocation import BaseLimits, JointThrow, optimize_base_and_motor
from .model import ElasticWrist, WristOscillator
from .motor import MotorMotion, WristRun, run_with_motor
from .motor_plan import MotorPlan, plan_motor
from .robots import floating_wrist, inclined_wrist, with_rigid_hand, with_wrist
from .switching import closed_form, free_switching, one_switch, one_switch_limit
from .throw import WristThrow

__all__ = [
    "ArmThrow",
    "BaseLimits",
    "BaseMotion",
    "CarriedWrist",
    "CarrierControl",
    "ElasticWrist",
    "JointThrow",
    "MotorMotion",
    "MotorPlan",
    "WristOscillator",
    "WristRelease",
    "WristRun",
    "WristThrow",
    "closed_form",
    "floating_wrist",
    "free_switching",
    "inclined_wrist",
    "one_switch",
    "one_switch_limit",
    "optimize_base_and_motor",
    "optimize_base_motion",
    "plan_motor",
    "run_with_motor",
    "with_rigid_hand",
    "with_wrist",
]
