"""Limits of position, velocity, torque, torque rate, workspace and contact, independent of controllers and drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, nonnegative, of_kind, points, positive, positives, whole
from ..control import MomentumObserver
from ..errors import ThunderError
from ..geometry import Obstacle
from ..robot import Robot
from ..values import Value, set_fields
from .command import Reason
from .hold import braking_rate, safe_torque

#: margin from the robot's position limits by default [rad or m]
_MARGIN = 0.05
#: number of no reason
_NONE = len(Reason)
#: limits that are positive
_POSITIVE = ("velocity", "torque", "torque_rate")
#: numbers that the core limits by
_IN_CORE = ("lower", "upper", *_POSITIVE, "clearance", "lookahead", "patience")


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
        Time for which the present velocity is extrapolated before positions and distances are checked [s], however
        short the stop is; see `Safety`.
    patience : float
        Longest time with torques beyond the limits, to which they are clipped, and without a solution [s];
        infinite for no end.
    most_missed : int
        Largest number of cycles in a row without a valid state.

    Raises
    ------
    ValueError
        If a limit is invalid.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import SafetyLimits
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

        set_fields(
            self,
            lower=lower,
            upper=upper,
            **{name: positives(getattr(self, name), n, name, finite=False) for name in _POSITIVE},
            obstacles=tuple(of_kind(obstacle, Obstacle, "obstacle") for obstacle in self.obstacles),
            clearance=nonnegative(self.clearance, "clearance"),
            lookahead=nonnegative(self.lookahead, "lookahead"),
            patience=positive(self.patience, "patience", finite=False),
            most_missed=whole(self.most_missed, "most_missed", 0, 2**31 - 1),
        )

    @classmethod
    def of(cls, robot: Robot, *, margin: npt.ArrayLike = _MARGIN, **changes: Any) -> SafetyLimits:
        """Return the robot's own limits, those of positions less a margin, with changes by name.

        Parameters
        ----------
        robot : Robot
            The arm.
        margin : float or (n,) array_like
            Distance from the robot's own position limits [rad or m].
        **changes
            Arguments of the class.
        """
        of_kind(robot, Robot, "robot")
        own, inside = robot.limits, np.asarray(margin)
        usual = {
            "lower": own.lower + inside,
            "upper": own.upper - inside,
            "velocity": own.velocity,
            "torque": own.effort,
        }
        try:
            return cls(**{**usual, **changes})  # checked after the changes, which may be those of a narrow joint
        except TypeError as error:
            raise ThunderError(f"SafetyLimits.of: {error}") from error


def require_joints(limits: SafetyLimits, n: int) -> None:
    """Raise a `ThunderError` unless the limits are those of n joints."""
    if np.size(limits.lower) != n:
        raise ThunderError(f"limits must be those of {n} joints, got {np.size(limits.lower)}")


def own_or_given(robot: Robot, limits: SafetyLimits | None) -> SafetyLimits:
    """Return limits of the robot's joints, by default `SafetyLimits.of` the robot."""
    chosen = SafetyLimits.of(robot) if limits is None else of_kind(limits, SafetyLimits, "limits")
    require_joints(chosen, robot.n)
    return chosen


def brake(robot: Robot, limits: SafetyLimits, torque_step: Array, period: float) -> _core.SafeTorque:
    """Return the brake of a drive: the safe torque within limits, and within a step in each period."""
    rate = np.minimum(limits.torque_rate, torque_step / period)
    return safe_torque(robot, braking_rate(period), np.asarray(limits.torque), rate)


