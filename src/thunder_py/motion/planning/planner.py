"""Human-like motion between two states in closed form (D4.2, section 5.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, finite, whole
from ...errors import ThunderError
from ..constraint import Constraint
from .batch import NAMES, PlannedBatch, avoiding
from .conditions import ConditionedPlan
from .limits import excess_of, require_time, warn
from .model import Ends, PlannerModel, Stretch, read_ends, read_state, refuse_rates
from .obstacle_plan import plan_with_obstacles, scene_of
from .obstacles import PathStatus, ViaSearch
from .plan import HumanLikeJointPlan, HumanLikePlan, PlanDetails, make_plan
from .replan import INSTANT, clock_of, distance_of_replanned, order_of, times_of, with_scores

if TYPE_CHECKING:
    from ... import _core
    from .obstacles import Obstacles


class HumanLikePlanner(PlannerModel):
    """Planner of motions from functional components that meet boundary conditions in closed form.

    Parameters
    ----------
    fpca : FPCA
        Fitted components of positions, poses or joints.
    mode : {"map", "paper", "exact"}
        ``"paper"`` and ``"exact"``: the square system (102), corrected, with one component fewer than constraints.
        ``"map"``: all components; the motion that meets the constraints and is most likely under the variances of the
        scores. With the number of components of the square system the modes agree.
    constraints : sequence of str
        Quantities prescribed at both ends: ``"position"``, then ``"velocity"``, then ``"acceleration"``.
    max_condition_number : float
        Largest condition number of the system for the remaining motion; above it `replan` uses a polynomial.
    max_deviation_ratio : float
        Largest deviation of a replanned motion from the motion so far, relative to what the change of goal, end time
        and rates requires; above it `replan` uses a polynomial.
    max_distance_ratio : float
        Multiple of `training_span` beyond which the Mahalanobis distance of a plan, a replanned motion or the most
        likely motion under constraints raises a `ThunderWarning`; infinite for no warning. The segments of a path
        through via points have 2.5 times the bound.
    max_acceleration_ratio : float
        Largest acceleration of a replanned motion, relative to that of the motion as first planned or of motions of its
        duration; above it `replan` raises an error that names the least end time. Infinite for no error.
    max_travel_ratio : float or (float, float, float)
        Path length, peak speed and peak acceleration of a motion, in m and rad separately, relative to those of a
        minimum-jerk motion between the same states and among the same obstacles. A motion that exceeds one of them, or
        10 times the largest value of the training motions, raises a `ThunderWarning`, and its `excess` tells by how
        much. Infinite for no warning.
    freeze_time : float
        Within this time of the end [s], `replan` returns the plan unchanged.

    Attributes
    ----------
    dofs : tuple of str
        Names of the coordinates.
    kind : str
        ``"position"``, ``"pose"`` or ``"joints"``.
    condition_number : float
        Condition number of the linear system after equilibration of rows and columns.
    training_span : float
        Mahalanobis distance of the scores of the farthest training motion, or, if larger, the one that motions between
        random states of the model exceed with a probability of 1e-6; infinite for components of minimum jerk alone.

    Raises
    ------
    ThunderError
        For fewer components than the constraints need (5 in every coordinate for all three; 5 d for a joint model), for
        components that cannot meet them, such as those of demonstrations which all start at rest, without shrinkage,
        and for unknown coordinates.

    Notes
    -----
    x(tau) = x_bar + S_0(tau) + sum_i alpha_i S_i(tau), eq. (95) of D4.2, with x_bar and alpha from the linear systems
    (102) and (115). Offsets x_bar are free, so that plans do not depend on the position of the origin.

    Components of an aligned model (``FPCA(alignment="path")``) are expressed in the frame from start to goal, so that
    plans rotate, translate and scale with start and goal. If these are nearer than 1 mm, the unit of that frame stays
    1 mm. If they coincide, the frame has the world's axes. In every model the mean fades where start and goal are
    nearer than 1 mm or 1 mrad, and a motion from rest to the same place stands still.

    Examples
    --------
    >>> from thunder_py.motion import FPCA, HumanLikePlanner
    >>> from thunder_py.recordings.synthetic import minimum_jerk_reaches
    >>> planner = HumanLikePlanner(FPCA(shrinkage=0.1).fit(minimum_jerk_reaches(20, seed=1)))
    >>> plan = planner.plan([0.0, 0.0, 0.0], [0.3, 0.0, 0.1], duration=1.0, goal_velocity=[0.1, 0.0, 0.0])
    >>> plan.position(1.0).round(3).tolist(), plan.position(1.0, 1).round(3).tolist()
    ([0.3, 0.0, 0.1], [0.1, 0.0, 0.0])
    >>> rest = planner.replan(plan, 0.2, [0.3, 0.02, 0.1], goal_velocity=[0.1, 0.0, 0.0])
    >>> rest.start_time, rest.position(1.0).round(3).tolist()
    (0.2, [0.3, 0.02, 0.1])
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
            Velocities [m/s or rad/s]; for poses, twists in world axes, linear part first. Default: rest.
        start_acceleration, goal_acceleration : (d,) array_like, optional
            Derivatives of the velocities; default zero.
        obstacles : sequence
            Obstacles such as `Sphere` and `MovingObstacle`.
        margin : float
            Distance to keep [m]; if negative, permitted depth inside obstacles.
        via : ViaSearch, optional
            Search of via points; default `ViaSearch()`, in paper mode `ViaSearch.paper()`.
        start_time : float
            Time of the start on the plan's clock [s].

        Returns
        -------
        HumanLikePlan or HumanLikeJointPlan
            Reference from start to goal.

        Raises
        ------
        NoPathError
            If start or goal lie within an obstacle or its margin, or no path was proved free.
        ThunderError
            For wrong shapes, NaN, durations that are not positive, rotations of half a turn or more, and velocities or
            accelerations that are not among the planner's constraints.
        """
        ends = read_ends(self, start, goal, (start_velocity, goal_velocity, start_acceleration, goal_acceleration))
        T, t0 = finite(duration, "duration"), finite(start_time, "start_time")
        scene = scene_of(self, obstacles, margin, via)
        if scene is not None:
            around = plan_with_obstacles(self, ends, T, scene, t0)
            warn(self, around.mahalanobis_distance, bool(around.excess), detour=around._details.detour)
            return around
        path, size, far = self._core.plan(ends.start, ends.goal, T, t0, *ends.rates)
        warn(self, size, far)
        excess = excess_of(self, path) if far else ()
        details = PlanDetails(Stretch(t0, 0.0, T), self._condition, distance=size, segment=(path, t0), excess=excess)
        return make_plan(path, ends.R, self, details)

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
        """Replan the remaining motion for another goal or end time (115, corrected).

        The motion so far, its remaining time scaled to a new end time, continues with a correction of components on
        [tau(t), 1]. Without a change it stays the same. Position and velocity are continuous; the acceleration is if
        `continuity` requires it.

        Parameters
        ----------
        plan : HumanLikePlan or HumanLikeJointPlan
            Plan of this planner, or of another one with the same coordinates.
        t : float
            Current time [s], within the plan.
        goal : array_like or (p, R)
            As in `plan`.
        end_time : float, optional
            New end [s]; default: unchanged.
        goal_velocity, goal_acceleration : (d,) array_like, optional
            As in `plan`.
        continuity : {"velocity", "acceleration"}, optional
            Default ``"velocity"`` for the square system, as in the paper; otherwise the highest constraint of the
            planner. The square system with accelerations is ill-conditioned late in a motion.
        obstacles, margin, via
            As in `plan`. If the remaining motion is not free, it is planned as a new motion.

        Returns
        -------
        HumanLikePlan or HumanLikeJointPlan
            Motion from t on, with its `fallback` and `condition`. In the last `freeze_time` seconds, `plan` itself.

        Notes
        -----
        People correct a reach likewise: they add a motion from the old goal to the new one (Flash and Henis, J. Cogn.
        Neurosci. 3(3), 1991). If the correction deviates from the motion so far by more than `max_deviation_ratio` of
        what the change requires, or its system has a condition number above `max_condition_number`, it is Hermite's
        polynomial of the same order, and the plan's `fallback` is ``"hermite"``.

        Raises
        ------
        NoPathError, ThunderError
            As `plan`; for a time outside the plan, an end in the past, and a remaining time too short for the remaining
            way: an acceleration above `max_acceleration_ratio` times the largest of that of the motion as first
            planned, of a minimum-jerk motion from its start to the goal in its duration, and of the training motions in
            its duration. Coordinates of one unit share the bound.
        """
        scene = scene_of(self, obstacles, margin, via)
        path, now, end = times_of(self, plan, t, end_time)
        order = order_of(self, continuity)
        if path.end - now <= max(self.freeze_time, INSTANT):
            return plan
        R = plan.reference_rotation if isinstance(plan, HumanLikePlan) else None
        refuse_rates(self, None, goal_velocity, None, goal_acceleration)
        to = read_state(self, goal, goal_velocity, goal_acceleration, R, "goal")
        stretch = clock_of(self, plan, now)
        tau = min(stretch.tau + (now - stretch.start) / stretch.duration, 1.0 - 1e-12)
        limits = self.max_condition_number, self.max_deviation_ratio

        def resumed(until: float) -> tuple[_core.BezierPath, float, bool, Array]:
            return self._core.resume(path, now, until, tau, stretch.frame, *to, order, *limits)

        rest, condition, hermite, change = resumed(end)
        pace = plan._pace
        details = PlanDetails(Stretch(now, tau, (end - now) / (1.0 - tau), stretch.frame), condition, pace=pace)
        details = details._replace(fallback="hermite") if hermite else with_scores(details, self, plan, now, change)
        if scene is not None:
            if not scene.set.free(rest, scene.margin):
                x, v, a = (path.sample(now, derivative) for derivative in range(3))
                ends = Ends(x, to[0], (v, to[1], a, to[2]), R)
                around = plan_with_obstacles(self, ends, end - now, scene, now, fallback="plan", pace=pace)
                require_time(self, pace, around.path)
                distance, detour = around.mahalanobis_distance, around._details.detour
                warn(self, distance, bool(around.excess), "the replanned motion", detour=detour)
                return around
            _, proved, time, _ = scene.set.clearance(rest)
            details = details._replace(clearance=proved, clearance_time=time)
        require_time(self, pace, rest, lambda until: resumed(until)[0])
        scene = scene or plan._details.scene
        excess = excess_of(self, rest, scene) or plan.excess
        result = make_plan(rest, R, self, details._replace(excess=excess, scene=scene))
        warn(self, distance_of_replanned(self, result), bool(excess), "the replanned motion", detour=details.detour)
        return result

    def condition(
        self,
        constraints: Sequence[Constraint],
        duration: float,
        *,
        start: npt.ArrayLike | None = None,
        goal: npt.ArrayLike | None = None,
        start_time: float = 0.0,
    ) -> ConditionedPlan:
        """Condition the distribution of motions on constraints at any times.

        Parameters
        ----------
        constraints : sequence of Constraint
            Positions, velocities, accelerations or jerks, with at least one position of every coordinate. Coordinates
            of poses are positions and rotation vectors.
        duration : float
            [s].
        start, goal : (d,) array_like, optional
            Ends that define the frame of an aligned model; by default the positions constrained at 0 and at the end.
        start_time : float
            Start on the clock of the constraints and of the plans [s].

        Returns
        -------
        ConditionedPlan
            Most likely motion, its variability, samples.

        Raises
        ------
        ThunderError
            For constraints that cannot be met or leave a coordinate without position, and times outside the motion.
        """
        return ConditionedPlan(self, constraints, duration, start, goal, start_time)

    def sample(
        self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float, n: int, seed: int | None = None
    ) -> list[HumanLikePlan | HumanLikeJointPlan]:
        """Draw motions from start to goal, both at rest, with the variability of the demonstrations.

        Parameters
        ----------
        start, goal
            As in `plan`.
        duration : float
            [s].
        n : int
            Number of motions.
        seed : int, optional
            Seed of the random numbers; equal seeds give equal motions.

        Returns
        -------
        list of plans
            Plans that meet the constraints exactly.
        """
        return self._between(start, goal, duration).sample(n, seed)

    def tube(
        self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float, t: npt.ArrayLike, derivative: int = 0
    ) -> tuple[Array, Array, Array]:
        """Return mean (k, d), standard deviation (k, d), covariance (k, d, d) of `sample` at times (k,)."""
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
        """Plan and sample N motions in one call, without the GIL.

        Parameters
        ----------
        starts, goals : (N, d) or (d,) array_like
            Coordinates; for poses, positions and rotation vectors about one reference for both ends.
        durations : (N,) array_like or float
            [s].
        start_velocities, goal_velocities, start_accelerations, goal_accelerations : (N, d) or (d,) array_like, optional
            Derivatives of the coordinates.
        n : int
            Number of samples of each motion, evenly spaced from start to end.
        tau : (k,) array_like, optional
            Normalized times of the samples instead.
        derivative : int
            Order of the derivative sampled.
        obstacles, margin, via
            As in `plan`, for all motions.
        threads : int
            Threads of the search for via points, at most the number of processors; 0 means all of them.

        Returns
        -------
        PlannedBatch
            Samples (N, k, d), and a status of each motion instead of an error if no path is free.
        """
        rates = (start_velocities, goal_velocities, start_accelerations, goal_accelerations)
        tau = np.linspace(0.0, 1.0, whole(n, "n", 1)) if tau is None else array(tau, (None,), "tau")
        scene = scene_of(self, obstacles, margin, via)
        derivative, threads, d = whole(derivative, "derivative", 0), whole(threads, "threads", 0), len(self.dofs)
        refuse_rates(self, *rates, names=NAMES)
        tables: dict[str, Any] = dict(zip(("starts", "goals", *NAMES), (starts, goals, *rates), strict=True))
        given = {
            name: array(np.zeros(d) if value is None else value, (d,) if np.ndim(value) < 2 else (None, d), name)
            for name, value in tables.items()
        }
        given["durations"] = array(durations, () if np.ndim(durations) == 0 else (None,), "durations")[..., None]
        rows = {name: np.atleast_2d(value) for name, value in given.items()}
        count = max({*map(len, rows.values())} - {1}, default=1)
        for name, value in rows.items():
            if len(value) not in (1, count):
                raise ThunderError(f"{name} must have one row or {count}, got {len(value)}")
        x0, x1, v0, v1, a0, a1, T = (
            np.ascontiguousarray(np.broadcast_to(value, (count, value.shape[1]))) for value in rows.values()
        )
        T = T[:, 0]
        if scene is None:
            x, sizes, far = self._core.plan_many(x0, x1, T, v0, v1, a0, a1, tau, derivative)
            straight, no_obstacles = np.full(count, PathStatus.direct.value), np.full(count, np.inf)
            batch = PlannedBatch(tau, x, T, straight, no_obstacles, sizes, np.zeros(count, dtype=np.intp), far)
        else:
            a, b = np.stack([x0, v0, a0], axis=1), np.stack([x1, v1, a1], axis=1)
            batch = avoiding(self, a, b, T, tau, derivative, scene, threads)
        for detour in (False, True):
            alike = (batch.status == PathStatus.via) == detour
            farthest = float(np.fmax.reduce(batch.mahalanobis_distance[alike], initial=0.0))
            warn(self, farthest, bool(batch.exceeds[alike].any()), "the farthest plan", detour=detour)
        return batch

    def _between(self, start: npt.ArrayLike, goal: npt.ArrayLike, duration: float) -> ConditionedPlan:
        ends = read_ends(self, start, goal, (None,) * 4)
        rest = [Constraint(t, kind) for kind in self.constraints[1:] for t in (0.0, duration)]
        places = [Constraint(0.0, "position", ends.start), Constraint(duration, "position", ends.goal)]
        return ConditionedPlan(self, [*places, *rest], duration, ends.start, ends.goal, 0.0, ends.R)
