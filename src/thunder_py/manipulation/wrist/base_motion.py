"""Motion of the arm that carries the wrist (D4.2, section 4.4): optimized release, run-up, throw, brake."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ...checks import Array, array, nonnegative, of_kind, positive, whole
from ...errors import ThunderError
from ...parallel import Workers, map_items
from ...robot import Robot
from ...trajectory import JointTrajectory, point_to_point, quintic
from ...values import Value

#: peak speed and acceleration of a minimum-jerk motion over unit distance in unit time
_PEAKS = (1.875, 10.0 / math.sqrt(3.0))
#: number of instants at which torques of the throw and of the brake are bounded
_SAMPLES = 6
_STEP = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class BaseMotion(Value):
    """Motion of the arm in a throw: run-up, throw with constant joint accelerations, brake.

    Attributes
    ----------
    robot : Robot
        The arm with its hand.
    direction : (3,) array
        Direction of the throw in the world, a unit vector.
    T : float
        Duration of the throw, from rest to release [s].
    q_start, q_intermediate, q_release, dq_release : (n,) array
        Start and end of the run-up, and the state at release [rad, rad/s].
    speed : float
        Speed of the end effector at release [m/s].
    run_up, brake : float
        Durations of run-up and brake [s].
    opening_delay : float
        Delay of the hand's opening after the command [s].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.wrist import optimize_base_motion
    >>> most = [15, 7.5, 10, 12.5, 15, 20, 20]  # rad/s^2
    >>> base = optimize_base_motion(
    ...     th.Robot.load("panda"), [1, 0, 0], acceleration_limits=most, q_start=[0, -0.3, 0, -2, 0, 1.8, 0.8], starts=1
    ... )
    >>> at_release = base.trajectory(base.release_time)
    >>> bool(abs(at_release.q - base.q_release).max() < 1e-9)
    True
    >>> max(base.usage(most).values()) <= 1.0
    True
    """

    robot: Robot
    direction: Array
    T: float
    q_start: Array
    q_intermediate: Array
    q_release: Array
    dq_release: Array
    speed: float
    run_up: float
    brake: float
    opening_delay: float = 0.0

    @property
    def release_time(self) -> float:
        """Time of release, from the start of the run-up [s]."""
        return self.run_up + self.T

    @property
    def opening_time(self) -> float:
        """Time of the command to open the hand [s]: the release minus the delay."""
        return self.release_time - self.opening_delay

    @property
    def trajectory(self) -> JointTrajectory:
        """Trajectory of run-up, throw and brake; the acceleration jumps between them."""
        breaks = np.cumsum([0.0, self.run_up, self.T, self.brake])
        coefficients = np.zeros((6, 3, self.robot.n))
        up = point_to_point(self.q_start, self.q_intermediate, quintic(self.run_up))
        coefficients[:, 0] = up.coefficients[:, 0]
        dq = self.dq_release
        coefficients[3:, 1] = [0.5 * dq / self.T, np.zeros_like(dq), self.q_intermediate]
        coefficients[3:, 2] = [-0.5 * dq / self.brake, dq, self.q_release]
        return JointTrajectory(breaks, coefficients)

    def usage(self, acceleration_limits: npt.ArrayLike, count: int = 400) -> dict[str, float]:
        """Return the largest used fraction of each kind of limit over all joints and the whole motion.

        Parameters
        ----------
        acceleration_limits : (n,) array_like
            Limits of the joint accelerations [rad/s^2].
        count : int
            Number of instants at which limits are checked.

        Returns
        -------
        dict
            ``position`` (1 at a limit, 0 in the middle), ``velocity``, ``acceleration``, ``effort``.
        """
        limits, most = self.robot.limits, array(acceleration_limits, (self.robot.n,), "acceleration_limits")
        trajectory = self.trajectory
        now = trajectory(np.linspace(0.0, trajectory.end_time, count, endpoint=False))
        tau = self.robot.inverse_dynamics(now.q, now.dq, now.ddq)
        middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
        shares = {
            "position": (now.q - middle) / half,
            "velocity": now.dq / limits.velocity,
            "acceleration": now.ddq / most,
            "effort": tau / limits.effort,
        }
        return {name: float(np.abs(share).max()) for name, share in shares.items()}


def optimize_base_motion(
    robot: Robot,
    direction: npt.ArrayLike,
    *,
    acceleration_limits: npt.ArrayLike,
    q_start: npt.ArrayLike,
    T: float = 0.3,
    turning: bool = False,
    margin: float = 0.95,
    torque_margin: float | None = None,
    floor: float | None = None,
    opening_delay: float = 0.0,
    starts: int = 6,
    seed: int = 0,
    workers: Workers = 1,
) -> BaseMotion:
    """Optimize the release for the greatest speed along a direction, and plan the motion to it.

    Parameters
    ----------
    robot : Robot
        The arm with its hand fixed (`with_rigid_hand`): the z axis of the end effector, out of the palm, points along
        the throw. Its limits of position, speed and effort must be finite.
    direction : (3,) array_like
        Direction of the throw in the world, of any length.
    acceleration_limits : (n,) array_like
        Limits of the joint accelerations [rad/s^2].
    q_start : (n,) array_like
        Start of the run-up [rad].
    T : float
        Duration of the throw [s].
    turning : bool
        If False, the angular velocity of the hand is zero at release.
    margin : float
        Fraction of every limit that may be used.
    torque_margin : float, optional
        Fraction of the torque limits, default `margin`; the rest is for the spring of an elastic wrist on the arm.
    floor : float, optional
        Least height of the end effector at the start of the throw, at release and after the brake [m].
    opening_delay : float
        Delay of the hand's opening after the command [s].
    starts, seed : int
        Number and seed of the random starts; up to ten times as many where none of them leads to a throw.
    workers : Workers
        Where the searches from the starts are made, see `run_tasks`. The result does not depend on it.

    Returns
    -------
    BaseMotion
        The fastest throw of all starts.

    Raises
    ------
    ThunderError
        On bad data, or if no start led to a throw.

    Notes
    -----
    Over configuration and joint velocities at release (2 n variables, SLSQP): the end effector moves and the palm
    points along the direction; the throw starts at ``q - dq T / 2``, the brake ends at ``q + dq t_b / 2``, both
    within the limits of the joints; torques are bounded along both. Self-collisions of the arm are not checked.
    Source: D4.2, section 4.4.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import optimize_base_motion
    >>> base = optimize_base_motion(
    ...     th.Robot.load("panda"), [1, 0, 1], acceleration_limits=[15, 7.5, 10, 12.5, 15, 20, 20],
    ...     q_start=[0, -0.3, 0, -2.0, 0, 1.8, 0.8], T=0.3, starts=1, seed=1,
    ... )
    >>> v = base.robot.jacobian(base.q_release)[:3] @ base.dq_release
    >>> abs(float(base.direction @ v) - base.speed) < 1e-6, base.speed > 1.0
    (True, True)
    """
    of_kind(robot, Robot, "robot")
    problem = _Problem(robot, direction, acceleration_limits, positive(T, "T"), turning, (margin, torque_margin), floor)
    q0 = array(q_start, (robot.n,), "q_start")
    delay = nonnegative(opening_delay, "opening_delay")
    if delay > T:
        raise ThunderError(f"opening_delay must be at most T = {T:g} s, or the hand opens in the run-up, got {delay:g}")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    z = _fastest(problem, [problem.draw(rng) for _ in range(whole(starts, "starts", 1))], workers)
    for _ in range(9 * starts):  # only without a result, which rounding may decide
        if z is None:
            z = problem.solve(problem.draw(rng))
    if z is None:
        raise ThunderError(
            f"no release of {robot.name} was found that throws along {problem.direction.tolist()} within the limits, "
            f"from {10 * starts} starts; try other directions, a longer T or turning=True"
        )
    q, dq = np.split(z, 2)
    before = q - 0.5 * dq * T
    distance = np.abs(before - q0)
    run_up = max(
        float((_PEAKS[0] * distance / problem.velocity).max()),
        float(np.sqrt(_PEAKS[1] * distance / problem.acceleration).max()),
        1e-2,
    )
    return BaseMotion(
        robot=robot, direction=problem.direction, T=float(T), q_start=q0, q_intermediate=before, q_release=q,
        dq_release=dq, speed=problem.speed(z), run_up=run_up, brake=problem.brake_time(dq), opening_delay=delay,
    )  # fmt: skip


def _fastest(problem: _Problem, starts: list[Array], workers: Workers) -> Array | None:
    found = [z for z in map_items(problem.solve, starts, workers=workers) if z is not None]
    return max(found, key=problem.speed, default=None)


class _Problem:
    """Objective and constraints over ``z = (q, dq)`` at release."""

    def __init__(
        self,
        robot: Robot,
        direction: npt.ArrayLike,
        acceleration: npt.ArrayLike,
        T: float,
        turning: bool,
        margins: tuple[float, float | None],
        floor: float | None,
    ) -> None:
        vector = array(direction, (3,), "direction")
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            raise ThunderError("direction must not be zero, got [0, 0, 0]")
        margin, of_torque = margins[0], margins[0] if margins[1] is None else margins[1]
        for value, name in ((margin, "margin"), (of_torque, "torque_margin")):
            if positive(value, name) > 1.0:
                raise ThunderError(f"{name} must be at most 1, got {value!r}")
        limits = robot.limits
        for name in ("lower", "upper", "velocity", "effort"):
            if not np.isfinite(getattr(limits, name)).all():
                raise ThunderError(f"{robot.name} limits.{name} must be finite, got {getattr(limits, name).tolist()}")
        self.acceleration = margin * array(acceleration, (robot.n,), "acceleration_limits")
        if not (self.acceleration > 0.0).all():
            raise ThunderError(f"acceleration_limits must be positive, got {(self.acceleration / margin).tolist()}")
        self._point, self._cache = np.zeros(0), list[tuple[Array, Array]]()
        self._robot, self._T, self._turning = robot, T, turning
        self._floor = -math.inf if floor is None else float(array(floor, (), "floor"))
        self.direction = vector / length
        self._across = np.linalg.svd(self.direction[None])[2][1:]
        middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * margin * (limits.upper - limits.lower)
        self._low, self._high = middle - half, middle + half
        self.velocity, self._effort = margin * limits.velocity, of_torque * limits.effort

    def draw(self, rng: np.random.Generator) -> Array:
        most = self._most()
        return np.concatenate([rng.uniform(self._low, self._high), rng.uniform(-0.3, 0.3) * most])

    def speed(self, z: Array) -> float:
        return float(self._values(z[None])[0][0, 0])

    def brake_time(self, dq: Array) -> float:
        return max(float((np.abs(dq) / self.acceleration).max()), 1e-3)

    def solve(self, z0: Array) -> Array | None:
        """Return the release found by SLSQP from z0; None if it breaks a constraint."""
        most = self._most()
        constraints: Any = [
            {"type": kind, "fun": lambda z, k=k: self._at(z, k)[0], "jac": lambda z, k=k: self._at(z, k)[1]}
            for k, kind in ((1, "eq"), (2, "ineq"))
        ]
        bounds: Any = [*zip(self._low, self._high, strict=True), *zip(-most, most, strict=True)]
        options: Any = {"maxiter": 120, "ftol": 1e-8}
        solver: Any = minimize  # its stubs lack the keyword jac with SLSQP
        result = solver(
            lambda z: -self._at(z, 0)[0][0], z0, jac=lambda z: -self._at(z, 0)[1][0], method="SLSQP", bounds=bounds,
            constraints=constraints, options=options,
        )  # fmt: skip
        z = np.asarray(result.x)
        speed, equal, within = (part[0] for part in self._values(z[None]))
        is_feasible = np.abs(equal).max() < 1e-6 and within.min() > -1e-6 and float(speed[0]) > 0.0
        return z if is_feasible else None

    def _most(self) -> Array:
        return np.minimum(self.velocity, self.acceleration * self._T)

    def _at(self, z: Array, part: int) -> tuple[Array, Array]:
        """Return one of `_values` at z and its derivative; all three are cached for the last z."""
        if not np.array_equal(z, self._point):
            steps = _STEP * np.eye(z.size)
            values = self._values(np.concatenate([z[None], z + steps, z - steps]))
            n = z.size
            self._cache = [(v[0], ((v[1 : n + 1] - v[n + 1 :]) / (2.0 * _STEP)).T) for v in values]
            self._point = z.copy()
        return self._cache[part]

    def _values(self, z: Array) -> tuple[Array, Array, Array]:
        """Return speed (k, 1), equality and inequality constraints (k, ...) of z (k, 2 n)."""
        q, dq = np.split(z, 2, axis=1)
        twist = (self._robot.jacobian(q) @ dq[..., None])[..., 0]
        palm = self._robot.forward_kinematics(q)[:, :3, 2]
        parts = [twist[:, :3] @ self._across.T, palm @ self._across.T]
        equal = np.concatenate(parts if self._turning else [*parts, twist[:, 3:]], axis=1)
        return twist[:, :3] @ self.direction[:, None], equal, self._within(q, dq, palm @ self.direction[:, None])

    def _within(self, q: Array, dq: Array, palm: Array) -> Array:
        k, n = q.shape
        rates = np.square(np.abs(dq) / self.acceleration).max(axis=1, keepdims=True)
        brake = np.sqrt(rates + 1e-12)
        before, after = q - 0.5 * self._T * dq, q + 0.5 * brake * dq
        s = np.linspace(0.0, 1.0, _SAMPLES)[:, None, None]
        even = np.ones((_SAMPLES, 1, 1))
        throw = (before + 0.5 * self._T * s**2 * dq, s * dq, even * dq / self._T)
        stop = (q + brake * (s - 0.5 * s**2) * dq, (1.0 - s) * dq, -even * dq / brake)
        states = [np.concatenate(pair) for pair in zip(throw, stop, strict=True)]
        share = (self._robot.inverse_dynamics(*states) / self._effort).transpose(1, 0, 2).reshape(k, 2 * _SAMPLES * n)
        ends = np.concatenate([before, after], axis=1)
        low, high = np.tile(self._low, 2), np.tile(self._high, 2)
        parts = [ends - low, high - ends, 1.0 - share, 1.0 + share, palm]
        if math.isfinite(self._floor):
            heights = self._robot.forward_kinematics(np.stack([q, before, after]))[..., 2, 3]
            parts.append(heights.T - self._floor)
        return np.concatenate(parts, axis=1)
