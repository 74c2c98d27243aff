"""What a control loop is made of, as validated data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import Array
from ..robot import Robot
from .hold import HoldGains
from .laws import LawSpec
from .plain_data import Table, read_plain

__all__ = ["LoopOptions", "TaskLimits"]

#: of the velocity limits, what a jump of a reference is made up for with
_JOINING = 0.25
#: where a robot has no velocity limit [rad/s or m/s]
_NO_LIMIT_SPEED = 2.0


@dataclass(frozen=True)
class TaskLimits:
    """How fast the pose that the controller follows may change, whatever the messages say.

    Attributes
    ----------
    speed, turning : float
        Largest speed [m/s] and angular speed [rad/s].
    acceleration, angular_acceleration : float
        Largest [m/s^2, rad/s^2].
    bandwidth : float
        Of the approach to the reference [rad/s].
    """

    speed: float = 0.5
    turning: float = 1.0
    acceleration: float = 5.0
    angular_acceleration: float = 10.0
    bandwidth: float = 25.0


@dataclass(frozen=True)
class LoopOptions:
    """A control loop as data; `read` makes one from a mapping or a YAML file (docs/ros.md lists the keys).

    Attributes
    ----------
    robot : Robot
        The nominal model.
    law : LawSpec
        The controller.
    hold : HoldGains
        Of the safe torque.
    torque_limits : (n,) array
        [N m or N].
    torque_rate : (n,) array
        Most that a torque changes in a second; infinite for no limit.
    joining_speed : (n,) array
        With which a jump of a joint reference is made up for [rad/s or m/s].
    task : TaskLimits
        Of poses that stream in.
    state_late, state_lost : float
        Without a state for so long the loop gives the safe torque, and then none [s].
    reference_timeout : float
        A stream of poses or twists is lost after so long [s].
    patience : float
        So long the controller may be without an answer before the reference is given up [s].
    invalid_states : int
        So many invalid states in a row are a fault.
    largest_error : float
        An entry of the tracking error beyond this is a fault; infinite for none.
    other_joints : bool
        Whether states may list joints that the robot does not have.
    frame : str
        In which poses and twists must say they are; empty for any.
    """

    robot: Robot
    law: LawSpec
    hold: HoldGains
    torque_limits: Array
    torque_rate: Array
    joining_speed: Array
    task: TaskLimits = TaskLimits()
    state_late: float = 0.02
    state_lost: float = 0.25
    reference_timeout: float = 0.2
    patience: float = 0.5
    invalid_states: int = 50
    largest_error: float = np.inf
    other_joints: bool = False
    frame: str = ""

    @classmethod
    def read(cls, source: LoopOptions | Mapping[str, Any] | str | Path) -> LoopOptions:
        """Check a configuration and return it as options.

        Parameters
        ----------
        source : LoopOptions, mapping, str or path
            Options as they are; plain data; a YAML file.

        Raises
        ------
        ValueError
            Naming the key, what was expected and what came.
        """
        if isinstance(source, LoopOptions):
            return source
        given = Table(read_plain(source), "configuration")
        robot = Robot.load(given.text("robot"))
        n, limits = robot.n, robot.limits
        torques = given.positives("torque_limits", n, limits.effort, finite=False)
        speed = np.where(np.isfinite(limits.velocity), _JOINING * limits.velocity, _NO_LIMIT_SPEED)
        controller = given.table("controller")
        hold, task, times = given.table("hold"), given.table("task"), given.table("times")
        options = cls(
            robot=robot,
            law=LawSpec(controller.text("name"), controller.rest()),
            hold=HoldGains.read(hold, robot, torques),
            torque_limits=torques,
            torque_rate=given.positives("torque_rate", n, np.inf, finite=False),
            joining_speed=given.positives("joining_speed", n, speed),
            task=TaskLimits(**{name: task.positive(name, default) for name, default in vars(TaskLimits()).items()}),
            **{
                name: times.positive(name, getattr(cls, name))
                for name in ("state_late", "state_lost", "reference_timeout", "patience")
            },
            invalid_states=given.whole("invalid_states", cls.invalid_states),
            largest_error=float(given.positives("largest_error", 1, np.inf, finite=False)[0]),
            other_joints=given.flag("other_joints", False),
            frame=given.text("frame", ""),
        )
        for table in (task, times, given):
            table.done()
        return options
