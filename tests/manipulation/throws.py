"""An arm that throws, for tests."""

import numpy as np

import thunder_py as th
from thunder_py.trajectory import MotionLimits

ACCELERATION = [15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]
TARGET = np.array([1.1, 0.1, -0.4])


def thrower() -> th.Robot:
    """Panda with something like a hand."""
    tool = np.eye(4)
    tool[:3, 3] = [0.13, 0.0, 0.06]
    return th.Payload(0.83, (0.1, 0.0, 0.04)).added_to(th.Robot.load("panda").replace(tool=tool))


def limits_of(robot: th.Robot, fraction: float = 0.9) -> MotionLimits:
    return MotionLimits.of(robot, acceleration=fraction * np.array(ACCELERATION), torque=True, fraction=fraction)
