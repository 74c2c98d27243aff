"""Human-like motion between two states in closed form (D4.2, section 5.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, whole
from .conditions import ConditionedPlan, Constraint, condition_plan
from .model import PlannerModel, Stretch, number, read_ends
from .obstacle_plan import plan_around
from .obstacles import ViaSearch, as_sequence
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan
from .replan import PlannedBatch, plan_batch, replan

if TYPE_CHECKING:
    from .obstacles import Obstacles

__all__ = ["HumanLikePlanner"]


class HumanLikePlanner(PlannerModel):
    """Motions made of functional components that meet boundary conditions, without any optimisation.

    x(tau) = x_bar + S_0(tau) + sum_i alpha_i S_i(tau), with x_bar and alpha from a linear system (102), (115). Offsets
    x_bar are free, so that a motion does not depend on where the origin is.

    Parameters
    ----------
    fpca : FPCA
        Fitted components of positions, poses or joints.
    mode : {"map", "paper", "exact"}
        ``"paper"`` and ``"exact"``: the square system (102), corrected, of as many components as there are
        constraints, less one. ``"map"``: all components; of all motions that meet the constraints, the one that is most
        likely under the scores' variances. With as many components as that both are the same.
    constraints : sequence of str
        ``"position"``, then ``"velocity"``, then ``"acceleration"``: what is given at both ends.
    worst_condition : float
        Of the system for the rest of a motion; beyond it `replan` takes a polynomial.
    freeze : float
        So long before the end `replan` changes nothing any more [s].

    Attributes
    ----------
    dofs : tuple of str
        Names of the coordinates.
    kind : str
        ``"position"``, ``"pose"`` or ``"joints"``.
    condition_number : float
        Of the linear system, rows and columns equilibrated.

    Raises
    ------
    ThunderError
        For fewer components than the constraints need (5 in every coordinate for all three; a joint model, 5 d), for
        components that cannot meet them, such as those of demonstrations which all start at rest, without shrinkage,
        and for unknown coordinates.

    Notes
    -----
    Components of an aligned model (``FPCA(alignment="path")``) live in the frame from start to goal: plans turn, shift
    and grow with these. Where start and goal are nearer than 1 mm the unit of that frame stays 1 mm and the mean fades;
    where they coincide the frame's axes are the world's, and a motion from rest to rest stands still.
    """

    def __repr__(self) -> str:
        return f"HumanLikePlanner({self.fpca!r}, mode={self.mode!r}, constraints={self.constraints})"

    def plan(
        self,
        start: npt.ArrayLike,
        goal: npt.ArrayLike,
        duration: float,
        *,
        start_velocity: npt.ArrayLike | None = None,
        goal_velocity: npt.ArrayLike | None = None,
        start_acceleration: npt.ArrayLike | None = None,
        goal_acceleration: npt.ArrayLike | None = None,
        obstacles: Obstacles = (),
        margin: float = 0.0,
        via: ViaSearch | None = None,
        start_time: float = 0.0,
    ) -> HumanLikePlan | HumanLikeJointPlan:
        """Plan a motion from start to goal.

        Parameters
        ----------
        start, goal : (3,), (d,) or (4, 4) array_like, or (p, R)
            Positions [m], poses, joint positions [rad or m]. A model of positions takes poses of one orientation, which
            it keeps.
        duration : float
            [s], positive.
        start_velocity, goal_velocity : (d,) array_like, optional
            [m/s], of poses twists, linear part first, in world axes; default rest.
        start_acceleration, goal_acceleration : (d,) array_like, optional
            Their derivatives; default zero.
        obstacles : sequence
            To keep clear of, such as `Sphere` and `MovingObstacle`.
        margin : float
            Distance to keep [m]; if negative, how far inside the path may come.
        via : ViaSearch, optional
            How via points are searched; default `ViaSearch()`, in paper mode `ViaSearch.paper()`.
        start_time : float
            Of the plan's clock [s].

        Returns
        -------
        HumanLikePlan or HumanLikeJointPlan
            A reference.

        Raises
        ------
        NoPathError
            Start or goal lie within an obstacle or its margin, or no path was found that is proved free.
        ValueError
            Shapes, NaN, durations that are not positive; turns of half a turn or more; rates that are no constraint.
        """
        ends = read_ends(self, start, goal, start_velocity, goal_velocity, start_acceleration, goal_acceleration)
        T, t0, kept = number(duration, "duration"), number(start_time, "start_time"), number(margin, "margin")
        around = as_sequence(obstacles)
        if around:
            return plan_around(self, ends, T, around, kept, via, t0)
        path = self._core.plan(ends.start, ends.goal, T, t0, *ends.rates)
        return make_plan(path, ends.R, self, PlanDetails(Stretch(t0, 0.0, T, len(self.constraints)), self._condition))

    def replan(
        self,
        plan: HumanLikePlan | HumanLikeJointPlan,
        t: float,
        goal: npt.ArrayLike,
        *,
        end_time: float | None = None,
        goal_velocity: npt.ArrayLike | None = None,
        goal_acceleration: npt.ArrayLike | None = None,
        continuity: str | None = None,
        obstacles: Obstacles = (),
        margin: float = 0.0,
        via: ViaSearch | None = None,
    ) -> HumanLikePlan | HumanLikeJointPlan:
        """Plan the rest of a motion anew, for another goal or arrival (115, corrected).

        The components go on where they are, on [tau(t), 1], and a new arrival stretches what is left of them. Position
        and velocity continue; the acceleration does where `continuity` says so.

        Parameters
        ----------
        plan : HumanLikePlan or HumanLikeJointPlan
            Of this planner, or of another one of the same coordinates.
        t : float
            Now [s], within the plan.
        goal : array_like or (p, R)
            As in `plan`.
        end_time : float, optional
            When to be there [s]; default as before.
        goal_velocity, goal_acceleration : (d,) array_like, optional
            As in `plan`.
        continuity : {"velocity", "acceleration"}, optional
            Default ``"velocity"`` for the square system, which is the paper's; else as far as the planner's constraints
            go. The square system with accelerations is hopeless late in a motion.
        obstacles, margin, via
            As in `plan`. If what is left is not free, it is planned as a motion of its own.

        Returns
        -------
        HumanLikePlan or HumanLikeJointPlan
            From t on; `fallback` says what it is made of, `condition` how well it was determined. In the last `freeze`
            seconds, the plan itself.

        Raises
        ------
        NoPathError, ValueError
            As `plan`; for a time outside the plan and an arrival in the past.
        """
        options = (goal_velocity, goal_acceleration, continuity)
        return replan(self, plan, t, goal, end_time, options, (as_sequence(obstacles), number(margin, "margin"), via))

    def condition(
        self,
        constraints: Sequence[Constraint],
        duration: float,
        *,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        start_time: float = 0.0,
    ) -> ConditionedPlan:
        """Motions under any constraints at any times: the most likely one, its variability, samples.

        Parameters
        ----------
        constraints : sequence of Constraint
            On positions, velocities, accelerations or jerks; at least one on the position of every coordinate. In
            coordinates: of poses, positions and rotation vectors.
        duration : float
            [s].
        start, goal : (d,) array_like, optional
            For an aligned model, whose frame they make; by default the constraints on position at 0 and at the end.
        start_time : float
            Of the clock of the constraints' times and of the plans [s].

        Raises
        ------
        ValueError
            Constraints that cannot be met, or leave a coordinate without position; times outside the motion.
        """
        return condition_plan(self, constraints, duration, start, goal, start_time)

    def sample(
        self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float, n: int, seed: int | None = None
    ) -> list[HumanLikePlan | HumanLikeJointPlan]:
        """Draw motions from start to goal, both at rest, as they vary among the demonstrations.

        Parameters
        ----------
        start, goal
            As in `plan`.
        duration : float
            [s].
        n : int
            How many.
        seed : int, optional
            Of the random numbers; the same one gives the same motions.

        Returns
        -------
        list of plans
            Every one meets the constraints exactly.
        """
        return self._between(start, goal, duration).sample(n, seed)

    def tube(
        self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float, t: npt.ArrayLike, derivative: int = 0
    ) -> tuple[Array, Array, Array]:
        """Mean (k, d), standard deviation (k, d) and covariance (k, d, d) at times (k,) of what `sample` draws."""
        return self._between(start, goal, duration).tube(t, derivative)

    def plan_many(
        self,
        starts: npt.ArrayLike,
        goals: npt.ArrayLike,
        durations: npt.ArrayLike,
        *,
        start_velocities: npt.ArrayLike | None = None,
        goal_velocities: npt.ArrayLike | None = None,
        start_accelerations: npt.ArrayLike | None = None,
        goal_accelerations: npt.ArrayLike | None = None,
        n: int = 101,
        tau: npt.ArrayLike | None = None,
        derivative: int = 0,
        obstacles: Obstacles = (),
        margin: float = 0.0,
        via: ViaSearch | None = None,
        threads: int = 1,
    ) -> PlannedBatch:
        """Plan N motions in one call, without the GIL, and sample them.

        Parameters
        ----------
        starts, goals : (N, d) or (d,) array_like
            Coordinates; of poses, positions and rotation vectors about a reference that is the same at both ends.
        durations : (N,) array_like or float
            [s].
        start_velocities, goal_velocities, start_accelerations, goal_accelerations : (N, d) or (d,) array_like, optional
            Derivatives of the coordinates.
        n : int
            Samples of each, evenly from start to end.
        tau : (k,) array_like, optional
            Normalised times to sample at instead.
        derivative : int
            Of the samples.
        obstacles, margin, via
            As in `plan`, for all of them.
        threads : int
            To search for via points with, as many as there are processors at most; 0 means all of these.

        Returns
        -------
        PlannedBatch
            Samples (N, k, d), and per motion a status instead of an error where no path is free.
        """
        rates = (start_velocities, goal_velocities, start_accelerations, goal_accelerations)
        times = np.linspace(0.0, 1.0, whole(n, "n", 1)) if tau is None else array(tau, (None,), "tau")
        around = (as_sequence(obstacles), number(margin, "margin"), via, threads)
        return plan_batch(self, (starts, goals), durations, rates, times, derivative, around)

    # --- for the modules beside this one -----------------------------------------------------------------------------

    def _between(self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float) -> ConditionedPlan:
        ends = read_ends(self, start, goal, None, None, None, None)
        rest = [Constraint(t, kind) for kind in self.constraints[1:] for t in (0.0, duration)]
        places = [Constraint(0.0, "position", ends.start), Constraint(duration, "position", ends.goal)]
        return condition_plan(self, [*places, *rest], duration, ends.start, ends.goal, 0.0, ends.R)
