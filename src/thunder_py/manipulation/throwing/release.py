"""Choice of the release: configuration and velocity of the arm at the instant at which the object leaves the hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, of_kind, one_of, positive, whole
from ...errors import ReleaseError, ThunderError
from ...parallel import Workers, map_items
from ...robot import Robot
from ...trajectory import MotionLimits
from .flight import GRAVITY, landing, landing_with_drag, release_velocity

_Result = TypeVar("_Result")

#: fraction of each limit that motions leave free, for the time between the instants at which limits are checked
ROOM = 2e-3
#: acceleration that is zero at release: of the hand, of the joints, or of the object relative to the hand
HandAcceleration = Literal["hand", "joints", "free fall"]


class Palm(NamedTuple):
    """Side of the hand by which the object leaves (D4.2, section 4.4).

    Attributes
    ----------
    axis : (3,) sequence of float
        Axis out of the palm, in the frame of the tool.
    angle : float
        Largest angle between this axis and the velocity [rad].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import Palm, find_release
    >>> release = find_release(th.Robot.load("panda"), (1.1, 0.1, -0.4), palm=Palm(angle=0.2), starts=3)
    >>> bool(release.R[:, 2] @ release.v / release.speed > 0.98)  # cos(0.2)
    True
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    angle: float = np.pi / 6.0


@dataclass(frozen=True, kw_only=True)
class ReleaseNoise:
    """Standard deviations at the release, for the objective ``"sensitivity"`` of `find_releases`.

    Attributes
    ----------
    position, velocity : float
        Standard deviation of each joint's position [rad] and velocity [rad/s].
    time : float
        Standard deviation of the time of release [s].

    Raises
    ------
    ThunderError
        If a number is negative.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import ReleaseNoise, find_release
    >>> panda, noise = th.Robot.load("panda"), ReleaseNoise(velocity=2e-2)
    >>> release = find_release(panda, (1.1, 0.1, -0.4), objective="sensitivity", noise=noise, starts=1)
    >>> 2e-3 < release.value < 2e-2  # standard deviation of the landing [m]
    True
    """

    position: float = 2e-3
    velocity: float = 1e-2
    time: float = 5e-3

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("position", "velocity", "time"):
            nonnegative(getattr(self, name), f"noise {name}")


class HandState(NamedTuple):
    """Pose, Jacobian and velocity of the hand, joint accelerations and torques; leading axes are those of q."""

    p: Array
    R: Array
    J: Array
    v: Array
    ddq: Array
    tau: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """State of the arm at the instant of release.

    Attributes
    ----------
    q, dq, ddq : (n,) array
        Joint positions, velocities and accelerations [rad, rad/s, rad/s^2].
    p, v, a : (3,) array
        Position, velocity and acceleration of the hand [m, m/s, m/s^2].
    R : (3, 3) array
        Orientation of the hand.
    target : (3,) array
        Landing point of the object [m].
    flight_time : float
        Time of flight [s].
    objective : str
        Name of the objective, see `find_releases`.
    value : float
        Value of the objective: mean square of the velocities as fractions of their limits, norm of the used fractions
        of all limits, or standard deviation of the landing [m].
    margins : dict of str to (n,) array
        Remaining fraction of each limit, by ``position``, ``velocity``, ``acceleration``, ``effort``.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import find_release
    >>> release = find_release(th.Robot.load("panda"), (1.1, 0.1, -0.4), objective="limits", starts=2)
    >>> (release.p + release.flight_time * release.v)[:2].round(3).tolist()
    [1.1, 0.1]
    >>> sorted(release.margins)
    ['acceleration', 'effort', 'position', 'velocity']
    """

    q: Array
    dq: Array
    ddq: Array
    p: Array
    v: Array
    a: Array
    R: Array
    target: Array
    flight_time: float
    objective: str
    value: float
    margins: dict[str, Array]

    @property
    def speed(self) -> float:
        """Speed of the hand [m/s]."""
        return float(np.linalg.norm(self.v))

    @property
    def angle(self) -> float:
        """Angle of the velocity above the horizontal [rad]."""
        return float(np.arctan2(self.v[2], np.hypot(self.v[0], self.v[1])))

    def __repr__(self) -> str:
        """Return position, speed and angle as text."""
        position = ", ".join(f"{x:.3f}" for x in self.p)
        return f"<Release at ({position}) m, {self.speed:.3g} m/s, {np.degrees(self.angle):.3g} degrees up>"


