"""Warnings of a run: that it ended as `diverged`, when, which joint, and why; that it passed limits of the robot."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .._core import Status
from ..checks import Array
from ..control.stability import hold_at, loop_at
from ..errors import LimitWarning, outer_level
from ..robot import Robot
from ..sampled_loop import Channel
from .result import SimulationResult

_RECORDED: ContextVar[bool] = ContextVar("outcome_recorded", default=False)
#: excess over a position limit that counts [rad or m], and over a velocity limit in units of it, or of 1 rad/s
_LEAST_EXCESS = 1e-3
_UNITS = {("R", "position"): "rad", ("R", "velocity"): "rad/s", ("P", "position"): "m", ("P", "velocity"): "m/s"}
#: torque limits of no arm [N m or N]
_WILD = 1e6


@contextmanager
def outcome_recorded() -> Iterator[None]:
    """Keep `simulate` from warning of how runs of this thread end, and of limits: the caller records or intends it."""
    token = _RECORDED.set(True)
    try:
        yield
    finally:
        _RECORDED.reset(token)


def warn_of_divergence(
    run: SimulationResult,
    law: object,
    robot: Robot | None,
    between: Channel | None,
    times: dict[str, Any],
) -> bool:
    """Return whether a run has ended as `diverged`, or its plant has a singular mass matrix, and warn of it.

    There is no warning where it is recorded.

    Parameters
    ----------
    run : SimulationResult
    law : object
        Its controller.
    robot : Robot, optional
        The model of its plant.
    between : Channel, optional
        Sampling, delay and lag between plant and controller.
    times : dict
        Steps and periods, as `time_options` returns them.
    """
    if _RECORDED.get():
        return True
    singular = None if robot is None else _singular(robot, run.q[0])
    if not run.diverged and singular is None:
        return False
    period = times["dt"] * times["steps_per_period"]
    if singular is not None:
        text = f"the run means nothing: {singular}"
    elif run.t[-1] >= (times["periods"] - 0.5) * period or (
        not run.dq[-1].any() and not np.isfinite(run.tau[-1]).all()
    ):
        text = f"the run diverged: at t = {run.t[-1]:.4g} s the estimate or the torque of the controller left its bound"
    else:
        q, dq = run.q[-1], run.dq[-1]
        joint = int(np.argmax(np.abs(dq)))
        cause = _cause(run, law, robot, between, times["dt"])
        text = (
            f"the run diverged after t = {run.t[-1]:.4g} s, first {run.names['joints'][joint]!r}, last seen with "
            f"{abs(dq[joint]):.3g} rad/s or m/s at {q[joint]:.3g}: {cause}"
        )
    warnings.warn(text, RuntimeWarning, stacklevel=outer_level())
    return True


def warn_of_limits(run: SimulationResult, robot: Robot | None) -> None:
    """Warn once of the logged instants at which joints are outside the limits of a robot, which do not stop them."""
    if robot is None:
        return
    limits, found = robot.limits, []
    for kind, excess, least in (
        ("position", np.maximum(run.q - limits.upper, limits.lower - run.q), np.ones(robot.n)),
        ("velocity", np.abs(run.dq) - limits.velocity, np.minimum(limits.velocity, 1.0)),
    ):
        joint = int(np.argmax(excess.max(axis=0)))
        most = float(excess[:, joint].max())
        if most > _LEAST_EXCESS * least[joint]:
            unit = _UNITS[robot.description.joint_types[joint], kind]
            first, name = run.t[np.argmax(excess[:, joint] > 0.0)], run.names["joints"][joint]
            found.append(f"the {kind} limit of {name!r} by {most:.3g} {unit}, first at t = {first:.4g} s")
    if found:
        text = f"the run passes {' and '.join(found)}; limits do not stop simulated joints"
        warnings.warn(text, LimitWarning, stacklevel=outer_level())


def _singular(robot: Robot, q: Array) -> str | None:
    """Return why the plant has no accelerations at q, a mass matrix that is singular up to rounding, or None."""
    M = robot.mass_matrix(q)
    values, vectors = np.linalg.eigh(M / np.sqrt(np.outer(scale, scale)) if (scale := M.diagonal()).min() > 0.0 else M)
    if values[0] > 1e-13 * values[-1]:
        return None
    massless = [name for name, reg in zip(robot.link_names, robot.inertial, strict=True) if not reg.any()]
    joint = robot.joint_names[int(np.argmax(np.abs(vectors[:, 0])))]
    links = f": {', '.join(massless)} {'have' if len(massless) > 1 else 'has'} no mass" if massless else ""
    return f"the mass matrix is singular, which leaves the acceleration of {joint!r} undetermined{links}"


def _cause(run: SimulationResult, law: object, robot: Robot | None, between: Channel | None, dt: float) -> str:
    """Return the likely cause, with its numbers."""
    if not np.isfinite(run.tau[-1]).all():
        return "the torque is not finite"
    if robot is not None and robot.e:
        inverse = 1.0 / robot.mass_matrix(run.q[0]).diagonal()
        drives = [(math.sqrt(max(d.K[0], 0.0) * (1.0 / d.Mm + inverse[d.joint - 1])), d) for d in robot.elastic]
        rate, drive = max(drives, key=lambda pair: pair[0])
        if rate * dt > 1.0:
            name = robot.joint_names[drive.joint - 1]
            return f"the spring of {name!r} vibrates with {rate:.3g} rad/s; dt must be below {1.0 / rate:.2g} s"
    if robot is not None and between is not None:
        held = hold_at(law, robot, run.q[0], between) if (run.status == Status.singular).any() else None
        light = run.q[np.argmin(np.linalg.eigvalsh(robot.mass_matrix(run.q))[:, 0])]
        for loop in (held, *(loop_at(law, robot, q, between) for q in (run.q[0], light))):
            message = None if loop is None else loop.message(robot.joint_names)
            if message is not None:
                return message
    tau = float(np.abs(run.tau).max())
    if tau > _WILD:
        return f"the controller's torque grew to {tau:.2g} N m or N; its gains are unstable for the plant"
    return f"its acceleration is not finite, or the motion is too fast for dt = {dt:g} s; reduce dt"
