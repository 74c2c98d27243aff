"""Batches of plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...table import Tabular
from .limits import excess_of
from .model import PlannerModel
from .obstacles import FREE, PathStatus, Scene, ViaPath

#: arguments of batches
NAMES = ("start_velocities", "goal_velocities", "start_accelerations", "goal_accelerations")


@dataclass(frozen=True, eq=False)
class PlannedBatch(Tabular):
    """Samples of N planned motions; `HumanLikePlanner.plan_many` returns them.

    Attributes
    ----------
    tau : (k,) array
        Normalized times of the samples.
    x : (N, k, d) array
        Coordinates or the requested derivative with respect to real time; NaN for motions without path.
    durations : (N,) array
        [s].
    status : (N,) array of PathStatus
        Outcome of each plan.
    clearance : (N,) array
        Proved distance to the obstacles [m]; infinite without obstacles, NaN for motions without path.
    mahalanobis_distance : (N,) array
        As `HumanLikePlan.mahalanobis_distance`; NaN for motions without path.
    widenings : (N,) array of int
        Number of wider searches tried.
    exceeds : (N,) array of bool
        Whether path length, peak speed or peak acceleration exceed the limits; see `HumanLikePlan.excess`.

    Examples
    --------
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> batch = planner.plan_many([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], [0.3, 0.0, 0.1], 1.0, n=11)
    >>> batch.x.shape, batch.found.tolist()
    ((2, 11, 3), [True, True])
    """

    tau: Array
    x: Array
    durations: Array
    status: npt.NDArray[np.object_]
    clearance: Array
    mahalanobis_distance: Array
    widenings: npt.NDArray[np.intp]
    exceeds: npt.NDArray[np.bool_]

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Mask (N,) of the motions with a path."""
        return np.isin(self.status, FREE)

    def to_columns(self) -> dict[str, Any]:
        """Return what is known of each motion besides its samples, (N,) each."""
        names = ("status", "clearance", "mahalanobis_distance", "widenings", "exceeds")
        return {"duration": self.durations, **{name: getattr(self, name) for name in names}}


def avoiding(
    planner: PlannerModel,
    a: Array,
    b: Array,
    T: Array,
    tau: Array,
    derivative: int,
    scene: Scene,
    threads: int,
) -> PlannedBatch:
    """Plan among obstacles between states (N, 3, d): positions, velocities, accelerations."""
    count = len(T)
    x, (clearance, distance) = np.full((count, len(tau), a.shape[2]), np.nan), np.full((2, count), np.nan)
    status = np.array([PathStatus.none] * count, dtype=np.object_)  # np.full would make plain texts
    widenings, far, left = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=bool), np.arange(count)
    for attempt in range(scene.via.widenings + 1):
        scene = scene if attempt == 0 else scene._replace(via=scene.via.wider())
        widenings[left] = attempt
        results = planner._searches.of(scene.via).plan_many(
            a[left], b[left], np.zeros(len(left)), T[left], [scene.set], scene.margin, threads
        )
        for k, result in zip(left, map(ViaPath.of, results), strict=True):
            status[k] = result.status
            if result.found:
                x[k], clearance[k] = result.path.sample(tau * T[k], derivative), result.clearance.lower_bound
                distance[k] = planner._core.score_distance(result.path, result.times)
                far[k] = bool(excess_of(planner, result.path, scene))
        left = left[status[left] == PathStatus.none]
        if not len(left):
            break
    return PlannedBatch(tau, x, T, status, clearance, distance, widenings, far)
