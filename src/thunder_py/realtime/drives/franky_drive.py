"""Adapter of franky."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...checks import Array, positive
from ...optional import require
from ...robot import Robot
from ...robot.payload import Payload
from ..timing import Pacer
from .adapter import DriveError, DriveFacts, DriveState, require_arm

#: period of the robot's control [s]
_CYCLE = 1e-3
_JOINTS = 7
#: origin of the flange in the frame of the seventh link [m]
_FLANGE = np.array([0.0, 0.0, 0.107])
#: largest change of a torque per cycle that franky passes on [N m], and the rate with a margin for rounding [N m/s]
_LARGEST_STEP, _TORQUE_RATE = 1.0, 999.0
#: frequency from which on libfranka passes commands unfiltered (its kMaxCutoffFrequency) [Hz]
_NO_LOW_PASS = 1000.0
#: longest time that franky takes to brake the arm, and a margin [s]
_LONGEST_STOP = 2.5


class FrankyDrive:
    """Drive of a Franka arm by franky (extra `franka`): a thread of franky sends the last command each millisecond.

    The robot adds the gravity torque of its own model, with the payload it was told, to every command. Without a new
    command for `watchdog` franky ends the motion.

    Parameters
    ----------
    host : str
        Address of the robot.
    robot : Robot
        Model with seven joints, such as the bundled ``panda``; its names and torque limits are used.
    payload : Payload, optional
        Load on the last link that the robot is told at the start; default none, which resets an earlier one.
    period : float
        Time between states [s].
    watchdog : float
        Time without a command after which franky ends the motion [s].
    realtime : bool
        Require real-time scheduling of this process.
    pacer : Pacer, optional
        Clock that waits for the next period; default one of `period`.

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.

    Raises
    ------
    MissingExtraError
        If franky is not installed.
    ThunderError
        If `robot` does not have seven joints, `payload` is on another link, or a time is not positive.

    Notes
    -----
    Not tried on a robot. The low-pass of franky's commands is switched off.

    Examples
    --------
    The payload is known to the robot, which compensates its weight:

    >>> import thunder_py as th
    >>> from thunder_py.realtime import FrankyDrive
    >>> def connected():
    ...     payload = th.Payload(0.7, com=(0.0, 0.0, 0.15))
    ...     return FrankyDrive("172.16.0.2", th.Robot.load("panda"), payload=payload)

    Arms and payloads are checked before the connection:

    >>> try:
    ...     FrankyDrive("172.16.0.2", th.Robot.load("elbow"))
    ... except ValueError as error:
    ...     print(error)
    robot must have 7 joints, got 2
    """

    def __init__(
        self,
        host: str,
        robot: Robot,
        *,
        payload: Payload | None = None,
        period: float = 2e-3,
        watchdog: float = 0.05,
        realtime: bool = True,
        pacer: Pacer | None = None,
    ) -> None:
        require_arm(robot, payload, _JOINTS)
        effort, timeout = robot.limits.effort, positive(watchdog, "watchdog", "s")
        self.facts: DriveFacts = DriveFacts(
            robot.joint_names, positive(period, "period", "s"), _CYCLE, effort, _TORQUE_RATE, timeout, payload
        )
        self._package = package = require("franky", "franka")
        self._pacer = Pacer(period) if pacer is None else pacer
        config = package.RealtimeConfig
        self._robot = package.Robot(host, realtime_config=config.Enforce if realtime else config.Ignore)
        self._motion: Any = None

    def start(self) -> None:
        """Tell the robot its load and begin a motion by torques."""
        self._raise_errors()
        payload = Payload(0.0) if self.facts.payload is None else self.facts.payload
        com = np.asarray(payload.com) - _FLANGE if payload.mass else np.zeros(3)
        self._robot.set_load(payload.mass, com.tolist(), np.asarray(payload.inertia).ravel("F").tolist())
        motion = self._package.SimpleTorqueMotion(signal_timeout=self.facts.watchdog, max_delta_tau=_LARGEST_STEP)
        self._motion = motion
        self._robot.move(motion, asynchronous=True, cutoff_frequency=_NO_LOW_PASS)

    def read(self) -> DriveState:
        """Wait for the next period and return the state."""
        self._pacer.wait()
        self._active()
        if not self._robot.poll_motion():
            raise DriveError("the robot's motion has ended")
        self._raise_errors()
        state = self._robot.state
        return DriveState(round(1e9 * state.time.to_sec()), state.q, state.dq, self._robot.model.gravity(state))

    def write(self, tau: Array, /) -> None:
        """Command torques without gravity, (7,) [N m]."""
        self._active().set_torque(tau)

    def stop(self) -> None:
        """Brake by franky's stop of torque motions; stop the robot if that does not end."""
        motion, self._motion = self._motion, None
        if motion is None:
            return
        if self._robot.is_in_control:
            self._robot.move(self._package.TorqueStopMotion(), asynchronous=True)
            if self._robot.join_motion(timeout=_LONGEST_STOP):
                return
        self._robot.stop()

    def _active(self) -> Any:
        if self._motion is None:
            raise DriveError("torque control has not been started")
        return self._motion

    def _raise_errors(self) -> None:
        if self._robot.has_errors:
            raise DriveError("the robot has errors")
