"""The package's plant in real time, with the watchdog of a drive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, per_joint, whole
from ..errors import ThunderError
from ..robot import Robot
from ..robot.payload import Payload
from ..values import Stateful
from .hold import braking_rate, least_inertia, safe_torque
from .joint_states import JointOrder
from .plain_data import Table, read_plain
from .timing import Lock, Quantiles

#: reasons for refusing a command
REFUSED = ("names", "size", "not_finite", "repeated", "reordered", "late", "future")
#: a clock this far behind the last command was set back [ns]
CLOCK_BACK = 100_000_000


class CommandGate:
    """Accept torque commands in the order of their states, with a watchdog.

    A command answers a joint state and carries its stamp. A command for a state older than the watchdog's time is
    late. One that repeats a stamp, or answers an earlier state, indicates a controller that is stuck or a network that
    reorders messages. None of these resets the watchdog. If the clock was set back, no command is valid, and the next
    one may have any stamp.

    Parameters
    ----------
    order : JointOrder
        The robot's joints.
    limits : (n,) array
        Torques are clipped to plus and minus these [N m or N].
    watchdog : float
        Time for which a command is valid [s].

    Attributes
    ----------
    refused : dict of str to int
        Numbers of refused commands by reason (`REFUSED`).
    taken, clipped : int
        Numbers of accepted commands, and of those clipped to the limits.
    """

    def __init__(self, order: JointOrder, limits: Array, watchdog: float) -> None:
        self._order, self._limits, self._watchdog = order, limits, round(1e9 * watchdog)
        self.refused = dict.fromkeys(REFUSED, 0)
        self.taken = self.clipped = 0
        self._stamp = 0
        self._received: int | None = None
        self._tau = np.zeros_like(limits)

    def take(self, stamp: int, now: int, names: Sequence[str], tau: npt.ArrayLike) -> str | None:
        """Accept a command received at `now` [ns]; return None, or the reason for a refusal."""
        if self._received is not None and self._received - now > CLOCK_BACK:
            self._stamp, self._received = 0, None
        why = self._late(stamp, now)
        if why is None:
            places = self._order.places(names)
            try:
                values = np.asarray(tau, dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
            if places is None:
                why = "names"
            elif values.shape != (len(names),):
                why = "size"
            elif not np.isfinite(values).all():
                why = "not_finite"
            else:
                self._accept(stamp, now, values[places])
                return None
        self.refused[why] += 1
        return why

    def _late(self, stamp: int, now: int) -> str | None:
        if stamp == self._stamp:
            return "repeated"
        if stamp < self._stamp:
            return "reordered"
        if now - stamp > self._watchdog:
            return "late"
        return "future" if stamp > now else None

    def _accept(self, stamp: int, now: int, tau: Array) -> None:
        self._tau = np.clip(tau, -self._limits, self._limits)
        self.taken += 1
        self.clipped += bool((self._tau != tau).any())
        self._stamp, self._received = stamp, now

    def torque(self, now: int) -> Array | None:
        """Return the valid torque, (n,); None if the last command is too old or there is none."""
        if self._received is None or not -CLOCK_BACK <= now - self._received <= self._watchdog:
            return None
        return self._tau


_LATEST = 2**63 - 1  # largest stamp [ns]
#: longest time that is integrated in one call [s]; the rest is skipped
_LONGEST_CATCH_UP = 0.05
#: largest speed of an arm [rad/s or m/s]; beyond it the plant stops
_FASTEST = 1e3


_NO_MOTORS = np.empty(0)
_NO_MOTORS.setflags(write=False)


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
    >>> from thunder_py.realtime import SimulatedRobot
    >>> state = SimulatedRobot({"robot": "elbow"}).advance(10**9)
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


class SimulatedRobot(Stateful):
    """Simulated arm that is driven by torque commands and integrates up to the present time.

    Without a valid command for the time of its watchdog, the drive applies its safe torque until the next one: gravity
    of the nominal model without payloads and braking as that of the loop, without a spring. Motors start
    where their springs balance gravity. Periods are divided for stiff springs.

    Parameters
    ----------
    options : mapping, str or path
        Plain data, or a YAML file that holds it. Keys: ``robot`` (name or file); ``q0`` ((n,), default the middle of
        the joint limits); ``payloads`` (list of mappings with the arguments of `Payload`); ``period`` of the plant and
        of its states (0.001 s); ``watchdog`` (0.05 s); ``torque_limits`` (default the robot's).

    Attributes
    ----------
    robot : Robot
        The nominal model.
    period : float
        Period [s].
    gate : CommandGate
        Input of commands.
    age : Quantiles
        Age of commands on reception, from the stamp of the state that they answer [s].
    slipped : float
        Skipped time [s].

    Raises
    ------
    ValueError
        If the configuration is invalid.

    Examples
    --------
    >>> from thunder_py.realtime import SimulatedRobot
    >>> robot, now = SimulatedRobot({"robot": "elbow", "period": 0.001}), 10**9
    >>> state = robot.advance(now)
    >>> robot.command(state.stamp, now, robot.joint_names, state.tau) is None  # accepted
    True
    >>> robot.advance(now + 10**7).safe, robot.advance(now + 10**8).safe  # 10 ms and 100 ms later
    (False, True)
    """

    def __init__(self, options: Mapping[str, Any] | str | Path) -> None:
        table = Table(read_plain(options), "configuration")
        robot = self.robot = Robot.load(table.text("robot"))
        n = robot.n
        self._limits = table.positives("torque_limits", n, robot.limits.effort, finite=False)
        self.period = table.positive("period", 1e-3)
        self._step = round(1e9 * self.period)
        if self._step < 1:
            raise ThunderError(f"configuration: period must be at least 1 ns, got {self.period:g} s")
        self._parts = _parts(robot, self.period)
        watchdog = table.positive("watchdog", 0.05)
        self._safe_torque = safe_torque(robot, braking_rate(self.period), self._limits)
        self._payloads = _payloads(table.get("payloads", []), robot)
        q0 = table.get("q0")
        q = _middle(robot) if q0 is None else per_joint(q0, n, "configuration: q0").copy()
        # positions and velocities of the joints, then of the motors
        self._position = np.concatenate([q, robot.elastic_equilibrium(q)]) if robot.elastic else q
        self._velocity = np.zeros_like(self._position)
        table.done()
        self.gate = CommandGate(JointOrder(robot.joint_names), self._limits, watchdog)
        self.age, self.slipped, self.failed = Quantiles(), 0.0, False
        self._lock = Lock()
        self._start: int | None = None
        self._time = 0
        self._loaded = robot

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of commands."""
        return self.robot.joint_names

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the joints, then of the motors of elastic joints, in the order of `JointState.positions`."""
        return self.robot.joint_names + self.robot.motor_names

    def command(self, stamp: int, now: int, names: Sequence[str], tau: npt.ArrayLike) -> str | None:
        """Accept a torque command; return None, or the reason for a refusal.

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
            why = self.gate.take(stamp, now, names, tau)
            if why is None:
                self.age.add(1e-9 * (now - stamp))
            return why

    def advance(self, now: int) -> JointState:
        """Integrate up to `now` [ns] in whole periods and return the state there.

        If more than 50 ms are missing, because the machine is slow or was blocked, they are skipped (`slipped`). If the
        clock was set back, the plant continues at its new time.
        """
        now = whole(now, "now", -_LATEST, _LATEST)
        with self._lock:
            if self._start is None:
                self._start = self._time = now
            if self._time - now > CLOCK_BACK:
                self._start, self._time = self._start + now - self._time, now
            if now - self._time > 1e9 * _LONGEST_CATCH_UP:
                behind = (now - self._time) // self._step * self._step
                self.slipped += 1e-9 * behind
                self._time += behind
            while self._time + self._step <= now:
                tau, _ = self._torque(self._time)
                if not self.failed:
                    self._integrate(tau)
                self._time += self._step
            tau, safe = self._torque(self._time)
            n = self.robot.n
            joints, motors = (self._position[:n], self._velocity[:n]), (self._position[n:], self._velocity[n:])
            return JointState(self._time, *joints, tau, safe, *motors)

    def _torque(self, now: int) -> tuple[Array, bool]:
        tau = self.gate.torque(now)
        if tau is not None:
            return tau, False
        (q, x), (dq, dx) = np.split(self._position, [self.robot.n]), np.split(self._velocity, [self.robot.n])
        self._safe_torque.leave()  # no spring
        return self._safe_torque.step(1e-9 * now, q, dq, x, dx), True

    def _integrate(self, tau: Array) -> None:
        """Integrate one period as `simulate` does."""
        assert self._start is not None
        while self._payloads and self._payloads[0].time <= 1e-9 * (self._time - self._start):
            self._loaded = self._payloads.pop(0).added_to(self._loaded)
        (q, x), (dq, dx) = (np.split(values, [self.robot.n]) for values in (self._position, self._velocity))
        state = np.concatenate([q, dq, x, dx])
        state = _core.advance_arm(self._loaded, state, tau, self.period / self._parts, self._parts)
        n, e = self.robot.n, self.robot.e
        q, dq, x, dx = np.split(state, [n, 2 * n, 2 * n + e])
        position, velocity = np.concatenate([q, x]), np.concatenate([dq, dx])
        if velocity @ velocity < _FASTEST**2:
            self._position, self._velocity = position, velocity
        else:
            self.failed = True
            self._velocity = np.zeros_like(velocity)

    def report(self) -> dict[str, str | int | float]:
        """Return the robot's state, counts and timing as texts and numbers; times in seconds."""
        with self._lock:
            safe = self.gate.torque(self._time) is None
            return {
                "torque": "failed: the plant ran away" if self.failed else "safe" if safe else "commanded",
                "commands taken": self.gate.taken,
                "commands clipped": self.gate.clipped,
                **{f"commands refused: {why}": count for why, count in self.gate.refused.items()},
                "slipped": self.slipped,
                **{f"command age {key}": value for key, value in self.age.summary().items()},
            }


def _parts(robot: Robot, period: float) -> int:
    """Return the steps of a period: in each the springs turn by at most one radian of their vibration."""
    least, rates = least_inertia(robot) if robot.elastic else np.zeros(0), [0.0]
    for drive in robot.elastic:
        if drive.Mm <= 0.0 or least[drive.joint - 1] <= 0.0:
            raise ThunderError(f"robot must have inertia at both ends of each spring, got {robot.name}")
        inverse = 1.0 / drive.Mm + 1.0 / least[drive.joint - 1]
        damping = sum(row[0] for row in (drive.D, drive.Dm) if row)
        rates += [math.sqrt(abs(drive.K[0]) * inverse), damping * inverse]
    return max(1, math.ceil(period * max(rates)))


def _middle(robot: Robot) -> Array:
    """Return the middle of the joint limits, zero where there are none."""
    low, high = robot.limits.lower, robot.limits.upper
    bounded = np.isfinite(low) & np.isfinite(high)
    middle: Array = np.where(bounded, 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)), 0.0)
    return middle


def _payloads(entries: object, robot: Robot) -> list[Payload]:
    if not isinstance(entries, Sequence) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ThunderError(f"configuration: payloads must be a list of mappings, got {entries!r}")
    try:
        payloads = [Payload(**entry) for entry in entries]
    except TypeError as error:
        raise ThunderError(f"configuration: payloads: {error}") from error
    for payload in payloads:
        payload.link_index(robot)
    return sorted(payloads, key=lambda payload: payload.time)
