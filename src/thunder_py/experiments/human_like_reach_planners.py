"""The planners that are compared with recorded reaches: learned from reaches, asked for a motion between two ends.

They plan positions. `human_like_planners` has those that move a whole hand, `human_like_columns` those that go round
obstacles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..motion import MotionSet
from ..motion.alignment import path_frame
from ..motion.dmp import DMP
from ..motion.fpca import FPCA
from ..motion.metrics import Motion
from ..motion.min_jerk import MinimumJerk, minimum_jerk
from ..motion.planner import HumanLikePlanner
from ..motion.promp import Observation, ProMP
from ..motion.trial import Trial
from .human_like_planners import METHODS

__all__ = ["Ends", "Functional", "Planner", "canonical", "demonstration", "least_jerk", "map_components", "planners"]

_ORDERS = ("position", "velocity", "acceleration")


def _rest() -> Array:
    return np.zeros((2, 3))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ends:
    """What a planner is told.

    Attributes
    ----------
    x : (2, 3) array
        Start and goal [m].
    duration : float
        [s].
    v : (2, 3) array
        Velocities there [m/s]; rest by default.
    a : (2, 3) array or None
        Accelerations there [m/s^2], zero by default; None leaves them to the planner.
    """

    x: Array
    duration: float
    v: Array = field(default_factory=_rest)
    a: Array | None = field(default_factory=_rest)


#: from what is known of the ends to a motion object
Planner: TypeAlias = Callable[[Ends], Motion]


def planners(motions: MotionSet, names: Iterable[str] = METHODS) -> dict[str, Planner]:
    """Return planners by name, taught with reaches.

    Parameters
    ----------
    motions : MotionSet
        Positions, low-passed already: movement primitives take derivatives of them.
    names : iterable of str
        Some of `METHODS`.

    Returns
    -------
    dict of str to Planner
        - paper mode: (102), corrected; 15 splines of order 5 coordinate by coordinate, demeaned, neither turned nor
          stretched; as many components as there are conditions at the ends, less one.
        - MAP: the most likely motion under the components of `map_components`.
        - minimum jerk: see `least_jerk`.
        - DMPs: 21 functions, Hoffmann's form with rotodilatation, one `demonstration`. They know the velocity at the
          start and no other derivative.
        - ProMP: 15 Gaussians for each coordinate, positions seen from the start.
    """

    @cache
    def shown() -> Trial:
        return demonstration(motions)

    makers: dict[str, Callable[[], Planner]] = {
        "paper mode": lambda: Functional(FPCA.paper(motions), "paper"),
        "MAP": lambda: Functional(map_components(motions)),
        "minimum jerk": lambda: least_jerk,
        "DMP mollifier": lambda: _Primitive(shown(), "mollifier"),
        "DMP Gaussian": lambda: _Primitive(shown(), "gaussian"),
        "ProMP": lambda: _Probabilistic(motions),
    }
    return {name: makers[name]() for name in names}


def map_components(motions: MotionSet, *, shrinkage: float | str = "auto") -> FPCA:
    """Return the components of MAP: path-aligned, 15 quintic splines, coordinates together, shrunk by prediction."""
    return FPCA(joint=True, alignment="path", shrinkage=shrinkage).fit(motions)


def canonical(x: Array) -> Array:
    """Return motions (R, T, 3) in their frames from start (the origin) to goal (1, 0, 0)."""
    D, R = path_frame(x[:, 0], x[:, -1])
    return np.asarray((x - x[:, :1]) @ R / np.asarray(D)[:, None, None], dtype=np.float64)


def demonstration(motions: MotionSet) -> Trial:
    """Return the most typical reach: in the frame from start to goal, the nearest to the mean of all."""
    x = canonical(motions.to_array(51))
    nearest = int(np.argmin(np.square(x - x.mean(axis=0)).sum(axis=(1, 2))))
    typical: Trial = motions[nearest]
    return typical


def least_jerk(ends: Ends) -> MinimumJerk:
    """Return the motion of least integrated squared jerk; where accelerations are free, its jerk ends at zero."""
    a = ends.a
    if a is None:
        T = ends.duration
        way, v = ends.x[1] - ends.x[0], T * ends.v
        # no jerk at either end of the quintic: 9 a0 - 3 a1 = p, 3 a0 - 9 a1 = q, in normalised time
        p, q = 60.0 * way - 36.0 * v[0] - 24.0 * v[1], 60.0 * way - 24.0 * v[0] - 36.0 * v[1]
        a = np.stack([3.0 * p - q, p - 3.0 * q]) / (24.0 * T**2)
    return minimum_jerk(
        ends.x[0],
        ends.x[1],
        ends.duration,
        start_velocity=ends.v[0],
        goal_velocity=ends.v[1],
        start_acceleration=a[0],
        goal_acceleration=a[1],
    )


class Functional:
    """A planner of functional components, for any number of conditions at the ends."""

    def __init__(self, fpca: FPCA, mode: str = "map") -> None:
        self.fpca, self.mode = fpca, mode
        self.planner = cache(self._planner)

    def _planner(self, order: int = 3) -> HumanLikePlanner:
        """Return the planner with positions (1), velocities (2) and accelerations (3) given at both ends."""
        return HumanLikePlanner(self.fpca, self.mode, _ORDERS[:order])

    def __call__(self, ends: Ends) -> Motion:
        """Plan."""
        rates: dict[str, Any] = {"start_velocity": ends.v[0], "goal_velocity": ends.v[1]}
        if ends.a is not None:
            rates |= {"start_acceleration": ends.a[0], "goal_acceleration": ends.a[1]}
        planner = self.planner(2 if ends.a is None else 3)
        return cast(Motion, planner.plan(ends.x[0], ends.x[1], ends.duration, **rates))


class _Primitive:
    """A movement primitive of one demonstration; it keeps its last motion, asked for again with other accelerations."""

    def __init__(self, shown: Trial, basis: str) -> None:
        self.dmp = DMP(basis=basis, rotodilatation=True).fit(shown)
        self._last: dict[bytes, Motion] = {}

    def __call__(self, ends: Ends) -> Motion:
        key = np.concatenate([ends.x.ravel(), ends.v[0], [ends.duration]]).tobytes()
        if key not in self._last:
            motion = self.dmp.rollout(ends.x[0], ends.x[1], ends.duration, start_velocity=ends.v[0])
            self._last = {key: cast(Motion, motion)}
        return self._last[key]


@dataclass(frozen=True)
class _Shifted:
    """A motion that was planned from the origin."""

    motion: Motion
    origin: Array

    @property
    def duration(self) -> float:
        return self.motion.duration

    def position(self, t: npt.ArrayLike, derivative: int = 0) -> Array:
        x = self.motion.position(t, derivative)
        return x + self.origin if derivative == 0 else x


class _Probabilistic:
    """A probabilistic movement primitive; its Gaussians overlap more than by default, or exact rest makes it ripple."""

    def __init__(self, motions: MotionSet) -> None:
        self.primitive = ProMP(overlap=0.9).fit(motions.map(lambda trial: trial.with_values(trial.x - trial.x[0])))

    def __call__(self, ends: Ends) -> Motion:
        known = [Observation(0.0, np.zeros(3)), Observation(1.0, ends.x[1] - ends.x[0])]
        for order, pair in ((1, ends.v), (2, ends.a)):
            if pair is not None:
                known += [Observation(tau, value, order) for tau, value in zip((0.0, 1.0), pair, strict=True)]
        return _Shifted(self.primitive.condition(known, ends.duration).rollout(ends.duration), ends.x[0])
