"""A throw by physics: the object is held by friction and leaves when the hand has opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...checks import Array, array, nonnegative, of_kind, pose, positive, seed_of, whole
from ...errors import ReleaseError, ThunderError
from ...manipulation.throwing import HandOpening, ThrowMotion, shift_landing
from ...manipulation.throwing.thrown import ObjectState
from ...trajectory import MotionLimits
from .grasp_world import GraspWorld
from .hand import Hand, HandCommand

#: time for closing the hand before a motion [s]
GRIP = 0.5
_CHANGE = 0.1  # largest change of the delay after a throw [s]
_TIGHTER = 1.5  # factor on the effort after a loss
_RESOLUTION, _ALIKE = 1e-3, 1e-3  # of delays [s], and misses that count as equal [m]
_LONGEST_FALL, _APART = 3.0, 5e-3  # time to the landing, and without contact after which an object is free [s]
#: control law of an arm: torques at a time of the motion, from measured positions and velocities
Law = Callable[[float, Array, Array], Array]


class HandThrow(NamedTuple):
    """Result of a throw by physics.

    Attributes
    ----------
    planned : float
        Planned time of the release [s], after the grip.
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
    world: GraspWorld, name: str, q: Array, law: Law, *, effort: float = 70.0, grasp: npt.ArrayLike | None = None
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


def opening_delay(world: GraspWorld, law: Law, name: str, *, longest: float = 0.5) -> float:
    """Open the hand of an arm at rest that holds an object, and return the time until the object is free [s].

    Parameters
    ----------
    world : GraspWorld
        A world after `grip`.
    law : callable
        Torques that hold the arm.
    name : str
        Name of the object.
    longest : float
        Time after which the search ends [s].

    Returns
    -------
    float
        Time from the command to the last contact of hand and object before 5 ms without any.

    Raises
    ------
    ReleaseError
        If the object is not free in time, such as on the palm of a hand that points up; `learn_throw` measures the
        delay in the throw itself, on which it depends.

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
    >>> 0.03 < opening_delay(world, law, "ball") < 0.05
    True
    """
    if "hand" not in world.touching(name):
        raise ReleaseError(f"{name} must be held by the hand before it opens, see `grip`; it is not", "hand")
    begin = last = world.time
    command: HandCommand | None = HandCommand(0.0)
    while world.time - begin < longest:
        world.step(law(0.0, world.q, world.dq), command)
        command = None
        if "hand" in world.touching(name):
            last = world.time
        elif world.time - last > _APART:
            return last - begin
    raise ReleaseError(f"{name} must be free of the hand within {longest:g} s, it is not", "hand")


class LearnedThrow(NamedTuple):
    """Result of `learn_throw`.

    Attributes
    ----------
    motion : ThrowMotion
        The motion, its landing shifted against the miss.
    opening : HandOpening
        Mean delay from the command until the object is free, its standard deviation, and as `assumed` the delay that
        commands must anticipate.
    effort : float
        Force of the hand's motor that holds the object [N].
    throws : tuple of HandThrow
        The throws, in their order.

    Examples
    --------
    >>> from thunder_py.mujoco import LearnedThrow
    >>> LearnedThrow._fields
    ('motion', 'opening', 'effort', 'throws')
    """

    motion: ThrowMotion
    opening: HandOpening
    effort: float
    throws: tuple[HandThrow, ...]

    @property
    def delay(self) -> float:
        """Delay that commands anticipate [s]."""
        return -self.opening.command_time(0.0)


