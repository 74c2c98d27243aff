"""Any controller on the drives of a real arm, with limits and defined stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import _core
from ..checks import Array, positive, real
from ..control import MomentumObserver, Status
from ..errors import ConcurrentUseError, ThunderError
from ..robot import Robot
from .command import Reason, StopKind
from .drive_parts import DriveParts
from .drives.adapter import DriveAdapter, DriveError
from .interruptions import Interruptions
from .joint_states import DROPPED
from .safety import SafetyLimits
from .timing import Quantiles

#: loops that run, their drives and controllers, by their ids, and what others are told
_USED: dict[int, str] = {}
_USING = threading.Lock()
#: reasons that are no fault
_EXPECTED = (Reason.finished, Reason.requested)


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
    stop : Reason or None
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
    stop: Reason | None = None


@dataclass
class DriveRun:
    """Outcome of a run.

    Attributes
    ----------
    reason : Reason
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

    reason: Reason = Reason.requested
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
    `limits` and of the drive. Every run ends in the stop that `Reason.kind` defines: the arm is braked by the safe
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

    >>> from thunder_py.realtime import Reason
    >>> Reason.controller_failed.kind.name
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
        self._drive, self._law, self._reference, self._on_cycle = drive, controller, reference, on_cycle
        self._parts = DriveParts(robot, drive.facts, limits, observer)
        self._parts.check(controller)
        self.limits, self._places = self._parts.limits, self._parts.places
        self._back = np.argsort(self._places)
        known = isinstance(controller, _core.Controller) and controller.n == robot.n
        self._known = controller if known else None
        self._requested = False

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
        with self._alone():
            return self._whole_run(duration)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other runs from this loop, the drive and the controller."""
        ours = {
            id(self): "this DriveLoop runs already: wait for the end of its run, or call request_stop",
            id(self._drive): "another DriveLoop runs with this drive: wait for its end, or make another",
            id(self._law): "another DriveLoop runs with this controller: wait for its end, or make another",
        }
        with _USING:
            taken = next((_USED[key] for key in ours if key in _USED), None)
            if taken is not None:
                raise ConcurrentUseError(taken)
            _USED.update(ours)
        try:
            yield
        finally:
            self._requested = False
            with _USING:
                for key in ours:
                    del _USED[key]

    def _whole_run(self, duration: float) -> DriveRun:
        self._run, self._started = DriveRun(), False
        self._core = self._parts.loop(None, known=self._known, duration=duration)
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
        while not self._core.ended:
            try:
                interruptions.check()
                self._cycle() if self._started else self._start()
            except KeyboardInterrupt as error:
                again = last is not None or interruptions.count > 1
                self._run.error = last = error
                self._leave(Reason.interrupted, at_once=again or not self._run.cycles)
        return last

    def _start(self) -> None:
        self._started = True
        try:
            self._drive.start()
        except Exception as error:
            self._leave(Reason.drive_fault, error)

    def _stop(self) -> None:
        run, core = self._run, self._core
        try:
            self._drive.stop()
        except Exception as error:
            run.stop_error = error
        found = dict(core.report)
        run.reason = Reason.of(found["reason"]) or run.reason
        run.kind = StopKind.immediate if found["at_once"] else StopKind.brake
        for name in ("t", "missed", "worst_missed", "at_rest"):
            setattr(run, name, found[name])
        run.dropped = {why: count for why, count in zip(DROPPED, core.dropped, strict=True) if count}
        run.period = Quantiles._of(core.period)

    def _leave(self, reason: Reason, error: BaseException | None = None, *, at_once: bool = False) -> None:
        """Brake the arm, or end the run."""
        if error is not None and self._run.error is None:
            self._run.error = error
        self._core.stop(reason.number, at_once)

    # --- one cycle ------------------------------------------------------------------------------------------------

    def _cycle(self) -> None:
        """Answer one state."""
        if self._requested:
            self._core.request(Reason.requested.number)
        try:
            raw = self._drive.read()
            begun = perf_counter_ns()
            gravity = None if raw.gravity is None else np.asarray(raw.gravity, dtype=np.float64)
            if gravity is not None and not (gravity.shape == self._back.shape and all(np.isfinite(gravity).tolist())):
                error = DriveError(f"gravity must be n finite numbers, got {gravity}")
                return self._leave(Reason.invalid_states, error)
            added = None if gravity is None else gravity[self._places]
            taken = self._core.begin(int(raw.stamp), self._places, self._back.size, raw.q, raw.dq, added)
        except Exception as error:
            return self._leave(Reason.drive_fault, error)
        if taken is None:
            return
        wanted, t, q, dq = taken
        tau, status = self._torque(t, q, dq) if wanted else (None, 0)
        demand, command, stop = self._core.finish(tau, status)
        try:
            self._drive.write(command[self._back])
        except Exception as error:
            return self._leave(Reason.drive_fault, error)
        self._run.cycles += 1
        self._run.computing.add(1e-9 * (perf_counter_ns() - begun))
        if self._on_cycle is not None:
            try:
                self._on_cycle(Cycle(t, q, dq, demand, command, Reason.of(stop)))
            except Exception as error:
                self._leave(Reason.controller_failed, error)

    def _torque(self, t: float, q: Array, dq: Array) -> tuple[Array | None, int]:
        """Return the controller's torque and status."""
        try:
            # copies: a controller may write into its arguments, and keep its torque
            torque = self._law.step(t, q.copy(), dq.copy(), self._reference(t))
            tau = real(torque, "the controller's torque", finite=False).copy()
            if tau.shape != q.shape:
                raise ThunderError(f"the controller must return a torque of shape {q.shape}, got {tau.shape}")
            return tau, int(getattr(self._law, "status", Status.ok))
        except Exception as error:
            self._leave(Reason.controller_failed, error)
            return None, 0
