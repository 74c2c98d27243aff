"""Interception of a moving object: from measurements to a reference for a controller."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, finite, nonnegative, numbers, pose, positive, rotation, whole, within
from ...errors import ThunderError
from ...reference import TaskReference, _TaskSource
from ...values import Stateful
from .conveyor import Belt
from .filter import ConstantVelocityFilter
from .outcome import InterceptionPhase, InterceptionReason
from .verdict import GraspLimits, PlannedGrasp, Sighting, grasp_verdict

if TYPE_CHECKING:
    from ...motion import HumanLikePlanner
    from ...perception.pose_source import PoseMeasurement
    from .conveyor import Feed


@dataclass(frozen=True)
class SingleShot:
    """No replanning: the first plan is executed regardless of later measurements.

    Examples
    --------
    >>> from thunder_py.manipulation import InterceptionOptions, SingleShot
    >>> InterceptionOptions(strategy=SingleShot()).strategy
    SingleShot()
    """


@dataclass(frozen=True)
class VariableStructure:
    """Strategy that keeps the time for small corrections and the place for large ones (D4.2, Figure 35).

    If the object will be within a region about p_ref at the planned time t_f, that time is kept, and the goal becomes
    the object's position at t_f. Otherwise the goal returns to p_ref, and t_f becomes the time of arrival there, (113).

    Parameters
    ----------
    behind, ahead : float
        Extent of the region from p_ref against and along the motion of the belt [m]. The report draws it
        asymmetric, "to favor grasp conditions with a lead", and gives no numbers.

    Raises
    ------
    ThunderError
        If a number is negative.

    Examples
    --------
    >>> from thunder_py.manipulation import VariableStructure
    >>> VariableStructure(ahead=0.05)
    VariableStructure(behind=0.03, ahead=0.05)
    """

    behind: float = 0.03
    ahead: float = 0.08

    def __post_init__(self) -> None:
        """Check both."""
        nonnegative(self.behind, "behind", "m")
        nonnegative(self.ahead, "ahead", "m")


@dataclass(frozen=True)
class TimeAugmentation:
    """Strategy that goes towards p_ref with an adjusted time of arrival, D4.2 (116) and (117).

    ::

        t_f    = t_OA + alpha (1 - tau) (p_o + lambda (f_new - f_old) + phi (y_object - y_hand))
        p(t_f) = p + v (t_f - t)

    tau is the completed fraction of the motion, F/N; y is the coordinate along the belt; f is the frequency of the
    estimates in the last interval and in the one before. The report tuned its four numbers by trial and error and
    prints none of them.

    Parameters
    ----------
    alpha : float
        Seconds for each meter in the bracket [s/m], 0 or more.
    p_o : float
        Constant lead (positive) or delay (negative) [m].
    lam : float
        lambda, against sudden changes of the frequency [m/Hz].
    phi : float
        Lead in proportion to the distance of the hand behind the object [-].

    Raises
    ------
    ThunderError
        If a number is not finite, or `alpha` is negative.

    Examples
    --------
    >>> from thunder_py.manipulation import TimeAugmentation
    >>> TimeAugmentation(p_o=0.01)
    TimeAugmentation(alpha=0.5, p_o=0.01, lam=0.001, phi=0.1)
    """

    alpha: float = 0.5
    p_o: float = 0.02
    lam: float = 1e-3
    phi: float = 0.1

    def __post_init__(self) -> None:
        """Check all."""
        nonnegative(self.alpha, "alpha")
        for name in ("alpha", "p_o", "lam", "phi"):
            finite(getattr(self, name), name)


#: measurements kept for the verdict on a grasp; the filter forgets much faster
_MEMORY = 512

Strategy: TypeAlias = SingleShot | VariableStructure | TimeAugmentation

#: strategies -> names in the core, of each and of its fields
_STRATEGIES: dict[type[Strategy], tuple[str, ...]] = {
    SingleShot: ("single shot",),
    VariableStructure: ("variable structure", "behind", "ahead"),
    TimeAugmentation: ("time augmentation", "scale", "lead", "rate", "lag"),
}


def strategy_settings(strategy: Strategy) -> dict[str, float | str]:
    """Return a strategy's settings as the core reads them, with those of strategies that are not selected."""
    found: dict[str, float | str] = {}
    for one in (VariableStructure(), TimeAugmentation(), strategy):
        name, *keys = _STRATEGIES[type(one)]
        found |= {"strategy": name, **dict(zip(keys, astuple(one), strict=True))}
    return found


