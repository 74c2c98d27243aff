"""Checks of the times, initial state and limits of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, positive, positives, whole
from ..errors import ThunderError
from ..robot import Robot
from ..robot.payload import Payload

#: limits: steps in a control period; control periods in a run
_MOST_STEPS, _MOST_PERIODS = 10**9, 10**12


def time_options(duration: float, dt: float, control_period: float | None, log_every: int) -> dict[str, Any]:
    """Check times and return them in steps and periods."""
    dt, duration = positive(dt, "dt"), positive(duration, "duration")
    period = dt if control_period is None else positive(control_period, "control_period")
    if period / dt > _MOST_STEPS:
        raise ThunderError(f"control_period must be at most {_MOST_STEPS:g} steps of dt = {dt:g}, got {period:g}")
    steps = round(period / dt)
    if steps < 1 or abs(period / dt - steps) > 1e-6:
        raise ThunderError(f"control_period must be a whole multiple of dt = {dt:g}, got {period:g}")
    whole(log_every, "log_every", 1)
    if duration / period > _MOST_PERIODS:
        raise ThunderError(
            f"duration must be at most {_MOST_PERIODS:g} control periods of {period:g} s, got {duration:g}"
        )
    periods = math.ceil(duration / period - 1e-6)
    every = min(int(log_every), max(periods, 1))  # the first and the last row are always logged
    return {"dt": dt, "steps_per_period": steps, "periods": periods, "log_every": every}


def start_position(q0: npt.ArrayLike | None, reference: Callable[[float], Any], n: int) -> Array:
    """Return q0, or the start of a joint-space reference where q0 is None."""
    if q0 is not None:
        return array(q0, (n,), "q0")
    first = reference(0.0)
    if not hasattr(first, "q"):
        raise ThunderError(
            "q0 must be given unless the reference is a joint-space reference, whose start is the default"
        )
    return array(first.q, (n,), "reference(0).q")


def motor_joints(plant: object) -> list[int]:
    """Return the joints of a plant that have motors of their own, from 0."""
    return [int(joint) for joint in getattr(plant, "motor_joints", ())]


def initial_state(
    plant: object,
    payloads: Sequence[Payload],
    q: Array,
    dq0: npt.ArrayLike | None,
    x0: npt.ArrayLike | None,
    dx0: npt.ArrayLike | None,
) -> Array:
    """Return q, dq and, for elastic joints, x and dx."""
    dq = np.zeros_like(q) if dq0 is None else array(dq0, q.shape, "dq0")
    joints = motor_joints(plant)
    if not joints:
        for name, value in (("x0", x0), ("dx0", dx0)):
            if value is not None:
                raise ThunderError(f"{name} must be None unless the plant has elastic joints")
        return np.concatenate([q, dq])
    e = len(joints)
    x = _resting_motors(plant, payloads, q, joints) if x0 is None else array(x0, (e,), "x0")
    return np.concatenate([q, dq, x, dq[joints] if dx0 is None else array(dx0, (e,), "dx0")])


def loaded_at_start(robot: Robot, payloads: Sequence[Payload]) -> Robot:
    """Return the robot with the payloads that it carries from the start."""
    for payload in payloads:
        if payload.time == 0.0:
            robot = payload.added_to(robot)
    return robot


def _resting_motors(plant: Any, payloads: Sequence[Payload], q: Array, joints: list[int]) -> Array:
    """Return the static equilibrium of the springs under the initial payloads, else the relaxed position."""
    if not callable(getattr(plant, "elastic_equilibrium", None)):
        return q[joints]
    loaded = loaded_at_start(plant, payloads) if isinstance(plant, Robot) else plant
    try:
        return array(loaded.elastic_equilibrium(q), (len(joints),), "plant.elastic_equilibrium(q0)")
    except ThunderError:
        return q[joints]


def torque_bounds(limits: npt.ArrayLike | None, n: int) -> Array:
    """Return n positive numbers, or an empty array without limits."""
    if limits is None:
        return np.zeros(0)
    bounds = positives(limits, n, "torque_limits", finite=False)
    return np.minimum(bounds, np.finfo(np.float64).max)  # infinity: no limit
