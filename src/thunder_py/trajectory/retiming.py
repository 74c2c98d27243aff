"""Time-optimal motion of an arm along a path, within limits of velocity, acceleration, torque and their rates."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart, of_kind, positive, positives, real, whole
from ..errors import ThunderError, ThunderWarning, outer_level
from ..robot import Robot
from .joint import JointTrajectory
from .path_geometry import PathGrid, path_grid, path_pieces
from .path_speed import Extra, Levels, PathSpeed, Rates, SpeedProblem
from .timing import quintic_coefficients

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG = logging.getLogger(__name__)

KINDS = ("velocity", "acceleration", "effort", "jerk", "effort_rate")
RATES = KINDS[3:]
#: points of a piece at which limits are checked
_CHECKED = 12
#: limits are tightened in cells where they are exceeded by more than this part
_EXCESS = 1e-4
_ROUNDS = 12
#: least and largest default number of cells, and that for each piece of a path
_CELLS, _CELLS_OF_PIECE = (200, 2000), 8
_LITTLE = 0.1  # part of a limit that gravity leaves, below which
_BEND = 4.0  # inverse of the excess from which on the opposite side is limited too
_WARM = 1e-3  # part by which a motion that was shrunk is slower than the fastest one
#: positions beyond their limits by less than this [rad or m] are rounding
_OUTSIDE = 1e-6
#: joints whose velocities and torques are below this part of the largest ones do not move
_ABSENT = 1e-12
#: a motion that has to be slowed by more than this part for its limits is planned anew on a finer grid
_SLOWED = 1e-3
#: and a warning tells of a result that may be slower by this one
_NOTED = 1e-2


class TimeOptimalTrajectory(JointTrajectory):
    """Fastest motion along a path within limits, the result of `time_optimal`.

    Attributes
    ----------
    robot : Robot
        The arm.
    limits : mapping of str to (n,) array
        ``"velocity"``, ``"acceleration"``, ``"effort"``, ``"jerk"`` and ``"effort_rate"``, infinite where absent.
    path_parameter : (m + 1,) array
        Parameter of the path at the `breaks`: its time if the path is a trajectory.
    largest_usage : float
        Largest value of all limited quantities, as a part of its limit.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q0, q1 = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], [1.0, 0.3, 0.2, -1.5, 0.3, 2.0, 0.0]
    >>> motion = th.trajectory.time_optimal(robot, [q0, q1])
    >>> motion.torque(0.2).shape, motion.active(0.2)
    ((7,), 'velocity of joint1')
    """

    def __init__(
        self, robot: Robot, limits: Mapping[str, Array], breaks: Array, coefficients: Array, path_parameter: Array
    ) -> None:
        super().__init__(breaks, coefficients)
        self.robot, self.limits, self.path_parameter = robot, dict(limits), path_parameter
        path_parameter.setflags(write=False)
        self._smooth = _without_coulomb(robot)
        self._sides = self._checked(1.0)
        self.largest_usage = float(self._sides.max())

    def torque(self, t: npt.ArrayLike) -> Array:
        """Return the torques of the motion, friction included, at times t (...) [s]; (..., n) [N m or N]."""
        return np.asarray(self.robot.inverse_dynamics(*self(t)))

    def usage(self, t: npt.ArrayLike) -> dict[str, Array]:
        """Return absolute values as parts of their limits at times t (...) [s], each (..., n), by name of the limit."""
        times = real(t, "t")
        piece, x = self._located(times)
        moves = ((times >= self.start_time) & (times <= self.end_time))[..., None]
        q, *rates = self._state(piece, x, 1.0)
        values = self._signals([q, *(np.where(moves, part, 0.0) for part in rates)])
        return {name: np.abs(value) / self.limits[name] for name, value in values.items()}

    def active(self, t: npt.ArrayLike) -> Any:
        """Return the limit of the largest usage at a time or at times (...) [s], such as ``"effort of joint2"``."""
        usage = np.stack(list(self.usage(t).values()), axis=-2)
        best = usage.reshape(*usage.shape[:-2], -1).argmax(axis=-1)
        names = np.array([f"{kind} of {joint}" for kind in KINDS for joint in self.robot.joint_names])
        found = names[best]
        return str(found) if np.ndim(found) == 0 else found

    def stretched(self, duration: float) -> TimeOptimalTrajectory:
        """Return the same motion with a longer `duration` [s].

        Raises
        ------
        ThunderError
            If it exceeds a limit, as a shorter duration does.
        """
        factor = positive(duration, "duration") / self.duration
        usage = self._checked(factor)
        if usage.max() > 1.0 + 1e-9:
            raise ThunderError(
                f"duration must keep the limits, but {duration:g} s takes {100.0 * float(usage.max()):.4g} % of one: "
                "choose a longer one, at least that of the result of time_optimal"
            )
        return self._scaled(factor)

    def plot(self, duration: float | None = None, *, axes: Mapping[str, Axes] | None = None) -> dict[str, Axes]:
        """Draw position, velocity, acceleration and torque over time, and the usage of limits.

        Parameters
        ----------
        duration : float, optional
            Plotted time from the start [s]; default that of the motion.
        axes : mapping of str to Axes, optional
            Panels to draw, of ``"q"``, ``"dq"``, ``"ddq"``, ``"tau"`` and ``"usage"``, the largest one of each kind
            of limit; default all, in a new figure.

        Returns
        -------
        dict of str to Axes
            The panels drawn.
        """
        from .plot import plot_time_optimal

        return plot_time_optimal(self, duration, axes=axes)

    def _scaled(self, factor: float) -> TimeOptimalTrajectory:
        order = len(self.coefficients)
        coefficients = self.coefficients * factor ** -np.arange(order - 1.0, -1.0, -1.0)[:, None, None]
        breaks = self.start_time + factor * (self.breaks - self.start_time)
        return TimeOptimalTrajectory(self.robot, self.limits, breaks, coefficients, self.path_parameter)

    def _located(self, t: Array) -> tuple[npt.NDArray[np.intp], Array]:
        piece = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, self.breaks.size - 2)
        return piece, np.clip(t, self.start_time, self.end_time) - self.breaks[piece]

    def _state(self, piece: npt.NDArray[np.intp], x: Array, factor: float) -> list[Array]:
        """Return positions and three derivatives of the motion that takes `factor` times as long."""
        return [_polynomial(self.coefficients[:, piece], x, k) / factor**k for k in range(4)]

    def _signals(self, state: Sequence[Array]) -> dict[str, Array]:
        """Return all limited quantities at positions and three derivatives."""
        q, dq, ddq, d3q = state
        values = {"velocity": dq, "acceleration": ddq, "effort": self.robot.inverse_dynamics(q, dq, ddq), "jerk": d3q}
        if np.isfinite(self.limits["effort_rate"]).any():
            by = self._smooth.inverse_dynamics_derivatives(q, dq, ddq)
            M = self.robot.mass_matrix(q)
            values["effort_rate"] = sum(
                np.einsum("...ij,...j->...i", A, v) for A, v in ((by.dtau_dq, dq), (by.dtau_dv, ddq), (M, d3q))
            )
        else:
            values["effort_rate"] = np.zeros_like(q)
        return values

    def _checked(self, factor: float) -> Array:
        """Return the largest parts of each limit, positive and negative ones, in each piece, (2, m, 5, n)."""
        T = np.diff(self.breaks)
        x = T[:, None] * np.linspace(0.0, 1.0, _CHECKED)
        piece = np.arange(T.size)[:, None].repeat(_CHECKED, axis=1)
        values = self._signals(self._state(piece, x, factor))
        sides = [_largest(np.stack([values[kind], -values[kind]])) / self.limits[kind] for kind in KINDS]
        return np.stack(sides, axis=2)


def _largest(z: Array) -> Array:
    """Return bounds of functions with samples z (..., k, n), an eighth of the largest bend above them, (..., n)."""
    return np.asarray(z.max(axis=-2) + 0.125 * np.abs(np.diff(z, n=2, axis=-2)).max(axis=-2))


def _polynomial(coefficients: Array, x: Array, derivative: int) -> Array:
    """Return a derivative of polynomials with coefficients (order, ..., n), highest first, at x (...)."""
    order = len(coefficients)
    value = np.zeros(coefficients.shape[1:])
    for k, row in enumerate(coefficients[: order - derivative]):
        value = value * x[..., None] + math.perm(order - 1 - k, derivative) * row
    return value


def time_optimal(
    robot: Robot,
    path: Any,
    *,
    velocity: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    effort: npt.ArrayLike | None = None,
    jerk: npt.ArrayLike | None = None,
    effort_rate: npt.ArrayLike | None = None,
    cells: int | None = None,
) -> TimeOptimalTrajectory:
    """Return the fastest motion along a path, from rest to rest, within limits of absolute values.

    Parameters
    ----------
    robot : Robot
        The arm, with its friction; ``payload.added_to(robot)`` is the arm with a `Payload`. Elastic joints are planned
        for as rigid ones, with the inertia and the damping of their motors: `Robot.rigid`.
    path : (m, n) array_like or joint reference
        Points of a natural cubic spline, or a reference of finite duration whose path is kept and whose time is not:
        a `JointTrajectory`, a human-like plan of joints, `kinematics.joint_path` of a path of poses.
    velocity, effort : float or (n,) array_like, optional
        Limits of joint velocities [rad/s or m/s] and of torques, with friction [N m or N]; default the robot's.
    acceleration : float or (n,) array_like, optional
        [rad/s^2 or m/s^2]; default none.
    jerk : float or (n,) array_like, optional
        [rad/s^3 or m/s^3]; default none.
    effort_rate : float or (n,) array_like, optional
        Limits of the time derivatives of torques without Coulomb friction [N m/s or N/s]; default none.
    cells : int, optional
        Least number of cells of the grid on the path; more are taken where limits are not kept between its points.
        Default 8 for each piece between points or of a trajectory, at least 200 and at most 2000.

    Returns
    -------
    TimeOptimalTrajectory
        The motion, a reference of controllers and `simulate`.

    Raises
    ------
    ThunderError
        If gravity alone exceeds a limit of effort on the path; if the path leaves the position limits, rests, has a
        corner that it passes without a stop, or, with `jerk` or `effort_rate`, a jump of its second derivative; if no
        acceleration or effort bounds the motion somewhere.

    Warns
    -----
    ThunderWarning
        If gravity and Coulomb friction together exceed a limit of effort, or the result may be slower than the fastest
        motion by more than 1 %.

    Notes
    -----
    The squared speed of the path parameter is a polynomial in each cell. Its duration is minimized by a barrier method
    with banded Newton steps (Verscheure et al. 2009). Limits hold at three points of each cell; cells between whose
    points they are exceeded get lower ones, and the motion is slowed until all samples, with a bound of the values
    between them, are within the limits. Without rates and friction the problem is convex. Friction, and limited rates,
    make it nonconvex, and the result a local optimum.

    Examples
    --------
    >>> import thunder_py as th
    >>> robot = th.Robot.load("panda")
    >>> q0, q1 = [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7], [1.0, 0.3, 0.2, -1.5, 0.3, 2.0, 0.0]
    >>> motion = th.trajectory.time_optimal(robot, [q0, q1])
    >>> round(motion.duration, 3), motion.active(0.25), bool(motion.largest_usage <= 1.0)
    (0.498, 'velocity of joint1', True)
    >>> smooth = th.trajectory.time_optimal(robot, [q0, q1], effort_rate=1000.0)
    >>> round(smooth.duration, 3)
    0.574
    """
    of_kind(robot, Robot, "robot")
    limits = _limits(robot, velocity, acceleration, effort, jerk, effort_rate)
    robot = robot.rigid()
    given = None if cells is None else whole(cells, "cells", 8, 10_000)
    pieces = path_pieces(path, robot.n, 2 * (given or _CELLS[0]))
    own = isinstance(path, JointTrajectory) or not callable(path)  # pieces, rather than samples
    count = given or int(np.clip(_CELLS_OF_PIECE * (pieces.breaks.size - 1) if own else 0, *_CELLS))
    checked = path_grid(pieces, count, 1)
    _check_positions(robot, checked)
    _check_bounded(robot, checked, limits)
    _check_coulomb(robot, checked, limits)
    found: list[tuple[float, float, TimeOptimalTrajectory]] = []
    for finer in (1, 2, 4):
        fastest, gap = _fastest(robot, path_grid(pieces, finer * count, 2 if _rated(limits) else 1), limits)
        motion = _kept(fastest)
        found.append((motion.duration, gap + motion.duration / fastest.duration - 1.0, motion))
        text = "%d cells: %.4g s, slowed to %.4g s to keep all limits"
        _LOG.info(text, finer * count, fastest.duration, motion.duration)
        if motion.duration <= (1.0 + _SLOWED) * fastest.duration:
            break
    _, slower, motion = min(found, key=lambda each: each[0])
    if slower > _NOTED:
        warnings.warn(
            f"path and limits are hard to plan for: the duration of {motion.duration:.4g} s may be "
            + (f"{100.0 * slower:.2g} % above the least one" if np.isfinite(slower) else "far above the least one")
            + "; increase cells, or the limits where little is left beside gravity",
            ThunderWarning,
            stacklevel=outer_level(),
        )
    return motion


def _fastest(robot: Robot, grid: PathGrid, limits: Mapping[str, Array]) -> tuple[TimeOptimalTrajectory, float]:
    """Return the fastest motion on a grid, and the part by which it may be too slow.

    It exceeds limits by `_EXCESS` at most if few rounds suffice.
    """
    problem = _problem(robot, grid, limits)
    start = problem.slow()
    if start is None:
        raise _infeasible(robot, grid, limits)
    gap, motion, reached = 1.0, None, np.inf
    for _ in range(_ROUNDS):
        c, part = problem.solve(start, gap)
        if motion is not None and part > max(reached, _NOTED):  # failed: the motion before, slowed, is faster
            break
        motion, reached = _motion(robot, limits, grid, problem.result(c)), part
        excess = _excess(problem, motion)
        if max(float(part.max(initial=0.0)) for part in excess) <= _EXCESS:
            break
        problem = _tightened(problem, excess)
        start = problem.shrunk(c)
        if start is None:
            break
        gap = max(_WARM, 1.0 - problem.evaluate(c).duration / problem.evaluate(start).duration)
    assert motion is not None
    return motion, reached


def _limits(
    robot: Robot, velocity: Any, acceleration: Any, effort: Any, jerk: Any, effort_rate: Any
) -> dict[str, Array]:
    of_robot = robot.limits
    given = {
        "velocity": of_robot.velocity if velocity is None else velocity,
        "acceleration": np.inf if acceleration is None else acceleration,
        "effort": of_robot.effort if effort is None else effort,
        "jerk": np.inf if jerk is None else jerk,
        "effort_rate": np.inf if effort_rate is None else effort_rate,
    }
    limits = {k: positives(v, robot.n, k, finite=False) for k, v in given.items()}
    if not np.isfinite([limits["acceleration"], limits["effort"]]).any():
        raise ThunderError("limits must have a finite acceleration or effort, got only infinite ones")
    return limits


def _rated(limits: Mapping[str, Array]) -> bool:
    return bool(np.isfinite([limits[kind] for kind in RATES]).any())


class _Quantity(NamedTuple):
    """Limited quantity of every joint: ``z = rise y' + slope y + offset + friction``, or its time derivative."""

    rise: Array
    slope: Array
    offset: Array
    robot: Robot | None = None  # whose friction is a part of z


