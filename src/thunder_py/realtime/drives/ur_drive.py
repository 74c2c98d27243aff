"""Adapter of ur_rtde."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, positive, within
from ...errors import ThunderError
from ...optional import require
from ...robot import Robot
from ...robot.payload import Payload
from .adapter import DriveError, DriveFacts, DriveState, require_arm

#: period of the robot's control [s]
_CYCLE = 2e-3
_JOINTS = 6
#: height of a center of mass at the origin, because zero stands for the robot's present one [m]
_NOT_ZERO = 1e-6
#: time in which the default torque rate reaches the torque limits [s]
_RAMP = 0.1


class URDrive:
    """Drive of an arm of Universal Robots by ur_rtde (extra `ur`): one state and one command in two milliseconds.

    The robot adds a gravity torque, with the payload it was told, to every command. It does not report it, so the
    gravity torque is computed from `robot` with `payload`. The difference from the robot's own model acts on the arm
    like an error of the controller's parameters.

    Parameters
    ----------
    host : str
        Address of the robot.
    robot : Robot
        Model with six joints, such as the bundled ``ur5e``, whose last frame is the tool flange.
    payload : Payload, optional
        Load on the last link that the robot is told at the start, and that is part of the gravity torque; default
        none, which resets an earlier one.
    torque_rate : float or (6,) array_like, optional
        Largest rate of a command [N m/s]; default ten times the torque limits per second. Universal Robots publishes
        no limit.
    viscous, coulomb : sequence of six floats, optional
        Compensated parts of the friction, 0 to 1; default those of ur_rtde. Use zeros with a controller that has a
        friction model. The program of ur_rtde 1.6.5 on the robot does not pass them on (see Notes).
    watchdog : float
        Time without a command after which the robot stops the program [s].

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.

    Raises
    ------
    MissingExtraError
        If ur_rtde is not installed.
    ThunderError
        If `robot` does not have six joints, `payload` is on another link, or another argument is invalid.

    Notes
    -----
    Not tried on a robot. From the text of the program that ur_rtde 1.6.5 sends to the robot: torques are passed on from
    PolyScope 5.26 on; the scales of friction are read into variables that ``direct_torque`` does not get, so it gets
    zeros; a center of mass of exactly zero stands for the present one, which the adapter avoids by a micrometer.

    Examples
    --------
    The payload is known to the robot, which compensates its weight:

    >>> import thunder_py as th
    >>> from thunder_py.realtime import URDrive
    >>> def connected():
    ...     payload = th.Payload(0.7, com=(0.0, 0.0, 0.15))
    ...     return URDrive("192.168.56.101", th.Robot.load("ur5e"), payload=payload)

    Arms and payloads are checked before the connection:

    >>> try:
    ...     URDrive("192.168.56.101", th.Robot.load("elbow"))
    ... except ValueError as error:
    ...     print(error)
    robot must have 6 joints, got 2
    """

    def __init__(
        self,
        host: str,
        robot: Robot,
        *,
        payload: Payload | None = None,
        torque_rate: npt.ArrayLike | None = None,
        viscous: Sequence[float] | None = None,
        coulomb: Sequence[float] | None = None,
        watchdog: float = 0.1,
    ) -> None:
        require_arm(robot, payload, _JOINTS)
        self._payload = payload
        self._model = robot if payload is None else payload.added_to(robot)
        self._friction = _scales(viscous_scale=viscous, coulomb_scale=coulomb)
        effort, timeout = robot.limits.effort, positive(watchdog, "watchdog", "s")
        rate = effort / _RAMP if torque_rate is None else torque_rate
        self.facts: DriveFacts = DriveFacts(robot.joint_names, _CYCLE, _CYCLE, effort, rate, timeout, payload)
        control, receive = require("rtde_control", "ur"), require("rtde_receive", "ur")
        self._control = control.RTDEControlInterface(host, 1.0 / _CYCLE)
        self._receive = receive.RTDEReceiveInterface(host, 1.0 / _CYCLE)
        self._period: Any = None

    def start(self) -> None:
        """Tell the robot its payload and start its watchdog, which every command resets."""
        self._raise_faults()
        payload = Payload(0.0) if self._payload is None else self._payload
        com = np.asarray(payload.com) if np.any(payload.com) else np.array([0.0, 0.0, _NOT_ZERO])
        if not self._control.setPayload(payload.mass, com.tolist()):
            raise DriveError("the robot did not take the payload")
        if not self._control.setWatchdog(1.0 / self.facts.watchdog):
            raise DriveError("the robot did not start its watchdog")
        self._period = self._receive.initPeriod()

    def read(self) -> DriveState:
        """Wait for the next period and return the state."""
        if self._period is None:
            raise DriveError("torque control has not been started")
        self._receive.waitPeriod(self._period)
        self._period = self._receive.initPeriod()
        self._raise_faults()
        q = self._receive.getActualQ()
        stamp = round(1e9 * self._receive.getTimestamp())
        return DriveState(stamp, q, self._receive.getActualQd(), self._model.gravity_vector(q))

    def write(self, tau: Array, /) -> None:
        """Command torques without gravity, (6,) [N m]."""
        if self._period is None:
            raise DriveError("torque control has not been started")
        if not self._control.directTorque(tau.tolist(), **self._friction):
            raise DriveError("the robot did not take the torques")

    def stop(self) -> None:
        """End the program of ur_rtde on the robot, which then holds its position."""
        period, self._period = self._period, None
        if period is not None:
            self._control.stopScript()

    def _raise_faults(self) -> None:
        receive = self._receive
        if not (receive.isConnected() and self._control.isConnected()):
            raise DriveError("the connection to the robot is lost")
        if receive.isEmergencyStopped():
            raise DriveError("the robot is in an emergency stop")
        if receive.isProtectiveStopped():
            raise DriveError("the robot is in a protective stop")
        if not self._control.isProgramRunning():
            raise DriveError("the program of ur_rtde on the robot has ended")


def _scales(**given: Sequence[float] | None) -> dict[str, list[float]]:
    """Return the given scales of friction."""
    scales = {name: list(values) for name, values in given.items() if values is not None}
    for name, values in scales.items():
        if len(values) != _JOINTS:
            raise ThunderError(f"{name} must be {_JOINTS} numbers, got {len(values)}")
        for value in values:
            within(value, name, 0.0, 1.0)
    return scales
