"""A throw in simulation: repetitions without release while the controller learns, then the object leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, at_least, of_kind, positive, whole
from ...errors import ReleaseError, ThunderError
from ...result import Result
from ...robot import Robot
from ...simulation import Payload, Sensors, simulate
from .flight import GRAVITY, Flight, acceleration, fly, landing, until_landing
from .motion import ThrowMotion

__all__ = ["HandOpening", "LandingSensitivity", "ObjectState", "Thrown", "landing_sensitivity", "throw"]


@dataclass(frozen=True, kw_only=True)
class HandOpening:
    """A hand that opens some time after it is told to.

    Parameters
    ----------
    delay : float
        From command to release [s].
    jitter : float
        Standard deviation of the delay [s].
    assumed : float, optional
        The delay that commands make up for [s]; default the true one.
    """

    delay: float = 0.0
    jitter: float = 0.0
    assumed: float | None = None

    def __post_init__(self) -> None:
        """Check everything."""
        at_least(self.delay, "hand delay")
        at_least(self.jitter, "hand jitter")
        if self.assumed is not None:
            at_least(self.assumed, "hand assumed")

    def command_time(self, release: float) -> float:
        """Return when to command the opening so that the object leaves at `release` [s]."""
        return release - (self.delay if self.assumed is None else self.assumed)

    def release_time(self, command: float, rng: np.random.Generator | None = None) -> float:
        """Return when the object leaves after a command [s]; without a generator, without jitter."""
        late = 0.0 if rng is None or self.jitter == 0.0 else self.jitter * float(rng.standard_normal())
        return command + max(self.delay + late, 0.0)


class ObjectState(NamedTuple):
    """Of the object's centre of mass.

    Attributes
    ----------
    p, v : (3,) array
        [m], [m/s].
    """

    p: Array
    v: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Thrown:
    """What became of a throw.

    Attributes
    ----------
    motion : ThrowMotion
        What was wanted.
    result : Result
        Of the arm, all repetitions.
    time : float
        When the object left [s].
    at_release : ObjectState
        The object then.
    flight : Flight
        From there to the height of the target.
    position_errors, velocity_errors : (r,) array
        RMSE of the hand in every swing, the throw's last: desired minus actual, [m] and [m/s].
    """

    motion: ThrowMotion
    result: Result
    time: float
    at_release: ObjectState
    flight: Flight
    position_errors: Array
    velocity_errors: Array

    @property
    def miss(self) -> Array:
        """Landing minus target, horizontal, (2,) [m]."""
        return np.asarray((self.flight.landing.p - self.motion.release.target)[:2])

    def __repr__(self) -> str:
        """Where it landed."""
        return f"<Thrown at {self.time:.3f} s, missed by {100 * np.linalg.norm(self.miss):.3g} cm>"


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
) -> Thrown:
    """Repeat a throw without release, then release, and follow the object to the ground.

    Parameters
    ----------
    motion : ThrowMotion
        The plan; in joint space its reference is one of joints.
    controller : Controller
        Which follows such a reference. What it has learnt in repetitions it keeps for the throw.
    plant : Robot
        The arm without the object.
    payload : Payload, optional
        The object, which the controller is not told of.
    offset : (3,) array_like
        Its centre of mass in the frame that throws [m].
    repetitions : int
        Before the throw.
    hand : HandOpening, optional
        Default one that opens at once. The jitter is drawn with `seed`.
    sensors : Sensors, optional
        What the controller sees.
    drag : float
        Of the flight [1/m].
    seed : int
        Of the jitter.
    **options
        Of `simulate`.

    Raises
    ------
    ReleaseError
        If the arm does not get to the release, or the hand would have to be told before the motion starts, or opens
        after it ends.
    """
    opening = HandOpening() if hand is None else of_kind(hand, HandOpening, "hand")
    of_kind(motion, ThrowMotion, "motion")
    of_kind(plant, Robot, "plant")
    where, drag, seed = array(offset, (3,), "offset"), at_least(drag, "drag"), whole(seed, "seed", 0)
    wanted = float(motion.release_times(repetitions)[-1])
    command = opening.command_time(wanted)
    if command < 0.0:
        raise ReleaseError(f"the hand would have to be told {-command:.3g} s before the motion starts", "hand")
    time = opening.release_time(command, np.random.default_rng(seed))
    duration = motion.duration(repetitions)
    if time > duration:
        raise ReleaseError(f"the hand lets go at {time:.3g} s, the throw lasts until {duration:.3g} s", "hand")
    result = simulate(
        plant, controller, motion.reference(repetitions), duration, q0=motion.q_start,
        payloads=() if payload is None else payload, sensors=sensors, **options,
    )  # fmt: skip
    if result.t[-1] < time:
        raise ReleaseError(f"the arm diverged after {result.t[-1]:.3g} s, before the release", "controller")
    carrying = plant if payload is None else payload.added_to(plant)
    q, dq = _state_at(carrying, result, time)
    state = object_state(plant, q, dq, where, motion.frame)
    flight = fly(state.p, state.v, float(motion.release.target[2]), drag=drag)
    position, velocity = _errors(plant, motion, result, repetitions)
    return Thrown(
        motion=motion, result=result, time=time, at_release=state, flight=flight,
        position_errors=position, velocity_errors=velocity,
    )  # fmt: skip


def object_state(robot: Robot, q: Array, dq: Array, offset: Array, frame: int | str | None = None) -> ObjectState:
    """Return where a point of the hand is and how it moves, the point given in the frame that throws."""
    T, xi = robot.forward_kinematics(q, frame), robot.jacobian(q, frame) @ dq
    arm = T[:3, :3] @ offset
    return ObjectState(T[:3, 3] + arm, xi[:3] + np.cross(xi[3:], arm))


def _state_at(robot: Robot, result: Result, time: float) -> tuple[Array, Array]:
    """Joints between two logged instants: the step of the simulation once more, shorter, under the torque held."""
    k = int(np.searchsorted(result.t, time + 1e-12, side="right")) - 1
    h, n, tau = time - float(result.t[k]), robot.n, result.tau[k]
    x = np.concatenate([result.q[k], result.dq[k]])

    def rate(x: Array) -> Array:
        return np.concatenate([x[n:], robot.forward_dynamics(x[:n], x[n:], tau)])

    if h > 0.0:
        k1 = rate(x)
        k2 = rate(x + 0.5 * h * k1)
        k3 = rate(x + 0.5 * h * k2)
        x = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(x + h * k3))
    return x[:n], x[n:]


def _errors(robot: Robot, motion: ThrowMotion, result: Result, repetitions: int) -> tuple[Array, Array]:
    """RMSE of position and velocity of the hand in each swing."""
    position: list[float] = []
    velocity: list[float] = []
    for end in motion.release_times(repetitions):
        rows = (result.t >= end - motion.swing.duration - 1e-9) & (result.t <= end + 1e-9)
        q_d, dq_d, _ = motion.joints(result.t[rows], repetitions)
        hands = [_hand(robot, q, dq, motion.frame) for q, dq in ((q_d, dq_d), (result.q[rows], result.dq[rows]))]
        for errors, part in ((position, 0), (velocity, 1)):
            difference = hands[0][part] - hands[1][part]
            errors.append(float(np.sqrt(np.mean(np.sum(difference**2, axis=1)))))
    return np.array(position), np.array(velocity)


def _hand(robot: Robot, q: Array, dq: Array, frame: int | str | None) -> tuple[Array, Array]:
    v = (robot.jacobian(q, frame)[:, :3] @ dq[..., None])[..., 0]
    return robot.forward_kinematics(q, frame)[:, :3, 3], v


@dataclass(frozen=True, eq=False)
class LandingSensitivity:
    """Derivatives of the landing point on its plane.

    Attributes
    ----------
    position : (2, 3) array
        By the position at release [m/m].
    velocity : (2, 3) array
        By the velocity at release [m per m/s].
    time : (2,) array
        By the time of release, while the hand moves on [m/s]: ``position v + velocity a``. It vanishes for a hand in
        free fall, a = g.
    """

    position: Array
    velocity: Array
    time: Array

    def covariance(self, position: npt.ArrayLike = 0.0, velocity: npt.ArrayLike = 0.0, time: float = 0.0) -> Array:
        """Return the covariance of the landing point to first order, (2, 2) [m^2].

        Parameters
        ----------
        position, velocity : float or (3, 3) array_like
            Covariances of the release [m^2], [m^2/s^2]; a number is a standard deviation [m], [m/s] of each component.
        time : float
            Standard deviation of the time of release [s].
        """
        P, V = _covariance(position, "position"), _covariance(velocity, "velocity")
        sigma = at_least(time, "time")
        return np.asarray(
            self.position @ P @ self.position.T
            + self.velocity @ V @ self.velocity.T
            + sigma**2 * np.outer(self.time, self.time)
        )


def _covariance(value: npt.ArrayLike, what: str) -> Array:
    if np.ndim(value) == 0:
        return np.asarray(at_least(float(array(value, (), what)), what) ** 2 * np.eye(3))
    given = array(value, (3, 3), what)
    if not np.allclose(given, given.T) or np.linalg.eigvalsh(given)[0] < -1e-12 * np.abs(given).max():
        raise ThunderError(f"{what} must be a covariance, symmetric without negative eigenvalues, got {given.tolist()}")
    return given


def landing_sensitivity(
    p: npt.ArrayLike,
    v: npt.ArrayLike,
    plane: float = 0.0,
    *,
    a: npt.ArrayLike = (0.0, 0.0, 0.0),
    drag: float = 0.0,
    g: float = GRAVITY,
) -> LandingSensitivity:
    """Return how the landing point moves with position, velocity and time of the release.

    Parameters
    ----------
    p, v, a : (3,) array_like
        Position [m], velocity [m/s] and acceleration [m/s^2] of the hand at release.
    plane : float
        [m].
    drag : float
        [1/m].
    g : float
        [m/s^2].

    Raises
    ------
    ReleaseError
        If the object never lands there.

    Notes
    -----
    Without drag, with the flight time T and the downward speed w of the impact, ``dL/dp = [I, v_xy / w]`` and
    ``dL/dv = T dL/dp``. With drag the same follows from the variational equations of the flight.
    """
    position, velocity = array(p, (3,), "p"), array(v, (3,), "v")
    hand, k, level = array(a, (3,), "a"), at_least(drag, "drag"), float(array(plane, (), "plane"))
    if k == 0.0:
        down = landing(position, velocity, level, g=g)
        _check_impact(float(down.v[2]))
        by_position = np.hstack([np.eye(2), velocity[:2, None] / -down.v[2]])
        by_velocity = float(down.time) * by_position
    else:
        by_position, by_velocity = _variational(position, velocity, level, k, positive(g, "g"))
    return LandingSensitivity(by_position, by_velocity, by_position @ velocity + by_velocity @ hand)


def _variational(p: Array, v: Array, plane: float, drag: float, g: float) -> tuple[Array, Array]:
    """Return the derivatives of the landing by p and v through air, (2, 3) each."""

    def rates(_: float, x: Array) -> Array:
        Phi, speed = x[6:].reshape(6, 6), float(np.linalg.norm(x[3:6]))
        direction = x[3:6] / speed if speed > 0.0 else np.zeros(3)
        by_velocity = -drag * speed * (np.eye(3) + np.outer(direction, direction))
        moved = np.vstack([Phi[3:], by_velocity @ Phi[3:]])
        return np.concatenate([x[3:6], acceleration(x[3:6], drag, g), moved.ravel()])

    end = until_landing(rates, np.concatenate([p, v, np.eye(6).ravel()]), plane, g, drag).end
    Phi, impact = end[6:].reshape(6, 6)[:3], end[3:6]
    _check_impact(float(impact[2]))
    moved = Phi[:2] - np.outer(impact[:2] / impact[2], Phi[2])  # the time of the landing moves too
    return moved[:, :3], moved[:, 3:]


def _check_impact(rate: float) -> None:
    """Refuse a flight that touches the plane with its apex: there the landing has no derivative."""
    if rate >= 0.0:
        raise ReleaseError("the apex touches the landing height, where the landing point has no derivative", "height")
