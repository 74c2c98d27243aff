"""A reach for a moving object: measurements come in, a reference for a controller goes out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, at_least, numbers, pose, positive, whole, within
from ...errors import ThunderError
from ...perception.pose_source import finite, not_negative
from ...reference import TaskReference, _TaskSource
from ...values import Stateful
from .conveyor import Belt
from .filter import ConstantVelocityFilter

if TYPE_CHECKING:
    from ...motion import HumanLikePlanner
    from ...perception.pose_source import PoseMeasurement
    from .conveyor import Feed

__all__ = [
    "FollowedInterception",
    "InterceptionOptions",
    "Interceptor",
    "PlannedArrival",
    "SingleShot",
    "Strategy",
    "TimeAugmentation",
    "VariableStructure",
    "arrival_time",
    "misses",
    "new_arrival",
]


@dataclass(frozen=True)
class SingleShot:
    """No replanning: the first plan is carried out, whatever is seen later."""

    def _settings(self) -> dict[str, float | str]:
        return {"strategy": "single shot"}


@dataclass(frozen=True)
class VariableStructure:
    """Fine corrections keep the time, coarse ones the place (Figure 35).

    Where the object will be within a region about p_ref at the planned time t_f, that time stays, and the goal becomes
    the object's place then. Where it will be outside, the goal goes back to p_ref, and t_f becomes the time of arrival
    there, (113).

    Parameters
    ----------
    behind, ahead : float
        How far the region reaches from p_ref against and along the motion of the belt [m]. The report draws it
        asymmetric, "to favour grasp conditions with a lead", and gives no numbers.
    """

    behind: float = 0.03
    ahead: float = 0.08

    def __post_init__(self) -> None:
        """Check both."""
        not_negative(self.behind, "behind", "m")
        not_negative(self.ahead, "ahead", "m")

    def _settings(self) -> dict[str, float | str]:
        return {"strategy": "variable structure", "behind": self.behind, "ahead": self.ahead}


@dataclass(frozen=True)
class TimeAugmentation:
    """Towards p_ref, with a time of arrival that is moved a little, (116) and (117).

    ::

        t_f    = t_OA + alpha (1 - tau) (p_o + lambda (f_new - f_old) + phi (y_object - y_hand))
        p(t_f) = p + v (t_f - t)

    tau is the part of the motion that is done, F/N; y is counted along the belt; f is the frequency at which estimates
    came in the last interval and in the one before. The report says of its four numbers that they were found by trial
    and error and prints none.

    Parameters
    ----------
    alpha : float
        Seconds for each metre in the bracket [s/m], 0 or more.
    p_o : float
        Lead (positive) or delay that stays [m].
    lam : float
        lambda, against sudden changes of the frequency [m/Hz].
    phi : float
        Lead in proportion to how far the hand is behind the object [-].
    """

    alpha: float = 0.5
    p_o: float = 0.02
    lam: float = 1e-3
    phi: float = 0.1

    def __post_init__(self) -> None:
        """Check all."""
        at_least(self.alpha, "alpha")
        for name in ("alpha", "p_o", "lam", "phi"):
            finite(getattr(self, name), name)

    def _settings(self) -> dict[str, float | str]:
        return {
            "strategy": "time augmentation",
            "scale": self.alpha,
            "lead": self.p_o,
            "rate": self.lam,
            "lag": self.phi,
        }


Strategy: TypeAlias = SingleShot | VariableStructure | TimeAugmentation

#: what the core wants of strategies that are not chosen
_OTHERS = {**VariableStructure()._settings(), **TimeAugmentation()._settings()}


def strategy_settings(strategy: Strategy) -> dict[str, float | str]:
    """Return a strategy's settings as the core reads them."""
    return {**_OTHERS, **strategy._settings()}


_MAY_BE_ZERO = ("patience", "freeze", "closing_time", "lift", "least_speed")