_MAY_BE_INFINITE = ("longest_reach", "longest_silence")
_MAY_BE_ZERO = ("patience", "freeze_time", "closing_time", "lift", "least_speed")


@dataclass(frozen=True)
class InterceptionOptions:
    """Settings of an `Interceptor`.

    Parameters
    ----------
    strategy : SingleShot, VariableStructure or TimeAugmentation
        Rule by which plans are corrected.
    threshold : float
        p_th of the missing condition (114) [m].
    continuity : {"acceleration", "velocity"}
        Highest derivative that is continuous where plans meet. The paper uses velocity, because it needs no
        acceleration of the robot; here the plan provides it.
    least_updates : int
        Number of measurements that the filter must have accepted before its estimate is used.
    longest_reach : float
        Delay the first plan until the object arrives within this time [s]; infinite: plan at once.
    shortest_reach : float
        Smallest duration of a plan [s].
    freeze_time : float
        Within this time before the arrival the plan is not changed [s].
    closing_time : float
        Time in which the hand closes, from the arrival on, while it moves with the object [s].
    lift, leave_time : float
        Height of the lift after the closing [m], and the time in which it comes to rest [s].
    velocity_limit, acceleration_limit : float
        Limits of the hand [m/s], [m/s²], compared with bounds from control points: plans beyond are not executed.
        With 1 m/s the Panda's joints stay within 0.92 of their speeds over `default_belt`.
    braking : float
        Deceleration with which a reach is aborted [m/s²].
    least_speed, greatest_speed : float
        Speeds of an object along the belt [m/s]. Slower ones count as stopped.
    longest_silence : float
        Time without an accepted estimate after which a reach is aborted [s], and without a picture since the arrival
        after which the object may have vanished; infinite for a camera whose view the hand covers.
    tolerance : float
        Distance over which the hand can close [m]: an object that is farther away then is not grasped.
    patience : float
        Time for which the present plan, which is safe, is kept although estimates say that the object has stopped,
        reverses, is too fast or out of reach [s]: they may be wrong. It ends at `freeze_time` before the arrival.
    max_condition_number : float
        Largest condition number of the components on the remaining time; beyond it, a polynomial is used
        (`HumanLikePlanner.replan`).

    Raises
    ------
    ThunderError
        If an option is invalid.

    Examples
    --------
    >>> from thunder_py.manipulation import InterceptionOptions, VariableStructure
    >>> options = InterceptionOptions(strategy=VariableStructure(), velocity_limit=0.8)
    >>> options.freeze_time, options.closing_time
    (0.1, 0.25)
    """

    strategy: Strategy = field(default_factory=TimeAugmentation)
    threshold: float = 0.01
    continuity: Literal["acceleration", "velocity"] = "acceleration"
    least_updates: int = 5
    longest_reach: float = np.inf
    shortest_reach: float = 0.15
    freeze_time: float = 0.1
    closing_time: float = 0.25
    lift: float = 0.1
    leave_time: float = 0.5
    velocity_limit: float = 1.0
    acceleration_limit: float = 8.0
    braking: float = 4.0
    least_speed: float = 0.03
    greatest_speed: float = 0.6
    longest_silence: float = 0.5
    tolerance: float = 0.025
    patience: float = 0.25
    max_condition_number: float = 1e4

    def __post_init__(self) -> None:
        """Check everything."""
        if type(self.strategy) not in _STRATEGIES:
            names = "SingleShot, VariableStructure or TimeAugmentation"
            raise ThunderError(f"strategy must be {names}, got {self.strategy!r}")
        if self.continuity not in ("acceleration", "velocity"):
            raise ThunderError(f'continuity must be "acceleration" or "velocity", got {self.continuity!r}')
        whole(self.least_updates, "least_updates", 2)
        for name in self._numbers():
            value = getattr(self, name)
            if name in _MAY_BE_INFINITE:
                within(value, name, 0.0, np.inf, ends="(]")
            elif name in _MAY_BE_ZERO:
                nonnegative(value, name)
            else:
                positive(value, name)
        if self.freeze_time > self.shortest_reach:
            raise ThunderError(f"freeze_time must not be longer than shortest_reach, got {self.freeze_time:g} s")
        if not self.least_speed < self.greatest_speed:
            raise ThunderError(f"least_speed must be below greatest_speed, got {self.least_speed:g} m/s")

    @classmethod
    def _numbers(cls) -> list[str]:
        return [f.name for f in fields(cls) if f.name not in ("strategy", "continuity", "least_updates")]

    def _settings(self, belt: Belt) -> dict[str, object]:
        """Return the settings of the core's interceptor."""
        return {
            **strategy_settings(self.strategy),
            **belt._settings(),
            **{name: float(getattr(self, name)) for name in self._numbers()},
            "least_updates": int(self.least_updates),
            "order": 3 if self.continuity == "acceleration" else 2,
        }


