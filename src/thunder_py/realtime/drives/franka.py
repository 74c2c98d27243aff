"""Facts of a Franka arm shared by the adapters of three packages."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robot import Robot
from ...robot.payload import Payload
from .adapter import DriveError, DriveFacts, DriveState, require_arm

#: period of the robot's control [s]
CYCLE = 1e-3
#: 1000 N m/s, which the robot accepts, less a margin for the rounding of its comparison [N m/s]
_TORQUE_RATE = 999.0
#: origin of the flange in the frame of the seventh link [m]
_FLANGE = np.array([0.0, 0.0, 0.107])
_JOINTS = 7


def franka_facts(robot: Robot, payload: Payload | None, period: float, watchdog: float) -> DriveFacts:
    """Return the facts of an arm."""
    require_arm(robot, payload, _JOINTS)
    return DriveFacts(robot.joint_names, period, CYCLE, robot.limits.effort, _TORQUE_RATE, watchdog, payload)


def franka_load(payload: Payload | None) -> tuple[float, list[float], list[float]]:
    """Return mass, center of mass from the flange and inertia by columns, as `set_load` takes them; zero for none."""
    if payload is None:
        return 0.0, [0.0] * 3, [0.0] * 9
    com, inertia = np.asarray(payload.com) - _FLANGE, np.asarray(payload.inertia)
    return payload.mass, com.tolist(), inertia.ravel(order="F").tolist()


def raise_errors(state: Any) -> None:
    """Raise the errors in a state of libfranka; not of franky, whose errors have no truth value."""
    if state.current_errors:
        raise DriveError(f"the robot reports errors: {state.current_errors}")


def drive_state(state: Any, model: Any) -> DriveState:
    """Return a state of libfranka with the robot's own gravity torque."""
    return DriveState(round(1e9 * state.time.to_sec()), state.q, state.dq, model.gravity(state))