def _quantities(robot: Robot, grid: PathGrid) -> dict[str, _Quantity]:
    """Return what is limited, except the velocity, at the points of a grid, (N, 3, n), by the name of the limit."""
    q, dq, ddq = grid.q, grid.dq, grid.ddq
    gravity = robot.gravity_vector(q)
    inertia = np.einsum("...ij,...j->...i", robot.mass_matrix(q), dq)
    quadratic = robot.inverse_dynamics(q, dq, ddq) - robot.friction_torque(dq) - gravity
    acceleration, effort = (0.5 * dq, ddq, np.zeros_like(q)), (0.5 * inertia, quadratic, gravity)
    return {
        "acceleration": _Quantity(*acceleration),
        "effort": _Quantity(*effort, robot),
        "jerk": _Quantity(*acceleration),
        "effort_rate": _Quantity(*effort, _without_coulomb(robot)),
    }


def _without_coulomb(robot: Robot) -> Robot:
    """Return the robot without Coulomb friction, which changes at once where a joint turns back."""
    friction = robot.description.friction
    if friction is None or "coulomb" not in friction.terms:
        return robot
    keep = [k for k, term in enumerate(friction.terms) if term != "coulomb"]
    terms, coefficients = tuple(friction.terms[k] for k in keep), friction.coefficients[:, keep]
    return robot.replace(friction=replace(friction, terms=terms, coefficients=coefficients) if keep else None)


