"""A world behind a drive and a camera: all that a loop gets of it are joint states, a hand's closure and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...checks import Array, finite, nonnegative, of_kind, positive
from ...manipulation.grasping.clock import CameraClock, ClockOffset
from ...manipulation.grasping.verdict import GraspJudge, GraspVerdict
from ...perception.clouds import DepthCamera
from ...perception.pose_source import SampledPoseSource
from ...realtime import DriveFacts, DriveLoop, DriveState, Reason, SafetyLimits
from ..camera import Picture, RenderedCamera
from .grasp_world import GraspWorld
from .hand import HandCommand

#: stamp of a drive at the time 0 of the world [ns]
_EPOCH = 10**9
#: periods between two looks of the judge
_JUDGED = 5
#: called with a world and the last picture whenever one is taken
Watcher = Callable[[GraspWorld, Picture], None]


class HandLoop(Protocol):
    """A loop around an arm with a hand and a camera, such as `GraspLoop` and `HandPick`.

    Examples
    --------
    >>> from thunder_py.manipulation import HandPick
    >>> all(hasattr(HandPick, name) for name in ("grip", "over", "reason", "feel", "see", "step"))
    True
    """

    @property
    def grip(self) -> bool:
        """Whether the hand shall be closed now."""

    @property
    def over(self) -> bool:
        """Whether the loop is at its end."""

    @property
    def reason(self) -> str:
        """Reason of a failure, empty without one."""

    def feel(self, closure: float) -> None:
        """Take the closure of the hand's motor."""

    def see(self, taken: float, depth: npt.ArrayLike) -> None:
        """Take a picture that has arrived."""

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torques for the period from a time on."""


class WorldCamera(SampledPoseSource):
    """A depth camera in a world: pictures arrive late, with the time of the camera's clock, or not at all.

    Use it in a ``with`` statement.

    Parameters
    ----------
    world : GraspWorld
        The world.
    camera : DepthCamera
        Lens, true pose, and errors of depth.
    clock : float
        The camera's clock less that of the arm [s].
    seed : int
        Seed of all errors.
    watch : callable, optional
        Called with the world and each picture, for films and statistics.
    **timing
        Rate, latency, jitter and dropout, see `thunder_py.perception.pose_source.SampledPoseSource`.

    Examples
    --------
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, Table, WorldCamera
    >>> import thunder_py as th
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import DepthCamera, look_at
    >>> world = GraspWorld(th.Robot.load("panda"), ParallelGripper(), [], [Table.at((0.5, 0.0, 0.0))])
    >>> eye = DepthCamera(PinholeCamera.from_field_of_view(64, 48, 0.8), look_at((0.5, 0.0, 1.5), (0.5, 0.1, 0.0)))
    >>> with WorldCamera(world, eye, clock=0.03, latency=0.1, rate=10.0) as camera:
    ...     first, second = camera.pictures(0.05), camera.pictures(0.15)
    >>> len(first), [(round(taken, 3), depth.shape) for taken, depth in second]
    (0, [(0.03, (48, 64))])
    """

    def __init__(
        self,
        world: GraspWorld,
        camera: DepthCamera,
        *,
        clock: float = 0.0,
        seed: int = 0,
        watch: Watcher | None = None,
        **timing: Any,
    ) -> None:
        self._world, self._clock, self._watch = world, finite(clock, "clock"), watch
        self._rendered = RenderedCamera(world.model, camera, seed=seed)
        super().__init__(self._take, seed=seed, **timing)

    def __enter__(self) -> WorldCamera:
        return self

    def __exit__(self, *_: object) -> None:
        self._rendered.close()

    def _take(self, t: float) -> Array:
        picture = self._rendered.see(self._world.data)
        if self._watch is not None:
            self._watch(self._world, picture)
        return picture.depth

    def _see(self, picture: Any, taken: float) -> tuple[Any, float]:
        self._depths[taken] = picture
        return None, 0.0

    def reset(self) -> None:
        """Start again, with the same errors."""
        super().reset()
        self._rendered.reset()
        self._depths: dict[float, Array] = {}

    def pictures(self, t: float) -> list[tuple[float, Array]]:
        """Return times on the camera's clock [s], and depths, of the pictures that have arrived by a time [s]."""
        return [(found.time + self._clock, self._depths.pop(found.time)) for found in self.poll(t)]


