"""A reach for a moving object: measurements come in, a reference for a controller goes out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, pose
from ...errors import ThunderError
from ...motion.scalars import at_least, numbers, positive, whole, within
from ...reference import TaskReference, _TaskSource
from ...values import Stateful
from .belt import Belt
from .filter import ConstantVelocityFilter
from .strategies import Strategy, TimeAugmentation, strategy_settings

if TYPE_CHECKING:
    from ...motion import HumanLikePlanner
    from ...perception.pose_source import PoseMeasurement
    from .conveyor import Feed

__all__ = ["FollowedInterception", "InterceptionOptions", "Interceptor", "PlannedArrival"]

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
    from ...motion import rotations

    R = np.eye(4)
    R[:3, :3] = array(goal, (3, 3), "goal_rotation")
    turn = np.asarray(rotations.log(pose(R, "goal_rotation")[:3, :3] @ start.T))
    if kind == "position" and np.linalg.norm(turn) > 1e-9:
        raise ThunderError("goal_rotation must be left out for a planner of positions, which keeps the start's")
    return turn
