"""Length and place of work of an arm, gains for a stiffness of its hand, and a law that learns its load, for loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, all_positive, array, finite, nonnegative, numbers, per_joint, positive
from ..control import CartesianMACT, GradientAdaptation
from ..control.motion_states import joint_inertias
from ..errors import ThunderError
from ..kinematics import InverseKinematics
from ..robot import Robot
from ..robot.frames import arm_points

#: distances of the reference point from the arm's axis that are tried, in parts of its reach
_DISTANCES = np.linspace(0.24, 0.6, 13)
#: starts of the inverse kinematics at each, and the largest joint motion between neighboring poses [rad or m]
_STARTS, _JUMP = 300, 2.0
#: distance that all poses keep from position limits [rad or m]
_MARGIN = 0.15
#: largest product of damping and period over the inertia of a joint, and of stiffness and period over its damping, as
#: torques are held for a period
_SAMPLED, _HELD = 0.2, 0.5


class ArmPlace(NamedTuple):
    """Place in front of an arm where its hand reaches all poses of a task.

    Attributes
    ----------
    reference : (3,) array
        Point to which the poses are relative [m].
    q : (n,) array
        Joint positions in the first of the poses [rad or m].
    speed : float
        Speed that the hand can have in every direction in all poses [m/s].

    Examples
    --------
    >>> from thunder_py.manipulation import ArmPlace
    >>> ArmPlace._fields
    ('reference', 'q', 'speed')
    """

    reference: Array
    q: Array
    speed: float


def arm_length(robot: Robot) -> float:
    """Return the sum of the distances between neighboring frames, from the base on, at joint positions 0 [m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation.arm import arm_length
    >>> round(arm_length(th.Robot.load("ur5e")), 2)
    1.31
    """
    return float(np.linalg.norm(np.diff(arm_points(robot, np.zeros(robot.n)), axis=0), axis=1).sum())


def find_place(robot: Robot, poses: npt.ArrayLike, height: float = 0.0, *, above: float = -np.inf) -> ArmPlace:
    """Find where in front of an arm a task fits best.

    Parameters
    ----------
    robot : Robot
        The arm; its end effector takes the poses.
    poses : (k, 4, 4) array_like
        Poses of the task, relative to a reference point, in world axes; the arm begins in the first one, and goes from
        each one to the next in a straight line of joint positions.
    height : float
        Height of the reference point [m]. It lies on the world's x axis.
    above : float
        Height above which the origins of the links stay, but the first [m].

    Returns
    -------
    ArmPlace
        Of the distances and postures that were tried, the ones with which the hand can be fastest.

    Raises
    ------
    ThunderError
        If no place is found.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import find_place
    >>> poses = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (3, 1, 1))  # the hand points down
    >>> poses[:, :3, 3] = [(0.0, 0.0, 0.3), (0.0, -0.2, 0.1), (0.0, 0.2, 0.1)]
    >>> place = find_place(th.Robot.load("ur5e"), poses, height=0.1)
    >>> bool(0.3 < place.reference[0] < 0.8), place.speed > 0.5
    (True, True)
    """
    steps = numbers(poses, "poses", 3)
    # each pose is reached from the one before, without another branch; the first one from several starts
    solver, first = InverseKinematics(robot, restarts=0), np.random.default_rng(0)
    low, high = np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
    starts = np.vstack([0.5 * (low + high), first.uniform(low, high, (_STARTS - 1, robot.n))])
    best: ArmPlace | None = None
    for distance in _DISTANCES * arm_length(robot):
        reference = np.array([distance, 0.0, finite(height, "height")])
        targets = np.array(steps)
        targets[:, :3, 3] += reference
        for start in starts:
            path = _followed(solver, targets, start)
            if path is not None:
                path = _unwound(robot, path)
            if path is None or (arm_points(robot, path)[:, 2:-1, 2] < above).any():
                continue
            if not ((path > robot.limits.lower + _MARGIN) & (path < robot.limits.upper - _MARGIN)).all():
                continue
            speed = min(hand_speed(robot, q) for q in path)
            if best is None or speed > best.speed:
                best = ArmPlace(reference, path[0], speed)
    if best is None:
        raise ThunderError(
            f"robot must reach all poses of the task at some distance in front of it, {robot.name} does at none"
        )
    return best


def _followed(solver: InverseKinematics, targets: Array, start: Array) -> Array | None:
    """Return the joint positions in all poses, or None if one of them is not reached from the one before."""
    path: list[Array] = []
    for target in targets:
        found = solver.solve(target, path[-1] if path else start)
        if not found.success or (path and np.abs(found.q - path[-1]).max() > _JUMP):
            return None
        path.append(found.q)
    return np.array(path)


def _unwound(robot: Robot, path: Array) -> Array:
    """Return joint positions (k, n) after whole turns of revolute joints towards the middle of their limits."""
    limits = np.stack([robot.limits.lower, robot.limits.upper])
    free = (np.array([*robot.joint_types]) == "R") & (np.isfinite(limits[0]) == np.isfinite(limits[1]))
    middle = np.where(np.isfinite(limits), limits, 0.0).mean(axis=0)
    turns = np.round((path.mean(axis=0) - middle) / (2.0 * np.pi)) * free
    return np.asarray(path - 2.0 * np.pi * turns)


def hand_speed(robot: Robot, q: npt.ArrayLike) -> float:
    """Return the speed that the hand can have along every axis of the world without turning [m/s].

    Parameters
    ----------
    robot : Robot
        The arm with its velocity limits.
    q : (n,) array_like
        Joint positions [rad or m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import hand_speed
    >>> round(hand_speed(th.Robot.load("panda"), [0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8]), 2)
    0.7
    """
    rates = np.linalg.pinv(robot.jacobian(q))[:, :3]
    return float(1.0 / np.max(np.abs(rates) / robot.limits.velocity[:, None]))


def hand_stiffness(robot: Robot, q: npt.ArrayLike, K_p: npt.ArrayLike) -> float:
    """Return the stiffness of the hand's position under joint gains, the inverse of the mean compliance [N/m].

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (n,) array_like
        Joint positions [rad or m].
    K_p : (n,) array_like
        Joint stiffness [N m/rad or N/m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import hand_stiffness
    >>> round(hand_stiffness(th.Robot.load("panda"), [0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8], [100.0] * 7))
    326
    """
    J = robot.jacobian(q)[:3]
    return float(3.0 / np.trace(J @ np.diag(1.0 / array(K_p, (robot.n,), "K_p")) @ J.T))


def joint_gains(
    robot: Robot, q: npt.ArrayLike, stiffness: float, *, shape: npt.ArrayLike | None = None, damping: float = 1.0
) -> tuple[Array, Array]:
    """Return joint gains with which the hand has a stiffness, and every mode a damping ratio, in a posture.

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (n,) array_like
        Joint positions [rad or m].
    stiffness : float
        Stiffness of the hand, see `hand_stiffness` [N/m].
    shape : (n,) array_like, optional
        Joint stiffness up to a common factor; default the effort limits of the joints, of an arm without them the
        diagonal of the mass matrix.
    damping : float
        Damping ratio of all modes of M e'' + K_d e' + K_p e = 0.

    Returns
    -------
    K_p : (n,) array
        Joint stiffness [N m/rad or N/m].
    K_d : (n, n) array
        Joint damping [N m s/rad or N s/m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import hand_stiffness, joint_gains
    >>> arm, q = th.Robot.load("gen3"), [0.0, 0.5, 0.0, 1.5, 0.0, 1.0, 0.0]
    >>> K_p, K_d = joint_gains(arm, q, 300.0)
    >>> round(hand_stiffness(arm, q, K_p), 6), K_d.shape
    (300.0, (7, 7))
    """
    M = robot.mass_matrix(q)
    effort = robot.limits.effort
    usual = effort if np.isfinite(effort).all() else np.diagonal(M)
    base = usual if shape is None else array(shape, (robot.n,), "shape")
    K_p = base * positive(stiffness, "stiffness", "N/m") / hand_stiffness(robot, q, base)
    size, V = np.linalg.eigh(M)
    root = V @ np.diag(np.sqrt(size)) @ V.T
    inverse = np.linalg.inv(root)
    squares, modes = np.linalg.eigh(inverse @ np.diag(K_p) @ inverse)
    K_d = 2.0 * damping * root @ modes @ np.diag(np.sqrt(squares)) @ modes.T @ root
    return K_p, np.asarray(0.5 * (K_d + K_d.T))


def joint_damping(
    robot: Robot, q: npt.ArrayLike, *, stiffness: float = 3000.0, turning: float = 100.0, period: float = 1e-3
) -> Array:
    """Return damping of the joints under a stiffness of the hand in all directions, in a posture, (n,).

    Parameters
    ----------
    robot : Robot
        The arm.
    q : (n,) array_like
        Joint positions [rad or m].
    stiffness, turning : float
        Stiffness of the hand's position [N/m] and orientation [N m].
    period : float
        Period of the loop [s].

    Returns
    -------
    (n,) array
        Half of the critical damping of each joint with the others locked, and at most 0.2 of its inertia with the
        others free over the period [N m s/rad or N s/m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import joint_damping
    >>> joint_damping(th.Robot.load("panda"), [0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8]).round().tolist()
    [21.0, 37.0, 29.0, 26.0, 2.0, 2.0, 1.0]
    """
    posture = array(q, (robot.n,), "q")
    stiff = _joint_stiffness(robot, posture, stiffness, turning)
    critical = np.sqrt(stiff * np.diagonal(robot.mass_matrix(posture)))
    return np.asarray(np.minimum(critical, _SAMPLED / period * joint_inertias(robot, posture[None])[0]))


def _stiffness(stiffness: float, turning: float) -> Array:
    return np.repeat([positive(stiffness, "stiffness", "N/m"), positive(turning, "turning", "N m")], 3)


def _joint_stiffness(robot: Robot, q: npt.ArrayLike, stiffness: float, turning: float) -> Array:
    """Return the stiffness of each joint with the others locked, (n,)."""
    J = robot.jacobian(q)
    return np.asarray(np.einsum("ri,r,ri->i", J, _stiffness(stiffness, turning), J))


def follower(
    robot: Robot,
    q: npt.ArrayLike,
    *,
    stiffness: float = 3000.0,
    turning: float = 100.0,
    damping: npt.ArrayLike | None = None,
    eta: float = 0.03,
    period: float = 1e-3,
) -> CartesianMACT:
    """Return a controller of the hand's pose that learns what the arm carries: the last link's parameters adapt.

    Parameters
    ----------
    robot : Robot
        The arm as far as it is known.
    q : (n,) array_like
        A posture of the task, for the default of `damping` [rad or m].
    stiffness, turning : float
        K_p of position [N/m] and orientation [N m]; with the default `damping` the latter is lower for light wrists,
        so that stiffness times period is at most half of the damping of each joint.
    damping : (n,) array_like, optional
        K_d of the joints [N m s/rad or N s/m]; default `joint_damping`.
    eta : float
        Adaptation gain of the last link, Gamma_i = eta / abs(pi_i): larger is slower. 0 for no adaptation.
    period : float
        Period of the loop [s].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import follower
    >>> law = follower(th.Robot.load("ur5e"), [0.0, -1.6, 1.8, -1.8, -1.57, 0.0])
    >>> law.n
    6
    """
    if damping is None:
        damping = joint_damping(robot, q, stiffness=stiffness, turning=turning, period=period)
        turning *= min(1.0, float(np.min(_HELD * damping / (period * _joint_stiffness(robot, q, stiffness, turning)))))
    law = None
    if nonnegative(eta, "eta") > 0.0:
        law = GradientAdaptation.proportional(robot, eta, unknown=robot.link_names[-1], floor=1e-2)
    return CartesianMACT(robot, _stiffness(stiffness, turning), damping, adaptation=law, gamma=0.0, posture=None)


class JointStops:
    """A controller of an arm whose joints resist near their limits, as those of people do.

    In the last `width` before a limit a joint has the passive torque -K s^5 - D s^4 dq, s being the depth from 0 to 1
    at the limit. It belongs to the arm; a simulated plant has none, so that it is added to the controller's.

    Parameters
    ----------
    robot : Robot
        The arm with its position limits.
    controller : Controller
        Anything with `step`.
    torque, damping : float or (n,) array_like
        K [N m or N] and D [N m s/rad or N s/m].
    width : float or (n,) array_like
        Width of the stops [rad or m].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import JointStops
    >>> arm = th.Robot.load("ur5e")
    >>> stops = JointStops(arm, th.PDGravity(arm, 1e-9, 1e-9), torque=5.0, damping=0.3, width=0.05)
    >>> q = [0.0, -1.6, arm.limits.upper[2], -1.8, -1.6, 0.0]
    >>> still = th.reference.SetPoint(q)(0.0)
    >>> round(float((stops.step(0.0, q, [0.0] * 6, still) - arm.gravity_vector(q))[2]), 3)
    -5.0
    """

    def __init__(
        self, robot: Robot, controller: Any, torque: npt.ArrayLike, damping: npt.ArrayLike, width: npt.ArrayLike
    ) -> None:
        self.controller, self._width = controller, all_positive(per_joint(width, robot.n, "width"), "width")
        self._torque, self._damping = per_joint(torque, robot.n, "torque"), per_joint(damping, robot.n, "damping")
        self._lower, self._upper = robot.limits.lower + self._width, robot.limits.upper - self._width

    def step(self, t: float, q: Array, dq: Array, reference: Any, /) -> Array:
        """Return the torques (n,) of controller and joints."""
        tau = np.asarray(self.controller.step(t, q, dq, reference), dtype=np.float64)
        depth = (np.minimum(q - self._lower, 0.0) + np.maximum(q - self._upper, 0.0)) / self._width
        if not depth.any():
            return tau
        return np.asarray(tau - self._torque * depth**5 - self._damping * depth**4 * np.asarray(dq))
