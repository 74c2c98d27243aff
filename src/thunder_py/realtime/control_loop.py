"""A controller driven by messages: states, references and requests in, commands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..control import Status
from ..control.stability import warn_over_range
from ..reference import JointReference
from ..values import Stateful
from .command import Command, Mode, Reason
from .configuration import LawSpec, LoopOptions, adapt, build_law, continued, estimate, is_task_law
from .hold import Hold
from .joint_states import JointOrder, JointStateReader, MeasuredState
from .references import References
from .timing import Lock, Quantiles

__all__ = ["ControlLoop"]

_NONE = np.empty(0)
_NONE.setflags(write=False)


class ControlLoop(Stateful):
    """Control loop that returns a torque for every joint state, and the safe torque without a reference.

    All methods may be called from several threads. Stamps and `now` are integer nanoseconds of one clock.

    Parameters
    ----------
    options : LoopOptions, mapping, str or path
        See `LoopOptions.read`.

    Attributes
    ----------
    options : LoopOptions
        Validated options.
    mode : Mode
        Mode of the loop.
    reason : Reason
        Reason for the mode.
    references : References
        Input of trajectories, poses and twists, with counts of refused messages.
    period, latency, computing : Quantiles
        Statistics of the commands issued so far; see `Command`.

    Raises
    ------
    ValueError
        If the configuration is invalid.

    Notes
    -----
    The table of failures and responses is in docs/ros.md.

    Examples
    --------
    >>> from thunder_py.realtime import ControlLoop, SimulatedRobot
    >>> law = {"name": "SlotineLi", "Lambda": 20, "K_d": [4, 50, 5.5, 14, 1.2, 0.9, 0.23], "adaptation": None}
    >>> loop = ControlLoop({"robot": "panda", "controller": law})
    >>> robot, now = SimulatedRobot({"robot": "panda", "q0": [0, -0.3, 0, -2, 0, 1.8, 0.7]}), 10**18
    >>> for k in range(300):  # 1 kHz
    ...     state = robot.advance(now + k * 10**6)
    ...     command = loop.state(state.stamp, state.stamp, robot.joint_names, state.q, state.dq)
    ...     refused = robot.command(command.stamp, state.stamp, robot.joint_names, command.tau)
    ...     if k == 0:  # a trajectory with one point, 0.2 s ahead
    ...         goal, start = [state.q + 0.02], state.stamp + 2 * 10**8
    ...         refused = loop.references.trajectory(start, robot.joint_names, [0.0], goal)
    >>> loop.mode.name, bool(abs(command.error).max() < 0.01)
    ('tracking', True)
    """

    def __init__(self, options: LoopOptions | Mapping[str, Any] | str | Path) -> None:
        self.options = LoopOptions.read(options)
        self._lock, self._one_change = Lock(), Lock()
        self._law_spec = self.options.law
        self._law = self._build(self._law_spec)
        robot = self.options.robot
        self._reader = JointStateReader(
            JointOrder(robot.joint_names, self.options.other_joints, robot.motor_names),
            robot.n,
            self.options.state_late,
        )
        self._error_bounded = np.isfinite(self.options.largest_error)
        self._rate_bounded = bool(np.isfinite(self.options.torque_rate).any())
        self._observer = None if self.options.observer is None else self.options.observer.build(robot)
        self._hold = Hold(robot, self.options.hold, self.options.torque_limits)
        self.references = References(self.options, is_task_law(self._law), self._lock)
        self._tau: Array | None = None
        self._unknown = np.full(robot.n, np.nan)
        self._given = 0
        self._clear()

    def _build(self, spec: LawSpec) -> Any:
        law = build_law(self.options.robot, spec)
        warn_over_range(law, self.options.robot, self.options.period, spec.arguments.get("frame"), stacklevel=4)
        law.torque_limits = self.options.torque_limits
        return law

    def _clear(self) -> None:
        """Reset the state, but not the gains."""
        self.mode, self.reason = Mode.waiting, Reason.no_state
        self._reader.reset()
        self._hold.leave()
        if self._observer is not None:
            self._observer.reset()
        self.references.reset()
        self.period, self.latency, self.computing = Quantiles(), Quantiles(), Quantiles()
        self._received: int | None = None
        self._q: Array | None = None
        self._parameters = estimate(self._law)
        self._t = 0.0
        self._answered = 0.0

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of commands."""
        return self.options.robot.joint_names

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `Command.parameters`; empty if the controller has no estimate."""
        return self.options.robot.parameter_names if estimate(self._law).size else ()

    @property
    def follows_poses(self) -> bool:
        """True if the controller follows poses and twists instead of joint trajectories."""
        return self.references.task

    @property
    def contact(self) -> bool:
        """True while the observer's detector reports a contact of any joint."""
        return self._observer is not None and bool(self._observer.contact.any())

    @property
    def dropped(self) -> dict[str, int]:
        """Numbers of dropped states by reason."""
        return dict(self._reader.dropped)

    # --- states ---------------------------------------------------------------------------------------------------

    def state(self, stamp: int, now: int, names: Sequence[str], q: npt.ArrayLike, dq: npt.ArrayLike) -> Command | None:
        """Process a joint state and return the command that answers it.

        Parameters
        ----------
        stamp, now : int
            Times of the measurement and of its reception [ns].
        names : sequence of str
            Names of the joints, in any order; of a robot with elastic joints also those of its motors
            (`Robot.motor_names`), without which a controller that needs them holds the arm.
        q, dq : array_like
            Positions and velocities in the order of the names [rad or m, and per second].

        Returns
        -------
        Command or None
            None if the state was dropped, counted in `dropped`.
        """
        begun = perf_counter_ns()
        with self._lock:
            self._look_at_clock(now)
            taken = self._reader.read(stamp, now, names, q, dq)
            if taken is None:
                if self._reader.in_a_row >= self.options.invalid_states and self._q is not None:
                    self._fault(Reason.invalid_states)
                return None
            t = self._time(stamp, now)
            if self._observer is not None:
                self._observe(t, taken)
            tau, error = self._torque(t, now, taken)
            period = 0.0 if self._received is None else 1e-9 * (now - self._received)
            self._received, self._q = now, taken.q
            computing = 1e-9 * (perf_counter_ns() - begun)
            latency = 1e-9 * (now - stamp) + computing
            if period:
                self.period.add(period)
            self.latency.add(latency)
            self.computing.add(computing)
            return self._command(stamp, tau, error, period, latency, computing)

    def watch(self, now: int) -> Command | None:
        """Return a command if states are late: gravity at the last position, and none after `state_lost`.

        Call it regularly, about 100 times per second.

        Parameters
        ----------
        now : int
            Present time [ns].
        """
        with self._lock:
            self._look_at_clock(now)
            if self._received is None or self._q is None:
                return None
            silence = 1e-9 * (now - self._received)
            if silence <= self.options.state_late or self.mode is Mode.waiting:
                return None
            if silence > self.options.state_lost:
                self._lose_states()
                return None
            self._leave_tracking(Reason.state_late)
            stamp = self._reader.last_stamp or 0
            tau = self._limited(self._hold.blind(self._q), now)
            return self._command(stamp, tau, _NONE, 0.0, 1e-9 * (now - stamp), 0.0)

    def _time(self, stamp: int, now: int) -> float:
        """Return the state's time on the loop's clock, and respond to gaps."""
        t = self.references.clock(stamp)
        if self._received is None:
            return t
        gap = max(t - self._t, 1e-9 * (now - self._received))
        if gap > self.options.state_lost:
            self._lose_states()
        elif gap > self.options.state_late:
            self.references.rejoin()
        return t

    def _look_at_clock(self, now: int) -> None:
        """Lose states if the clock was set back: otherwise they would be out of order until it had caught up."""
        if self._received is None or 1e-9 * (self._received - now) <= self.options.state_lost:
            return
        self._lose_states()
        self._reader.begin_anew()
        self.references.clock_set_back(self._t)
        self._received = None

    def _lose_states(self) -> None:
        self.references.drop(Reason.state_lost)
        self._hold.leave()
        if self.mode is not Mode.fault:
            self._leave_tracking(Reason.state_lost)
            self.mode, self.reason = Mode.waiting, Reason.state_lost

    # --- torques --------------------------------------------------------------------------------------------------

    def _observe(self, t: float, state: MeasuredState) -> None:
        """Step the observer with the commanded torques; NaN where these or the motors are not known."""
        assert self._observer is not None
        tau = self._unknown if self._tau is None else self._tau
        unknown = np.full(self.options.robot.e, np.nan)
        motors = (unknown if state.x is None else state.x, unknown if state.dx is None else state.dx)
        self._observer.step(t, state.q, state.dq, tau, *(motors if self.options.robot.e else ()))

    def _torque(self, t: float, now: int, state: MeasuredState) -> tuple[Array, Array]:
        """Return the torque and the tracking error."""
        self._t = t
        tau = self._tracked(t, state)
        error = _NONE
        if tau is None:
            tau = self._hold.torque(t, state)
        else:
            signals = self._law.signals
            error = signals["error"]
            self._parameters = signals.get("parameters", _NONE)
            if self._error_bounded and np.abs(error).max() > self.options.largest_error:
                self._fault(Reason.large_error)
                tau, error = self._hold.torque(t, state), _NONE
        return self._limited(tau, now), error

    def _limited(self, tau: Array, now: int) -> Array:
        """Return the torque within the largest rate of change."""
        if self._rate_bounded and self._tau is not None:
            most = max(0.0, 1e-9 * (now - self._given)) * self.options.torque_rate
            tau = np.clip(tau, self._tau - most, self._tau + most)
        self._tau, self._given = tau, now
        return tau

    def _tracked(self, t: float, state: MeasuredState) -> Array | None:
        """Return the controller's torque, or change the mode and return None."""
        if self.mode is Mode.fault:
            return None
        q, dq, x, dx = state
        if x is None and self._law.sees_motors:
            self._leave_tracking(Reason.no_motors)
            return None
        reference = self.references.at(t, q, dq)
        if reference is None:
            self._leave_tracking(self.references.why)
            return None
        if self.mode is not Mode.tracking:
            self.mode, self.reason, self._answered = Mode.tracking, Reason.following, t
            self._hold.leave()
        tau: Array = self._law.step(t, q, dq, reference, x, dx)
        status = self._law.status
        if status == Status.diverged:
            self._fault(Reason.diverged)
            return None
        if status in (Status.ok, Status.saturated):
            self._answered = t
        elif t - self._answered > self.options.patience:
            self.references.drop(Reason.singular)
            self._leave_tracking(Reason.singular)
            return None
        return tau

    def _leave_tracking(self, why: Reason) -> None:
        """Change to hold, except from a fault."""
        if self.mode is Mode.fault:
            return
        if self.mode is Mode.tracking:
            self._pause()
        self.references.rejoin()
        self.mode, self.reason = Mode.hold, why

    def _fault(self, why: Reason) -> None:
        if self.mode is Mode.fault:
            return
        if self.mode is Mode.tracking:
            self._pause()
        self.references.drop(why)
        self.mode, self.reason = Mode.fault, why

    def _pause(self) -> None:
        """Stop the adaptation: a step with NaN resets the controller's gradient."""
        robot = self.options.robot
        nan, motors, still = np.full(robot.n, np.nan), np.full(robot.e, np.nan), np.zeros(robot.n)
        reference = self.references.blank or JointReference(still, still, still)
        self._law.step(self._t, nan, nan, reference, motors, motors)

    def _command(
        self, stamp: int, tau: Array, error: Array, period: float, latency: float, computing: float
    ) -> Command:
        times, observer = (period, latency, computing), self._observer
        external = _NONE if observer is None else observer.estimate
        return Command(
            stamp,
            tau,
            self.mode,
            self.reason,
            self._law.status,
            error,
            self._parameters,
            *times,
            external,
            self.contact,
        )

    # --- requests -------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset states, references, faults, counts and estimates; gains and the set of adapting parameters stay."""
        with self._lock:
            moving = getattr(self._law, "adapting", None)
            self._law = self._build(self._law_spec)
            if moving is not None:
                self._law.adapting = moving
            self._clear()

    def set_gains(self, gains: Mapping[str, Any]) -> None:
        """Change gains of the controller; its estimate is kept, integrals and filters restart.

        Parameters
        ----------
        gains : mapping of str to float or array_like
            Arguments of the controller's class; others stay.

        Raises
        ------
        ValueError
            If one of them is invalid; then no gain is changed.
        """
        with self._one_change:  # serializes changes without blocking the loop while a controller is built
            spec = self._law_spec.changed(gains)
            law = self._build(spec)
            with self._lock:
                continued(law, self._law)
                self._law_spec, self._law = spec, law

    def adapt(self, on: bool, which: str | None = None) -> None:
        """Start or stop the adaptation of parameters at their present estimates.

        Parameters
        ----------
        on : bool
            Whether they adapt.
        which : str, optional
            A link, or another name of `Robot.unknown`; default all that are unknown to the controller.

        Raises
        ------
        ValueError
            If the controller does not adapt, or none of its unknown parameters has that name.
        """
        with self._lock:
            adapt(self.options.robot, self._law, which, on)

    @property
    def adapting_links(self) -> dict[str, bool]:
        """Adaptation of each link with unknown parameters: true if any of them adapts; empty without adaptation."""
        if getattr(self._law, "adaptation", None) is None:
            return {}
        robot = self.options.robot
        unknown = self._law.unknown.mask[: 10 * robot.n].reshape(robot.n, 10).any(axis=1)
        moving = self._law.adapting[: 10 * robot.n].reshape(robot.n, 10).any(axis=1)
        return {name: bool(moving[i]) for i, name in enumerate(robot.link_names) if unknown[i]}

    @property
    def gains(self) -> dict[str, Any]:
        """Arguments of the controller's class."""
        return dict(self._law_spec.arguments)

    def report(self) -> dict[str, str | int | float]:
        """Return the loop's state, counts and timing as texts and numbers; times in seconds."""
        with self._lock:
            report: dict[str, str | int | float] = {
                "mode": self.mode.name,
                "reason": self.reason.value,
                "controller": type(self._law).__name__,
                "controller status": Status(self._law.status).name,
                "contact": int(self.contact),
                "states taken": self._reader.taken,
                **{f"states dropped: {why}": count for why, count in self._reader.dropped.items()},
                **{f"references {what}": count for what, count in self.references.counts.items()},
                "last refusal": self.references.last_refusal,
            }
            for name in ("period", "latency", "computing"):
                for key, value in getattr(self, name).summary().items():
                    report[f"{name} {key}"] = value
            return report
