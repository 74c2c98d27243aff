"""Limits, brake and control loop of an arm on a drive, the same for every loop that has one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..checks import of_kind
from ..control import MomentumObserver
from ..control.stability import warn_over_range
from ..errors import ThunderError
from ..robot import Robot
from .drives.adapter import DriveFacts
from .joint_states import JointOrder
from .safety import Safety, SafetyLimits, brake, own_or_given


class DriveParts:
    """Parts of a control loop on a drive; the drive's torque limits and rates are never exceeded.

    Parameters
    ----------
    robot : Robot
        Nominal model.
    facts : DriveFacts
        Properties of the drive.
    limits : SafetyLimits or None
        Default `SafetyLimits.of` the robot.
    observer : MomentumObserver or None
        Observer with a detector.

    Attributes
    ----------
    places : array of int
        Places of the robot's joints among those of the drive.
    limits : SafetyLimits
        Limits in use.
    channel : Channel
        Sampling, delay and lag of the loop, in the robot's order of joints.
    """

    def __init__(
        self,
        robot: Robot,
        facts: DriveFacts,
        limits: SafetyLimits | None,
        observer: MomentumObserver | None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        places = JointOrder(robot.joint_names).places(facts.joint_names)
        if places is None:
            names = ", ".join(facts.joint_names)
            raise ThunderError(f"the drive must have the joints {', '.join(robot.joint_names)}, got {names}")
        self.places, self._robot, own = places, robot, own_or_given(robot, limits)
        torque, rate = (np.asarray(x)[places] for x in (facts.torque_limits, facts.torque_rate))
        self.limits = replace(own, torque=np.minimum(own.torque, torque), torque_rate=np.minimum(own.torque_rate, rate))
        step, self._facts = facts.torque_step[places], facts
        held = robot if facts.payload is None else facts.payload.added_to(robot)
        self._safety = Safety(held, self.limits, torque_step=step, period=facts.period, observer=observer)
        self._brake = brake(held, self.limits, step, facts.period)
        self.channel = replace(facts.channel, lag=np.asarray(facts.lag)[places])
        warn_over_range(self._brake, held, self.channel, owner="the brake")

    def check(self, law: Any) -> None:
        """Raise if a drive cannot serve the controller; warn of gains that its timing does not allow."""
        if getattr(law, "sees_motors", False):
            raise ThunderError(f"{type(law).__name__} needs the motors of elastic joints, which drives do not report")
        warn_over_range(law, self._robot, self.channel)

    def loop(self, law: _core.Controller | None, **options: Any) -> _core.ControlLoop:
        """Return a loop for one run, with a controller that runs in C++ or None."""
        self._safety.reset()
        self._brake.leave()
        return _core.ControlLoop(
            self._safety,
            self._brake,
            law,
            run=True,
            watchdog=self._facts.watchdog,
            most_missed=self.limits.most_missed,
            patience=self.limits.patience,
            state_lost=np.inf,
            **options,
        )