def _problem(robot: Robot, grid: PathGrid, limits: Mapping[str, Array]) -> SpeedProblem:
    """Return the problem of the fastest speed on a grid."""
    signals: list[Levels | Rates] = []
    for kind, quantity in _quantities(robot, grid).items():
        used = np.flatnonzero(np.isfinite(limits[kind]))
        scale = limits[kind][used]
        rise, slope, offset = (part[..., used] / scale for part in quantity[:3])
        levels = Levels(np.ones((2, len(grid.q), used.size)), rise, slope, offset)
        law = quantity.robot if quantity.robot is not None and quantity.robot.description.friction is not None else None
        if kind in RATES:
            extra = None if law is None else _by_y(_derivative(law.friction_torque), grid.dq, used, scale)
            signals.append(Rates.of(levels, np.diff(grid.nodes), grid.dq[..., used], grid.ddq[..., used], extra))
        else:
            signals.append(
                levels if law is None else replace(levels, extra=_by_y(law.friction_torque, grid.dq, used, scale))
            )
    with np.errstate(divide="ignore", over="ignore"):
        ceiling = ((limits["velocity"] / np.abs(grid.dq)) ** 2).min(axis=2)
    return SpeedProblem(grid.nodes, ceiling, signals, smooth=_rated(limits))