class PlannedArrival(NamedTuple):
    """One plan of an interception.

    Attributes
    ----------
    time, arrival : float
        Time at which it was made, and planned time of arrival t_f [s].
    goal, velocity : (3,) array
        Position [m] and velocity of the object [m/s] that the hand has at t_f.
    fallback : bool
        Whether it is a polynomial in place of the components.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import PlannedArrival
    >>> plan = PlannedArrival(0.4, 2.1, np.array([0.5, 0.0, 0.25]), np.array([0.0, 0.26, 0.0]), fallback=False)
    >>> round(plan.arrival - plan.time, 1)
    1.7
    """

    time: float
    arrival: float
    goal: Array
    velocity: Array
    fallback: bool


class Interceptor(_core.Interceptor):
    """Grasp one object that moves along a belt: waiting, reaching, closing, leaving.

    In a control loop, call `take` with measurements as they become available, and `reference` in every period. Each
    measurement updates the filter, whose state is predicted from the time of the picture to now, which compensates the
    latency. Where the missing condition (114) holds, the rest of the motion is replanned.

    Parameters
    ----------
    planner : HumanLikePlanner
        Planner of positions or poses, with constraints up to the continuity. If its components share no scores
        (``FPCA(joint=False)``), a replan allocates nothing.
    belt : Belt
        Region of the grasp.
    start : (4, 4) array_like
        Pose of the hand while it waits.
    filter : ConstantVelocityFilter, optional
        Estimator of the object's motion; it is copied.
    options : InterceptionOptions, optional
        Strategy, limits and times.
    goal_rotation : (3, 3) array_like, optional
        Orientation of the grasp, for planners of poses; default that of the start.

    Attributes
    ----------
    phase : InterceptionPhase
        Phase.
    reason : InterceptionReason
        Reason for an abort or for waiting.
    arrival : float
        t_f of the plan [s].
    goal, goal_velocity : (d,) array
        Position [m] and velocity [m/s] of the hand at that time.

    Raises
    ------
    ThunderError
        If `planner`, `start` or `goal_rotation` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation import Belt, Interceptor
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import sigma_lognormal_reaches
    >>> planner = HumanLikePlanner(FPCA(alignment="path", shrinkage=0.2).fit(sigma_lognormal_reaches(10, seed=1)))
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35), offset=(0.0, 0.0, 0.15))
    >>> start = np.array([[1, 0, 0, 0.45], [0, -1, 0, 0.0], [0, 0, -1, 0.5], [0, 0, 0, 1]])
    >>> hand = Interceptor(planner, belt, start)
    >>> for k in range(300):  # 100 Hz; pictures at 14 Hz, 80 ms late, of an object at 0.26 m/s
    ...     t = 0.01 * k
    ...     if k % 7 == 0 and t >= 0.08:
    ...         verdict = hand.measure(t, t - 0.08, [0.5, -0.55 + 0.26 * (t - 0.08), 0.1])
    ...     reference = hand.reference(t)
    >>> hand.phase.value, bool(abs(hand.goal[1]) < 0.03)
    ('finished', True)
    """

    def __init__(
        self,
        planner: HumanLikePlanner,
        belt: Belt,
        start: npt.ArrayLike,
        *,
        filter: ConstantVelocityFilter | None = None,
        options: InterceptionOptions | None = None,
        goal_rotation: npt.ArrayLike | None = None,
    ) -> None:
        if getattr(planner, "kind", None) not in ("position", "pose"):
            raise ThunderError(f"planner must be a HumanLikePlanner of positions or poses, got {planner!r}")
        T = pose(start, "start")
        self.belt, self.options = belt, InterceptionOptions() if options is None else options
        order = 3 if self.options.continuity == "acceleration" else 2
        if len(planner.constraints) < order:
            raise ThunderError(f"planner must have constraints on the {self.options.continuity}")
        estimator = ConstantVelocityFilter() if filter is None else filter
        turn = _turn(T[:3, :3], goal_rotation, planner.kind)
        super().__init__(planner._core, estimator, self.options._settings(belt), T[:3, 3], T[:3, :3], turn)
        self._estimator = copy.copy(estimator)
        self._estimator.reset()
        self.reset()

    def reset(self) -> None:
        """Return to waiting and discard all measurements."""
        super().reset()
        self._sightings: deque[Sighting] = deque(maxlen=_MEMORY)
        self._verdict: tuple[object, InterceptionReason] = (None, InterceptionReason.none)

    @property
    def phase(self) -> InterceptionPhase:
        """Phase."""
        phase = InterceptionPhase(super().phase)
        contradicted = phase is InterceptionPhase.finished and self.reason is not InterceptionReason.none
        return InterceptionPhase.missed if contradicted else phase

    @property
    def reason(self) -> InterceptionReason:
        """Reason for waiting, for an abort, or for a grasp that measurements contradict."""
        phase = InterceptionPhase(super().phase)
        if phase not in (InterceptionPhase.leaving, InterceptionPhase.finished):
            return InterceptionReason(super().reason)
        key = phase, len(self._sightings), self._sightings[-1].taken
        if self._verdict[0] != key:
            self._verdict = key, self._judge(phase)
        return self._verdict[1]

    def _judge(self, phase: InterceptionPhase) -> InterceptionReason:
        offset, direction = (np.asarray(part, dtype=np.float64) for part in (self.belt.offset, self.belt.direction))
        closing = self.options.closing_time
        frozen = max(self.plans[-1].time, self.arrival - self.options.freeze_time)
        position = self.goal[:3] - offset + closing * self.goal_velocity[:3]
        closed = self.arrival + closing
        plan = PlannedGrasp(frozen, self.arrival, closed, position, self.path, direction)
        until = closed + (self.options.leave_time if phase is InterceptionPhase.finished else 0.0)
        limits = GraspLimits(*(getattr(self.options, name) for name in GraspLimits._fields))
        return grasp_verdict(self._sightings, self._estimator, plan, limits, until)

    def measure(
        self, now: SupportsFloat | SupportsIndex, taken: SupportsFloat | SupportsIndex, position: npt.ArrayLike
    ) -> str:
        """Update at time `now` with a position from an image: filter, decide and replan where the plan would miss.

        Parameters
        ----------
        now, taken : float
            Present time, and time of the image [s].
        position : (3,) array_like
            Measured position [m]; NaN counts as not measured.

        Returns
        -------
        str
            Verdict of the filter, see `ConstantVelocityFilter`.
        """
        verdict = super().measure(now, taken, position)
        available, picture = float(now), float(taken)
        if np.isfinite(available) and picture <= available and super().phase not in ("finished", "aborted"):
            self._sightings.append(Sighting(available, picture, np.array(position, dtype=float)))
        return verdict

    def take(self, measurement: PoseMeasurement, now: float | None = None) -> str:
        """Take in a measurement of a `PoseSource`.

        Parameters
        ----------
        measurement : PoseMeasurement
            Only its position is used. A measurement without a pose changes nothing.
        now : float, optional
            Present time [s]; default the time from which the measurement is available.

        Returns
        -------
        str
            Verdict of the filter, see `ConstantVelocityFilter`, or ``"nothing seen"``.
        """
        if measurement.pose is None:
            return "nothing seen"
        at = measurement.available if now is None else now
        return self.measure(at, measurement.time, measurement.pose[:3, 3])

    def reference(self, t: float) -> TaskReference:
        """Advance to time t [s] and return the reference of the hand."""
        self.advance(t)
        return TaskReference(*self.at(t))

    @property
    def plans(self) -> list[PlannedArrival]:
        """Plans since the start, including the first one."""
        return [PlannedArrival(row[0], row[1], row[2:5], row[5:8], bool(row[8])) for row in self._plans]

    def follow(self, feed: Feed) -> FollowedInterception:
        """Return a reference that processes the measurements of a feed as time advances."""
        return FollowedInterception(self, feed)


