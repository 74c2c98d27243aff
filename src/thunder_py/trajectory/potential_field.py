"""Motion planning of a whole arm among convex obstacles with an artificial potential field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..checks import Array, array, nonnegative, points, positive, positives, whole
from ..errors import ThunderError
from ..geometry import Obstacle
from ..robot import Robot
from ..robot.workspace import within_limits
from ..values import StrEnum
from .joint import JointTrajectory, spline
from .timing import numbers, positive_duration

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes


class PlanStatus(StrEnum):
    """Status of the potential-field planner.

    Examples
    --------
    >>> from thunder_py.trajectory import PlanStatus
    >>> [status.value for status in PlanStatus]
    ['reached', 'local_minimum', 'max_iterations']
    """

    reached = "reached"
    local_minimum = "local_minimum"
    max_iterations = "max_iterations"


@dataclass(frozen=True, eq=False)
class Plan:
    """Path in joint space with the status of the planner, the result of `PotentialField.plan`.

    Attributes
    ----------
    field : PotentialField
        The potential field of the plan.
    status : PlanStatus
        ``"local_minimum"`` if the last allowed random walk also failed.
    path : (k, n) array
        From the start; to the goal, if it was reached [rad or m].
    iterations, walks : int
        Number of descent steps and random walks.
    margin : float
        Required clearance [m].

    Examples
    --------
    >>> import thunder_py as th
    >>> robot, q0 = th.Robot.load("elbow"), [0.0, 0.5]
    >>> post = th.geometry.Capsule([0.2, 0.9, -0.5], [0.2, 0.9, 0.5], radius=0.05)
    >>> plan = th.trajectory.PotentialField(robot, [2.0, 0.5], [post]).plan(q0, margin=0.01)
    >>> plan.status.value, bool(plan.clearance.min() > 0.01)
    ('reached', True)
    >>> motion = plan.to_trajectory(duration=3.0)
    >>> motion(0.0).q.round(3).tolist(), motion(3.0).q.round(3).tolist()
    ([0.0, 0.5], [2.0, 0.5])
    """

    field: PotentialField
    status: PlanStatus
    path: Array
    iterations: int
    walks: int
    margin: float = 0.0

    @property
    def reached(self) -> bool:
        """True if the path ends at the goal."""
        return self.status is PlanStatus.reached

    @property
    def clearance(self) -> Array:
        """Distance between arm and obstacles along the path, (k,) [m]."""
        return self.field.clearance(self.path)

    def shortened(self) -> Array:
        """Return the path with detours replaced by free straight motions, (m, n) [rad or m]."""
        kept, at = [0], 0
        while at < len(self.path) - 1:
            further = len(self.path) - 1
            while further > at + 1 and not self.field.is_free(self.path[at], self.path[further], margin=self.margin):
                further = at + 1 + (further - at - 1) // 2  # bisection: not minimal, but few checks
            kept.append(further)
            at = further
        return self.path[kept]

    def to_trajectory(
        self, duration: float | None = None, *, v_max: npt.ArrayLike | None = None, shorten: bool = True
    ) -> JointTrajectory:
        """Return a collision-free spline from rest to rest along the path.

        It interpolates the fewest points of the path, of 4, 8, 16, ..., that keep it free. The points are equally
        spaced in distance and time, except for the first and last piece, which take longer.

        Parameters
        ----------
        duration : float, optional
            [s].
        v_max : float or (n,) array_like, optional
            Speed limits, in place of `duration` [rad/s or m/s]; at least one is reached.
        shorten : bool
            Use the `shortened` path.

        Returns
        -------
        JointTrajectory
            The spline.

        Raises
        ------
        ValueError
            If the goal was not reached, if not exactly one of `duration` and `v_max` is given, or if even the spline
            with the most points collides.
        """
        if not self.reached:
            raise ThunderError(f"status must be 'reached' for a trajectory, got {self.status.value!r}")
        if (duration is None) == (v_max is None):
            raise ThunderError("exactly one of duration and v_max must be given")
        unit = self._smooth(self.shortened() if shorten else self.path)
        if v_max is None:
            T = positive_duration(duration)  # type: ignore[arg-type]
        else:
            n = self.path.shape[1]
            limit = positives(v_max, n, "v_max")
            T = float((np.abs(unit(np.linspace(0.0, 1.0, 2001)).dq).max(axis=0) / limit).max())
        order = len(unit.coefficients)
        return JointTrajectory(T * unit.breaks, unit.coefficients / T ** np.arange(order - 1, -1, -1)[:, None, None])

    @property
    def fraction(self) -> Array:
        """Length of the path in joint space up to each point, from 0 to 1, (k,); zero for a path without length."""
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.path, axis=0), axis=1))])
        return length / length[-1] if length[-1] > 0.0 else length

    def animate(
        self, path: str | Path | None = None, *, duration: float = 4.0, fps: float = 20.0, dpi: float = 72
    ) -> FuncAnimation:
        """Animate the arm along the path, at constant speed in joint space, with its obstacles.

        Parameters
        ----------
        path : path-like, optional
            File to write: ``.gif``, ``.mp4``, which needs the program ffmpeg, or ``.html``, a page with controls.
        duration : float
            Time of the motion [s].
        fps : float
            Frames per second.
        dpi : float
            Dots per inch in the file.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            See `Robot.animate`.

        Raises
        ------
        ThunderError
            If the path has no length, a number is not positive, or the file cannot be written.
        """
        fraction, robot = self.fraction, self.field.robot
        moved = np.concatenate([[True], np.diff(fraction) > 0.0])
        t = positive_duration(duration) * fraction[moved]
        line = robot.forward_kinematics(self.path)[:, :3, 3]
        options: dict[str, Any] = {"reference": line, "obstacles": self.field.obstacles, "fps": fps, "dpi": dpi}
        return robot.animate(t, self.path[moved], path, **options)

    def plot(self, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw joint positions and clearance along the path over its normalized length in joint space.

        Parameters
        ----------
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"q"`` and ``"clearance"``; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_plan

        return plot_plan(self, axes=axes)

    def _smooth(self, points: Array) -> JointTrajectory:
        """Return a collision-free spline of duration 1 s."""
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        moved = np.concatenate([[True], lengths > 0.0])
        length, corners = np.concatenate([[0.0], np.cumsum(lengths[lengths > 0.0])]), points[moved]
        if len(corners) < 2:
            raise ThunderError("goal must differ from the start of the path for a trajectory")
        count = 4
        while count <= max(16 * len(corners), 256):
            at = np.linspace(0.0, length[-1], count + 1)
            through = np.stack([np.interp(at, length, column) for column in corners.T], axis=1)
            times = np.concatenate([[0.0], np.arange(count - 1) + 1.5, [count + 1.0]])
            candidate = spline(times / times[-1], through)
            q = candidate(np.linspace(0.0, 1.0, 8 * count + 1)).q
            if all(self.field.is_free(a, b) for a, b in pairwise(q)):
                return candidate
            count *= 2
        raise ThunderError("no spline along this path keeps clear of the obstacles: plan with a margin")


_MOST_INTERIOR = 10_000


class PotentialField(_core.PotentialField):
    """Artificial potential field of a whole arm that moves to `goal` among convex obstacles.

    The arm is a polyline from the first joint through the origins of the link frames to the end effector, with
    thickness `radius` on all sides. Each origin and each of the `control_points` has the attractive energy
    ``c d^2 / 2`` of its distance d to its position at the goal, linear in d beyond `conic_distance`. For every obstacle
    at a distance rho below the influence rho_0 it has the repulsive energy ``eta (1 / rho - 1 / rho_0)^2 / 2``. The
    `interior_points` between origins are only repelled. The term ``posture |q - goal|^2 / 2`` determines rotations that
    move no origin, such as that of a last joint about its own axis.

    Forces are mapped to joints by the transpose of the Jacobian of their point of application. (Zeroing columns of the
    end effector's Jacobian, as in the lectures, gives different results: errata N-7.)

    Parameters
    ----------
    robot : Robot
        The arm; its joint limits are kept.
    goal : (n,) array_like
        Goal configuration [rad or m].
    obstacles : sequence of Obstacle
        `Sphere`, `Box`, `Capsule`, `HalfSpace`, in world axes.
    attraction : float
        c [N/m].
    conic_distance : float
        Distance from which the attraction is constant [m].
    repulsion : float
        eta [N m^3].
    influence : float
        rho_0 [m].
    posture : float
        Weight of the posture term [N m/rad^2]; zero disables it.
    radius : float
        Radius of the links [m].
    interior_points : int
        Number of points between two neighboring origins.
    control_points : sequence of (link, offset)
        Further points: link 0 to n, and position in its frame, (3,) [m].

    Raises
    ------
    ValueError
        If an argument is out of range, or the goal is in collision or beyond the joint limits.

    Notes
    -----
    Khatib (1986); lectures 18 and 19.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("elbow")
    >>> post = th.geometry.Capsule([0.2, 0.9, -0.5], [0.2, 0.9, 0.5], radius=0.05)
    >>> field = th.trajectory.PotentialField(robot, [2.0, 0.5], [post])
    >>> field.is_free([0.0, 0.5], [0.2, 0.5]), field.is_free([0.0, 0.5], [2.0, 0.5])
    (True, False)
    >>> field.potential([0.0, 0.5]) > field.potential([2.0, 0.5]), field.gradient([0.0, 0.5]).shape
    (True, (2,))
    """

    def __init__(
        self,
        robot: Robot,
        goal: npt.ArrayLike,
        obstacles: Sequence[Obstacle],
        *,
        attraction: float = 1.0,
        conic_distance: float = 0.2,
        repulsion: float = 1e-4,
        influence: float = 0.15,
        posture: float = 0.1,
        radius: float = 0.0,
        interior_points: int = 2,
        control_points: Sequence[tuple[int, npt.ArrayLike]] = (),
    ) -> None:
        self.robot, self.goal, self.obstacles = robot, array(goal, (robot.n,), "goal"), tuple(obstacles)
        for obstacle in self.obstacles:
            if not isinstance(obstacle, Obstacle):
                raise ThunderError(
                    f"obstacles must be Sphere, Box, Capsule or HalfSpace, got {type(obstacle).__name__}"
                )
        links = [whole(link, "control_points: link", 0, robot.n) for link, _ in control_points]
        offsets = [array(offset, (3,), "control_points: offset") for _, offset in control_points]
        super().__init__(
            robot,
            list(self.obstacles),
            self.goal,
            links,
            np.array(offsets).reshape(-1, 3),
            positive(attraction, "attraction"),
            conic_distance if conic_distance == math.inf else positive(conic_distance, "conic_distance"),
            positive(repulsion, "repulsion"),
            positive(influence, "influence"),
            nonnegative(posture, "posture"),
            nonnegative(radius, "radius"),
            whole(interior_points, "interior_points", 0, _MOST_INTERIOR),
        )
        self._check_free(self.goal, "goal")

    def potential(self, q: npt.ArrayLike) -> float:
        """Return U(q) [N m], infinite if a point touches an obstacle."""
        return self._potential(array(q, (self.robot.n,), "q"))[0]

    def gradient(self, q: npt.ArrayLike) -> Array:
        """Return the gradient of U with respect to q, (n,)."""
        return self._potential(array(q, (self.robot.n,), "q"))[1]

    def clearance(self, q: npt.ArrayLike) -> Array:
        """Return the least distance between arm and obstacles at q (..., n) [m]; negative in collision."""
        states = points(q, "q", (self.robot.n,))
        rows = states.reshape(-1, self.robot.n)
        return np.array([self._clearance(row) for row in rows]).reshape(states.shape[:-1])

    def is_free(self, q0: npt.ArrayLike, q1: npt.ArrayLike, *, margin: float = 0.0) -> bool:
        """Check that the clearance exceeds `margin` [m] along the whole straight motion from q0 to q1.

        The check is exact and uses no sampling: a motion is free if it is short compared with the clearances at its
        ends, or if both of its halves are free. It is conservative for motions that nearly touch an obstacle.
        """
        n = self.robot.n
        return self._free(array(q0, (n,), "q0"), array(q1, (n,), "q1"), numbers(margin=margin)[0])

    def plan(
        self,
        q0: npt.ArrayLike,
        *,
        step: float = 0.05,
        tolerance: float | None = None,
        margin: float = 0.0,
        max_iterations: int = 20000,
        walk_steps: int = 25,
        max_walks: int = 100,
        seed: int = 0,
    ) -> Plan:
        """Plan by gradient descent from q0, with random walks out of local minima.

        A step follows the negative gradient. It is halved until the potential decreases and the motion is free. If no
        step succeeds, or many make no progress, the planner is in a local minimum and starts a random walk. The goal is
        not guaranteed to be reached: check the status.

        Parameters
        ----------
        q0 : (n,) array_like
            Start [rad or m].
        step : float
            Longest step in joint space [rad or m].
        tolerance : float, optional
            Distance to the goal below which a free straight motion ends the plan [rad or m]; default `step`.
        margin : float
            Minimum clearance [m].
        max_iterations : int
            Maximum number of descent steps.
        walk_steps, max_walks : int
            Steps of the first random walk (later ones have two to six times as many, then the sequence repeats), and
            maximum number of walks, 0 for descent only.
        seed : int
            Seed of the walks; the same seed gives the same path.

        Returns
        -------
        Plan
            Path and status.

        Raises
        ------
        ValueError
            If the start or goal is in collision or beyond the limits, or an argument is out of range.
        """
        start = array(q0, (self.robot.n,), "q0")
        keep = nonnegative(margin, "margin")
        self._check_free(start, "q0", keep)
        self._check_free(self.goal, "goal", keep)
        longest = positive(step, "step")
        status, path, iterations, walks = self._plan(
            start,
            self.robot.limits.lower,
            self.robot.limits.upper,
            longest,
            longest if tolerance is None else positive(tolerance, "tolerance"),
            keep,
            whole(max_iterations, "max_iterations", 1),
            whole(walk_steps, "walk_steps", 1),
            whole(max_walks, "max_walks", 0),
            whole(seed, "seed", 0),
        )
        return Plan(self, PlanStatus(status), path, iterations, walks, keep)

    def _check_free(self, q: Array, what: str, margin: float = 0.0) -> None:
        within_limits(self.robot, q, what)
        clearance = float(self.clearance(q))
        if clearance <= margin:
            raise ThunderError(f"{what} must keep more than {margin:g} m from obstacles, got {clearance:g} m")
