"""How an arm stands and moves at the instant of release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array
from ...errors import ReleaseError
from ...identification.limits import MotionLimits
from ...robot import Robot
from ..kinds import at_least
from .ballistics import GRAVITY

__all__ = [
    "ROOM",
    "HandAcceleration",
    "HandState",
    "Palm",
    "Release",
    "ReleaseNoise",
    "hand_states",
    "margins_of",
    "release_at",
    "worst_margin",
]

#: of each limit that motions leave free, for what is between the instants where they are looked at
ROOM = 2e-3
#: what is without acceleration at the release: the hand, the joints, or a body that falls with the hand
HandAcceleration = Literal["hand", "joints", "free fall"]


class Palm(NamedTuple):
    """Which side of the hand the object leaves by (D4.2, section 4.4).

    Attributes
    ----------
    axis : (3,) sequence of float
        Out of the palm, in the frame that throws.
    angle : float
        Largest angle between it and the velocity [rad].
    """

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    angle: float = np.pi / 6.0


@dataclass(frozen=True, kw_only=True)
class ReleaseNoise:
    """Standard deviations at the release, against which a throw may be chosen.

    Attributes
    ----------
    position, velocity : float
        Of each joint [rad], [rad/s].
    time : float
        Of the release [s].
    """

    position: float = 2e-3
    velocity: float = 1e-2
    time: float = 5e-3

    def __post_init__(self) -> None:
        """Check everything."""
        for name in ("position", "velocity", "time"):
            at_least(getattr(self, name), f"noise {name}")


class HandState(NamedTuple):
    """Pose, Jacobian, velocity of the hand, joint accelerations and torques; leading axes are those of q."""

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
        Joints [rad, rad/s, rad/s^2].
    p, v, a : (3,) array
        Position, velocity and acceleration of the hand [m, m/s, m/s^2].
    R : (3, 3) array
        Its orientation.
    target : (3,) array
        Where the object lands [m].
    flight_time : float
        [s].
    objective : str
        What was minimised, and the `value` found: mean square of the velocities as parts of their limits, or the
        standard deviation of the landing [m].
    value : float
        See `objective`.
    margins : dict of str to (n,) array
        What remains of each limit as a part of it, by ``position``, ``velocity``, ``acceleration``, ``effort``.
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
        """Of the hand [m/s]."""
        return float(np.linalg.norm(self.v))

    @property
    def angle(self) -> float:
        """Of the velocity above the horizontal [rad]."""
        return float(np.arctan2(self.v[2], np.hypot(self.v[0], self.v[1])))

    def __repr__(self) -> str:
        """Where, how fast and how."""
        at = ", ".join(f"{x:.3f}" for x in self.p)
        return f"<Release at ({at}) m, {self.speed:.3g} m/s, {np.degrees(self.angle):.3g} degrees up>"


def hand_states(
    robot: Robot, q: Array, dq: Array, *, frame: int | str | None, spin_free: bool, acceleration: HandAcceleration
) -> HandState:
    """Return what the hand does at joint states (..., n), with the least ddq if the hand's acceleration is given."""
    T, J = robot.forward_kinematics(q, frame), robot.jacobian(q, frame)
    v = (J[..., :3, :] @ dq[..., None])[..., 0]
    if acceleration == "joints":
        ddq = np.zeros_like(q)
        return HandState(T[..., :3, 3], T[..., :3, :3], J, v, ddq, robot.inverse_dynamics(q, dq, ddq))
    rows = 6 if spin_free else 3
    wanted = np.zeros((*np.shape(q)[:-1], rows))
    if acceleration == "free fall":
        wanted[..., 2] = -GRAVITY
    bias = (robot.jacobian_dot(q, dq, frame) @ dq[..., None])[..., :rows, 0]
    A = J[..., :rows, :]
    # damped a little, so that the optimiser may pass a singularity
    gram = A @ np.swapaxes(A, -1, -2) + 1e-9 * np.eye(rows)
    ddq = (np.swapaxes(A, -1, -2) @ np.linalg.solve(gram, (wanted - bias)[..., None]))[..., 0]
    return HandState(T[..., :3, 3], T[..., :3, :3], J, v, ddq, robot.inverse_dynamics(q, dq, ddq))


def margins_of(limits: MotionLimits, q: Array, dq: Array, ddq: Array, tau: Array) -> dict[str, Array]:
    """Return what remains of each limit along a motion, worst instant of each joint, as a part of the limit, (n,)."""
    signals = {
        "position": (q - limits.centre) / limits.half_range,
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
    frame: int | str | None = None,
    spin_free: bool = True,
    acceleration: HandAcceleration = "joints",
    objective: str = "given",
    value: float = float("nan"),
) -> Release:
    """Return the release at a joint state, with what it leaves of the limits.

    Parameters
    ----------
    robot : Robot
        With what it carries.
    q, dq : (n,) array_like
        Joints.
    target : (3,) array_like
        Where the object is to land [m].
    limits : MotionLimits
        Margins are counted from these.
    frame, spin_free, acceleration
        As in `find_release`.
    objective, value
        Kept.

    Raises
    ------
    ReleaseError
        Naming the joint limit that the state breaks.
    """
    joints, rates = array(q, (robot.n,), "q"), array(dq, (robot.n,), "dq")
    hand = hand_states(robot, joints, rates, frame=frame, spin_free=spin_free, acceleration=acceleration)
    margins = margins_of(limits, joints, rates, hand.ddq, hand.tau)
    least, name = worst_margin(margins, robot)
    if least < 0.0:
        raise ReleaseError(f"the release breaks the {name} by {-100.0 * least:.3g} %", name)
    goal = array(target, (3,), "target")
    bias = robot.jacobian_dot(joints, rates, frame)[:3] @ rates
    forward = float(np.linalg.norm(hand.v[:2]))
    up = (hand.v[2] + np.sqrt(max(hand.v[2] ** 2 + 2.0 * GRAVITY * (hand.p[2] - goal[2]), 0.0))) / GRAVITY
    return Release(
        q=joints, dq=rates, ddq=hand.ddq, p=hand.p, v=hand.v, a=hand.J[:3] @ hand.ddq + bias, R=hand.R, target=goal,
        flight_time=float(np.linalg.norm((goal - hand.p)[:2]) / forward) if forward > 1e-9 else float(up),
        objective=objective, value=value, margins=margins,
    )  # fmt: skip
