"""Simulated throw: repetitions without release, in which a controller may adapt, then release and flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, of_kind, whole
from ...errors import ReleaseError, ThunderError
from ...integration import rk4_step
from ...robot import Robot
from ...simulation import Payload, Sensors, SimulationResult, simulate
from ...simulation.divergence import outcome_recorded
from .flight import GRAVITY, Flight, landing, simulate_flight
from .motion import ThrowMotion, hand_motion


@dataclass(frozen=True, kw_only=True)
class HandOpening:
    """Opening of the hand with a delay after the command.

    Parameters
    ----------
    delay : float
        Delay from command to release [s].
    jitter : float
        Standard deviation of the delay [s].
    assumed : float, optional
        Delay that commands compensate [s]; default the true one.

    Raises
    ------
    ThunderError
        If a number is negative.

    Examples
    --------
    >>> from thunder_py.manipulation import HandOpening
    >>> hand = HandOpening(delay=0.08, assumed=0.06)
    >>> round(hand.release_time(hand.command_time(1.0)), 3)  # 0.02 s late
    1.02
    """

    delay: float = 0.0
    jitter: float = 0.0
    assumed: float | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        nonnegative(self.delay, "hand delay")
        nonnegative(self.jitter, "hand jitter")
        if self.assumed is not None:
            nonnegative(self.assumed, "hand assumed")

    def command_time(self, release: float) -> float:
        """Return the time of the command for a release at `release` [s]."""
        return release - (self.delay if self.assumed is None else self.assumed)

    def release_time(self, command: float, rng: np.random.Generator | None = None) -> float:
        """Return the time of release after a command [s]; without a generator there is no jitter."""
        jitter = 0.0 if rng is None or self.jitter == 0.0 else self.jitter * float(rng.standard_normal())
        return command + max(self.delay + jitter, 0.0)


class ObjectState(NamedTuple):
    """State of the object's center of mass.

    Attributes
    ----------
    p, v : (3,) array
        Position [m] and velocity [m/s].
    """

    p: Array
    v: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrowResult:
    """Result of a simulated throw.

    Attributes
    ----------
    motion : ThrowMotion
        Planned motion.
    result : SimulationResult
        Simulation of the arm over all repetitions.
    time : float
        Time of release [s].
    at_release : ObjectState
        State of the object at release.
    flight : Flight
        Flight from the release to the height of the target.
    position_errors, velocity_errors : (r,) array
        RMSE of the hand in every swing, that of the throw last: desired minus actual, [m] and [m/s].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import plan_throw, throw
    >>> panda = th.Robot.load("panda")
    >>> motion = plan_throw(panda, (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> thrown = throw(motion, th.ComputedTorque(panda, 400.0, 40.0), plant=panda)
    >>> bool(abs(thrown.miss).max() < 0.01), thrown.position_errors.shape
    (True, (1,))
    >>> thrown.time == motion.release_time
    True
    """

    motion: ThrowMotion
    result: SimulationResult
    time: float
    at_release: ObjectState
    flight: Flight
    position_errors: Array
    velocity_errors: Array

    @property
    def miss(self) -> Array:
        """Horizontal distance from the target to the landing, (2,) [m]."""
        return np.asarray((self.flight.landing.p - self.motion.release.target)[:2])

    def __repr__(self) -> str:
        """Return time of release and miss as text."""
        return f"<ThrowResult at {self.time:.3f} s, missed by {100 * np.linalg.norm(self.miss):.3g} cm>"


def throw(
    motion: ThrowMotion,
    controller: Any,
    *,
    plant: Robot,
    payload: Payload | None = None,
    offset: npt.ArrayLike = (0.0, 0.0, 0.0),
    repetitions: int = 0,
    hand: HandOpening | None = None,
    sensors: Sensors | None = None,
    drag: float = 0.0,
    seed: int = 0,
    **options: Any,
) -> ThrowResult:
    """Simulate repetitions of a throw without release, the throw, and the flight of the object.

    Parameters
    ----------
    motion : ThrowMotion
        Planned motion, in joint or task space.
    controller : Controller
        Controller that follows a reference of this space. It keeps its state between the repetitions and the throw.
    plant : Robot
        The arm without the object.
    payload : Payload, optional
        The object, unknown to the controller.
    offset : (3,) array_like
        Center of mass of the object in the frame of the tool [m].
    repetitions : int
        Number of repetitions before the throw.
    hand : HandOpening, optional
        Default opens without delay. The jitter is drawn with `seed`.
    sensors : Sensors, optional
        Sensors of the controller.
    drag : float
        Coefficient of quadratic drag in flight [1/m].
    seed : int
        Seed of the jitter.
    **options
        Options of `simulate`.

    Returns
    -------
    Thrown
        Simulation of the arm, release and flight.

    Raises
    ------
    ReleaseError
        If the arm diverges before the release, the command to the hand would come before the motion starts, or the
        hand opens after the motion ends.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import HandOpening, plan_throw, throw
    >>> panda = th.Robot.load("panda")
    >>> motion = plan_throw(panda, (1.1, 0.1, -0.4), objective="limits", starts=4)
    >>> law = th.ComputedTorque(panda, 400.0, 40.0)
    >>> late = throw(motion, law, plant=panda, hand=HandOpening(delay=0.05, assumed=0.04))
    >>> round(late.time - motion.release_time, 3)
    0.01
    """
    opening = HandOpening() if hand is None else of_kind(hand, HandOpening, "hand")
    of_kind(motion, ThrowMotion, "motion")
    of_kind(plant, Robot, "plant")
    com, drag, seed = array(offset, (3,), "offset"), nonnegative(drag, "drag"), whole(seed, "seed", 0)
    command = opening.command_time(float(motion.release_times(repetitions)[-1]))
    if command < 0.0:
        raise ReleaseError(f"the command to the hand must not precede the motion, got {command:.3g} s", "hand")
    time = opening.release_time(command, np.random.default_rng(seed))
    duration = motion.duration(repetitions)
    if time > duration:
        raise ReleaseError(f"the hand must open before the motion ends at {duration:.3g} s, got {time:.3g} s", "hand")
    with outcome_recorded():  # an error, below
        result = simulate(
            plant, controller, motion.reference(repetitions), duration, q0=motion.q_start,
            payloads=() if payload is None else payload, sensors=sensors, **options,
        )  # fmt: skip
    if result.t[-1] < time:
        raise ReleaseError(f"the arm diverged after {result.t[-1]:.3g} s, before the release", "controller")
    carrying = plant if payload is None else payload.added_to(plant)
    q, dq = _state_at(carrying, result, time)
    state = object_state(plant, q, dq, com)
    flight = simulate_flight(state.p, state.v, float(motion.release.target[2]), drag=drag)
    position, velocity = _errors(plant, motion, result, repetitions)
    return ThrowResult(
        motion=motion, result=result, time=time, at_release=state, flight=flight,
        position_errors=position, velocity_errors=velocity,
    )  # fmt: skip


def object_state(robot: Robot, q: Array, dq: Array, offset: Array) -> ObjectState:
    """Return position and velocity of a point of the hand given in the frame of the tool."""
    T, xi = robot.forward_kinematics(q), robot.jacobian(q) @ dq
    lever = T[:3, :3] @ offset
    return ObjectState(T[:3, 3] + lever, xi[:3] + np.cross(xi[3:], lever))


def _state_at(robot: Robot, result: SimulationResult, time: float) -> tuple[Array, Array]:
    """Return the joint state between two logged instants: a shorter step of the simulation with the torque held."""
    k = int(np.searchsorted(result.t, time + 1e-12, side="right")) - 1
    h, n, tau = time - float(result.t[k]), robot.n, result.tau[k]
    x = np.concatenate([result.q[k], result.dq[k]])

    def rate(_: float, x: Array) -> Array:
        return np.concatenate([x[n:], robot.forward_dynamics(x[:n], x[n:], tau)])

    x = rk4_step(rate, 0.0, x, h) if h > 0.0 else x
    return x[:n], x[n:]


def _errors(robot: Robot, motion: ThrowMotion, result: SimulationResult, repetitions: int) -> tuple[Array, Array]:
    """Return the RMSE of position and velocity of the hand in each swing."""
    position: list[float] = []
    velocity: list[float] = []
    for end in motion.release_times(repetitions):
        rows = (result.t >= end - motion.swing.duration - 1e-9) & (result.t <= end + 1e-9)
        q_d, dq_d, _ = motion.joints(result.t[rows], repetitions)
        hands = [hand_motion(robot, q, dq) for q, dq in ((q_d, dq_d), (result.q[rows], result.dq[rows]))]
        for errors, part in ((position, 0), (velocity, 1)):
            difference = hands[0][part] - hands[1][part]
            errors.append(float(np.sqrt(np.mean(np.sum(difference**2, axis=1)))))
    return np.array(position), np.array(velocity)


@dataclass(frozen=True, eq=False)
class LandingSensitivity:
    """Derivatives of the landing point on its plane.

    Attributes
    ----------
    position : (2, 3) array
        Derivative by the position at release [m/m].
    velocity : (2, 3) array
        Derivative by the velocity at release [m per m/s].
    time : (2,) array
        Derivative by the time of release of a moving hand [m/s]: ``position v + velocity a``. It vanishes for a hand
        in free fall, a = g.

    Examples
    --------
    >>> from thunder_py.manipulation import landing_sensitivity
    >>> sensitivity = landing_sensitivity([0.0, 0.0, 1.0], [2.0, 0.0, 1.0], a=[0.0, 0.0, -9.81])
    >>> bool(abs(sensitivity.time).max() < 1e-9)  # in free fall
    True
    >>> (sensitivity.covariance(velocity=0.05) ** 0.5).diagonal().round(4).tolist()
    [0.0309, 0.0282]
    """

    position: Array
    velocity: Array
    time: Array

    def covariance(self, position: npt.ArrayLike = 0.0, velocity: npt.ArrayLike = 0.0, time: float = 0.0) -> Array:
        """Return the covariance of the landing point to first order, (2, 2) [m^2].

        Parameters
        ----------
        position, velocity : float or (3, 3) array_like
            Covariances at release [m^2], [m^2/s^2]; a number is the standard deviation [m], [m/s] of each component.
        time : float
            Standard deviation of the time of release [s].
        """
        P, V = _covariance(position, "position"), _covariance(velocity, "velocity")
        sigma = nonnegative(time, "time")
        return np.asarray(
            self.position @ P @ self.position.T
            + self.velocity @ V @ self.velocity.T
            + sigma**2 * np.outer(self.time, self.time)
        )


def _covariance(value: npt.ArrayLike, what: str) -> Array:
    if np.ndim(value) == 0:
        return np.asarray(nonnegative(float(array(value, (), what)), what) ** 2 * np.eye(3))
    P = array(value, (3, 3), what)
    if not np.allclose(P, P.T) or np.linalg.eigvalsh(P)[0] < -1e-12 * np.abs(P).max():
        raise ThunderError(f"{what} must be a covariance, symmetric positive semidefinite, got {P.tolist()}")
    return P


def landing_sensitivity(
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    plane: float = 0.0,
    *,
    a: npt.ArrayLike = (0.0, 0.0, 0.0),
    g: float = GRAVITY,
) -> LandingSensitivity:
    """Return the derivatives of the landing point by position, velocity and time of the release, without drag.

    Parameters
    ----------
    p, v, a : (3,) array_like
        Position [m], velocity [m/s] and acceleration [m/s^2] of the hand at release.
    plane : float
        Height of the landing [m].
    g : float
        Gravity [m/s^2].

    Returns
    -------
    LandingSensitivity
        Derivatives by position, velocity and time.

    Raises
    ------
    ReleaseError
        If the object never crosses the plane downwards, or its apex touches the plane.

    Notes
    -----
    With the time of flight T and the downward speed w at the impact, ``dL/dp = [I, v_xy / w]`` and
    ``dL/dv = T dL/dp``.

    Examples
    --------
    >>> from thunder_py.manipulation import landing_sensitivity
    >>> landing_sensitivity([0.0, 0.0, 1.0], [2.0, 1.0, 1.0]).position.round(3).tolist()
    [[1.0, 0.0, 0.44], [0.0, 1.0, 0.22]]
    """
    position, velocity = array(p, (3,), "p"), array(v, (3,), "v")
    hand, level = array(a, (3,), "a"), float(array(plane, (), "plane"))
    down = landing(position, velocity, level, g=g)
    if down.v[2] >= 0.0:
        raise ReleaseError("the apex touches the landing height, where the landing point has no derivative", "height")
    by_position = np.hstack([np.eye(2), velocity[:2, None] / -down.v[2]])
    by_velocity = float(down.time) * by_position
    return LandingSensitivity(by_position, by_velocity, by_position @ velocity + by_velocity @ hand)
