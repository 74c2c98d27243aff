"""One simulated arm behind a drive, driven by the clock of messages, of a thread, or of a test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, finite, of_kind, per_joint, whole
from ..control.motion_states import joint_inertias, typical_states
from ..errors import ThunderError
from ..robot import Robot
from ..robot.frames import default_posture
from ..robot.payload import Payload, read_payloads
from ..simulation import PlantLike
from ..simulation.native import is_native
from ..simulation.options import initial_state
from ..simulation.sensors import ExternalTorque, ExternalWrench, read_external
from ..values import StrEnum
from .drives.adapter import DriveError, DriveFacts, DriveState
from .joint_states import DROPPED, JointOrder
from .plain_data import Table, read_plain
from .timing import Lock, Pacer, Quantiles

_LATEST = 2**63 - 1  # largest stamp [ns]
_POSTURES = 200  # among which springs have their least inertia
_NO_MOTORS = np.empty(0)
_NO_MOTORS.setflags(write=False)


class DriveFault(StrEnum):
    """A fault to inject into a `SimulatedRobot`.

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


class JointState(NamedTuple):
    """State of the joints.

    Attributes
    ----------
    stamp : int
        Time [ns].
    q, dq, tau : (n,) array
        Positions [rad or m], velocities, and applied torques [N m or N].
    safe : bool
        Whether the torque is the drive's own safe torque, for lack of commands.
    x, dx : (e,) array
        Positions and velocities of the motors of elastic joints.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import SimulatedRobot
    >>> state = SimulatedRobot(th.Robot.load("elbow")).advance(10**9)
    >>> state.stamp, state.q.shape == state.dq.shape == state.tau.shape, state.safe
    (1000000000, True, True)
    """

    stamp: int
    q: Array
    dq: Array
    tau: Array
    safe: bool
    x: Array = _NO_MOTORS
    dx: Array = _NO_MOTORS

    @property
    def positions(self) -> Array:
        """Positions of the joints and motors, in the order of `SimulatedRobot.state_names`."""
        return np.concatenate([self.q, self.x])

    @property
    def velocities(self) -> Array:
        """Velocities in the same order."""
        return np.concatenate([self.dq, self.dx])


