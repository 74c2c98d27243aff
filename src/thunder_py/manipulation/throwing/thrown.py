"""A throw in simulation: repetitions without release while the controller learns, then the object leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ReleaseError
from ...motion.scalars import at_least, whole
from ...result import Result
from ...robot import Robot
from ...simulation import Payload, Sensors, simulate
from ..kinds import of_kind
from .drag import Flight, fly
from .hand import HandOpening
from .motion import ThrowMotion

__all__ = ["ObjectState", "Thrown", "throw"]


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
