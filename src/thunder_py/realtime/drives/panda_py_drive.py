"""Adapter of panda-py."""

from __future__ import annotations

from typing import Any

from ...checks import Array, positive
from ...optional import require
from ...robot import Robot
from ...robot.payload import Payload
from .adapter import DriveError, DriveFacts, DriveState
from .franka import drive_state, franka_facts, franka_load, raise_errors
from .watchdog import Watchdog


class PandaPyDrive:
    """Drive of a Franka arm by panda-py (extra `franka`): a thread of panda-py sends the last command each millisecond.

    The robot adds the gravity torque of its own model, with the payload it was told, to every command. panda-py's
    ``AppliedTorque`` repeats the last command forever; a thread of this adapter stops it after `watchdog`.

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
        Time without a command after which this adapter stops panda-py's controller [s].
    realtime : bool
        Require real-time scheduling of this process (libfranka's ``kEnforce``).

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.

    Raises
    ------
    MissingExtraError
        If panda-py is not installed.
    ThunderError
        If `robot` does not have seven joints, `payload` is on another link, or a time is not positive.

    Notes
    -----
    Not tried on a robot. panda-py starts its control with libfranka's defaults, a low-pass of 100 Hz and a limit of the
    torque rate, and adds torques of its virtual walls near the position limits.

    Examples
    --------
    The payload is known to the robot, which compensates its weight:

    >>> import thunder_py as th
    >>> from thunder_py.realtime import PandaPyDrive
    >>> def connected():
    ...     payload = th.Payload(0.7, com=(0.0, 0.0, 0.15))
    ...     return PandaPyDrive("172.16.0.2", th.Robot.load("panda"), payload=payload)

    Arms and payloads are checked before the connection:

    >>> try:
    ...     PandaPyDrive("172.16.0.2", th.Robot.load("elbow"))
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
    ) -> None:
        self._timeout = positive(watchdog, "watchdog", "s")
        self.facts: DriveFacts = franka_facts(robot, payload, positive(period, "period", "s"), self._timeout)
        self._load = franka_load(payload)
        package = require("panda_py", "franka")
        self._controllers = require("panda_py.controllers", "franka")
        config = package.libfranka.RealtimeConfig
        self._panda = package.Panda(host, realtime_config=config.kEnforce if realtime else config.kIgnore)
        self._model = self._panda.get_model()
        self._law: Any = None
        self._context: Any = None
        self._watchdog: Watchdog | None = None

    def start(self) -> None:
        """Tell the robot its load and start panda-py's controller of torques."""
        self._panda.refresh_state()
        raise_errors(self._panda.get_state())  # start_controller would clear them
        self._panda.get_robot().set_load(*self._load)
        self._law = self._controllers.AppliedTorque()
        self._panda.start_controller(self._law)
        self._context = self._panda.create_context(1.0 / self.facts.period).__enter__()
        self._watchdog = Watchdog(self._timeout, self._panda.stop_controller)

    def read(self) -> DriveState:
        """Wait for the next period and return the state."""
        self._alive()
        self._context.ok()  # raises the robot's errors
        if not self._panda.is_moving():
            raise DriveError("panda-py's controller has ended")
        state = self._panda.get_state()
        raise_errors(state)
        return drive_state(state, self._model)

    def write(self, tau: Array, /) -> None:
        """Command torques without gravity, (7,) [N m]."""
        watchdog = self._alive()
        self._law.set_control(tau)
        watchdog.kick()

    def stop(self) -> None:
        """Stop panda-py's controller."""
        law, self._law, self._context = self._law, None, None
        if self._watchdog is not None:
            self._watchdog.stop()
        if law is not None:
            self._panda.stop_controller()

    def _alive(self) -> Watchdog:
        """Return the watchdog of a controller that runs."""
        if self._law is None or self._watchdog is None:
            raise DriveError("torque control has not been started")
        if self._watchdog.expired:
            raise DriveError("the watchdog has stopped panda-py's controller")
        return self._watchdog