@dataclass(frozen=True)
class InterceptionOptions:
    """What an `Interceptor` can be told.

    Parameters
    ----------
    strategy : SingleShot, VariableStructure or TimeAugmentation
        How plans are corrected.
    threshold : float
        p_th of the missing condition (114) [m].
    continuity : {"acceleration", "velocity"}
        What goes on where plans meet. The paper's is velocity, so that no acceleration need be known; here the plan
        knows its own.
    least_updates : int
        Measurements that the filter must have accepted before it is believed.
    longest_reach : float
        Wait with the first plan until the object arrives within this time [s]; infinite: plan at once.
    shortest_reach : float
        No plan asks to be there in less [s].
    freeze : float
        So long before the arrival nothing changes any more [s].
    closing_time : float
        Of the hand, from the arrival on; meanwhile it moves along with the object [s].
    lift, leave_time : float
        How high it then lifts [m], and in what time it comes to rest [s].
    velocity_limit, acceleration_limit : float
        Of the hand [m/s], [m/s²]: plans beyond are not carried out. They are compared with bounds, from control points.
        With 1 m/s the Panda's joints stay within 0.92 of their speeds over `default_belt`.
    braking : float
        Deceleration that a reach is broken off with [m/s²].
    least_speed, greatest_speed : float
        Of an object, along the belt [m/s]. Slower ones count as stopped.
    longest_silence : float
        Without an estimate that can be believed, and a reach is broken off [s].
    patience : float
        So long the present plan, which is safe, is kept where estimates say that the object has stopped, turns back, is
        too fast or out of reach [s]: they may be wrong. At `freeze` before the arrival there is no patience left.
    worst_condition : float
        Of the components on what is left of their time; beyond it, a polynomial (`HumanLikePlanner.replan`).
    """

    strategy: Strategy = field(default_factory=TimeAugmentation)
    threshold: float = 0.01
    continuity: Literal["acceleration", "velocity"] = "acceleration"
    least_updates: int = 5
    longest_reach: float = np.inf
    shortest_reach: float = 0.15
    freeze: float = 0.1
    closing_time: float = 0.25
    lift: float = 0.1
    leave_time: float = 0.5
    velocity_limit: float = 1.0
    acceleration_limit: float = 8.0
    braking: float = 4.0
    least_speed: float = 0.03
    greatest_speed: float = 0.6
    longest_silence: float = 0.5
    patience: float = 0.25
    worst_condition: float = 1e4

    def __post_init__(self) -> None:
        """Check everything."""
        if not hasattr(self.strategy, "_settings"):
            raise ThunderError(
                f"strategy must be SingleShot, VariableStructure or TimeAugmentation, got {self.strategy!r}"
            )
        if self.continuity not in ("acceleration", "velocity"):
            raise ThunderError(f'continuity must be "acceleration" or "velocity", got {self.continuity!r}')
        whole(self.least_updates, "least_updates", 2)
        for name in self._numbers():
            value = getattr(self, name)
            if name == "longest_reach":
                within(value, name, 0.0, np.inf)
            elif name in _MAY_BE_ZERO:
                at_least(value, name)
            else:
                positive(value, name)
        if self.freeze > self.shortest_reach:
            raise ThunderError(f"freeze must not be longer than shortest_reach, got {self.freeze:g} s")
        if not self.least_speed < self.greatest_speed:
            raise ThunderError(f"least_speed must be below greatest_speed, got {self.least_speed:g} m/s")

    @classmethod
    def _numbers(cls) -> list[str]:
        return [f.name for f in fields(cls) if f.name not in ("strategy", "continuity", "least_updates")]

    def _settings(self, belt: Belt) -> dict[str, object]:
        """Return all that the core's interceptor is told."""
        return {
            **strategy_settings(self.strategy),
            **belt._settings(),
            **{name: float(getattr(self, name)) for name in self._numbers()},
            "least_updates": int(self.least_updates),
            "order": 3 if self.continuity == "acceleration" else 2,
        }


class PlannedArrival(NamedTuple):
    """One of the plans that were made.

    Attributes
    ----------
    time, arrival : float
        When it was made, and when the hand is to be there, t_f [s].
    goal, velocity : (3,) array
        There, and the object's velocity that the hand is to have [m], [m/s].
    fallback : bool
        A polynomial in place of the components.
    """

    time: float
    arrival: float
    goal: Array
    velocity: Array
    fallback: bool


