"""The protocol between a control loop and the drives of a real arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, all_nonnegative, nonnegative, of_kind, per_joint, positive, positives
from ...errors import ThunderError
from ...robot import Robot
from ...robot.payload import Payload
from ...sampled_loop import Channel
from ...values import Value, set_fields


class DriveError(RuntimeError):
    """A drive reported a fault, or did not take a command.

    Examples
    --------
    >>> from thunder_py.realtime import DriveError
    >>> issubclass(DriveError, RuntimeError)
    True
    """


@dataclass(frozen=True, eq=False)
class DriveFacts(Value):
    """Properties of a drive. Vectors are in the order of its joints.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the robot's joints in the order of the drive.
    period : float
        Time between two states that the adapter returns [s].
    cycle : float
        Period of the drive's own control [s], for which it checks `torque_rate`.
    torque_limits : float or (n,) array_like
        Largest commands [N m or N].
    torque_rate : float or (n,) array_like
        Largest rate of a command [N m/s or N/s]: two consecutive commands differ by at most ``torque_rate * cycle``.
    watchdog : float
        Time without a command after which the drive stops [s]; infinite for a drive without a watchdog.
    payload : Payload, optional
        Payload that the drive adds to its own gravity compensation.
    delay : float
        Delay from a state to the effect of the command that answers it [s], for which gains are checked.
    lag : float or (n,) array_like
        Time constants of the torques behind commands [s], for which gains are checked.

    Raises
    ------
    ValueError
        If a value is not positive, or a shape is wrong.

    Examples
    --------
    >>> from thunder_py.realtime import DriveFacts
    >>> facts = DriveFacts(("a", "b"), 2e-3, 1e-3, [80.0, 10.0], 1000.0, 0.02)
    >>> facts.torque_step.tolist()
    [1.0, 1.0]
    """

    joint_names: tuple[str, ...]
    period: float
    cycle: float
    torque_limits: npt.ArrayLike
    torque_rate: npt.ArrayLike
    watchdog: float = np.inf
    payload: Payload | None = None
    delay: float = 0.0
    lag: npt.ArrayLike = 0.0

    def __post_init__(self) -> None:
        """Check everything."""
        names = tuple(self.joint_names)
        if not names or len(set(names)) != len(names):
            raise ThunderError(f"joint_names must be different names, got {names!r}")

        set_fields(
            self,
            joint_names=names,
            period=positive(self.period, "period"),
            cycle=positive(self.cycle, "cycle"),
            torque_limits=positives(self.torque_limits, len(names), "torque_limits", finite=False),
            torque_rate=positives(self.torque_rate, len(names), "torque_rate", finite=False),
            watchdog=positive(self.watchdog, "watchdog", finite=False),
            delay=nonnegative(self.delay, "delay"),
            lag=all_nonnegative(per_joint(self.lag, len(names), "lag"), "lag"),
        )

    @property
    def channel(self) -> Channel:
        """Sampling, delay and lag of a loop on this drive."""
        return Channel(self.period, self.delay, self.lag)

    @property
    def torque_step(self) -> Array:
        """Largest difference of two consecutive commands, (n,) [N m or N]."""
        return np.asarray(self.torque_rate) * self.cycle


class DriveState(NamedTuple):
    """State of a drive, in the order of its joints.

    Attributes
    ----------
    stamp : int
        Time of the measurement on the drive's clock [ns].
    q, dq : (n,) array_like
        Positions and velocities [rad or m, and per second].
    gravity : (n,) array_like or None
        Torque that the drive adds to every command to compensate gravity [N m or N]; None for a drive that adds none.

    Examples
    --------
    >>> from thunder_py.realtime import DriveState
    >>> DriveState(10**9, [0.1, 0.2], [0.0, 0.0]).gravity is None
    True
    """

    stamp: int
    q: npt.ArrayLike
    dq: npt.ArrayLike
    gravity: npt.ArrayLike | None = None


def require_arm(robot: Robot, payload: Payload | None, joints: int) -> None:
    """Raise a `ThunderError` unless the robot has so many joints and the payload is on its last link."""
    of_kind(robot, Robot, "robot")
    if robot.n != joints:
        raise ThunderError(f"robot must have {joints} joints, got {robot.n}")
    if payload is not None and payload.link_index(robot) != robot.n:
        raise ThunderError(f"payload must be fixed to the last link, got link {payload.link!r}")


class DriveAdapter(Protocol):
    """Drive of an arm by torques, in SI units.

    An adapter converts units, and nothing else: it does not limit, filter or compensate. Every method may raise; the
    loop then stops the drive. No method recovers from an error of the robot, which is a decision of its user.

    Examples
    --------
    A motor of 2 kg m^2 behind a drive without gravity compensation:

    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.realtime import DriveFacts, DriveLoop, DriveState
    >>> robot = th.Robot.load("elbow")
    >>> class Simulated:
    ...     facts = DriveFacts(robot.joint_names, 1e-3, 1e-3, 100.0, 20_000.0)
    ...     q, dq, stamp = np.zeros(2), np.zeros(2), 10**9
    ...     def start(self):
    ...         self.tau = np.zeros(2)
    ...     def read(self):
    ...         self.dq = self.dq + 1e-3 * robot.forward_dynamics(self.q, self.dq, self.tau)
    ...         self.q, self.stamp = self.q + 1e-3 * self.dq, self.stamp + 10**6
    ...         return DriveState(self.stamp, self.q, self.dq)
    ...     def write(self, tau):
    ...         self.tau = tau
    ...     def stop(self):
    ...         self.tau = np.zeros(2)
    >>> law = th.ComputedTorque(robot, 100.0, 20.0)
    >>> loop = DriveLoop(Simulated(), robot, law, th.reference.SetPoint([0.1, 0.1]))
    >>> run = loop.run(2.0)
    >>> run.reason.value, run.missed
    ('the duration is over', 0)
    """

    @property
    def facts(self) -> DriveFacts:
        """Properties of the drive, constant."""

    def start(self) -> None:
        """Begin torque control with the command zero; tell the robot its payload before."""

    def read(self) -> DriveState:
        """Wait for the next state and return it."""

    def write(self, tau: Array, /) -> None:
        """Command torques without the drive's own gravity compensation, (n,)."""

    def stop(self) -> None:
        """Stop the drive at once by its own means; a second call does nothing."""
