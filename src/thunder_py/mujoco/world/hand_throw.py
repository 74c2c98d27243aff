"""A throw by physics: the object is held by friction and leaves when the hand has opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, nonnegative, pose, positive, whole
from ...errors import ReleaseError
from ...manipulation.throwing import ThrowMotion
from ...manipulation.throwing.thrown import ObjectState
from .grasp_world import GraspWorld
from .hand import HandCommand

#: time for closing the hand before a motion [s]
GRIP = 0.5
#: fraction of its effort below which a hand has let go, and change of closure that shows that it moves
_LET_GO, _MOVED = 0.5, 0.01
_LONGEST_FALL, _APART = 3.0, 5e-3  # time to the landing, and without contact after which an object is free [s]
#: control law of an arm: torques at a time of the motion, from measured positions and velocities
Law = Callable[[float, Array, Array], Array]


class HandThrow(NamedTuple):
    """Result of a throw by physics.

    Attributes
    ----------
    planned : float
        Planned time of the release [s], after the start of the motion.
    command : float
        Time of the command to open [s].
    release : float
        Time when hand and object part [s]: no contact for 5 ms.
    at_release : ObjectState
        Position and velocity of the object then.
    again : bool
        Whether a later contact with the hand was seen; contacts are sampled once per period, so short ones are missed.
    slip : float
        Distance that the object moved in the hand from its grasp to the command [m].
    landing : (3,) array
        Where its center crosses the height of the target [m].
    miss : (2,) array
        Horizontal distance from the target to the landing [m].

    Examples
    --------
    >>> from thunder_py.mujoco import HandThrow
    >>> HandThrow._fields[:3]
    ('planned', 'command', 'release')
    """

    planned: float
    command: float
    release: float
    at_release: ObjectState
    again: bool
    slip: float
    landing: Array
    miss: Array


def grip(
    world: GraspWorld, name: str, q: Array, law: Law, *, effort: float, grasp: npt.ArrayLike | None = None
) -> None:
    """Close the hand of an arm at rest around an object, which stays in place until it is held.

    Parameters
    ----------
    world : GraspWorld
        The world, which is reset.
    name : str
        Name of the object; all others are put away.
    q : (n,) array
        Posture of the arm.
    law : callable
        Torques that hold it, by time and measurements.
    effort : float
        Force of the hand's motor [N].
    grasp : (4, 4) array_like, optional
        Pose of the object in the frame of the tool; default the same.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldObject, grip, opening_delay
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(delay=0.03), [WorldObject.sphere("ball")])
    >>> q, held = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]), th.PDGravity(world.robot, 100.0, [10] * 4 + [1] * 3)
    >>> goal = th.reference.Sinusoid(np.zeros(7), np.ones(7), center=q)(0.0)
    >>> law = lambda t, q, dq: held.step(t, q, dq, goal)
    >>> grip(world, "ball", q, law, effort=50.0)
    >>> sorted(world.touching("ball")), round(world.hand_state.effort)
    (['hand'], 50)
    """
    T = world.robot.forward_kinematics(q) @ (np.eye(4) if grasp is None else pose(grasp, "grasp"))
    away = np.eye(4)
    places = {}
    for k, other in enumerate(world.things):
        away[:3, 3] = (0.0, 0.0, -50.0 - 5.0 * k)
        places[other] = T if other == name else away.copy()
    world.reset(q, places)
    command: HandCommand | None = HandCommand(1.0, effort=positive(effort, "effort", "N"))
    while world.time < GRIP - 0.5 * world.period:
        world.step(law(0.0, world.q, world.dq), command)
        command = None
        if world.time < 0.8 * GRIP:
            world.place(name, T)


def opening_delay(world: GraspWorld, law: Law, *, longest: float = 0.5) -> float:
    """Open the hand of an arm at rest that holds an object, and return the delay that its motor shows [s].

    Parameters
    ----------
    world : GraspWorld
        A world after `grip`.
    law : callable
        Torques that hold the arm.
    longest : float
        Time after which the search ends [s].

    Returns
    -------
    float
        Time from the command until the motor's force is below half of that of the grasp and its position has changed.

    Raises
    ------
    ReleaseError
        If it does not open in time.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldObject, grip, opening_delay
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(delay=0.03), [WorldObject.sphere("ball")])
    >>> q, held = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7]), th.PDGravity(world.robot, 100.0, [10] * 4 + [1] * 3)
    >>> goal = th.reference.Sinusoid(np.zeros(7), np.ones(7), center=q)(0.0)
    >>> law = lambda t, q, dq: held.step(t, q, dq, goal)
    >>> grip(world, "ball", q, law, effort=50.0)
    >>> 0.03 < opening_delay(world, law) < 0.05
    True
    """
    before, begin = world.hand_state, world.time
    command: HandCommand | None = HandCommand(0.0)
    while world.time - begin < longest:
        world.step(law(0.0, world.q, world.dq), command)
        command, now = None, world.hand_state
        if now.effort < _LET_GO * before.effort and abs(now.closure - before.closure) > _MOVED:
            return world.time - begin
    raise ReleaseError(f"the hand must open within {longest:g} s, its motor has not moved", "hand")


def throw_by_hand(
    motion: ThrowMotion,
    controller: Any,
    world: GraspWorld,
    name: str,
    *,
    delay: float = 0.0,
    repetitions: int = 0,
    effort: float = 70.0,
    grasp: npt.ArrayLike | None = None,
    noise: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
) -> HandThrow:
    """Throw an object with a hand that opens by physics.

    Parameters
    ----------
    motion : ThrowMotion
        Motion planned for ``world.robot``.
    controller : Controller
        Controller that follows its reference; it keeps its state over the repetitions.
    world : GraspWorld
        Arm, hand and object; it is reset.
    name : str
        Name of the object.
    delay : float
        Delay of the hand that the command anticipates [s], see `opening_delay`.
    repetitions : int
        Number of repetitions of the motion with a closed hand before the throw.
    effort : float
        Force of the hand's motor [N].
    grasp : (4, 4) array_like, optional
        Pose of the object in the frame of the tool; default the same.
    noise : tuple of float
        Standard deviations of the measured joint positions [rad] and velocities [rad/s].
    seed : int
        Seed of the noise.

    Returns
    -------
    HandThrow
        Times, state at the release and landing.

    Raises
    ------
    ReleaseError
        If the object leaves before the command or not at all, or the command would precede the motion.

    Notes
    -----
    The fall is simulated with contacts, too, as the hand may touch the object again.

    Examples
    --------
    >>> import numpy as np
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import Palm, plan_throw
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldObject, throw_by_hand
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(speed=3.0), [WorldObject.sphere("ball")])
    >>> motion = plan_throw(world.robot, (1.1, 0.1, -0.4), objective="limits", palm=Palm(angle=0.1), starts=2)
    >>> law = th.ComputedTorque(world.robot, 400.0, 40.0)
    >>> thrown = throw_by_hand(motion, law, world, "ball", delay=0.03)
    >>> bool(np.linalg.norm(thrown.miss) < 0.3), thrown.slip < 5e-3
    (True, True)
    """
    rng, reference = np.random.default_rng(seed), motion.reference(repetitions)
    planned = float(motion.release_times(whole(repetitions, "repetitions", 0))[-1])
    opening = planned - nonnegative(delay, "delay")
    if opening < 0.0:
        raise ReleaseError(f"the command to the hand must not precede the motion, got {opening:.3g} s", "hand")
    end, effort_limit = motion.duration(repetitions), world.robot.limits.effort

    def law(t: float, q: Array, dq: Array) -> Array:
        measured = q + noise[0] * rng.standard_normal(world.n), dq + noise[1] * rng.standard_normal(world.n)
        tau = controller.step(t, *measured, reference(min(t, end)))
        return np.asarray(np.clip(tau, -effort_limit, effort_limit))

    grip(world, name, motion.q_start, law, effort=effort, grasp=grasp)
    start = _in_hand(world, name)
    commanded = again = False
    slip, release, state, z = 0.0, 0.0, ObjectState(*np.zeros((2, 3))), float(motion.release.target[2])
    before = world.pose(name)[:3, 3]
    while world.time - GRIP < planned + _LONGEST_FALL:
        t = world.time - GRIP
        command = None
        if not commanded and t >= opening - 0.5 * world.period:
            commanded, command = True, HandCommand(0.0)
            slip = float(np.linalg.norm(_in_hand(world, name) - start))
        world.step(law(t, world.q, world.dq), command)
        now, apart = world.pose(name)[:3, 3], t + world.period - release > _APART
        if apart and not commanded:
            raise ReleaseError(f"{name} must stay in the hand until it opens, lost at {release:.3g} s", "hand")
        if "hand" in world.touching(name):
            again |= apart
            if not apart:
                release, state = t + world.period, ObjectState(now, world.velocity(name))
        if apart and now[2] <= z < before[2]:
            landing = before + (before[2] - z) / (before[2] - now[2]) * (now - before)
            miss = (landing - motion.release.target)[:2]
            return HandThrow(planned, opening, release, state, again, slip, landing, miss)
        before = now
    raise ReleaseError(f"{name} must leave the hand and fall to {z:g} m, it did not", "hand")


def _in_hand(world: GraspWorld, name: str) -> Array:
    """Return the position of an object in the frame of the tool, (3,)."""
    T = world.robot.forward_kinematics(world.q)
    return np.asarray(T[:3, :3].T @ (world.pose(name)[:3, 3] - T[:3, 3]))