def learn_throw(
    motion: ThrowMotion,
    controller: Any,
    world: GraspWorld,
    name: str,
    *,
    throws: int = 5,
    effort: float = 70.0,
    grasps: Sequence[npt.ArrayLike] = (),
    limits: MotionLimits | None = None,
    **options: Any,
) -> LearnedThrow:
    """Throw several times, and learn when the hand must open and where the throw must aim.

    Parameters
    ----------
    motion, controller, world, name, **options
        As in `throw_by_hand`; the option is `noise`. A controller that adapts goes on learning from throw to throw.
    throws : int
        Number of throws with the same grip, at least 2.
    effort : float
        Force of the hand's motor in the first throw, at most the hand's [N].
    grasps : sequence of (4, 4) array_like
        Poses of the object in the frame of the tool, which the throws take in turn; default the same.
    limits : MotionLimits, optional
        Limits of the corrected motion; default those of the motion, which leave no room where the plan uses them all.

    Returns
    -------
    LearnedThrow
        Motion and delay for further throws.

    Raises
    ------
    ReleaseError
        If the object leaves after the command in fewer than two throws with the final grip: one has no spread.

    Notes
    -----
    The first throw anticipates the delay of `opening_delay` at the start of the motion, or none where the object is not
    free there. Throws correct the delay by their release, at most by 0.1 s, until an object is free during the coast of
    the motion (within 5 ms of the plan without one). From then on the delays are kept, and the command is the one for
    which the plan's landings after all these delays miss least: the middle of the coast where they fit into it. Throws
    released during the coast shift the landing against their miss, the first by all of it, later ones by half. Where
    a limit does not allow it, half or a quarter of that. An object that is lost
    before the command is gripped with half more force in the next throw, which is not counted, and the delays are
    measured anew: the tighter the grip of a hand with springs, the longer and less certain is its opening.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import Palm, plan_throw
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldObject, learn_throw
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(speed=3.0), [WorldObject.sphere("ball")])
    >>> motion = plan_throw(
    ...     world.robot, (1.0, 0.1, -0.4), objective="limits", palm=Palm(angle=0.2), coast=0.03, starts=4
    ... )
    >>> learned = learn_throw(motion, th.ComputedTorque(world.robot, 400.0, 40.0), world, "ball", throws=3)
    >>> 0.02 < learned.opening.delay < 0.04, abs(learned.throws[-1].release - learned.throws[-1].planned) < 2e-3
    (True, True)
    """
    hand = _hand_of(motion, world)
    found: list[HandThrow] = []
    delays: list[float] = []
    regrip = 0  # number of throws found before the present effort
    window, gain, failure = max(0.5 * motion.coast_duration, _APART), 1.0, None
    poses = [pose(grasp, "grasps") for grasp in grasps] or [np.eye(4)]
    k, last, most = 0, whole(throws, "throws", 2), hand.effort
    effort = min(positive(effort, "effort", "N"), most)
    anticipated = _delay_at_rest(motion, controller, world, name, effort, poses[0])
    while k < last:
        try:
            thrown = throw_by_hand(
                motion, controller, world, name, delay=anticipated, effort=effort, grasp=poses[k % len(poses)],
                seed=k, **options,
            )  # fmt: skip
        except ReleaseError as error:
            failure = error
            if error.limit == "grip" and effort < most:
                effort, regrip = min(_TIGHTER * effort, most), len(found)
                delays.clear()
                continue
            anticipated += _CHANGE
        else:
            found.append(thrown)
            late = thrown.release - thrown.planned
            if abs(late) <= window or delays:
                delays.append(thrown.release - thrown.command)
            if abs(late) <= window:
                for share in (1.0, 0.5, 0.25):  # near a limit or a singularity the miss remains
                    with suppress(ReleaseError):
                        motion = shift_landing(motion, -share * gain * thrown.miss, limits=limits, period=world.period)
                        break
                gain = 0.5
            anticipated = max(anticipated + min(max(late, -_CHANGE), _CHANGE), 0.0)
        k += 1
        if delays:
            anticipated = best_delay(motion, delays)
    same = found[regrip:]
    if len(same) < 2:
        raise failure or ReleaseError("no throw", "hand")
    kept = np.array(delays if len(delays) > 1 else [thrown.release - thrown.command for thrown in same[-2:]])
    opening = HandOpening(delay=float(kept.mean()), jitter=float(kept.std(ddof=1)), assumed=anticipated)
    return LearnedThrow(motion, opening, effort, (*found,))


def best_delay(motion: ThrowMotion, delays: npt.ArrayLike) -> float:
    """Return the delay to anticipate for which the plan misses least over measured delays [s]; see `learn_throw`."""
    measured = array(delays, (None,), "delays")
    if not len(measured):
        raise ThunderError("delays must be at least one measured delay, got none")
    trials = np.linspace(measured.min(), measured.max(), 1 + round(float(np.ptp(measured)) / _RESOLUTION))
    late = measured - trials[:, None]
    misses = (motion.landings(late.ravel()) - motion.landings([0.0])).reshape(*late.shape, 3)
    rms = np.sqrt(np.mean(np.sum(misses**2, axis=2), axis=1))
    return float(trials[rms <= rms.min() + _ALIKE].mean())


def _delay_at_rest(
    motion: ThrowMotion, controller: Any, world: GraspWorld, name: str, effort: float, grasp: Array
) -> float:
    start = motion.reference()(0.0)

    def law(t: float, q: Array, dq: Array) -> Array:
        return np.asarray(controller.step(t, q, dq, start))

    grip(world, name, motion.q_start, law, effort=effort, grasp=grasp)
    try:
        return opening_delay(world, law, name)
    except ReleaseError:
        return 0.0


def throw_by_hand(
    motion: ThrowMotion,
    controller: Any,
    world: GraspWorld,
    name: str,
    *,
    delay: float = 0.0,
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
        Controller that follows its reference.
    world : GraspWorld
        Arm, hand and object; it is reset.
    name : str
        Name of the object.
    delay : float
        Delay of the hand that the command anticipates [s], see `learn_throw`.
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
        If the object leaves before the command or not at all.

    Notes
    -----
    A hand that opens more slowly than the swing lasts gets its command before the arm moves. The fall is simulated with
    contacts, too, as the hand may touch the object again.

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
    _hand_of(motion, world)
    sigma_q, sigma_dq = (nonnegative(sigma, "noise") for sigma in array(noise, (2,), "noise").tolist())
    rng, reference, end = np.random.default_rng(seed_of(seed)), motion.reference(), motion.duration()
    rest = max(nonnegative(delay, "delay") - motion.release_time, 0.0)
    planned, effort_limit = rest + motion.release_time, world.robot.limits.effort
    opening = planned - delay

    def law(t: float, q: Array, dq: Array) -> Array:
        measured = q + sigma_q * rng.standard_normal(world.n), dq + sigma_dq * rng.standard_normal(world.n)
        tau = controller.step(t, *measured, reference(min(max(t - rest, 0.0), end)))
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
        if apart and (not commanded or release < opening - 0.5 * world.period):
            raise ReleaseError(f"{name} must stay in the hand until it opens, lost at {release:.3g} s", "grip")
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


def _hand_of(motion: ThrowMotion, world: GraspWorld) -> Hand:
    """Return the hand of a world in which an arm can make the motion."""
    if of_kind(motion, ThrowMotion, "motion").robot.n != of_kind(world, GraspWorld, "world").n or world.hand is None:
        raise ThunderError(f"world must be one of {motion.robot.name} with a hand, got {world!r}")
    return world.hand


def _in_hand(world: GraspWorld, name: str) -> Array:
    """Return the position of an object in the frame of the tool, (3,)."""
    T = world.robot.forward_kinematics(world.q)
    return np.asarray(T[:3, :3].T @ (world.pose(name)[:3, 3] - T[:3, 3]))