def hand_states(
    robot: Robot,
    q: Array,
    dq: Array,
    *,
    acceleration: HandAcceleration,
    spin_free: bool = True,
) -> HandState:
    """Return the state of the hand at joint states (..., n); ddq of least norm where it is not zero."""
    T, J = robot.forward_kinematics(q), robot.jacobian(q)
    v = (J[..., :3, :] @ dq[..., None])[..., 0]
    if acceleration == "joints":
        ddq = np.zeros_like(q)
        return HandState(T[..., :3, 3], T[..., :3, :3], J, v, ddq, robot.inverse_dynamics(q, dq, ddq))
    rows = 6 if spin_free else 3
    a_hand = np.zeros((*np.shape(q)[:-1], rows))
    if acceleration == "free fall":
        a_hand[..., 2] = -GRAVITY
    bias = (robot.jacobian_dot(q, dq) @ dq[..., None])[..., :rows, 0]
    A = J[..., :rows, :]
    # damping lets the optimizer pass a singularity
    gram = A @ np.swapaxes(A, -1, -2) + 1e-9 * np.eye(rows)
    ddq = (np.swapaxes(A, -1, -2) @ np.linalg.solve(gram, (a_hand - bias)[..., None]))[..., 0]
    return HandState(T[..., :3, 3], T[..., :3, :3], J, v, ddq, robot.inverse_dynamics(q, dq, ddq))


def margins_of(limits: MotionLimits, q: Array, dq: Array, ddq: Array, tau: Array) -> dict[str, Array]:
    """Return the remaining fraction of each limit along a motion at the worst instant of each joint, (n,)."""
    signals = {
        "position": (q - limits.center) / limits.half_range,
        "velocity": dq / limits.velocity,
        "acceleration": ddq / limits.acceleration,
        "effort": tau / limits.effort,
    }
    return {name: 1.0 - np.abs(np.atleast_2d(values)).max(axis=0) for name, values in signals.items()}


def worst_margin(margins: dict[str, Array], robot: Robot) -> tuple[float, str]:
    """Return the least margin and its name, such as ``velocity of joint4``."""
    kind = min(margins, key=lambda name: float(margins[name].min()))
    joint = int(np.argmin(margins[kind]))
    return float(margins[kind][joint]), f"{kind} of {robot.joint_names[joint]}"


