"""Adapter of franky."""

from __future__ import annotations

from typing import Any

from ...checks import Array, positive
from ...optional import require
from ...robot import Robot
from ...robot.payload import Payload
from ..timing import Pacer
from .adapter import DriveError, DriveFacts, DriveState
from .franka import drive_state, franka_facts, franka_load

#: largest change of a torque per cycle that franky passes on [N m]
_LARGEST_STEP = 1.0
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
        self._watchdog = positive(watchdog, "watchdog", "s")
        self.facts: DriveFacts = franka_facts(robot, payload, positive(period, "period", "s"), self._watchdog)
        self._load = franka_load(payload)
        self._package = package = require("franky", "franka")
        self._pacer = Pacer(period) if pacer is None else pacer
        config = package.RealtimeConfig
        self._robot = package.Robot(host, realtime_config=config.Enforce if realtime else config.Ignore)
        self._motion: Any = None

    def start(self) -> None:
        """Tell the robot its load and begin a motion by torques."""
        self._raise_errors()
        self._robot.set_load(*self._load)
        motion = self._package.SimpleTorqueMotion(signal_timeout=self._watchdog, max_delta_tau=_LARGEST_STEP)
        self._motion = motion
        self._robot.move(motion, asynchronous=True, cutoff_frequency=_NO_LOW_PASS)

    def read(self) -> DriveState:
        """Wait for the next period and return the state."""
        self._pacer.wait()
        if self._motion is None:
            raise DriveError("torque control has not been started")
        if not self._robot.poll_motion():
            raise DriveError("the robot's motion has ended")
        self._raise_errors()
        return drive_state(self._robot.state, self._robot.model)

    def write(self, tau: Array, /) -> None:
        """Command torques without gravity, (7,) [N m]."""
        if self._motion is None:
            raise DriveError("torque control has not been started")
        self._motion.set_torque(tau)

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

    def _raise_errors(self) -> None:
        if self._robot.has_errors:
            raise DriveError("the robot has errors")