class SimulatedRobot(_core.SimulatedRobot):
    """Plant of `simulate` behind a drive with a watchdog, in whole periods of a clock.

    Time is driven in one of three ways:

    - by messages: `advance` integrates up to a time of any clock, `command` takes torques that answer a state. Commands
      are clipped to the torque limits; those that are late, repeated, reordered or invalid are refused and counted.
    - by a loop: it is a drive for `RealtimeLoop`, and a `DriveAdapter` for `DriveLoop`. Between `start` and `stop`
      commands are checked as drives of real arms do: a step beyond the torque rate, a torque beyond its limit, and no
      command for the time of the watchdog are errors, which stay.
    - in test time, with ``real_time=False``: the next state is there at once, and a loop runs as fast as it computes.

    Without a valid command for the time of the watchdog, the drive applies its safe torque until the next one: gravity
    of the model that it knows, and braking as that of the loop, without a spring.

    Parameters
    ----------
    plant : Robot, PlantLike, mapping or path
        The true arm: rigid or elastic, or written in Python, such as a `MujocoPlant`. Steps with stiff friction are
        implicit, and periods are divided for stiff springs. Plain data, or a YAML file that holds it, describes the
        arm of a node, and stands alone beside what a drive does. Keys: ``robot`` (name or file); ``q0``
        ((n,)); ``payloads`` (list of mappings with the arguments of `Payload`); ``period`` of the plant and of its
        states (0.001 s); ``watchdog`` (0.05 s); ``torque_limits`` (default the robot's).
    q0 : (n,) array_like, optional
        Positions at the start [rad or m]; default the middle of the joint limits, else the position nearest to 0
        within them. Motors start where their springs balance gravity.
    facts : DriveFacts, optional
        Properties of the drive. Default: a period of 1 ms, the robot's torque limits, a torque rate of 1000 N m/s, a
        watchdog of 20 ms. The payload of the facts is part of the model that the drive knows.
    known : Robot, optional
        Model that the drive knows; default `plant`, or its attribute ``robot``.
    dq0 : (n,) array_like, optional
        Velocities at the start; default at rest.
    payloads : Payload or sequence of Payload
        Bodies that the arm carries, from their time on; the drive knows nothing of them.
    external : sequence of ExternalWrench and ExternalTorque
        External forces.
    compensates_gravity : bool
        Whether the drive adds the gravity torque of the model that it knows to every command; by default it does,
        unless `plant` is plain data.
    real_time : bool
        Whether a loop's states follow the computer's clock.
    integrator : {"rk4", "implicit_midpoint", "semi_implicit_euler", "plant"}
        As in `simulate`.

    Attributes
    ----------
    facts : DriveFacts
        Properties of the drive.
    robot : Robot
        The model that the drive knows, without the payload of the facts.
    taken, clipped : int
        Numbers of accepted commands of messages, and of those that were clipped.
    slipped : float
        Time that was skipped, because the computer was blocked [s].

    Raises
    ------
    ValueError
        If an argument is invalid, or `known` is missing.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import SimulatedRobot
    >>> arm, now = SimulatedRobot(th.Robot.load("elbow"), [0.4, 0.6], compensates_gravity=False), 10**9
    >>> state = arm.advance(now)
    >>> arm.command(state.stamp, now, arm.joint_names, state.tau) is None  # accepted
    True
    >>> arm.advance(now + 10**7).safe, arm.advance(now + 10**8).safe  # 10 ms and 100 ms later
    (False, True)
    """

    def __init__(
        self,
        plant: Robot | PlantLike | Mapping[str, Any] | str | Path,
        q0: npt.ArrayLike | None = None,
        facts: DriveFacts | None = None,
        *,
        known: Robot | None = None,
        dq0: npt.ArrayLike | None = None,
        payloads: Payload | Sequence[Payload] = (),
        external: Sequence[ExternalWrench | ExternalTorque] = (),
        compensates_gravity: bool | None = None,
        real_time: bool = True,
        integrator: str = "rk4",
    ) -> None:
        of_node = isinstance(plant, (Mapping, str, Path))
        if isinstance(plant, (Mapping, str, Path)):
            if q0 is not None or facts is not None or known is not None or dq0 is not None or payloads or external:
                raise ThunderError("plant must be a Robot or a plant beside other arguments; plain data stands alone")
            plant, q0, facts, payloads = _read_options(plant)
        native = is_native(plant, Robot, "forward_dynamics")
        own = plant if isinstance(plant, Robot) else getattr(plant, "robot", None)
        self.robot = robot = of_kind(own if known is None else known, Robot, "known")
        if robot.n != plant.n:
            raise ThunderError(f"known must have the {plant.n} joints of the plant, got {robot.n}")
        usual = DriveFacts(robot.joint_names, 1e-3, 1e-3, robot.limits.effort, 1000.0, 0.02)
        self.facts: DriveFacts = usual if facts is None else of_kind(facts, DriveFacts, "facts")
        if self.facts.joint_names != robot.joint_names:
            raise ThunderError(f"facts must list the joints {', '.join(robot.joint_names)}")
        if self.facts.period < 1e-9:
            raise ThunderError(f"period must be at least 1 ns, got {self.facts.period:g} s")
        bodies = read_payloads(payloads, plant, native)
        q = default_posture(robot) if q0 is None else per_joint(q0, robot.n, "q0")
        payload = self.facts.payload
        super().__init__(
            plant,
            initial_state(plant, bodies, q, dq0, None, None),
            robot if payload is None else payload.added_to(robot),
            period=self.facts.period,
            cycle=self.facts.cycle,
            watchdog=self.facts.watchdog,
            torque_limits=self.facts.torque_limits,
            torque_rate=self.facts.torque_rate,
            payloads=[(p.time, p.link_index(robot), p.parameters) for p in bodies],
            external=read_external(external, plant, native),
            compensates_gravity=not of_node if compensates_gravity is None else bool(compensates_gravity),
            real_time=bool(real_time),
            parts=_parts(plant, self.facts.period) if isinstance(plant, Robot) else 1,
            integrator=integrator,
        )
        self._order, self._lock = JointOrder(robot.joint_names), Lock()
        self._pacer = Pacer(self.facts.period) if real_time else None
        self._last: DriveState | None = None

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of commands."""
        return self.robot.joint_names

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the joints, then of the motors of elastic joints, in the order of `JointState.positions`."""
        return self.robot.joint_names + self.robot.motor_names

    # --- messages

    def advance(self, now: int) -> JointState:
        """Integrate up to `now` [ns] in whole periods and return the state there.

        If more than 50 ms, and more than five periods, are missing, because the machine is slow or was blocked, they
        are skipped (`slipped`). If the clock was set back, the plant continues at its new time.
        """
        now = whole(now, "now", -_LATEST, _LATEST)
        with self._lock:
            self._advance(now)
            return JointState(*self._state)

    def command(self, stamp: int, now: int, names: Sequence[str], tau: npt.ArrayLike) -> str | None:
        """Take a torque command; return None, or the reason for a refusal.

        A command answers a joint state and carries its stamp. One for a state older than the watchdog's time is late.
        One that repeats a stamp, or answers an earlier state, indicates a controller that is stuck or a network that
        reorders messages. None of these resets the watchdog. If the clock was set back, no command is valid, and the
        next one may have any stamp.

        Parameters
        ----------
        stamp, now : int
            Stamp of the state that it answers, and time of its reception [ns].
        names : sequence of str
            Names of the joints, in any order.
        tau : array_like
            Torques in the order of the names [N m or N].
        """
        with self._lock:
            why = self._command(stamp, now, self._order.places(names), len(names), tau)
            return None if why is None else DROPPED[why]

    @property
    def refused(self) -> dict[str, int]:
        """Numbers of refused commands by reason."""
        return dict(zip(DROPPED, self._refused, strict=True))

    def report(self) -> dict[str, str | int | float]:
        """Return the source of the torque, counts and timing as texts and numbers; times in seconds."""
        with self._lock:
            return {
                "torque": "failed: the plant ran away" if self.failed else "safe" if self.safe else "commanded",
                "commands taken": self.taken,
                "commands clipped": self.clipped,
                **{f"commands refused: {why}": count for why, count in self.refused.items()},
                "slipped": self.slipped,
                **{f"command age {key}": value for key, value in Quantiles._of(self._age).summary().items()},
            }

    # --- a drive for loops

    def start(self) -> None:
        """Begin torque control with the command zero."""
        if not self._start():
            raise DriveError("the simulated drive has reported a fault before")

    def read(self) -> DriveState:
        """Wait for the next state and return it."""
        if self._pacer is not None:
            self._pacer.wait()
        if not self.running:
            raise DriveError("torque control has not been started")
        try:
            state = self._read()
        except RuntimeError as error:
            raise DriveError(str(error)) from None
        if state is not None:
            self._last = DriveState(*state)
        return DriveState(0, self.q, self.dq) if self._last is None else self._last

    def write(self, tau: Array, /) -> None:
        """Command torques without the drive's own gravity compensation, (n,) [N m or N]."""
        if not self.running:
            raise DriveError("torque control has not been started")
        if not self._write(tau):
            raise DriveError("the simulated drive refused a command")

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