def release_at(
    robot: Robot,
    q: npt.ArrayLike,
    dq: npt.ArrayLike,
    target: npt.ArrayLike,
    limits: MotionLimits,
    *,
    spin_free: bool = True,
    acceleration: HandAcceleration = "joints",
    objective: str = "given",
    value: float = float("nan"),
) -> Release:
    """Return the release at a joint state, with the margins to the limits.

    Parameters
    ----------
    robot : Robot
        The arm with its load.
    q, dq : (n,) array_like
        Joint positions [rad] and velocities [rad/s].
    target : (3,) array_like
        Landing point [m]; its height must be reached, the rest is stored without a check.
    limits : MotionLimits
        Limits that the margins refer to.
    spin_free, acceleration
        As in `find_releases`.
    objective, value
        Stored in the result.

    Returns
    -------
    Release
        The release at this state.

    Raises
    ------
    ReleaseError
        If the state breaks a limit, which the message names, or the object does not rise to the target.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.trajectory import MotionLimits
    >>> from thunder_py.manipulation.throwing import release_at
    >>> panda = th.Robot.load("panda")
    >>> limits = MotionLimits.of(panda, torque=True)
    >>> release = release_at(panda, [0, -0.2, 0, -1.8, 0, 1.7, 0.8], [0, 0.5, 0, 0.4, 0, 0, 0], [0.9, 0, 0], limits)
    >>> round(release.speed, 3), release.margins["velocity"].round(3).tolist()
    (0.17, [1.0, 0.77, 1.0, 0.816, 1.0, 1.0, 1.0])
    """
    joints, rates = array(q, (robot.n,), "q"), array(dq, (robot.n,), "dq")
    hand = hand_states(robot, joints, rates, spin_free=spin_free, acceleration=acceleration)
    margins = margins_of(limits, joints, rates, hand.ddq, hand.tau)
    least, name = worst_margin(margins, robot)
    if least < 0.0:
        raise ReleaseError(f"the release breaks the {name} by {-100.0 * least:.3g} %", name)
    goal = array(target, (3,), "target")
    bias = robot.jacobian_dot(joints, rates)[:3] @ rates
    return Release(
        q=joints, dq=rates, ddq=hand.ddq, p=hand.p, v=hand.v, a=hand.J[:3] @ hand.ddq + bias, R=hand.R, target=goal,
        flight_time=float(landing(hand.p, hand.v, goal[2]).time),
        objective=objective, value=value, margins=margins,
    )  # fmt: skip


#: fraction of the limits that the optimizer may use; the rest is for its tolerance and for `ROOM`
_ROOM = 1.0 - 1.5 * ROOM
_TOLERANCE = 0.25 * ROOM
_SHORTEST, _LONGEST = 0.02, 5.0  # times of flight [s]
_STEP = 1e-6  # step of central differences
_POWER = 12  # exponent of the norm that approximates the maximum