class Interceptor(_core.Interceptor):
    """One grasp of an object that moves along a belt: waiting, reaching, closing, leaving.

    In a control loop, `take` measurements as they become available, and ask for the `reference` in every period. Each
    measurement goes into the filter; the state is predicted from the time of the picture to now, which compensates the
    latency; the missing condition is evaluated, and where it holds the rest of the motion is planned anew.

    Parameters
    ----------
    planner : HumanLikePlanner
        Of positions or poses, with constraints up to the continuity. Where its components share no scores
        (``FPCA(joint=False)``), a replan allocates nothing.
    belt : Belt
        Where to grasp.
    start : (4, 4) array_like
        Pose of the hand while it waits.
    filter : ConstantVelocityFilter, optional
        Is copied.
    options : InterceptionOptions, optional
        Everything else.
    goal_rotation : (3, 3) array_like, optional
        Orientation of the grasp, for planners of poses; default that of the start.

    Attributes
    ----------
    phase : str
        ``waiting``, ``reaching``, ``closing``, ``leaving``, ``finished`` or ``aborted``. An aborted reach brakes along
        its way and stays where it comes to rest, until `reset`.
    reason : str
        Why it was aborted, or why it still waits: ``no estimate``, ``silent`` (no estimate to believe in for too long:
        drop-outs, NaN, a source that freezes or jumps), ``stopped``, ``reversed``, ``too fast`` (the object, or what
        would be asked of the hand), ``out of reach``, ``too late``; else ``none``.
    arrival : float
        t_f of the plan [s].
    goal, goal_velocity : (d,) array
        At that time.
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
        made = ConstantVelocityFilter() if filter is None else filter
        turn = _turn(T[:3, :3], goal_rotation, planner.kind)
        super().__init__(planner._core, made, self.options._settings(belt), T[:3, 3], T[:3, :3], turn)

    def take(self, measurement: PoseMeasurement, now: float | None = None) -> str:
        """Take in a measurement of a `PoseSource`.

        Parameters
        ----------
        measurement : PoseMeasurement
            Its position counts. Where nothing was seen, nothing happens.
        now : float, optional
            [s]; default when it became available.

        Returns
        -------
        str
            What the filter made of it, see `ConstantVelocityFilter`, or ``"nothing seen"``.
        """
        if measurement.pose is None:
            return "nothing seen"
        at = measurement.available if now is None else now
        return self.measure(at, measurement.time, measurement.pose[:3, 3])

    def reference(self, t: float) -> TaskReference:
        """Let time go on to t [s] and return what the hand is to do."""
        self.advance(t)
        return TaskReference(*self.at(t))

    @property
    def plans(self) -> list[PlannedArrival]:
        """All plans since the start, the first one included."""
        return [PlannedArrival(row[0], row[1], row[2:5], row[5:8], bool(row[8])) for row in self._plans]

    def follow(self, feed: Feed) -> FollowedInterception:
        """Return a reference that takes in the measurements of a feed as its time goes on."""
        return FollowedInterception(self, feed)


class FollowedInterception(Stateful, _TaskSource, _core.ScheduledInterception):
    """An interceptor and the measurements that will come to it, as a reference for `simulate`: all of it runs in C++.

    Time must not go back, except to look at what is planned now.

    Parameters
    ----------
    interceptor : Interceptor
        Is reset first.
    feed : Feed
        Times of pictures, when they can be used, positions; NaN may be among these.
    """

    def __init__(self, interceptor: Interceptor, feed: Feed) -> None:
        interceptor.reset()
        taken = array(feed.taken, (None,), "taken")
        available = array(feed.available, (len(taken),), "available")
        positions = numbers(feed.positions, "positions", 2)
        super().__init__(interceptor, taken, available, positions)


def _turn(start: Array, goal: npt.ArrayLike | None, kind: str) -> Array:
    """Return the rotation vector from the start's orientation to the goal's, in world axes."""
    if goal is None:
        return np.zeros(3)
    from ... import spatial

    R = np.eye(4)
    R[:3, :3] = array(goal, (3, 3), "goal_rotation")
    turn = np.asarray(spatial.log(pose(R, "goal_rotation")[:3, :3] @ start.T))
    if kind == "position" and np.linalg.norm(turn) > 1e-9:
        raise ThunderError("goal_rotation must be left out for a planner of positions, which keeps the start's")
    return turn


def arrival_time(belt: Belt, t: float, p: npt.ArrayLike, v: npt.ArrayLike) -> float:
    """Return when an object at p with velocity v at time t passes p_ref [s]: t + (p_ref - p) / v along the belt (113).

    The printed (113) is a time to go, counted from the estimate; (114) and (117) want an absolute one (errata D-26).
    Infinite for an object that does not move along the belt.

    Parameters
    ----------
    belt : Belt
        Its offset is not used: p is the point that the hand's frame is to meet.
    t : float
        [s].
    p, v : (3,) array_like
        [m], [m/s].
    """
    return _core._arrival_time(InterceptionOptions()._settings(belt), t, p, v)


def misses(
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
        Where the hand is going [m]: p_ref at first, and what a strategy made of it later.
    arrival : float
        t_f, when it will be there [s].
    threshold : float
        p_th [m].
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
    """Return the time of arrival that a strategy chooses [s]; the goal is where the object is then, p + v (t_f - t).

    Parameters
    ----------
    belt, t, p, v
        As in `arrival_time`.
    strategy : VariableStructure, TimeAugmentation or SingleShot
        For the last one it is the arrival at p_ref.
    arrival : float
        As planned so far [s].
    remaining : float
        1 - tau, the part of the motion that is left.
    hand : (3,) array_like
        Where it is [m].
    frequency, old_frequency : float
        Of the estimates, now and before [Hz].
    """
    settings = InterceptionOptions(strategy=strategy)._settings(belt)
    return _core._new_arrival(settings, t, p, v, arrival, remaining, hand, frequency, old_frequency)