def _parts(robot: Robot, period: float) -> int:
    """Return the steps of a period: in each the springs turn by at most one radian of their vibration."""
    if not robot.elastic:
        return 1
    least, rates = joint_inertias(robot, typical_states(robot, 0.0).q[:_POSTURES]).min(axis=0), [0.0]
    for drive in robot.elastic:
        if drive.Mm <= 0.0:
            raise ThunderError(f"robot must have inertia at both ends of each spring, got {robot.name}")
        inverse = 1.0 / drive.Mm + 1.0 / least[drive.joint - 1]
        damping = sum(row[0] for row in (drive.D, drive.Dm) if row)
        rates += [math.sqrt(abs(drive.K[0]) * inverse), damping * inverse]
    return max(1, math.ceil(period * max(rates)))


def _read_options(source: Mapping[str, Any] | str | Path) -> tuple[Robot, Any, DriveFacts, list[Payload]]:
    """Return the arm, its positions at the start, its drive and its payloads."""
    table = Table(read_plain(source), "configuration")
    robot = Robot.load(table.text("robot"))
    limits = table.positives("torque_limits", robot.n, robot.limits.effort, finite=False)
    period, watchdog = table.positive("period", 1e-3), table.positive("watchdog", 0.05)
    facts = DriveFacts(robot.joint_names, period, period, limits, np.inf, watchdog)
    found = robot, table.get("q0"), facts, _payloads(table.get("payloads", []))
    table.done()
    return found


def _payloads(entries: object) -> list[Payload]:
    if not isinstance(entries, Sequence) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ThunderError(f"configuration: payloads must be a list of mappings, got {entries!r}")
    try:
        return [Payload(**entry) for entry in entries]
    except TypeError as error:
        raise ThunderError(f"configuration: payloads: {error}") from error