class FollowedInterception(Stateful, _TaskSource, _core.ScheduledInterception):
    """An interceptor with its future measurements, as a reference for `simulate` that runs in C++.

    Time must not decrease, except to evaluate the present plan.

    Parameters
    ----------
    interceptor : Interceptor
        It is reset first.
    feed : Feed
        Measurements; positions may be NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.manipulation.interception import Belt, Feed, Interceptor
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import sigma_lognormal_reaches
    >>> planner = HumanLikePlanner(FPCA(alignment="path", shrinkage=0.2).fit(sigma_lognormal_reaches(10, seed=1)))
    >>> belt = Belt((0.5, 0.0, 0.4), (0.4, -0.25, 0.15), (0.6, 0.3, 0.5))
    >>> start = np.array([[1, 0, 0, 0.45], [0, -1, 0, 0.0], [0, 0, -1, 0.5], [0, 0, 0, 1]])
    >>> hand = Interceptor(planner, belt, start)
    >>> taken = np.arange(0.0, 3.0, 0.07)
    >>> feed = Feed(taken, taken + 0.08, np.array([0.5, -0.55, 0.4]) + np.outer(taken, [0.0, 0.26, 0.0]))
    >>> source = hand.follow(feed)  # a FollowedInterception
    >>> source(np.linspace(0.0, 3.0, 301)).p.shape, hand.phase.value
    ((301, 3), 'finished')
    """

    def __init__(self, interceptor: Interceptor, feed: Feed) -> None:
        interceptor.reset()
        taken = array(feed.taken, (None,), "taken")
        available = array(feed.available, (len(taken),), "available")
        positions = numbers(feed.positions, "positions", 2)
        super().__init__(interceptor, taken, available, positions)
        order = np.argsort(available, kind="stable")
        known = (Sighting(available[k], taken[k], positions[k]) for k in order if taken[k] <= available[k])
        interceptor._sightings = deque(known)