class Solved(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    q, dq : (n,) array
        Joint positions, and velocities that throw exactly at the aim.
    flight_time : float
        Time of flight [s].
    value : float
        Value of the objective.
    """

    q: Array
    dq: Array
    flight_time: float
    value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseProblem:
    """Nonlinear program over x = (q, dq, T) under v = (target - p(q)) / T - g T / 2 for the velocity of the hand.

    Attributes
    ----------
    robot, aim, limits, objective, palm, spin_free, acceleration, region, noise, coast
        As in `find_releases`; aim is the end of the flight without drag.
    full : MotionLimits
        Limits that the objective ``"limits"`` refers to, where `limits` are looser.
    """

    robot: Robot
    aim: Array
    limits: MotionLimits
    objective: str
    palm: Palm | None
    spin_free: bool
    acceleration: HandAcceleration
    region: Array | None
    noise: ReleaseNoise
    full: MotionLimits
    coast: float = 0.0

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Return q, dq and T of points (..., 2 n + 1)."""
        n = self.robot.n
        return x[..., :n], x[..., n : 2 * n], x[..., -1]

    def hand(self, q: Array, dq: Array) -> HandState:
        """Return the state of the hand."""
        return hand_states(self.robot, q, dq, spin_free=self.spin_free, acceleration=self.acceleration)

    def aim_velocity(self, p: Array, T: Array) -> Array:
        """Return the velocity of a flight from p to the aim in a time T, (..., 3)."""
        v = (self.aim - p) / T[..., None]
        v[..., 2] += 0.5 * GRAVITY * T
        return np.asarray(v)

    def cost(self, x: Array) -> Array:
        """Return the objective at points, (...)."""
        q, dq, T = self.split(x)
        if self.objective == "velocity":
            return np.asarray(np.mean((dq / self.limits.velocity) ** 2, axis=-1))
        if self.objective == "limits":
            parts = np.concatenate(list(self.uses(q, dq).values()), axis=-1)
            most = np.maximum(np.abs(parts).max(axis=-1, keepdims=True), np.finfo(np.float64).tiny)
            return np.asarray(most[..., 0] * np.sum((parts / most) ** _POWER, axis=-1) ** (1.0 / _POWER))
        return 100.0 * self.deviation(q, dq, T)  # in cm, of the order of 1

    def uses(self, q: Array, dq: Array) -> dict[str, Array]:
        """Return the used fraction of each limit, (..., n) each, zero without a limit."""
        course = self.course(q, dq)

        def share(values: list[Array], limit: Array) -> Array:
            return np.asarray(np.abs(np.stack(values)).max(axis=0) / limit)

        return {
            "velocity": share([dq for _, dq, _ in course], self.full.velocity),
            "acceleration": share([hand.ddq for _, _, hand in course], self.full.acceleration),
            "effort": share([hand.tau for _, _, hand in course], self.full.effort),
        }

    def course(self, q: Array, dq: Array) -> list[tuple[Array, Array, HandState]]:
        """Return joint states and hand at the release and at both ends of the coast, by the midpoint rule."""
        now = self.hand(q, dq)
        found = [(q, dq, now)]
        for h in (-0.5 * self.coast, 0.5 * self.coast) if self.coast else ():
            rates = dq + 0.5 * h * now.ddq
            middle = self.hand(q + 0.5 * h * dq, rates)
            end = q + h * rates, dq + h * middle.ddq
            found.append((*end, self.hand(*end)))
        return found

    def deviation(self, q: Array, dq: Array, T: Array) -> Array:
        """Return the standard deviation of the landing under the noise, over both directions, (...) [m]."""
        hand = self.hand(q, dq)
        impact = GRAVITY * T - hand.v[..., 2]
        by_p = np.zeros((*np.shape(T), 2, 3))
        by_p[..., 0, 0] = by_p[..., 1, 1] = 1.0
        by_p[..., 2] = hand.v[..., :2] / impact[..., None]
        by_v = T[..., None, None] * by_p
        J, n = hand.J[..., :3, :], self.robot.n
        each = np.broadcast_to(np.eye(n), (*np.shape(T), n, n))
        rates = self.robot.jacobian_dot(np.broadcast_to(q[..., None, :], each.shape), each)[..., :3, :]
        dv_dq = np.swapaxes((rates @ dq[..., None, :, None])[..., 0], -1, -2)  # derivative of J dq by each joint
        bias = (self.robot.jacobian_dot(q, dq)[..., :3, :] @ dq[..., None])[..., 0]
        a = (J @ hand.ddq[..., None])[..., 0] + bias
        time = (by_p @ hand.v[..., None] + by_v @ a[..., None])[..., 0]
        parts = (
            (self.noise.position, by_p @ J + by_v @ dv_dq),
            (self.noise.velocity, by_v @ J),
            (self.noise.time, time[..., None]),
        )
        return np.asarray(np.sqrt(sum(s**2 * np.sum(A**2, axis=(-2, -1)) for s, A in parts)))

    def equalities(self, x: Array) -> Array:
        """Return the equality constraints, (..., m)."""
        q, dq, T = self.split(x)
        hand = self.hand(q, dq)
        v = self.aim_velocity(hand.p, T)
        rows = [hand.v - v]
        if self.spin_free:
            rows.append((hand.J[..., 3:, :] @ dq[..., None])[..., 0])
        return np.concatenate(rows, axis=-1)

    def inequalities(self, x: Array) -> Array:
        """Return the inequality constraints, (..., m), at least 0 where they hold."""
        q, dq, T = self.split(x)
        course, limits = self.course(q, dq), self.limits
        hand = course[0][2]
        # the object reaches the target on its way down
        rows = [(0.5 * GRAVITY * T**2 - self.aim[2] + hand.p[..., 2])[..., None]]
        for k, (p, rates, state) in enumerate(course):
            ends = ((p - limits.center, limits.half_range), (rates, limits.velocity)) if k else ()  # else bounds of x
            for values, limit in ((state.ddq, limits.acceleration), (state.tau, limits.effort), *ends):
                finite = np.isfinite(limit)
                part = values[..., finite] / limit[finite]
                rows += [_ROOM - part, _ROOM + part]
        if self.palm is not None:
            v = self.aim_velocity(hand.p, T)
            out = hand.R @ np.asarray(self.palm.axis)
            along = np.sum(out * v, axis=-1) / np.maximum(np.linalg.norm(v, axis=-1), 1e-9)
            rows.append((along - np.cos(self.palm.angle * _ROOM))[..., None])
        if self.region is not None:
            rows += [hand.p - self.region[0], self.region[1] - hand.p]
        return np.concatenate(rows, axis=-1)

    def _slope(self, f: Callable[[Array], Array], x: Array) -> Array:
        steps = _STEP * np.eye(x.size)
        values = f(np.concatenate([x + steps, x - steps]))
        return np.asarray(((values[: x.size] - values[x.size :]) / (2.0 * _STEP)).T)

    def start(self, rng: np.random.Generator) -> Array:
        """Draw a configuration and the velocity that throws at the aim with the least speed."""
        q = self.limits.center + rng.uniform(-0.8, 0.8, self.robot.n) * self.limits.half_range
        p = self.robot.forward_kinematics(q)[:3, 3]
        v = release_velocity(p, self.aim)
        J = self.robot.jacobian(q)[:3]
        dq = np.clip(np.linalg.pinv(J, rcond=1e-2) @ v, -self.limits.velocity, self.limits.velocity)
        return np.concatenate([q, dq, [np.clip(landing(p, v, self.aim[2]).time, _SHORTEST, _LONGEST)]])

    def search(self, x0: Array, iterations: int, *, scaled: bool = False) -> Solved | None:
        """Minimize from a start; return None if the result breaks a limit.

        The optimizer's tolerances suit costs of the order of 1: `scaled` divides the cost by that of the start.
        """
        from scipy.optimize import Bounds, minimize

        limits, room = self.limits, _ROOM
        half, rates = room * limits.half_range, room * limits.velocity
        lower = np.concatenate([limits.center - half, -rates, [_SHORTEST]])
        upper = np.concatenate([limits.center + half, rates, [_LONGEST]])
        slsqp: Any = minimize  # its stubs lack constraints as dicts with gradients
        scale = (float(self.cost(x0)) if scaled else 0.0) or 1.0
        result = slsqp(
            lambda x: float(self.cost(x)) / scale,
            x0,
            jac=lambda x: self._slope(self.cost, x) / scale,
            method="SLSQP",
            bounds=Bounds(lower, upper),
            constraints=[
                {"type": kind, "fun": f, "jac": lambda x, f=f: self._slope(f, x)}
                for kind, f in (("eq", self.equalities), ("ineq", self.inequalities))
            ],
            options={"maxiter": iterations, "ftol": 1e-8},
        )
        x = np.asarray(result.x)
        if not np.isfinite(x).all() or np.abs(self.equalities(x)).max() > 1e-4:
            return None
        x = self.exact(x)
        is_feasible = self.inequalities(x).min(initial=0.0) >= -_TOLERANCE
        is_slow = (np.abs(x[self.robot.n : -1]) <= (_ROOM + _TOLERANCE) * limits.velocity).all()
        return self.solved(x) if is_feasible and is_slow else None

    def solved(self, x: Array) -> Solved:
        """Return a point with the value of the objective."""
        q, dq, T = self.split(x)
        value = float(self.deviation(q, dq, T) if self.objective == "sensitivity" else self.cost(x))
        return Solved(q, dq, float(T), value)

    def exact(self, x: Array) -> Array:
        """Return the point with the same configuration and flight, its velocities corrected to hit the aim exactly."""
        q, dq, T = self.split(x)
        T_hand, J = self.robot.forward_kinematics(q), self.robot.jacobian(q)
        p = T_hand[:3, 3]
        twist = np.concatenate([self.aim_velocity(p, T), np.zeros(3)])[: 6 if self.spin_free else 3]
        J = J[: twist.size]
        corrected: npt.NDArray[np.float64] = dq + np.linalg.pinv(J) @ (twist - J @ dq)
        return np.concatenate([q, corrected, [float(T)]])


OBJECTIVES = ("velocity", "limits", "sensitivity")
ACCELERATIONS = ("joints", "hand", "free fall")
_ITERATIONS = 100
#: with drag: further searches, then corrections of the velocity alone
_SEARCHES, _CORRECTIONS = 2, 20
#: factor on the limits of velocity, and least velocity [rad/s] or [m/s], for the requirements of an infeasible throw
_LOOSE = 20.0


def find_release(robot: Robot, target: npt.ArrayLike, **options: Any) -> Release:
    """Return the best release for a target.

    Parameters
    ----------
    robot, target, **options
        As in `find_releases`.

    Returns
    -------
    Release
        The first of `find_releases`.

    Raises
    ------
    ReleaseError
        If no throw within the limits was found; `limit` names the binding limit, ``"reach"`` where the throw is
        impossible at any speed, or ``"convergence"`` where it is not but the search converged from no start.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import find_release, landing
    >>> panda = th.Robot.load("panda")
    >>> release = find_release(panda, (1.1, 0.1, -0.4), objective="limits", starts=2)
    >>> landing(release.p, release.v, -0.4).p.round(3).tolist()
    [1.1, 0.1, -0.4]
    >>> try:
    ...     find_release(panda, (1.1, 0.1, -0.4), region=[[2, 2, 2], [3, 3, 3]], starts=1)
    ... except th.errors.ReleaseError as error:
    ...     print(error.limit)
    reach, region
    """
    return find_releases(robot, target, **options)[0]


def find_releases(
    robot: Robot,
    target: npt.ArrayLike,
    *,
    limits: MotionLimits | None = None,
    objective: Literal["velocity", "limits", "sensitivity"] = "velocity",
    palm: Palm | None = None,
    spin_free: bool = True,
    acceleration: HandAcceleration = "joints",
    region: npt.ArrayLike | None = None,
    noise: ReleaseNoise | None = None,
    drag: float = 0.0,
    coast: float = 0.0,
    starts: int = 20,
    seed: int = 0,
    workers: Workers = 1,
) -> list[Release]:
    """Search joint states from which an object flies to the target, best first.

    Parameters
    ----------
    robot : Robot
        The arm with its load, because torques are limited; see `Payload.added_to`.
    target : (3,) array_like
        Landing point [m].
    limits : MotionLimits, optional
        Default the limits of the robot, torques included.
    objective : {"velocity", "limits", "sensitivity"}
        Least mean square of the joint velocities as fractions of their limits; least use of any limit of velocity,
        acceleration or torque; or least standard deviation of the landing under `noise`.
    palm : Palm, optional
        Bound of the angle between palm and velocity.
    spin_free : bool
        If True, the angular velocity of the hand is zero at release.
    acceleration : {"joints", "hand", "free fall"}
        Acceleration that is zero at release: of the joints, of the hand, or of the object relative to the hand, which
        falls with it. In free fall the landing does not depend on the time of release, to first order.
    region : (2, 3) array_like, optional
        Lower and upper corner of the box of the hand at release [m].
    noise : ReleaseNoise, optional
        Noise of the objective ``"sensitivity"``.
    drag : float
        Coefficient of quadratic drag of the object [1/m]; see `drag_coefficient`.
    coast : float
        Time for which the limits hold while the hand falls freely, the release in its middle [s]; see `plan_throw`.
    starts : int
        Number of random configurations to search from.
    seed : int
        Seed of these configurations.
    workers : Workers
        Where the searches are made, see `run_tasks`. The result does not depend on it.

    Returns
    -------
    list of Release
        One for each start that led to a throw.

    Raises
    ------
    ReleaseError
        If no throw within the limits was found; `limit` names the binding limit, ``"reach"`` where the throw is
        impossible at any speed, or ``"convergence"`` where it is not but the search converged from no start.

    Notes
    -----
    SLSQP over q, dq and the time of flight, which determines the velocity of the hand. With drag, the aim is shifted
    by the miss of the flight until the flight hits the target.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import find_releases
    >>> releases = find_releases(th.Robot.load("panda"), (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> len(releases) > 1, all(a.value <= b.value for a, b in zip(releases, releases[1:]))
    (True, True)
    """
    one_of(objective, OBJECTIVES, "objective")
    one_of(acceleration, ACCELERATIONS, "acceleration")
    goal, k = array(target, (3,), "target"), nonnegative(drag, "drag")
    of_kind(robot, Robot, "robot")
    full = MotionLimits.of(robot, torque=True) if limits is None else of_kind(limits, MotionLimits, "limits")
    problem = ReleaseProblem(
        robot=robot,
        aim=goal,
        limits=full,
        full=full,
        objective=objective,
        palm=_palm(palm),
        spin_free=spin_free,
        acceleration=acceleration,
        region=_region(region),
        noise=ReleaseNoise() if noise is None else of_kind(noise, ReleaseNoise, "noise"),
        coast=nonnegative(coast, "coast"),
    )
    if coast and acceleration != "free fall":
        raise ReleaseError(f"acceleration must be 'free fall' for a coast, got {acceleration!r}", "coast")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    first = [problem.start(rng) for _ in range(whole(starts, "starts", 1))]
    solve = partial(_solve, problem, goal, k)
    releases = _found(map_items(solve, first, workers=workers))
    if not releases:
        unlimited = _without_limits(problem, first, workers)
        x0 = [np.concatenate([s.q, s.dq, [s.flight_time]]) for s in unlimited]
        releases = _found(map_items(solve, x0, workers=workers))
        if not releases:
            raise _infeasibility(problem, unlimited, starts=first)
    return sorted(releases, key=lambda release: release.value)


def _palm(palm: Palm | None) -> Palm | None:
    if palm is None:
        return None
    axis, angle = array(of_kind(palm, Palm, "palm").axis, (3,), "palm axis"), positive(palm.angle, "palm angle", "rad")
    size = float(np.linalg.norm(axis))
    if size == 0.0 or angle >= np.pi:
        raise ThunderError(f"palm must have an axis and an angle between 0 and pi, got {palm}")
    return Palm(tuple((axis / size).tolist()), angle)


def _region(region: npt.ArrayLike | None) -> Array | None:
    if region is None:
        return None
    box = array(region, (2, 3), "region")
    if not (box[0] < box[1]).all():
        raise ThunderError(f"region must have its lower corner below its upper one, got {box.tolist()}")
    return box


def _solve(problem: ReleaseProblem, goal: Array, drag: float, x0: Array) -> Release | None:
    solved = problem.search(x0, _ITERATIONS)
    if solved is None:
        return None
    try:
        return _release(problem, solved, goal) if drag == 0.0 else _against_drag(problem, solved, goal, drag)
    except ReleaseError:  # with drag the throw breaks a limit
        return None


def _found(results: Iterable[_Result | None]) -> list[_Result]:
    return [result for result in results if result is not None]


def _against_drag(problem: ReleaseProblem, solved: Solved, goal: Array, drag: float) -> Release:
    """Return the release that hits through air: the aim is shifted by the miss, finally at a constant configuration."""
    for k in range(_SEARCHES + _CORRECTIONS):
        x = np.concatenate([solved.q, solved.dq, [solved.flight_time]])
        hand = problem.hand(solved.q, solved.dq)
        miss = goal - landing_with_drag(hand.p, hand.v, float(goal[2]), drag=drag).p
        if np.abs(miss).max() < 1e-10:
            break
        problem = replace(problem, aim=problem.aim + miss)
        corrected = problem.search(x, _ITERATIONS) if k < _SEARCHES else problem.solved(problem.exact(x))
        if corrected is None:
            raise ReleaseError(f"no release with drag = {drag:g} 1/m was found", "drag")
        solved = corrected
    return _release(problem, solved, goal)


def _release(problem: ReleaseProblem, solved: Solved, goal: Array) -> Release:
    return release_at(
        problem.robot, solved.q, solved.dq, goal, problem.limits, spin_free=problem.spin_free,
        acceleration=problem.acceleration, objective=problem.objective, value=solved.value,
    )  # fmt: skip


def _without_limits(problem: ReleaseProblem, starts: list[Array], workers: Workers) -> list[Solved]:
    """Return throws with the least use of the limits of velocity, acceleration and torque, feasible or not."""
    free = replace(problem, limits=_loose(problem.full), objective="limits")
    # velocities of the starts are within the limits, which may be close to zero, hence `exact`
    search = partial(free.search, iterations=_ITERATIONS, scaled=True)
    results = map_items(search, [free.exact(x0) for x0 in starts], workers=workers)
    return sorted(_found(results), key=lambda solved: solved.value)


def _loose(limits: MotionLimits) -> MotionLimits:
    """Return high limits of velocity, none of acceleration and torque."""
    return MotionLimits(lower=limits.lower, upper=limits.upper, velocity=np.maximum(_LOOSE * limits.velocity, _LOOSE))


def _is_in_reach(problem: ReleaseProblem, starts: list[Array]) -> bool:
    """Return whether some configuration allows the throw at any speed, with palm and region as required."""
    from scipy.optimize import least_squares

    free, n = replace(problem, limits=_loose(problem.full)), problem.robot.n

    def violations(y: Array) -> Array:
        x = free.exact(np.concatenate([y[:n], np.zeros(n), y[n:]]))
        return np.concatenate([free.equalities(x), np.minimum(free.inequalities(x), 0.0)])

    half = free.limits.half_range
    bounds = np.append(free.limits.center - half, _SHORTEST), np.append(free.limits.center + half, _LONGEST)
    fits = (least_squares(violations, np.append(x0[:n], x0[-1]), bounds=bounds, max_nfev=_ITERATIONS) for x0 in starts)
    return any(np.abs(fit.fun).max() < _TOLERANCE for fit in fits)


def _infeasibility(problem: ReleaseProblem, unlimited: list[Solved], starts: list[Array]) -> ReleaseError:
    """Return the error that names the limit which the throw breaks."""
    where = f"({', '.join(f'{x:.3g}' for x in problem.aim)}) m"
    if not unlimited and _is_in_reach(problem, starts):
        return ReleaseError(
            f"no release to {where} was found: the target is in reach, but the search converged from none of "
            f"{len(starts)} starts; more starts may help",
            "convergence",
        )
    if not unlimited:
        others = [name for name in ("palm", "region") if getattr(problem, name) is not None]
        what = ", ".join(["reach", *others])
        return ReleaseError(
            f"no release to {where} was found, even at {_LOOSE:g} times the limits of velocity; binding: {what}", what
        )
    uses = {kind: np.abs(parts) for kind, parts in problem.uses(unlimited[0].q, unlimited[0].dq).items()}
    kind = max(uses, key=lambda name: float(uses[name].max()))
    name = f"{kind} of {problem.robot.joint_names[int(uses[kind].argmax())]}"
    return ReleaseError(f"a throw to {where} needs {uses[kind].max():.3g} times the limit of {name}, at best", name)
