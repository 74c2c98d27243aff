"""Adapter of pylibfranka, the Python bindings of libfranka."""

from __future__ import annotations

from typing import Any

from ...checks import Array
from ...optional import require
from ...robot import Robot
from ...robot.payload import Payload
from .adapter import DriveError, DriveFacts, DriveState
from .franka import CYCLE, drive_state, franka_facts, franka_load, raise_errors

#: the robot stops after 20 cycles without a command [s]
_WATCHDOG = 20 * CYCLE


class PylibfrankaDrive:
    """Drive of a Franka arm by pylibfranka (extra `franka`): one state and one command per millisecond.

    The robot adds the gravity torque of its own model, with the payload it was told, to every command.

    Parameters
    ----------
    host : str
        Address of the robot.
    robot : Robot
        Model with seven joints, such as the bundled ``panda``; its names and torque limits are used.
    payload : Payload, optional
        Load on the last link that the robot is told at the start; default none, which resets an earlier one.
    realtime : bool
        Require real-time scheduling of this process (libfranka's ``kEnforce``).

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.

    Raises
    ------
    MissingExtraError
        If pylibfranka is not installed.
    ThunderError
        If `robot` does not have seven joints, or `payload` is on another link.

    Notes
    -----
    Not tried on a robot. The bindings hold the GIL while they wait for a state, so other Python threads stand still.

    Examples
    --------
    The payload is known to the robot, which compensates its weight:

    >>> import thunder_py as th
    >>> from thunder_py.realtime import PylibfrankaDrive
    >>> def connected():
    ...     payload = th.Payload(0.7, com=(0.0, 0.0, 0.15))
    ...     return PylibfrankaDrive("172.16.0.2", th.Robot.load("panda"), payload=payload)

    Arms and payloads are checked before the connection:

    >>> try:
    ...     PylibfrankaDrive("172.16.0.2", th.Robot.load("elbow"))
    ... except ValueError as error:
    ...     print(error)
    robot must have 7 joints, got 2
    """

    def __init__(self, host: str, robot: Robot, *, payload: Payload | None = None, realtime: bool = True) -> None:
        self.facts: DriveFacts = franka_facts(robot, payload, CYCLE, _WATCHDOG)
        self._load = franka_load(payload)
        self._package = package = require("pylibfranka", "franka")
        config = package.RealtimeConfig
        self._robot = package.Robot(host, config.kEnforce if realtime else config.kIgnore)
        self._model = self._robot.load_model()
        self._control: Any = None

    def start(self) -> None:
        """Tell the robot its load and begin torque control."""
        self._robot.set_load(*self._load)
        self._control = self._robot.start_torque_control()

    def read(self) -> DriveState:
        """Wait for the next state and return it."""
        state, _ = self._active().readOnce()
        raise_errors(state)
        return drive_state(state, self._model)

    def write(self, tau: Array, /) -> None:
        """Command torques without gravity, (7,) [N m]."""
        self._active().writeOnce(self._package.Torques(tau.tolist()))

    def stop(self) -> None:
        """Stop the robot's motion."""
        control, self._control = self._control, None
        if control is not None:
            self._robot.stop()

    def _active(self) -> Any:
        if self._control is None:
            raise DriveError("torque control has not been started")
        return self._control