def _turn(start: Array, goal: npt.ArrayLike | None, kind: str) -> Array:
    """Return the rotation vector from the start's orientation to the goal's, in world axes."""
    if goal is None:
        return np.zeros(3)
    from ... import spatial

    turn = np.asarray(spatial.log(rotation(goal, "goal_rotation") @ start.T))
    if kind == "position" and np.linalg.norm(turn) > 1e-9:
        raise ThunderError("goal_rotation must be left out for a planner of positions, which keeps the start's")
    return turn


def arrival_time(belt: Belt, t: float, p: npt.ArrayLike, v: npt.ArrayLike) -> float:
    """Return the time at which an object passes p_ref, D4.2 (113): t + (p_ref - p) / v along the belt.

    The printed (113) is a time to go, counted from the estimate; (114) and (117) need an absolute time (errata D-26).

    Parameters
    ----------
    belt : Belt
        Its offset is not used: p is the point that the hand's frame is to meet.
    t : float
        Time of the estimate [s].
    p, v : (3,) array_like
        Position [m] and velocity [m/s] of the object at t.

    Returns
    -------
    float
        Time of arrival [s]; infinite for an object that does not move along the belt.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Belt, arrival_time
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35))
    >>> round(arrival_time(belt, 1.0, [0.5, -0.5, 0.25], [0.0, 0.25, 0.0]), 3)
    3.0
    """
    return _core._arrival_time(InterceptionOptions()._settings(belt), t, p, v)


