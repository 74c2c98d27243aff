"""Motion of the arm that carries the wrist, D4.2 (4.4): release chosen by optimisation, run-up, throw, brake."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from ...checks import Array, array, at_least, of_kind, positive, whole
from ...errors import ThunderError
from ...robot import Robot
from ...trajectory import JointTrajectory, min_jerk, point_to_point
from ...values import Value

__all__ = ["BaseMotion", "optimise_base_motion"]

#: peak speed and acceleration of a minimum-jerk motion over unit way in unit time
_PEAKS = (1.875, 10.0 / math.sqrt(3.0))
#: instants at which torques of the throw and of the brake are bounded
_SAMPLES = 6
_STEP = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class BaseMotion(Value):
    """A run-up, a throw with constant joint accelerations, a brake.

    Attributes
    ----------
    robot : Robot
        The arm with its hand.
    direction : (3,) array
        Of the throw, in the world.
    T : float
        Of the throw, from rest to release [s].
    q_start, q_intermediate, q_release, dq_release : (n,) array
        Where the run-up starts and ends, and the state at release [rad, rad/s].
    speed : float
        Of the end effector at release [m/s].
    run_up, brake : float
        Durations [s].
    opening_delay : float
        Of the hand [s].
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
        """From the start of the run-up [s]."""
        return self.run_up + self.T

    @property
    def opening_time(self) -> float:
        """When the hand is told to open [s]: early by its delay."""
        return self.release_time - self.opening_delay

    @property
    def trajectory(self) -> JointTrajectory:
        """Run-up, throw and brake; its acceleration jumps where they meet."""
        breaks = np.cumsum([0.0, self.run_up, self.T, self.brake])
        coefficients = np.zeros((6, 3, self.robot.n))
        up = point_to_point(self.q_start, self.q_intermediate, min_jerk(self.run_up))
        coefficients[:, 0] = up.coefficients[:, 0]
        dq = self.dq_release
        coefficients[3:, 1] = [0.5 * dq / self.T, np.zeros_like(dq), self.q_intermediate]
        coefficients[3:, 2] = [-0.5 * dq / self.brake, dq, self.q_release]
        return JointTrajectory(breaks, coefficients)

    def usage(self, acceleration_limits: npt.ArrayLike, count: int = 400) -> dict[str, float]:
        """Return the largest share of its limit that any joint uses in the whole motion.

        Parameters
        ----------
        acceleration_limits : (n,) array_like
            [rad/s^2].
        count : int
            Instants that are looked at.

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


def optimise_base_motion(
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
) -> BaseMotion:
    """Choose the release with the greatest speed along a direction, and plan the motion there.

    Parameters
    ----------
    robot : Robot
        The arm with its hand fixed (`with_rigid_hand`): z of the end effector is the palm's, which looks along the
        throw. Its limits of position, speed and effort must be finite.
    direction : (3,) array_like
        In the world; any length.
    acceleration_limits : (n,) array_like
        [rad/s^2].
    q_start : (n,) array_like
        Where the run-up starts.
    T : float
        Of the throw [s].
    turning : bool
        Whether the hand may turn while it is released; else its angular velocity is zero there.
    margin : float
        Share of every limit that may be used.
    torque_margin : float, optional
        Of the torques, if it is another: what is left is for the spring of an elastic wrist, which acts on the arm too.
    floor : float, optional
        The end effector stays above this height at the start of the throw, at release and after the brake [m].
    opening_delay : float
        Of the hand [s].
    starts, seed : int
        Random starts of the optimisation; up to ten times as many where none of them leads to a throw.

    Raises
    ------
    ThunderError
        On bad data, or if no start led to a throw.

    Notes
    -----
    Over configuration and joint velocities at release (2 n variables, SLSQP): the end effector moves along the
    direction and the palm looks there; the throw starts at ``q - dq T / 2``, the brake ends at ``q + dq t_b / 2``, both
    within the limits of the joints; torques are bounded along both. Collisions of the arm with itself are not looked
    at. Source: D4.2, section 4.4.
    """
    of_kind(robot, Robot, "robot")
    problem = _Problem(robot, direction, acceleration_limits, positive(T, "T"), turning, (margin, torque_margin), floor)
    q0 = array(q_start, (robot.n,), "q_start")
    delay = at_least(opening_delay, "opening_delay")
    if delay > T:
        raise ThunderError(f"opening_delay must be at most T = {T:g} s, or the hand opens in the run-up, got {delay:g}")
    rng = np.random.default_rng(whole(seed, "seed", 0))
    best: tuple[float, Array] | None = None
    most = 10 * whole(starts, "starts", 1)  # where none of the first ones led to a throw, which roundings may decide
    for k in range(most):
        if k >= starts and best is not None:
            break
        z = problem.solve(problem.draw(rng))
        if z is not None and (best is None or problem.speed(z) > best[0]):
            best = (problem.speed(z), z)
    if best is None:
        raise ThunderError(
            f"no release of {robot.name} was found that throws along {problem.direction.tolist()} within the limits, "
            f"from {most} starts; try other directions, a longer T or turning=True"
        )
    q, dq = np.split(best[1], 2)
    before = q - 0.5 * dq * T
    way = np.abs(before - q0)
    run_up = max(
        float((_PEAKS[0] * way / problem.velocity).max()),
        float(np.sqrt(_PEAKS[1] * way / problem.acceleration).max()),
        1e-2,
    )
    return BaseMotion(
        robot=robot, direction=problem.direction, T=float(T), q_start=q0, q_intermediate=before, q_release=q,
        dq_release=dq, speed=best[0], run_up=run_up, brake=problem.brake_time(dq), opening_delay=delay,
    )  # fmt: skip


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
        given = array(direction, (3,), "direction")
        length = float(np.linalg.norm(given))
        if length == 0.0:
            raise ThunderError("direction must not be zero, got [0, 0, 0]")
        margin, of_torque = margins[0], margins[0] if margins[1] is None else margins[1]
        for value, name in ((margin, "margin"), (of_torque, "torque_margin")):
            if positive(value, name) > 1.0:
                raise ThunderError(f"{name} must be at most 1, got {value!r}")
        limits = robot.limits
        for name in ("lower", "upper", "velocity", "effort"):
            if not np.isfinite(getattr(limits, name)).all():
                raise ThunderError(f"{robot.name} needs finite limits.{name}, got {getattr(limits, name).tolist()}")
        self.acceleration = margin * array(acceleration, (robot.n,), "acceleration_limits")
        if not (self.acceleration > 0.0).all():
            raise ThunderError(f"acceleration_limits must be positive, got {(self.acceleration / margin).tolist()}")
        self._point, self._cache = np.zeros(0), list[tuple[Array, Array]]()
        self._robot, self._T, self._turning = robot, T, turning
        self._floor = -math.inf if floor is None else float(array(floor, (), "floor"))
        self.direction = given / length
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
        """Return the release that SLSQP finds from z0; None where it breaks a constraint."""
        most = self._most()
        constraints: Any = [
            {"type": kind, "fun": lambda z, k=k: self._at(z, k)[0], "jac": lambda z, k=k: self._at(z, k)[1]}
            for k, kind in ((1, "eq"), (2, "ineq"))
        ]
        bounds: Any = [*zip(self._low, self._high, strict=True), *zip(-most, most, strict=True)]
        options: Any = {"maxiter": 120, "ftol": 1e-8}
        solver: Any = minimize  # its stubs know no keyword jac beside SLSQP
        found = solver(
            lambda z: -self._at(z, 0)[0][0], z0, jac=lambda z: -self._at(z, 0)[1][0], method="SLSQP", bounds=bounds,
            constraints=constraints, options=options,
        )  # fmt: skip
        z = np.asarray(found.x)
        speed, equal, within = (part[0] for part in self._values(z[None]))
        good = np.abs(equal).max() < 1e-6 and within.min() > -1e-6 and float(speed[0]) > 0.0
        return z if good else None

    def _most(self) -> Array:
        return np.minimum(self.velocity, self.acceleration * self._T)

    def _at(self, z: Array, part: int) -> tuple[Array, Array]:
        """Return one of `_values` at z and its derivative; the three of one z are computed together."""
        if not np.array_equal(z, self._point):
            steps = _STEP * np.eye(z.size)
            values = self._values(np.concatenate([z[None], z + steps, z - steps]))
            n = z.size
            self._cache = [(v[0], ((v[1 : n + 1] - v[n + 1 :]) / (2.0 * _STEP)).T) for v in values]
            self._point = z.copy()
        return self._cache[part]

    def _values(self, z: Array) -> tuple[Array, Array, Array]:
        """Return speed (k, 1), what must be zero and what must not be negative, (k, ...) each, of z (k, 2 n)."""
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
