"""Limits of position, velocity, torque, torque rate, workspace and contact, independent of controllers and drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, of_kind, per_joint, positive, whole, zero_or_above
from ..control import MomentumObserver
from ..errors import ThunderError
from ..geometry import Obstacle
from ..robot import Robot, require_robot
from ..values import Stateful, Value, set_fields
from .stops import StopReason

__all__ = ["Safety", "SafetyLimits"]

#: margin from the robot's position limits by default [rad or m]
_MARGIN = 0.05
#: shortest time between two commands [s], which keeps an infinite rate times it from being NaN
_SHORTEST = 1e-9


@dataclass(frozen=True, eq=False)
class SafetyLimits(Value):
    """Limits of a run, in the robot's order of joints.

    Parameters
    ----------
    lower, upper : (n,) array_like
        Positions [rad or m]; infinite for none.
    velocity, torque, torque_rate : float or (n,) array_like
        Largest absolute values [rad/s or m/s; N m or N; N m/s or N/s]; infinite for none.
    obstacles : sequence of Obstacle
        Bodies in the world from which the origins of all links and the end effector keep `clearance`. A
        `HalfSpace` is a wall of the workspace.
    clearance : float
        Smallest distance [m].
    lookahead : float
        Time for which the present velocity is extrapolated before positions and distances are checked [s].
    patience : float
        Longest time with torques beyond the limits, to which they are clipped, and without a solution [s].
    most_missed : int
        Largest number of cycles in a row without a valid state.

    Raises
    ------
    ValueError
        If a limit is invalid.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.hardware import SafetyLimits
    >>> limits = SafetyLimits.of(th.Robot.load("panda"), velocity=0.5)
    >>> limits.velocity[:2].tolist(), limits.upper[:2].round(4).tolist(), limits.torque[:2].tolist()
    ([0.5, 0.5], [2.8473, 1.7128], [87.0, 87.0])
    """

    lower: npt.ArrayLike
    upper: npt.ArrayLike
    velocity: npt.ArrayLike
    torque: npt.ArrayLike
    torque_rate: npt.ArrayLike = np.inf
    obstacles: Sequence[Obstacle] = ()
    clearance: float = 0.0
    lookahead: float = 0.05
    patience: float = 0.25
    most_missed: int = 10

    def __post_init__(self) -> None:
        """Check everything."""
        lower = array(self.lower, (None,), "lower", finite=False)
        n = lower.size
        upper = array(self.upper, (n,), "upper", finite=False)
        if not (lower < upper).all():
            raise ThunderError(f"lower must be below upper, got {lower.tolist()} and {upper.tolist()}")

        def positives(name: str) -> Array:
            values = all_positive(per_joint(getattr(self, name), n, name, finite=False), name)
            return array(values, (n,), name, finite=False)

        set_fields(
            self,
            lower=lower,
            upper=upper,
            velocity=positives("velocity"),
            torque=positives("torque"),
            torque_rate=positives("torque_rate"),
            obstacles=tuple(of_kind(obstacle, Obstacle, "obstacle") for obstacle in self.obstacles),
            clearance=zero_or_above(self.clearance, "clearance"),
            lookahead=zero_or_above(self.lookahead, "lookahead"),
            patience=positive(self.patience, "patience"),
            most_missed=whole(self.most_missed, "most_missed", 0),
        )

    @classmethod
    def of(cls, robot: Robot, **changes: Any) -> SafetyLimits:
        """Return the robot's own limits, those of positions less 0.05 rad or m, with changes by name.

        Parameters
        ----------
        robot : Robot
            The arm.
        **changes
            Arguments of the class.
        """
        require_robot(robot)
        own = robot.limits
        usual = cls(own.lower + _MARGIN, own.upper - _MARGIN, own.velocity, own.effort)
        try:
            return replace(usual, **changes)
        except TypeError as error:
            raise ThunderError(f"SafetyLimits.of: {error}") from error


class Safety(Stateful):
    """Check states and limit commands of an arm; the first violation is kept in `reason`.

    `check` looks at a state, `limit` at a torque. Neither trusts its input: NaN violates every limit. A command that
    `limit` returns is within the limits of torque and rate whatever was demanded; a demand beyond them for longer than
    the patience is a violation.

    Parameters
    ----------
    robot : Robot
        The arm.
    limits : SafetyLimits
        The limits.
    torque_step : (n,) array_like, optional
        Largest difference of two consecutive commands that the drive accepts [N m or N], whatever the time between
        them; default infinite.
    observer : MomentumObserver, optional
        Observer with a detector; a contact is a violation.

    Attributes
    ----------
    reason : StopReason or None
        The first violation since `reset`.

    Raises
    ------
    ValueError
        If shapes do not fit, or the observer has no detector.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.hardware import Safety, SafetyLimits
    >>> robot = th.Robot.load("elbow")
    >>> limits = SafetyLimits([-1.0, -1.0], [1.0, 1.0], 2.0, 50.0)
    >>> safety = Safety(robot, limits, torque_step=[1.0, 1.0])
    >>> safety.check(0.0, np.zeros(2), np.zeros(2)) is None
    True
    >>> safety.limit(0.0, np.array([80.0, 0.5])).tolist()
    [1.0, 0.5]
    >>> safety.check(0.001, np.array([0.96, 0.0]), np.array([1.0, 0.0])).value
    'a position limit is near'
    """

    def __init__(
        self,
        robot: Robot,
        limits: SafetyLimits,
        *,
        torque_step: npt.ArrayLike = np.inf,
        observer: MomentumObserver | None = None,
    ) -> None:
        require_robot(robot)
        self._robot = robot
        self.limits = of_kind(limits, SafetyLimits, "limits")
        n = robot.n
        if np.size(limits.lower) != n:
            raise ThunderError(f"limits must be those of {n} joints, got {np.size(limits.lower)}")
        if observer is not None and of_kind(observer, MomentumObserver, "observer").detector is None:
            raise ThunderError("observer must have a detector, which defines contacts")
        self._observer = observer
        step = all_positive(per_joint(torque_step, n, "torque_step", finite=False), "torque_step")
        self._still = np.zeros(n)
        # lists of floats, which for a few joints are compared faster than arrays
        self._ranges = [np.asarray(v).tolist() for v in (limits.lower, limits.upper, limits.velocity)]
        self._torque, self._rate, self._step = np.asarray(limits.torque), np.asarray(limits.torque_rate), step
        self._rate_bounded = bool(np.isfinite(self._rate).any())
        self._frames: list[int | None] = [*range(1, n + 1), None]
        self.reset()

    def reset(self) -> None:
        """Forget the violation; the last command is zero."""
        self.reason: StopReason | None = None
        self._command = self._still.copy()
        self._tau = self._still.copy()
        self._limited_at: float | None = None
        self._within: dict[StopReason, float] = {}
        if self._observer is not None:
            self._observer.reset()

    def violated(self, reason: StopReason) -> StopReason:
        """Keep a violation unless there is one, and return the kept one."""
        self.reason = self.reason or reason
        return self.reason

    def check(self, t: float, q: Array, dq: Array) -> StopReason | None:
        """Check a state and return the kept violation, if any.

        Parameters
        ----------
        t : float
            Time [s].
        q, dq : (n,) array
            Positions and velocities [rad or m, and per second].
        """
        found = self._joints(q, dq) or self._workspace(q, dq) or self._contact(t, q, dq)
        if found is not None:
            self.violated(found)
        return self.reason

    def _joints(self, q: Array, dq: Array) -> StopReason | None:
        ahead = self.limits.lookahead
        for x, v, low, high, fast in zip(q.tolist(), dq.tolist(), *self._ranges, strict=True):
            if not -fast <= v <= fast:
                return StopReason.velocity
            if not (low <= x <= high and low <= x + ahead * v <= high):
                return StopReason.position
        return None

    def _workspace(self, q: Array, dq: Array) -> StopReason | None:
        limits = self.limits
        if not limits.obstacles:
            return None
        postures = np.stack([q, q + limits.lookahead * dq])
        points = np.concatenate([self._robot.forward_kinematics(postures, frame)[:, :3, 3] for frame in self._frames])
        for obstacle in limits.obstacles:
            if not (obstacle.distance(points) >= limits.clearance).all():
                return StopReason.workspace
        return None

    def _contact(self, t: float, q: Array, dq: Array) -> StopReason | None:
        if self._observer is None:
            return None
        self._observer.step(t, q, dq, self._tau)
        return StopReason.contact if self._observer.contact.any() else None

    def limit(self, t: float, tau: npt.ArrayLike, gravity: npt.ArrayLike | None = None) -> Array:
        """Return the command for a torque, (n,), within all limits; the last command if the torque is not finite.

        Parameters
        ----------
        t : float
            Time [s].
        tau : (n,) array_like
            Torque on the joints [N m or N].
        gravity : (n,) array_like, optional
            Part of it that the drive adds by itself, which the command leaves out.
        """
        demand, added = _finite(tau, self._still), _finite(self._still if gravity is None else gravity, self._still)
        if demand is None or added is None:
            self.violated(StopReason.invalid_torque)
            return self._command.copy()
        since, self._limited_at = self._limited_at, t
        change = self._step
        if self._rate_bounded:
            dt = 0.0 if since is None else max(t - since, 0.0)
            change = np.minimum(change, self._rate * max(dt, _SHORTEST))
        high, last = self._torque, self._command
        total = np.minimum(np.maximum(demand, -high), high)
        target = np.minimum(np.maximum(total - added, -high), high)
        command: Array = np.minimum(np.maximum(target, last - change), last + change)
        too_much, too_fast = True in (target != demand - added).tolist(), True in (command != target).tolist()
        self._command, self._tau = command, command + added
        self._watch(t, StopReason.torque, too_much)
        self._watch(t, StopReason.torque_rate, too_fast)
        return command.copy()

    def _watch(self, t: float, reason: StopReason, beyond: bool) -> None:
        """Keep a violation if demands were beyond a limit for longer than the patience."""
        if not beyond:
            self._within[reason] = t
        elif t - self._within.setdefault(reason, t) > self.limits.patience:
            self.violated(reason)


def _finite(values: npt.ArrayLike, like: Array) -> Array | None:
    """Return values as an array; None unless it has the shape of `like`, and is finite."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.shape == like.shape and all(np.isfinite(numbers).tolist()) else None
