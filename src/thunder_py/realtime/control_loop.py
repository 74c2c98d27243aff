"""A controller driven by messages: states, references and requests in, commands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array
from ..control import Status
from ..control.stability import warn_over_range
from ..reference import JointReference, TaskReference
from ..values import Stateful
from .command import REASONS, Command, Mode, Reason
from .configuration import LawSpec, LoopOptions, build_law, chosen_parameters, continued, estimate
from .joint_states import DROPPED, JointOrder
from .references import References
from .timing import Lock, Quantiles

_STATUSES = tuple(Status)


def _command(parts: tuple[Any, ...] | None) -> Command | None:
    if parts is None:
        return None
    stamp, tau, mode, reason, status, *others = parts
    return Command(stamp, tau, Mode(mode), REASONS[reason], _STATUSES[status], *others)


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
    references : References
        Input of trajectories, poses and twists, with counts of refused messages.

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
        robot = self.options.robot
        self._law_spec = self.options.law
        self._law = self._build(self._law_spec)
        self._brake = self.options.brake()
        self._safety = self.options.guard()
        warn_over_range(self._brake, robot, self.options.channel)
        self._order = JointOrder(robot.joint_names, self.options.other_joints, robot.motor_names)
        self._observer = deepcopy(self.options.observer)
        self._core = self._new_core()
        self.references = References(self.options, self._core, self._lock)

    def _build(self, spec: LawSpec) -> Any:
        law = build_law(self.options.robot, spec)
        warn_over_range(law, self.options.robot, self.options.channel)
        return law

    def _new_core(self) -> _core.ControlLoop:
        """Return a loop with the present controller."""
        return _core.ControlLoop(self._safety, self._brake, self._law, self._observer, **self.options.settings())

    def _exchange(self, law: Any) -> None:
        """Go on with another controller."""
        self._law, before = law, self._core
        self._core = self.references.core = self._new_core()
        self._core._set_core_state(before._core_state())

    @property
    def mode(self) -> Mode:
        """Mode of the loop."""
        with self._lock:
            return Mode(self._core.mode)

    @property
    def reason(self) -> Reason:
        """Reason for the mode."""
        with self._lock:
            return REASONS[self._core.reason]

    @property
    def period(self) -> Quantiles:
        """Times between the states of the commands so far, see `Command`."""
        with self._lock:
            return Quantiles._of(self._core.period)

    @property
    def latency(self) -> Quantiles:
        """Latencies of the commands so far."""
        with self._lock:
            return Quantiles._of(self._core.latency)

    @property
    def computing(self) -> Quantiles:
        """Computing times of the commands so far."""
        with self._lock:
            return Quantiles._of(self._core.computing)

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
        with self._lock:
            return self._core.task

    @property
    def contact(self) -> bool:
        """True while the observer's detector reports a contact of any joint."""
        with self._lock:
            return self._core.contact

    @property
    def reference(self) -> JointReference | TaskReference | None:
        """Reference of the last state, in the controller's space; None unless it followed one."""
        with self._lock:
            parts, kind = self._core.reference, TaskReference if self._core.task else JointReference
            return None if parts is None else kind(*parts)

    @property
    def measured(self) -> tuple[int, Array, Array]:
        """Stamp [ns], positions and velocities (n,) of the last state that was taken; zeros before the first one."""
        with self._lock:
            return self._core.stamp, self._core.q, self._core.dq

    @property
    def dropped(self) -> dict[str, int]:
        """Numbers of dropped states by reason."""
        with self._lock:
            return dict(zip(DROPPED, self._core.dropped, strict=True))

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
        with self._lock:
            return _command(self._core.state(stamp, now, self._order.places(names), len(names), q, dq))

    def watch(self, now: int) -> Command | None:
        """Return a command if states are late: gravity at the last position, and none after `state_lost`.

        Call it regularly, about 100 times per second.

        Parameters
        ----------
        now : int
            Present time [ns].
        """
        with self._lock:
            return _command(self._core.watch(now))

    # --- requests -------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset states, references, faults, counts and estimates; gains and the set of adapting parameters stay."""
        with self._one_change:
            law = self._build(self._law_spec)
            with self._lock:
                self._reset(law)

    def _reset(self, law: Any) -> None:
        """Begin anew with a controller of the same gains."""
        moving = getattr(self._law, "adapting", None)
        if moving is not None:
            law.adapting = moving
        self._exchange(law)
        self._core.reset()
        self.references.reset()

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
                self._law_spec = spec
                self._exchange(law)

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
            chosen = chosen_parameters(self.options.robot, self._law, which)
            self._law.adapting = np.where(chosen, on, self._law.adapting)

    @property
    def adapting_links(self) -> dict[str, bool]:
        """Adaptation of each link with unknown parameters: true if any of them adapts; empty without adaptation."""
        robot = self.options.robot
        with self._lock:
            if getattr(self._law, "adaptation", None) is None:
                return {}
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
                "states taken": self._core.taken,
                **{f"states dropped: {why}": count for why, count in self.dropped.items()},
                **{f"references {what}": count for what, count in self.references.counts.items()},
                "last refusal": self.references.last_refusal,
            }
            for name in ("period", "latency", "computing"):
                for key, value in getattr(self, name).summary().items():
                    report[f"{name} {key}"] = value
            return report
