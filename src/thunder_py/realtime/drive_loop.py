"""Any controller on the drives of a real arm, with limits and defined stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import _core
from ..checks import Array, of_kind, positive, real
from ..control import MomentumObserver, Status
from ..control.stability import warn_over_range
from ..errors import ConcurrentUseError, ThunderError
from ..robot import Robot
from .drives.adapter import DriveAdapter, DriveError
from .interruptions import Interruptions
from .joint_states import JointOrder, JointStateReader, MeasuredState
from .safety import Safety, SafetyLimits, brake, within_drive
from .stops import StopKind, StopReason
from .timing import Quantiles

#: speed of an arm at rest [rad/s or m/s], time for which it is held there, and longest time of braking [s]
_AT_REST, _HELD, _LONGEST_BRAKING = 0.05, 0.1, 2.0
#: drives and controllers of the loops that run, by their ids
_USED: dict[int, str] = {}
_USING = threading.Lock()
#: reasons that are no fault
_EXPECTED = (StopReason.finished, StopReason.requested)


class Cycle(NamedTuple):
    """One cycle of a run, in the robot's order of joints.

    Attributes
    ----------
    t : float
        Time since the first state [s].
    q, dq : (n,) array
        Measured positions and velocities [rad or m, and per second].
    tau : (n,) array
        Torque that the controller, or the brake, demands [N m or N].
    command : (n,) array
        Torque that was commanded: within the limits, without what the drive adds.
    stop : StopReason or None
        Reason for the present braking.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.realtime import Cycle
    >>> Cycle(0.0, np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2)).stop is None
    True
    """

    t: float
    q: Array
    dq: Array
    tau: Array
    command: Array
    stop: StopReason | None = None


@dataclass
class DriveRun:
    """Outcome of a run.

    Attributes
    ----------
    reason : StopReason
        Reason for the stop. A violation or fault during the braking at the end of a duration replaces it.
    kind : StopKind
        What was done. A fault while the arm brakes makes it immediate.
    t : float
        Time from the first to the last state [s].
    cycles, missed, worst_missed : int
        Numbers of answered states, of missed cycles, and the largest number of those in a row.
    dropped : dict of str to int
        Numbers of states that were not valid by reason.
    at_rest : bool
        Whether the arm was at rest when the drive was stopped.
    error : BaseException or None
        Error of the drive, the controller or the reference.
    stop_error : BaseException or None
        Error of the adapter's `stop`: the drive may not have stopped.
    period, computing : Quantiles
        Time between states on the drive's clock, and time from a state to its command on the computer's [s].

    Examples
    --------
    >>> from thunder_py.realtime import DriveRun
    >>> DriveRun().ok
    True
    """

    reason: StopReason = StopReason.requested
    kind: StopKind = StopKind.brake
    t: float = 0.0
    cycles: int = 0
    missed: int = 0
    worst_missed: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    at_rest: bool = False
    error: BaseException | None = None
    stop_error: BaseException | None = None
    period: Quantiles = field(default_factory=Quantiles)
    computing: Quantiles = field(default_factory=Quantiles)

    @property
    def ok(self) -> bool:
        """True if the run ended by its duration or a request, and the drive stopped."""
        return self.reason in _EXPECTED and self.stop_error is None


class DriveLoop:
    """Run a controller on a drive, one torque for each state, until a duration, a violation or a fault.

    The command is the controller's torque without what the drive adds (`DriveState.gravity`), within the limits of
    `limits` and of the drive. Every run ends in the stop that `StopReason.kind` defines: the arm is braked by the safe
    torque of `thunder_py.realtime` (gravity of the nominal model, the drive's payload and what an adaptive controller
    has learned beyond it, braking along a straight line in joint space, a spring at the position of rest), for at most
    2 s, and then the adapter stops the drive; or the adapter stops the drive at once. No fault is recovered from. As in
    `simulate`, `reset` of the controller is called
    before a run if it exists; to go on with an estimate, build the controller with
    ``robot.with_parameters(law.parameters)``.

    Parameters
    ----------
    drive : DriveAdapter
        The drive.
    robot : Robot
        Nominal model, without motors of elastic joints.
    controller : Controller or ControllerLike
        Any controller in joint or task space.
    reference : callable
        Reference of the controller at a time since the first state.
    limits : SafetyLimits, optional
        Default `SafetyLimits.of` the robot. Torques and their rates are never above the drive's.
    observer : MomentumObserver, optional
        Observer with a detector, which stops the arm at a contact.
    on_cycle : callable, optional
        Called with a `Cycle` after each command, for logs; an error in it stops the arm like one of the controller.

    Attributes
    ----------
    limits : SafetyLimits
        Limits in use.

    Raises
    ------
    ValueError
        If the drive's joints are not those of the robot, or an argument is invalid.

    Examples
    --------
    See `DriveAdapter` for a run with a drive written in Python. A controller that fails is replaced by the brake:

    >>> from thunder_py.realtime import StopReason
    >>> StopReason.controller_failed.kind.name
    'brake'
    """

    def __init__(
        self,
        drive: DriveAdapter,
        robot: Robot,
        controller: Any,
        reference: Callable[[float], Any],
        *,
        limits: SafetyLimits | None = None,
        observer: MomentumObserver | None = None,
        on_cycle: Callable[[Cycle], object] | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        self._drive, self._facts = drive, drive.facts
        self._law, self._reference, self._on_cycle = controller, reference, on_cycle
        if getattr(controller, "sees_motors", False):
            raise ThunderError(
                f"{type(controller).__name__} needs the motors of elastic joints, which drives do not report"
            )
        order = JointOrder(robot.joint_names)
        places = order.places(self._facts.joint_names)
        if places is None:
            names = ", ".join(self._facts.joint_names)
            raise ThunderError(f"the drive must have the joints {', '.join(robot.joint_names)}, got {names}")
        self._places, self._back = places, np.argsort(places)
        own = SafetyLimits.of(robot) if limits is None else of_kind(limits, SafetyLimits, "limits")
        torque, rate = np.asarray(self._facts.torque_limits), np.asarray(self._facts.torque_rate)
        self.limits = within_drive(own, torque[places], rate[places])
        step = self._facts.torque_step[places]
        payload, period = self._facts.payload, self._facts.period
        self._held = held = robot if payload is None else payload.added_to(robot)
        self._safety = Safety(held, self.limits, torque_step=step, period=period, observer=observer)
        self._safe_torque = brake(held, self.limits, step, period)
        channel = replace(self._facts.channel, lag=np.asarray(self._facts.lag)[places])
        warn_over_range(controller, robot, channel)
        warn_over_range(self._safe_torque, held, channel, owner="the brake")
        self._reader = JointStateReader(order, robot.n, 1.0)
        self._requested = False
        self._one_run = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a DriveLoop cannot be copied or pickled: it holds the drive of an arm; make a new one")

    def request_stop(self) -> None:
        """Brake and stop, from `on_cycle` or another thread.

        The request ends the present run. Without one it ends the next run at its first state, after braking.
        """
        self._requested = True

    def run(self, duration: float) -> DriveRun:
        """Start the drive, control the arm for a duration, stop.

        Parameters
        ----------
        duration : float
            Time from the first state to the beginning of the stop [s].

        Returns
        -------
        DriveRun

        Raises
        ------
        ValueError
            If `duration` is not positive.
        ConcurrentUseError
            If the loop already runs, in another thread or below `on_cycle`, or another loop runs with the drive or the
            controller; that run is not changed.
        KeyboardInterrupt
            If the program was interrupted, once the arm has been braked and the drive has been stopped; a second
            interruption stops the drive at once. Neither cuts off the adapter's `stop`. The first one waits for the
            end of a command; the second one may cut off a command that hangs.
        """
        duration = positive(duration, "duration", "s")
        if not self._one_run.acquire(blocking=False):
            raise ConcurrentUseError("this DriveLoop runs already: wait for the end of its run, or call request_stop")
        try:
            with self._alone():
                return self._whole_run(duration)
        finally:
            self._requested = False
            self._one_run.release()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other loops from the drive and the controller."""
        ours = {id(self._drive): "drive", id(self._law): "controller"}
        with _USING:
            taken = next((_USED[key] for key in ours if key in _USED), None)
            if taken is not None:
                raise ConcurrentUseError(f"another DriveLoop runs with this {taken}: wait for its end, or make another")
            _USED.update(ours)
        try:
            yield
        finally:
            with _USING:
                for key in ours:
                    del _USED[key]

    def _whole_run(self, duration: float) -> DriveRun:
        self._begin(duration)
        if hasattr(self._law, "reset"):
            self._law.reset()
        with Interruptions() as interruptions:
            try:
                try:
                    interruption = self._control(interruptions)
                finally:
                    interruptions.hold()
            finally:
                self._stop()
        if interruption is not None:
            raise interruption
        return self._run

    def _control(self, interruptions: Interruptions) -> KeyboardInterrupt | None:
        """Run all cycles; return the last interruption."""
        last: KeyboardInterrupt | None = None
        while not self._ended:
            try:
                interruptions.check()
                self._cycle() if self._started else self._start()
            except KeyboardInterrupt as error:
                again = last is not None or interruptions.count > 1
                self._run.error = last = error
                self._leave(StopReason.interrupted, at_once=again or not self._run.cycles)
        return last

    def _begin(self, duration: float) -> None:
        self._run, self._duration = DriveRun(), duration
        self._started = self._ended = False
        self._braking: StopReason | None = None
        self._braking_since = self._at_rest_since = self._solved = 0.0
        self._origin: int | None = None
        self._last = self._reads = 0
        self._reader.reset()
        self._safety.reset()
        self._safe_torque.leave()

    def _start(self) -> None:
        self._started = True
        try:
            self._drive.start()
        except Exception as error:
            self._leave(StopReason.drive_fault, error)

    def _stop(self) -> None:
        try:
            self._drive.stop()
        except Exception as error:
            self._run.stop_error = error
        self._run.dropped = {why: count for why, count in self._reader.dropped.items() if count}

    def _leave(self, reason: StopReason, error: BaseException | None = None, *, at_once: bool = False) -> None:
        """Begin to brake, or end the run; only an expected reason is replaced by a later one."""
        run = self._run
        if error is not None and run.error is None:
            run.error = error
        if self._braking is None:
            run.reason = self._braking = reason
            self._braking_since = self._at_rest_since = run.t
        elif self._braking in _EXPECTED and reason not in _EXPECTED:
            run.reason = self._braking = reason
        if at_once or reason.kind is StopKind.immediate:
            run.kind, self._ended = StopKind.immediate, True

    # --- one cycle ------------------------------------------------------------------------------------------------

    def _cycle(self) -> None:
        """Answer one state."""
        taken = self._read()
        if taken is None:
            return
        gravity, state, begun = taken
        if self._ended:
            return
        run, t = self._run, self._run.t
        if gravity is not None and not (gravity.shape == state.q.shape and all(np.isfinite(gravity).tolist())):
            return self._leave(
                StopReason.invalid_states, DriveError(f"gravity must be n finite numbers, got {gravity}")
            )
        self._look(t, state)
        if self._ended:
            return
        tau = self._torque(t, state)
        added = None if gravity is None else gravity[self._places]
        command = self._safety.limit(t, tau, added, together=self._braking is not None)
        if self._safety.reason is not None:
            self._leave(self._safety.reason)
        try:
            self._drive.write(command[self._back])
        except Exception as error:
            return self._leave(StopReason.drive_fault, error)
        run.cycles += 1
        run.computing.add(1e-9 * (perf_counter_ns() - begun))
        self._report(t, state, tau, command)
        if self._braking is not None:
            self._end_of_braking(t, state)

    def _read(self) -> tuple[Array | None, MeasuredState, int] | None:
        """Return the drive's gravity and the next valid state, or None; without one for too long the run ends."""
        try:
            raw = self._drive.read()
            begun = perf_counter_ns()
            stamp = int(raw.stamp)
            names = self._facts.joint_names
            gravity = None if raw.gravity is None else np.asarray(raw.gravity, dtype=np.float64)
            state = self._reader.read(stamp, stamp, names, raw.q, raw.dq)
        except Exception as error:
            self._leave(StopReason.drive_fault, error)
            return None
        if state is None:
            self._reads += 1
            if self._reads > self.limits.most_missed:
                self._leave(StopReason.invalid_states if self._reader.in_a_row else StopReason.states_lost)
            return None
        self._reads = 0
        self._count(stamp)
        return gravity, state, begun

    def _count(self, stamp: int) -> None:
        """Count the cycles that were missed before a state."""
        run = self._run
        if self._origin is None:
            self._origin = self._last = stamp
        gap = 1e-9 * (stamp - self._last)
        self._last, run.t = stamp, 1e-9 * (stamp - self._origin)
        if gap == 0.0:
            return
        run.period.add(gap)
        missed = max(round(gap / self._facts.period) - 1, 0)
        run.missed += missed
        run.worst_missed = max(run.worst_missed, missed)
        if gap > self._facts.watchdog:
            self._leave(StopReason.watchdog)
        elif missed > self.limits.most_missed:
            self._leave(StopReason.missed_cycles)

    def _look(self, t: float, state: MeasuredState) -> None:
        """Look for reasons to stop."""
        found = self._safety.check(t, state.q, state.dq)
        if found is not None:
            self._leave(found, at_once=not self._run.cycles)
        elif self._requested:
            self._leave(StopReason.requested)
        elif t >= self._duration:
            self._leave(StopReason.finished)

    def _torque(self, t: float, state: MeasuredState) -> Array:
        """Return the controller's torque, or that of the brake."""
        if self._braking is None:
            try:
                # copies: a controller may write into its arguments, and keep its torque
                torque = self._law.step(t, state.q.copy(), state.dq.copy(), self._reference(t))
                tau = real(torque, "the controller's torque", finite=False).copy()
                if tau.shape != state.q.shape:
                    raise ThunderError(f"the controller must return a torque of shape {state.q.shape}, got {tau.shape}")
                self._look_at_law(t, tau)
            except Exception as error:
                self._leave(StopReason.controller_failed, error)
        if self._braking is None:
            return tau
        return self._safe_torque.step(t, state.q, state.dq, load=self._load(state.q))

    def _load(self, q: Array) -> Array | None:
        """Return the gravity that an adaptive controller has learned beyond the brake's model; None after its fault."""
        law, faults = self._law, (StopReason.controller_failed, StopReason.invalid_torque, StopReason.diverged)
        sound = self._run.reason not in faults and getattr(law, "status", None) != Status.diverged
        if not (sound and isinstance(law, _core.Controller) and law.n == len(q)):
            return None
        return law._unmodeled_gravity(q, self._held)

    def _look_at_law(self, t: float, tau: Array) -> None:
        """Look at the outcome of a controller's step."""
        status = getattr(self._law, "status", Status.ok)
        if not all(np.isfinite(tau).tolist()):
            self._leave(StopReason.invalid_torque)
        elif status == Status.diverged:
            self._leave(StopReason.diverged)
        elif status in (Status.ok, Status.saturated):
            self._solved = t
        elif t - self._solved > self.limits.patience:
            self._leave(StopReason.no_solution)

    def _report(self, t: float, state: MeasuredState, tau: Array, command: Array) -> None:
        if self._on_cycle is None:
            return
        try:
            self._on_cycle(Cycle(t, state.q.copy(), state.dq.copy(), tau, command, self._braking))
        except Exception as error:
            self._leave(StopReason.controller_failed, error)

    def _end_of_braking(self, t: float, state: MeasuredState) -> None:
        """End the run once the arm has been at rest for a while, or the longest time of braking is over."""
        if np.abs(state.dq).max() > _AT_REST:
            self._at_rest_since = t
        self._run.at_rest = t - self._at_rest_since >= _HELD
        self._ended = self._run.at_rest or t - self._braking_since > _LONGEST_BRAKING