def _derivative(law: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the derivative of a function of the joint velocities, joint by joint, by central differences."""

    def derivative(v: Array) -> Array:
        step = 1e-5 * (1.0 + np.abs(v))
        return np.asarray((law(v + step) - law(v - step)) / (2.0 * step))

    return derivative


def _by_y(law: Callable[[Array], Array], dq: Array, used: npt.NDArray[np.intp], scale: Array) -> Extra:
    """Return a function of the joint velocities, and its derivative by y, as functions of y."""
    derivative = _derivative(law)

    def at(y: Array) -> tuple[Array, Array]:
        root = np.sqrt(y)[..., None]
        v = dq * root
        slope = derivative(v) * dq / (2.0 * root)
        return law(v)[..., used] / scale, slope[..., used] / scale

    return at


def _infeasible(robot: Robot, grid: PathGrid, limits: Mapping[str, Array]) -> ThunderError:
    """Return the error of a path on which the arm cannot rest."""
    load = np.abs(robot.gravity_vector(grid.q)) / limits["effort"]
    cell, point, joint = np.unravel_index(int(load.argmax()), load.shape)
    tau = float(robot.gravity_vector(grid.q[cell, point])[joint])
    where, slides = grid.s[cell, point], robot.joint_types[joint] == "P"
    return ThunderError(
        f"path must be within the torque limits at rest, but gravity takes {tau:.4g} of {robot.joint_names[joint]} at "
        f"{where:.4g} {_range(grid)}, and its limit is {limits['effort'][joint]:.4g}: "
        + ("reduce the payload" if slides else "reduce the payload, or choose a path on which the arm reaches out less")
    )


def _check_positions(robot: Robot, grid: PathGrid) -> None:
    """Refuse paths that leave the position limits."""
    over = np.maximum(robot.limits.lower - grid.q, grid.q - robot.limits.upper)
    if over.max() > _OUTSIDE:
        cell, point, joint = np.unravel_index(int(over.argmax()), over.shape)
        at, lower, upper = apart(grid.q[cell, point, joint], robot.limits.lower[joint], robot.limits.upper[joint])
        raise ThunderError(
            f"path must be within the position limits, but {robot.joint_names[joint]} is at {at} at "
            f"{grid.s[cell, point]:.4g} {_range(grid)}, and its limits are {lower} and {upper}: a spline also swings "
            "beyond its points, more points keep it nearer to them"
        )


def _check_bounded(robot: Robot, grid: PathGrid, limits: Mapping[str, Array]) -> None:
    """Refuse motions that no limit of acceleration or effort bounds."""
    quantities = _quantities(robot, grid)
    parts = [np.abs(quantities[kind].rise) for kind in ("acceleration", "effort")]
    held = [
        (part > _ABSENT * part.max()).any(axis=1) & np.isfinite(limits[kind])
        for part, kind in zip(parts, ("acceleration", "effort"), strict=True)
    ]
    free = ~np.any(held, axis=(0, 2))
    if free.any():
        cell = int(np.argmax(free))
        moves = np.abs(grid.dq[cell]).max(axis=0) > _ABSENT * np.abs(grid.dq).max()
        names = ", ".join(name for name, m in zip(robot.joint_names, moves, strict=True) if m)
        raise ThunderError(
            f"limits must bound the motion, but none of acceleration or effort does at {grid.s[cell, 1]:.4g} "
            f"{_range(grid)}, where {names} moves: pass acceleration or effort for it"
        )


def _check_coulomb(robot: Robot, grid: PathGrid, limits: Mapping[str, Array]) -> None:
    """Warn of places at which gravity and Coulomb friction together exceed a limit of effort."""
    friction = robot.description.friction
    if friction is None or "coulomb" not in friction.terms:
        return
    coulomb = friction.coefficients[:, friction.terms.index("coulomb")]
    signs = np.where(np.abs(grid.dq) > _ABSENT * np.abs(grid.dq).max(), np.sign(grid.dq), 0.0)
    load = robot.gravity_vector(grid.q) + signs * coulomb
    usage = np.abs(load) / limits["effort"]
    if usage.max() > 1.0:
        cell, point, joint = np.unravel_index(int(usage.argmax()), usage.shape)
        warnings.warn(
            "effort must be above gravity and Coulomb friction, or the motion may creep, but of "
            f"{robot.joint_names[joint]} they take {load[cell, point, joint]:.4g} at {grid.s[cell, point]:.4g} "
            f"{_range(grid)}, and its limit is {limits['effort'][joint]:.4g}: increase it",
            ThunderWarning,
            stacklevel=outer_level(),
        )


def _range(grid: PathGrid) -> str:
    return f"of the path, from {grid.s[0, 0]:.4g} to {grid.s[-1, -1]:.4g}"


def _motion(robot: Robot, limits: Mapping[str, Array], grid: PathGrid, speed: PathSpeed) -> TimeOptimalTrajectory:
    """Return the motion as a quintic for each half cell."""
    root = np.sqrt(speed.y)[..., None]
    dq = grid.dq * root
    ddq = grid.ddq * speed.y[..., None] + 0.5 * grid.dq * speed.dy[..., None]
    T = speed.times.reshape(-1, 1)
    ends = [part[:, k].reshape(-1, robot.n) for k in (slice(0, 2), slice(1, 3)) for part in (grid.q, dq, ddq)]
    coefficients = quintic_coefficients(T, *ends)
    breaks = np.concatenate([[0.0], np.cumsum(T)])
    parameter = np.append(grid.s[:, :2].ravel(), grid.s[-1, -1])
    return TimeOptimalTrajectory(robot, limits, breaks, coefficients, parameter)


def _excess(problem: SpeedProblem, motion: TimeOptimalTrajectory) -> list[Array]:
    """Return the parts by which limits are exceeded in each cell, of velocity (N, n), then of the signals (2, N, m).

    They are parts of what the limits leave beside the values at rest: near gravity small torques take long.
    """
    sides = motion._sides
    over = np.maximum(sides.reshape(2, -1, 2, *sides.shape[2:]).max(axis=2) - 1.0, 0.0)
    found = [over[:, :, 0].max(axis=0)]
    for k, group in enumerate(problem.signals, 1):
        room = np.stack([1.0 - group.rest, 1.0 + group.rest]).min(axis=2)
        found.append(over[:, :, k, np.isfinite(motion.limits[KINDS[k]])] / room)
    return found


def _tightened(problem: SpeedProblem, excess: Sequence[Array]) -> SpeedProblem:
    """Return the problem with limits reduced in the cells where the motion exceeds them.

    A large excess on a side where gravity leaves little comes from a parabola that bends from far away on the other
    side: that one is limited too.
    """
    velocity, *others = excess
    signals = []
    for group, part in zip(problem.signals, others, strict=True):
        room = np.stack([1.0 - group.rest, 1.0 + group.rest]).min(axis=2)
        opposite = 1.0 / np.maximum(1.0, _BEND * np.where(room < _LITTLE, part, 0.0)[::-1])
        signals.append(replace(group, share=group.share * (1.0 - np.minimum(1.1 * part, 0.5)) * opposite))
    ceiling = problem.ceiling * (1.0 - np.minimum(1.1 * velocity, 0.5)).min(axis=1)[:, None] ** 2
    return SpeedProblem(problem.nodes, ceiling, signals, smooth=problem.smooth)


def _kept(motion: TimeOptimalTrajectory) -> TimeOptimalTrajectory:
    """Return the motion slowed by the least factor with which it keeps all limits."""
    if motion.largest_usage <= 1.0:
        return motion
    most = 1.0 - 1e-12  # the scaled motion differs by rounding
    low, high = 1.0, 1.0 + 2.0 * (motion.largest_usage - 1.0) + 1e-9
    while motion._checked(high).max() > most:
        low, high = high, 1.0 + 2.0 * (high - 1.0)
        if high > 1e3:
            raise ThunderError(
                "effort must be above the torques of slow motions, which exceed it here: increase it, or choose a path "
                "on which gravity and friction take less"
            )
    while high - low > 1e-6 + 0.02 * (high - 1.0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if motion._checked(middle).max() <= most else (middle, high)
    return motion._scaled(high)