def misses_target(
    belt: Belt,
    t: float,
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    goal: npt.ArrayLike,
    arrival: float,
    threshold: float = 0.01,
) -> bool:
    """Evaluate the missing condition (114) with absolute times: |goal - (p + v (t_f - t))| > p_th.

    Parameters
    ----------
    belt, t, p, v
        As in `arrival_time`.
    goal : (3,) array_like
        Goal of the hand [m]: p_ref at first, later the goal that a strategy chose.
    arrival : float
        t_f, the planned time of arrival [s].
    threshold : float
        p_th [m].

    Returns
    -------
    bool

    Raises
    ------
    ThunderError
        If `threshold` is not positive.

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Belt, misses_target
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35))
    >>> p, v = [0.5, -0.5, 0.25], [0.0, 0.25, 0.0]
    >>> misses_target(belt, 1.0, p, v, goal=belt.reference, arrival=3.0)
    False
    >>> misses_target(belt, 1.0, p, v, goal=belt.reference, arrival=3.1)  # 25 mm past p_ref
    True
    """
    options = InterceptionOptions(threshold=positive(threshold, "threshold", "m"))
    return _core._misses(options._settings(belt), t, p, v, goal, arrival)


def new_arrival(
    belt: Belt,
    strategy: Strategy,
    t: float,
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    arrival: float,
    *,
    remaining: float,
    hand: npt.ArrayLike,
    frequency: float = 0.0,
    old_frequency: float = 0.0,
) -> float:
    """Return the time of arrival t_f that a strategy chooses; the goal is the object's position then, p + v (t_f - t).

    Parameters
    ----------
    belt, t, p, v
        As in `arrival_time`.
    strategy : VariableStructure, TimeAugmentation or SingleShot
        Strategy; for the last one t_f is the arrival at p_ref.
    arrival : float
        Planned time of arrival so far [s].
    remaining : float
        1 - tau, the remaining fraction of the motion.
    hand : (3,) array_like
        Position of the hand [m].
    frequency, old_frequency : float
        Frequency of the estimates, now and in the interval before [Hz].

    Returns
    -------
    float
        t_f [s].

    Examples
    --------
    >>> from thunder_py.manipulation.interception import Belt, TimeAugmentation, VariableStructure, new_arrival
    >>> belt = Belt((0.5, 0.0, 0.25), (0.4, -0.25, 0.15), (0.6, 0.3, 0.35))
    >>> now = dict(t=1.0, p=[0.5, -0.5, 0.25], v=[0.0, 0.25, 0.0], arrival=3.1, remaining=0.5, hand=[0.5, -0.5, 0.3])
    >>> new_arrival(belt, VariableStructure(), **now)  # inside the region: the time is kept
    3.1
    >>> round(new_arrival(belt, TimeAugmentation(), **now), 3)
    3.005
    """
    settings = InterceptionOptions(strategy=strategy)._settings(belt)
    return _core._new_arrival(settings, t, p, v, arrival, remaining, hand, frequency, old_frequency)
