"""A controller on a drive in a thread of its own, in C++, without the GIL."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, of_kind, positive, whole
from ..control import MomentumObserver
from ..errors import ThunderError
from ..robot import Robot
from ..simulation.native import is_native, reference_is_native
from .command import Mode, Reason
from .configuration import LawSpec, build_law, chosen_parameters, motion_limits
from .drive_parts import DriveParts
from .interruptions import Interruptions
from .safety import SafetyLimits
from .simulated_robot import SimulatedRobot
from .timing import Quantiles

#: longest time for which a waiting thread does not look for Ctrl-C [s]
_SLICE = 0.05
#: time without a state after which the reference is joined again [periods]
_LATE_PERIODS = 20
#: time after which a stream of poses is lost [s]
_LOST = 1.0
#: largest log in memory [bytes]
_LARGEST_LOG = 2**30


class LoopLog(NamedTuple):
    """Cycles of a `RealtimeLoop`, one row each, in the robot's order of joints.

    Attributes
    ----------
    t : (k,) array
        Time since the first state [s].
    q, dq : (k, n) array
        Measured positions and velocities.
    tau : (k, n) array
        Torque that the controller, or the brake, demands [N m or N].
    command : (k, n) array
        Torque that was commanded: within the limits, without what the drive adds.
    status, mode : (k,) int array
        `Status` of the controller's last step, `Mode` of the loop.
    stop : tuple of Reason or None
        Reason for the present braking.
    signals : dict of str to (k, m) array
        Signals of the controller.

    Examples
    --------
    >>> from thunder_py.realtime import LoopLog
    >>> LoopLog._fields
    ('t', 'q', 'dq', 'tau', 'command', 'status', 'mode', 'stop', 'signals')
    """

    t: Array
    q: Array
    dq: Array
    tau: Array
    command: Array
    status: npt.NDArray[np.int64]
    mode: npt.NDArray[np.int64]
    stop: tuple[Reason | None, ...]
    signals: dict[str, Array]


class LoopStatistics(NamedTuple):
    """Measurements of a `RealtimeLoop` so far.

    Attributes
    ----------
    t : float
        Time from the first to the last state [s].
    cycles, missed, worst_missed : int
        Numbers of answered states, of missed cycles by the drive's stamps, and the largest number of those in a row.
    overruns : int
        Number of periods that began while the cycle before was not over.
    period : Quantiles
        Time between states on the drive's clock [s].
    latency : Quantiles
        Time from the instant for which the thread had set its timer to its running [s]; empty for a drive that waits.
    computing : Quantiles
        Time from a state to its command [s].
    settings : dict of str to str
        Outcome of each setting that was asked for: ``"on"``, or the system's reason for refusing it.
    minor_faults, major_faults : int
        Pages that the thread had to wait for.
    waits, preemptions : int
        Times at which the thread waited, and at which the system took the processor from it.
    processor_time : float
        Processor time of the thread [s].
    thread : int
        The system's number of the thread.
    mode, why : Mode, Reason
        Mode of the control loop and the reason for it.
    refused : int
        Number of references that could not be joined within the limits, and of controllers in use by another thread.
    at_rest, drive_stopped : bool
        Whether the arm was at rest at the end, and whether the drive stopped.
    log_dropped : int
        Number of rows for which the log had no place.

    Examples
    --------
    >>> from thunder_py.realtime import LoopStatistics
    >>> LoopStatistics._fields[:4]
    ('t', 'cycles', 'missed', 'worst_missed')
    """

    t: float
    cycles: int
    missed: int
    worst_missed: int
    overruns: int
    period: Quantiles
    latency: Quantiles
    computing: Quantiles
    settings: dict[str, str]
    minor_faults: int
    major_faults: int
    waits: int
    preemptions: int
    processor_time: float
    thread: int
    mode: Mode
    why: Reason
    refused: int
    at_rest: bool
    drive_stopped: bool
    log_dropped: int


class RealtimeLoop:
    """Run a controller on a drive in a thread of its own, in C++ and without the GIL.

    The thread takes no lock, allocates nothing, and raises nothing. References and controllers reach it as requests,
    which it does between two cycles; logs leave it in a ring of rows. Every run ends in the stop that `Reason.kind`
    defines, as that of a `DriveLoop`. All methods may be called from any thread. While the loop runs, controller,
    observer and drive belong to it: others get a `ConcurrentUseError`. A loop runs once; after its end, changes raise a
    `RuntimeError`.

    The loop is stopped, and its arm braked, by the end of a ``with`` block, by Ctrl-C in it or in `join`, when the
    object is dropped, and at the end of the program.

    Parameters
    ----------
    drive : SimulatedRobot
        A drive in C++. A `DriveAdapter` written in Python needs the GIL; `DriveLoop` is for those.
    robot : Robot
        Nominal model, without elastic joints.
    law : Controller or mapping
        A controller of `thunder_py.control` that runs in C++; or its name and arguments as in `LoopOptions`, with which
        `set_gains` can change the latter.
    reference : callable, optional
        A reference that runs in C++ and depends on the time only (`thunder_py.reference`, `thunder_py.trajectory`),
        evaluated at the time since the first state. The controller is led to it from where the arm is. Poses are
        followed as a stream of them is by `ControlLoop`, with bounded speed. Default: the arm is held until
        `set_reference`.
    limits : SafetyLimits, optional
        Default `SafetyLimits.of` the robot. Torques and their rates are never above the drive's.
    observer : MomentumObserver, optional
        Observer with a detector, which stops the arm at a contact.
    duration : float
        Time from the first state to the beginning of the stop [s]; by default infinite.
    priority : int
        Real-time priority of the thread (SCHED_FIFO), 1 to 99; 0 leaves the scheduler as it is.
    core : int, optional
        The only processor core that the thread runs on; default any.
    lock_memory : bool
        Whether the process keeps in memory what it has there at the start, until it ends.
    log : sequence of str
        Signals of the controller to be logged.
    log_time : float
        Time that the log holds between two calls of `log` [s], in at most 1 GiB; later rows are dropped and counted.
    log_every : int
        Cycles between rows of the log.

    Attributes
    ----------
    limits : SafetyLimits
        Limits in use.

    Raises
    ------
    ValueError
        If a part does not run in C++, or does not fit.

    Notes
    -----
    Settings of the thread that the system does not allow are left out and reported in `LoopStatistics.settings`.
    Measured times are in docs/benchmarks.md, limits of what they promise in docs/hardware.md.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import RealtimeLoop, SimulatedRobot
    >>> robot = th.Robot.load("elbow")
    >>> drive = SimulatedRobot(robot, [0.4, 0.6], real_time=False)
    >>> law = th.SlotineLi(robot, 10.0, 20.0, adaptation=None)
    >>> with RealtimeLoop(drive, robot, law, th.reference.SetPoint([0.5, 0.5]), duration=2.0) as loop:
    ...     ended = loop.join()
    >>> loop.reason.value, loop.statistics().at_rest, bool(abs(drive.q - [0.5, 0.5]).max() < 0.01)
    ('the duration is over', True, True)
    """

    def __init__(
        self,
        drive: SimulatedRobot,
        robot: Robot,
        law: _core.Controller | Mapping[str, Any],
        reference: Any = None,
        *,
        limits: SafetyLimits | None = None,
        observer: MomentumObserver | None = None,
        duration: float = np.inf,
        priority: int = 0,
        core: int | None = None,
        lock_memory: bool = False,
        log: Sequence[str] = ("error",),
        log_time: float = 10.0,
        log_every: int = 1,
    ) -> None:
        of_kind(robot, Robot, "robot")
        if not isinstance(drive, _core.Drive):
            raise ThunderError(
                f"drive must run in C++, got {type(drive).__name__}: use DriveLoop for drives written in Python"
            )
        facts, parts = drive.facts, DriveParts(robot, drive.facts, limits, observer)
        if facts.joint_names != robot.joint_names:
            raise ThunderError(f"the drive must have the joints {', '.join(robot.joint_names)} in this order")
        self._robot, self._parts, self._one_change = robot, parts, threading.RLock()
        self.limits = parts.limits
        self._spec = LawSpec(str(law.get("name")), {k: v for k, v in law.items() if k != "name"}) \
            if isinstance(law, Mapping) else None  # fmt: skip
        self._law = self._checked(law if self._spec is None else build_law(robot, self._spec))
        signals = _names(log)
        rows = self._log_rows(signals, positive(log_time, "log_time"), facts.period, log_every)
        if isinstance(self._law, _core.TaskController) and self._spec is None:
            raise ThunderError("law must be a mapping of name and arguments for a controller that follows poses")
        loop = parts.loop(
            self._law,
            duration=positive(duration, "duration", finite=False),
            frame=None if self._spec is None else self._spec.arguments.get("frame"),
            state_late=_LATE_PERIODS * facts.period,
            reference_timeout=_LOST,
            **motion_limits(robot),
        )
        self._core = _core.RealtimeLoop(
            drive,
            loop,
            priority=whole(priority, "priority", 0, 99),
            core=-1 if core is None else whole(core, "core", 0, (os.cpu_count() or 1) - 1),
            lock_memory=bool(lock_memory),
            signals=signals,
            log_rows=rows,
            log_every=log_every,
        )
        self._end = weakref.finalize(self, _stop_and_wait, self._core)  # also at the end of the program
        self._asked = {"priority": priority > 0, "core": core is not None, "lock_memory": bool(lock_memory)}
        adapts = getattr(self._law, "adaptation", None) is not None
        self._adapting: npt.NDArray[np.bool_] = (
            self._law.adapting if adapts else np.empty(0, bool)  # type: ignore[attr-defined]
        )
        if reference is not None:
            self.set_reference(reference)

    def _checked(self, law: Any) -> _core.Controller:
        if not (is_native(law, _core.JointController, "step") or is_native(law, _core.TaskController, "step")):
            raise ThunderError(
                f"law must be a controller that runs in C++, got {type(law).__name__}: use DriveLoop for others"
            )
        self._parts.check(law)
        checked: _core.Controller = law
        return checked

    def _log_rows(self, signals: list[str], log_time: float, period: float, log_every: int) -> int:
        """Return the number of rows of the log, within the memory that it may take."""
        rows = float(np.ceil(log_time / (period * whole(log_every, "log_every", 1, 2**31 - 1))))
        sizes = {name: value.size for name, value in self._law.signals.items()}
        most = _LARGEST_LOG // (8 * (4 + 4 * self._robot.n + sum(sizes.get(name, 0) for name in signals)))
        if rows > most:
            longest = most * period * log_every
            raise ThunderError(
                f"log_time must be at most {longest:.6g} s for a log of 1 GiB, got {log_time:g}: call log more often, "
                "or increase log_every"
            )
        return int(rows)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a RealtimeLoop cannot be copied or pickled: it owns a thread; make a new one")

    # --- the run --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the drive and the thread.

        Raises
        ------
        RuntimeError
            If the loop was started before.
        ConcurrentUseError
            If another thread uses the controller, the observer or the drive.
        """
        self._core.start()

    def stop(self, reason: Reason = Reason.requested) -> None:
        """Ask for a stop: the arm is braked, and then the drive stopped. `join` waits for it.

        Parameters
        ----------
        reason : Reason
            Reason, for `reason`. A second stop that is ``interrupted`` stops the drive at once.
        """
        self._core.request(of_kind(reason, Reason, "reason").number)

    def join(self, timeout: float = np.inf) -> bool:
        """Wait for the end of the run, and return whether it has come.

        Parameters
        ----------
        timeout : float
            Longest time to wait [s].

        Raises
        ------
        RuntimeError
            If the loop was not started, or its start failed.
        KeyboardInterrupt
            If the program was interrupted, once the arm has been braked and the drive has been stopped; a second
            interruption stops the drive at once.
        """
        left = positive(timeout, "timeout", finite=False)
        if not self._begun:
            raise RuntimeError("join needs a RealtimeLoop that was started: call start before, or use with")
        with Interruptions(held=True) as interruptions:
            return self._wait(left, interruptions)

    def _wait(self, left: float, interruptions: Interruptions) -> bool:
        interruption = None
        while True:
            try:
                ended = self._core.wait(_SLICE if interruption else min(_SLICE, left))
                interruptions.check()  # before the wait may end
                left -= _SLICE
                if ended or (left <= 0.0 and interruption is None):
                    break
            except KeyboardInterrupt as error:
                interruption = error
                self.stop(Reason.interrupted)
        if interruption is not None:
            raise interruption
        return ended

    def __enter__(self) -> RealtimeLoop:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and wait for the end."""
        if not self._begun:
            return
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        with Interruptions(held=True) as interruptions:
            self.stop(Reason.interrupted if interrupted else Reason.requested)
            self._wait(np.inf, interruptions)

    @property
    def _begun(self) -> bool:
        """True from the start on."""
        return self._core.running or self._core.wait(0.0)

    @property
    def running(self) -> bool:
        """True from the start to the stop of the drive."""
        return self._core.running

    @property
    def reason(self) -> Reason | None:
        """Reason for the present or past stop; None while the controller has the arm."""
        return Reason.of(self._core.statistics()["reason"])

    def _require_run(self) -> None:
        """Refuse changes after the end; those that come just before it have no effect."""
        if not self._core.running and self._core.wait(0.0):
            raise RuntimeError(f"the run has ended, because {self.reason}: a RealtimeLoop runs once, make a new one")

    # --- exchange -------------------------------------------------------------------------------------------------

    def set_reference(self, reference: Any) -> None:
        """Follow another reference from the next state on; the difference to the present one fades.

        Parameters
        ----------
        reference : callable
            A reference that runs in C++ and depends on the time only; its time is that of the loop.

        Raises
        ------
        ValueError
            If it does not run in C++, has a state of its own, or is not of the controller's space and joints.
        """
        self._require_run()
        task = isinstance(self._law, _core.TaskController)
        if task and isinstance(reference, _core.TaskReferenceSource) and reference_is_native(reference):
            self._core._follow_task(reference)
            return
        if task or not (isinstance(reference, _core.JointReferenceSource) and reference_is_native(reference)):
            space = "poses" if task else "joint positions"
            raise ThunderError(f"reference must be one of {space} that runs in C++, got {type(reference).__name__}")
        size = np.size(reference.at(0.0)[0])
        if size != self._robot.n:
            raise ThunderError(f"reference must have {self._robot.n} joints, got {size}")
        self._core._follow_joints(reference)

    def set_law(self, law: _core.Controller) -> None:
        """Exchange the controller for another one of its class; its estimate, and what of it adapts, goes on.

        Parameters
        ----------
        law : Controller
            Controller in joint space, of the same class, robot and unknown parameters. It belongs to the loop from now
            on, and `set_gains` does not know its gains.

        Raises
        ------
        ValueError
            If it is of another class or robot, follows poses, or has other unknown parameters.
        ConcurrentUseError
            If it is the present controller, or another thread uses it.
        """
        self._require_run()
        if isinstance(self._checked(law), _core.TaskController):
            raise ThunderError("law must be in joint space: set_gains changes one that follows poses")
        with self._one_change:
            self._exchange(law)
            self._spec = None

    def _exchange(self, law: _core.Controller) -> None:
        if type(law) is not type(self._law):
            raise ThunderError(f"law must be of the class {type(self._law).__name__}, got {type(law).__name__}")
        self._core.exchange(law)
        self._law = law

    def set_gains(self, **gains: Any) -> None:
        """Change arguments of a controller that was given by its name and arguments; its estimate goes on.

        Parameters
        ----------
        **gains
            Arguments of the controller's class; others stay.

        Raises
        ------
        ValueError
            If one is invalid, or the controller was not given by name or came from `set_law`; then no gain is changed.
        """
        self._require_run()
        with self._one_change:
            if self._spec is None:
                raise ThunderError("set_gains needs a law that was given as a mapping; use set_law")
            spec = self._spec.changed(gains)
            law = self._checked(build_law(self._robot, spec))
            self._exchange(law)
            self._spec = spec

    def adapt(self, on: bool, which: str | None = None) -> None:
        """Start or stop the adaptation of parameters at their present estimates, see `ControlLoop.adapt`.

        Parameters
        ----------
        on : bool
            Whether they adapt.
        which : str, optional
            A link, or another name of `Robot.unknown`; default all that are unknown to the controller.
        """
        self._require_run()
        with self._one_change:
            chosen = chosen_parameters(self._robot, self._law, which)
            adapting = np.where(chosen, bool(on), self._adapting)
            self._core.adapt(adapting.tolist())
            self._adapting = adapting

    # --- results --------------------------------------------------------------------------------------------------

    def log(self) -> LoopLog:
        """Return the cycles since the last call."""
        rows, n = self._core.drain(), self._robot.n
        sizes = [1, n, n, n, n, 1, 1, 1, *(size for _, size in self._core.logged)]
        t, q, dq, tau, command, status, mode, stop, *signals = np.split(rows, np.cumsum(sizes)[:-1], axis=1)
        return LoopLog(
            t[:, 0],
            q,
            dq,
            tau,
            command,
            status[:, 0].astype(np.int64),
            mode[:, 0].astype(np.int64),
            tuple(Reason.of(int(number)) for number in stop[:, 0]),
            dict(zip((name for name, _ in self._core.logged), signals, strict=True)),
        )

    def statistics(self) -> LoopStatistics:
        """Return the measurements so far; while the loop runs, up to 25 cycles old."""
        found = dict(self._core.statistics())
        errors = found.pop("settings_errors")
        outcome = {
            name: os.strerror(error) if error else "on"
            for (name, asked), error in zip(self._asked.items(), errors, strict=True)
            if asked
        }
        found |= {name: Quantiles._of(found[name]) for name in ("period", "latency", "computing")}
        found |= {"mode": Mode(found["mode"]), "why": Reason.of(found["why"]), "settings": outcome}
        return LoopStatistics(**{name: found[name] for name in LoopStatistics._fields})


def _names(log: Sequence[str]) -> list[str]:
    """Return the names of signals; a text alone is not taken for its letters."""
    if isinstance(log, str) or not isinstance(log, Collection) or not all(isinstance(name, str) for name in log):
        raise ThunderError(f"log must be a sequence of names of signals, such as ('error',) or (), got {log!r:.80}")
    return [str(name) for name in log]


def _stop_and_wait(core: _core.RealtimeLoop) -> None:
    """Brake the arm of a loop that nobody holds any more."""
    if not core.here:
        return  # a forked process
    core.request(Reason.requested.number)
    while core.running:
        core.wait(_SLICE)
