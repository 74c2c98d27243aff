"""A drive in C++ whose arm is simulated, for `RealtimeLoop`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from ... import _core
from ...checks import finite, of_kind, per_joint
from ...errors import ThunderError
from ...robot import Robot
from ...robot.payload import Payload, read_payloads
from ...simulation.sensors import ExternalTorque, ExternalWrench, read_external
from ...values import StrEnum
from .adapter import DriveFacts


class DriveFault(StrEnum):
    """A fault to inject into a `SimulatedDrive`.

    Examples
    --------
    >>> from thunder_py.realtime import DriveFault
    >>> DriveFault.silence.value
    'no new state arrives'
    """

    none = "no fault"
    error = "the drive reports an error"
    silence = "no new state arrives"
    invalid_state = "positions are not numbers"
    no_command = "commands are refused"
    missed_cycles = "the bus is blocked for 20 periods"


class SimulatedDrive(_core.SimulatedDrive):
    """Drive of a simulated arm, in C++: what `RealtimeLoop` runs on without hardware.

    It adds gravity compensation of its own, and checks commands as drives of real arms do: a step beyond the torque
    rate, a torque beyond its limit, and no command for the time of its watchdog are errors, which stay. The arm is
    integrated by the classical Runge-Kutta method.

    Parameters
    ----------
    robot : Robot
        The true arm, without elastic joints.
    q : (n,) array_like
        Positions at the start, at rest [rad or m].
    facts : DriveFacts, optional
        Properties of the drive. Default: a period of 1 ms, the robot's torque limits, a torque rate of 1000 N m/s, a
        watchdog of 20 ms. The payload of the facts is part of the drive's gravity compensation.
    payloads : Payload or sequence of Payload
        Bodies that the arm carries; the drive knows nothing of them.
    external : sequence of ExternalWrench and ExternalTorque
        External forces.
    compensates_gravity : bool
        Whether the drive adds the gravity torque of `robot`, with the payload of the facts, to every command.
    real_time : bool
        Whether states follow the computer's clock; otherwise the next state is there at once, and a loop runs as fast
        as it computes.

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.

    Raises
    ------
    ValueError
        If the robot has elastic joints, or an argument is invalid.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import SimulatedDrive
    >>> drive = SimulatedDrive(th.Robot.load("elbow"), [0.4, 0.6])
    >>> drive.q.tolist(), drive.running, drive.facts.period
    ([0.4, 0.6], False, 0.001)
    """

    def __init__(
        self,
        robot: Robot,
        q: npt.ArrayLike,
        facts: DriveFacts | None = None,
        *,
        payloads: Payload | Sequence[Payload] = (),
        external: Sequence[ExternalWrench | ExternalTorque] = (),
        compensates_gravity: bool = True,
        real_time: bool = True,
    ) -> None:
        of_kind(robot, Robot, "robot")
        if robot.elastic:
            raise ThunderError("robot must have rigid joints: drives do not report the motors of elastic joints")
        usual = DriveFacts(robot.joint_names, 1e-3, 1e-3, robot.limits.effort, 1000.0, 0.02)
        self.facts = usual if facts is None else of_kind(facts, DriveFacts, "facts")
        if self.facts.joint_names != robot.joint_names:
            raise ThunderError(f"facts must list the joints {', '.join(robot.joint_names)}")
        payload = self.facts.payload
        known = robot if payload is None else payload.added_to(robot)
        super().__init__(
            robot,
            per_joint(q, robot.n, "q"),
            period=self.facts.period,
            cycle=self.facts.cycle,
            watchdog=self.facts.watchdog,
            torque_limits=self.facts.torque_limits,
            torque_rate=self.facts.torque_rate,
            compensated=known if compensates_gravity else None,
            payloads=[(p.time, p.link_index(robot), p.parameters) for p in read_payloads(payloads, robot, True)],
            external=read_external(external, robot, True),
            real_time=bool(real_time),
        )

    def inject(self, fault: DriveFault, at: float = 0.0) -> None:
        """Begin a fault; any thread may call it while a loop runs.

        Parameters
        ----------
        fault : DriveFault
            The fault; ``none`` ends one.
        at : float
            Time since the start of the drive [s].
        """
        self._inject(list(DriveFault).index(DriveFault(fault)), finite(at, "at"))
