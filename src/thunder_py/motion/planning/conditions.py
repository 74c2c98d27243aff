"""Motions conditioned on constraints at any times: mean, covariance, samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, finite, positive, whole
from ...errors import ThunderError
from ..constraint import ROUNDING, Constraint, rows_of
from .limits import excess_of, warn
from .model import PlannerModel, Stretch, distance_of, scores_in
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan


class ConditionedPlan:
    """Normal distribution of the motions that meet constraints; `HumanLikePlanner.condition` returns it.

    Attributes
    ----------
    condition_number : float
        Condition number of the linear system after equilibration of rows and columns.
    offsets : (d,) array
        Most likely x_bar, for an aligned model in its frame.
    scores : (n, d) array, joint (n,)
        Most likely alpha.

    Examples
    --------
    >>> from thunder_py.motion import FPCA, Constraint, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> ends = [Constraint(0.0, "position", [0.1, 0.2, 0.3]), Constraint(1.0, "position", [0.4, 0.2, 0.1])]
    >>> distribution = planner.condition(ends, duration=1.0)
    >>> distribution.plan().position(1.0).round(3).tolist()
    [0.4, 0.2, 0.1]
    >>> mean, deviation, covariance = distribution.tube([0.0, 0.5])
    >>> (deviation > 1e-3).tolist()
    [[False, False, False], [True, True, True]]
    >>> len(distribution.sample(3, seed=1))
    3
    """

    def __init__(
        self,
        planner: PlannerModel,
        constraints: Sequence[Constraint],
        duration: float,
        start: npt.ArrayLike | None,
        goal: npt.ArrayLike | None,
        start_time: float,
        R: Array | None = None,
    ) -> None:
        self.duration, self.start_time = positive(duration, "duration"), finite(start_time, "start_time")
        rows = rows_of(constraints, planner.dofs, self.start_time, self.duration)
        d = len(planner.dofs)
        a = _end_position(rows, 0.0, d) if start is None else array(start, (d,), "start")
        b = _end_position(rows, 1.0, d) if goal is None else array(goal, (d,), "goal")
        if planner.fpca.alignment_ == "path" and (a is None or b is None):
            raise ThunderError(
                "constraints must fix the whole position at the start and at the end for an aligned model without "
                "start and goal"
            )
        if a is None or b is None:
            a, b = np.zeros(d), np.ones(d)  # the frame of the world; only equal ends would change the mean
        self._core = _core.ConditionedMotion(planner._core, a, b, self.duration, rows)
        self._planner, self._R = planner, np.eye(3) if R is None and planner.kind != "joints" else R
        self._via = bool(((rows[:, 0] > 0.0) & (rows[:, 0] < 1.0)).any())
        self.condition_number = float(self._core.condition)
        self._unknowns: Array = self._core.unknowns
        self._unknowns.setflags(write=False)
        self.offsets, self.scores = self._unknowns[:d], scores_in(planner, self._unknowns)
        warn(planner, distance_of(planner, self.scores), False, "the most likely motion")

    def plan(self) -> HumanLikePlan | HumanLikeJointPlan:
        """Return the most likely motion."""
        plan = self._plan(None)
        if not self._via:  # constraints between the ends make any motion longer
            plan._details = plan._details._replace(excess=excess_of(self._planner, plan.path))
        warn(self._planner, None, bool(plan.excess), "the most likely motion")
        return plan

    def _plan(self, along: Array | None) -> HumanLikePlan | HumanLikeJointPlan:
        path = self._core.path(self.start_time, along)
        unknowns = self._unknowns if along is None else self._unknowns + self._core.spread @ along
        stretch = Stretch(self.start_time, 0.0, self.duration)
        details = PlanDetails(stretch, self.condition_number, scores=scores_in(self._planner, unknowns))
        return make_plan(path, self._R, self._planner, details)

    def sample(self, n: int, seed: int | None = None) -> list[HumanLikePlan | HumanLikeJointPlan]:
        """Draw n motions, each of which meets the constraints without noise exactly."""
        steps = np.random.default_rng(seed).standard_normal((whole(n, "n", 0), self._core.spread.shape[1]))
        return [self._plan(step) for step in steps]

    def tube(self, t: npt.ArrayLike, derivative: int = 0) -> tuple[Array, Array, Array]:
        """Return mean and covariance of the coordinates, or of one of their derivatives, over time.

        Parameters
        ----------
        t : (k,) array_like
            Times within the motion [s].
        derivative : int
            0 to 3.

        Returns
        -------
        mean, deviation : (k, d) arrays
            Mean and standard deviation of each coordinate.
        covariance : (k, d, d) array
            Covariance of the coordinates.
        """
        tau = (array(t, (None,), "t") - self.start_time) / self.duration
        if len(tau) and not (tau.min() >= -ROUNDING and tau.max() <= 1.0 + ROUNDING):
            raise ThunderError(
                f"t must lie within the motion, {self.start_time:g} to {self.start_time + self.duration:g} s"
            )
        if derivative not in range(4):
            raise ThunderError(f"derivative must be 0 to 3, got {derivative!r}")
        mean, covariance = self._core.tube(np.clip(tau, 0.0, 1.0), int(derivative))
        return mean, np.sqrt(np.einsum("kii->ki", covariance)), covariance


def _end_position(rows: Array, tau: float, d: int) -> Array | None:
    """Return the position at one end if the constraints fix all coordinates of it, otherwise None."""
    here = rows[(rows[:, 0] == tau) & (rows[:, 1] == 0.0)]
    position = np.full(d, np.nan)
    position[here[:, 2].astype(int)] = here[:, 3]
    return None if np.isnan(position).any() else position
