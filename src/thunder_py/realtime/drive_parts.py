"""Limits, brake and control loop of an arm on a drive, the same for every loop that has one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..control import MomentumObserver
from ..control.stability import warn_over_range
from ..robot import Robot
from .drives.adapter import DriveFacts
from .safety import Safety, SafetyLimits, brake, own_or_given


class DriveParts:
    """Parts of a control loop on a drive; the drive's torque limits and rates are never exceeded.

    Parameters
    ----------
    robot : Robot
        Nominal model.
    facts : DriveFacts
        Properties of the drive.
    places : array of int
        Places of the robot's joints among those of the drive.
    limits : SafetyLimits or None
        Default `SafetyLimits.of` the robot.
    observer : MomentumObserver or None
        Observer with a detector.

    Attributes
    ----------
    limits : SafetyLimits
        Limits in use.
    channel : Channel
        Sampling, delay and lag of the loop, in the robot's order of joints.
    """

    def __init__(
        self,
        robot: Robot,
        facts: DriveFacts,
        places: npt.NDArray[np.intp],
        limits: SafetyLimits | None,
        observer: MomentumObserver | None,
    ) -> None:
        own = own_or_given(robot, limits)
        torque, rate = (np.asarray(x)[places] for x in (facts.torque_limits, facts.torque_rate))
        self.limits = replace(own, torque=np.minimum(own.torque, torque), torque_rate=np.minimum(own.torque_rate, rate))
        step, self._facts = facts.torque_step[places], facts
        held = robot if facts.payload is None else facts.payload.added_to(robot)
        self._safety = Safety(held, self.limits, torque_step=step, period=facts.period, observer=observer)
        self._brake = brake(held, self.limits, step, facts.period)
        self.channel = replace(facts.channel, lag=np.asarray(facts.lag)[places])
        warn_over_range(self._brake, held, self.channel, owner="the brake")

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