class WorldDrive:
    """Drive of the arm in a world, for `thunder_py.realtime.DriveLoop`; each command moves the world by a period.

    Parameters
    ----------
    world : GraspWorld
        The world.
    noise : tuple of float
        Standard deviations of the measured positions [rad or m] and velocities [rad/s or m/s].
    seed : int
        Seed of the noise.
    before : callable, optional
        Called before each period; it may return a command to the hand.
    after : callable, optional
        Called after each period, for example to pass on pictures.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.mujoco import GraspWorld, WorldDrive
    >>> from thunder_py.realtime import DriveLoop
    >>> world = GraspWorld(th.Robot.load("ur5e"))
    >>> q = [0.0, -1.6, 1.8, -1.8, -1.6, 0.0]
    >>> world.reset(q)
    >>> run = DriveLoop(WorldDrive(world), world.robot, th.PDGravity(world.robot, 100.0, [20, 20, 10, 2, 1, 0.1]),
    ...     th.reference.SetPoint(q)).run(0.1)
    >>> run.reason.value, bool(abs(world.q - q).max() < 1e-3)
    ('the duration is over', True)
    """

    def __init__(
        self,
        world: GraspWorld,
        *,
        noise: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
        before: Callable[[], HandCommand | None] | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        self._world, self._before, self._after = of_kind(world, GraspWorld, "world"), before, after
        self._noise = [nonnegative(size, "noise") for size in noise]
        self._rng = np.random.default_rng(seed)
        robot, period = world.robot, world.period
        self.facts = DriveFacts(robot.joint_names, period, period, robot.limits.effort, np.inf)

    def start(self) -> None:
        """Begin; the world stays where it is."""

    def read(self) -> DriveState:
        """Return the state of the joints."""
        world = self._world
        q, dq = (size * self._rng.standard_normal(world.n) for size in self._noise)
        return DriveState(_EPOCH + round(1e9 * world.time), world.q + q, world.dq + dq)

    def write(self, tau: Array, /) -> None:
        """Apply torques for a period."""
        self._world.step(tau, None if self._before is None else self._before())
        if self._after is not None:
            self._after()

    def stop(self) -> None:
        """Do nothing: without a command the world stands still."""


class HandRun(NamedTuple):
    """Result of a loop in a world.

    Attributes
    ----------
    verdict : GraspVerdict
        What happened to the object.
    outcome : str
        ``"lifted"``, or the reason of the failure.
    met : frozenset of str
        Surfaces and objects that the arm's links touched.
    closed : float
        Time at which the hand began to close [s]; infinite if it did not.
    away : (3,) array
        The object's center as seen from the hand then [m].
    over : float
        Time at which the loop was at its end [s]; infinite without an end.

    Examples
    --------
    >>> from thunder_py.mujoco import HandRun
    >>> HandRun._fields[:2]
    ('verdict', 'outcome')
    """

    verdict: GraspVerdict
    outcome: str
    met: frozenset[str]
    closed: float
    away: Array
    over: float


def run_hand_loop(
    loop: HandLoop,
    world: GraspWorld,
    camera: WorldCamera,
    judge: GraspJudge,
    *,
    effort: float,
    longest: float,
    after: float = 1.8,
    name: str = "object",
    before: Callable[[float], None] | None = None,
    limits: SafetyLimits | None = None,
    noise: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
) -> HandRun:
    """Run a loop in a world, on the drive loop of `thunder_py.realtime`, until the object is held, or for a time.

    Parameters
    ----------
    loop : HandLoop
        The loop, such as `GraspLoop`. Nothing of the world is passed to it but states, closures and pictures.
    world : GraspWorld
        The world, after `GraspWorld.reset`.
    camera : WorldCamera
        Camera in it.
    judge : GraspJudge
        Judge of the object.
    effort : float
        Force of the hand's motor [N].
    longest, after : float
        Longest time, and time that goes on after the loop's end with a closed hand or without a failure [s].
    name : str
        Name of the object.
    before : callable, optional
        Called with the time before each period, for example to change the speed of a belt.
    limits : SafetyLimits, optional
        Limits of the drive loop; default those of the arm.
    noise, seed
        As of `WorldDrive`.

    Examples
    --------
    `thunder experiment grasping` is a use; see docs/grasping_from_pictures.md.

    >>> from thunder_py.mujoco import run_hand_loop
    >>> run_hand_loop.__name__
    'run_hand_loop'
    """
    closed, away, over, closes, ended = math.inf, np.full(3, np.nan), math.inf, False, False
    met, wrong = frozenset[str](), ""

    def command() -> HandCommand | None:
        nonlocal closed, away, closes
        if before is not None:
            before(world.time)
        if loop.grip == closes:
            return None
        closes = loop.grip
        if closes:
            hand = world.robot.forward_kinematics(world.q)
            closed, away = world.time, world.pose(name)[:3, 3] - hand[:3, 3]
        return HandCommand(float(closes), effort=effort)

    def deliver() -> None:
        loop.feel(world.hand_state.closure)
        for taken, depth in () if ended else camera.pictures(world.time):
            loop.see(taken, depth)

    def watch(_: object) -> None:
        nonlocal over, ended, met, wrong
        over = min(over, world.time) if loop.over else math.inf
        if round(world.time / world.period) % _JUDGED == 0 and not (world.diverged or ended):
            judge.update(world.time, world.lowest_point(name), world.touching(name))
            met |= world.touching("arm")
            lifted = (
                each for each in set(world.things) - {name} if world.lowest_point(each) > judge.surface + judge.lift
            )
            wrong = wrong or next(lifted, "")
        end = over + (after if loop.grip or not loop.reason else 0.0)
        if judge.verdict.success or world.diverged or world.time >= min(end, longest):
            ended = True
            drives.request_stop()

    drive = WorldDrive(world, noise=noise, seed=seed, before=command, after=deliver)
    drives = DriveLoop(drive, world.robot, loop, lambda t: None, limits=limits, on_cycle=watch)
    run = drives.run(positive(longest, "longest", "s"))
    verdict = judge.verdict
    if verdict.success:
        outcome = "lifted"
    elif world.diverged:
        outcome = "the arm became unstable"
    elif run.error is not None:
        raise run.error
    elif not ended and run.reason is not Reason.finished:
        outcome = f"the arm was stopped: {run.reason.value}"
    else:
        outcome = f"another object was lifted: {wrong}" if wrong else loop.reason or str(verdict.failure)
    return HandRun(verdict, outcome, met, closed, away, min(over, world.time))


def measure_camera_clock(
    clock: CameraClock,
    world: GraspWorld,
    camera: WorldCamera,
    *,
    noise: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
) -> ClockOffset:
    """Move the hand before a camera in a world, and return the offset of the camera's clock.

    Parameters
    ----------
    clock : CameraClock
        Controller of the arm.
    world : GraspWorld
        The world, after `GraspWorld.reset`.
    camera : WorldCamera
        Camera in it.
    noise, seed
        As of `WorldDrive`.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import CameraClock
    >>> from thunder_py.mujoco import GraspWorld, ParallelGripper, WorldCamera, measure_camera_clock
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import DepthCamera, look_at
    >>> world, q = GraspWorld(th.Robot.load("ur5e"), ParallelGripper()), [0.0, -2.0, 2.0, -1.6, -1.6, 0.0]
    >>> world.reset(q)
    >>> hand = world.robot.forward_kinematics(q)[:3, 3]
    >>> eye = DepthCamera(PinholeCamera.from_field_of_view(106, 60, 1.2), look_at(hand + [0.8, 0.0, 0.4], hand))
    >>> with WorldCamera(world, eye, clock=0.1, latency=0.05, rate=30.0) as camera:
    ...     found = measure_camera_clock(CameraClock(world.robot, eye, q), world, camera)
    >>> round(found.offset, 2), found.deviation < 5e-3
    (0.1, True)
    """

    def deliver() -> None:
        for taken, depth in camera.pictures(world.time):
            clock.see(taken, depth)

    drive = WorldDrive(world, noise=noise, seed=seed, after=deliver)
    DriveLoop(drive, world.robot, clock, lambda t: None).run(clock.duration)
    return clock.result()