class Safety(_core.Safety):
    """Check states and limit commands of an arm; the first violation is kept in `reason`.

    `check` looks at a state, `limit` at a torque. Neither trusts its input: NaN violates every limit. A command that
    `limit` returns is within the limits of torque and rate whatever was demanded; a demand beyond them for longer than
    the patience is a violation.

    Positions and distances are checked now, after `SafetyLimits.lookahead` at the present velocity, and along the stop
    that the brake would need from now on: three periods at the present acceleration, the time in which the torque rate
    brings the torque from its present value to that of the brake, then braking along a straight line in joint space
    with 90 % of the torque limits. A brake that begins at the first violation ends within the limits.

    Parameters
    ----------
    robot : Robot
        The arm, with the payload that its drive knows.
    limits : SafetyLimits
        The limits.
    torque_step : (n,) array_like, optional
        Largest difference of two consecutive commands that the drive accepts [N m or N], whatever the time between
        them; default infinite.
    period : float
        Time between two states [s].
    observer : MomentumObserver, optional
        Observer with a detector; a contact is a violation.

    Attributes
    ----------
    reason : Reason or None
        The first violation since `reset`.

    Raises
    ------
    ValueError
        If shapes do not fit, or the observer has no detector.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.realtime import Safety, SafetyLimits
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
        period: float = 1e-3,
        observer: MomentumObserver | None = None,
    ) -> None:
        of_kind(robot, Robot, "robot")
        self.limits = of_kind(limits, SafetyLimits, "limits")
        n = robot.n
        require_joints(limits, n)
        if observer is not None and of_kind(observer, MomentumObserver, "observer").detector is None:
            raise ThunderError("observer must have a detector, which defines contacts")
        named = {name: getattr(limits, name) for name in _IN_CORE}
        super().__init__(
            robot,
            **named,
            torque_step=positives(torque_step, n, "torque_step", finite=False),
            period=positive(period, "period"),
            obstacles=list(limits.obstacles),
            observer=observer,
        )

    @property
    def reason(self) -> Reason | None:
        """The first violation since `reset`."""
        return Reason.of(self._reason)

    @reason.setter
    def reason(self, reason: Reason | None) -> None:
        self._reason = _NONE if reason is None else reason.number

    def check(self, t: float, q: Array, dq: Array) -> Reason | None:
        """Check a state and return the kept violation, if any.

        Parameters
        ----------
        t : float
            Time [s].
        q, dq : (n,) array
            Positions and velocities [rad or m, and per second].
        """
        return Reason.of(self._check(t, q, dq))

    def limit(
        self, t: float, tau: npt.ArrayLike, gravity: npt.ArrayLike | None = None, *, together: bool = False
    ) -> Array:
        """Return the command for a torque, (n,), within all limits; the last command if the torque is not finite.

        Parameters
        ----------
        t : float
            Time [s].
        tau : (n,) array_like
            Torque on the joints [N m or N].
        gravity : (n,) array_like, optional
            Part of it that the drive adds by itself, which the command leaves out.
        together : bool
            Whether the torque rate limits all joints in common, for the torque of a brake: the command changes by the
            same part of the difference in every joint.
        """
        return self._limit(t, tau, gravity, together)


class StoppingDistance(NamedTuple):
    """How far an arm goes at most from where it is until its brake has stopped it.

    Attributes
    ----------
    joints : (..., n) array
        Distance of each joint [rad or m].
    tip : (...) array
        Distance of the end effector along a straight line [m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.realtime import stopping_distance
    >>> distance = stopping_distance(th.Robot.load("elbow"), [0.4, 0.6], [1.0, 0.0])
    >>> distance.joints.shape, bool(distance.tip > 0.0)
    ((2,), True)
    """

    joints: Array
    tip: Array


def stopping_distance(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    limits: SafetyLimits | None = None,
    *,
    tau: npt.ArrayLike | None = None,
    torque_step: npt.ArrayLike = np.inf,
    period: float = 1e-3,
) -> StoppingDistance:
    """Return how far the brake of a loop lets an arm go, for each joint and for the end effector.

    The brake is simulated until the arm stands, in periods, within the torque limits and rates, with the friction of
    `robot`. Distances are the larger ones of two stops: one begins after a period; the other is what `Safety` allows
    for, after three periods in which the present torques act, with 90 % of the torque limits. An arm that is heavier
    than `robot` goes farther, and so does one that gravity leaves no torque to brake with: a stop ends after 10 s.

    Parameters
    ----------
    robot : Robot
        The arm, with its payload.
    q, dq : (..., n) array_like
        Positions and velocities [rad or m, and per second].
    limits : SafetyLimits, optional
        Of its limits those of torque and torque rate; default `SafetyLimits.of` the robot.
    tau : (..., n) array_like, optional
        Torques that act on the joints now [N m or N]; default those of a motion without acceleration.
    torque_step, period : array_like, float
        As in `Safety`.

    Returns
    -------
    StoppingDistance

    Raises
    ------
    ValueError
        If shapes do not fit, or a number is not finite.

    Examples
    --------
    The distance grows with the square of the speed once the torque limits count:

    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.realtime import stopping_distance
    >>> robot, q = th.Robot.load("panda"), [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]
    >>> speeds = np.array([0.5, 1.0, 2.0])
    >>> found = stopping_distance(robot, [q] * 3, speeds[:, None] * np.eye(7)[0])
    >>> found.joints[:, 0].round(3), found.tip.round(3)
    (array([0.005, 0.01 , 0.031]), array([0.002, 0.005, 0.015]))
    """
    n = (of_kind(robot, Robot, "robot").n,)
    own = own_or_given(robot, limits)
    q_, dq_ = np.broadcast_arrays(points(q, "q", n), points(dq, "dq", n))
    applied = robot.inverse_dynamics(q_, dq_, np.zeros_like(q_)) if tau is None else points(tau, "tau", n)
    joints, tip = _core.stopping_distances(
        robot,
        own.torque,
        own.torque_rate,
        positives(torque_step, robot.n, "torque_step", finite=False),
        positive(period, "period"),
        *(np.broadcast_to(values, q_.shape).reshape(-1, robot.n) for values in (q_, dq_, applied)),
    )
    return StoppingDistance(joints.reshape(q_.shape), tip.reshape(q_.shape[:-1]))
