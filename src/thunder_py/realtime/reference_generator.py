"""References as a stream of samples, for a controller that runs somewhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import FileFormatError, ThunderError
from ..reference import JointReference, Lissajous, SetPoint, SetPose, Sinusoid, TaskReference
from ..robot import Robot
from ..trajectory.joint import point_to_point, spline
from ..values import Stateful
from .joint_states import JointOrder
from .plain_data import Table, per_joint, read_plain
from .quaternions import Quaternion, from_matrix

__all__ = ["KINDS", "JointSample", "PoseSample", "ReferenceGenerator", "Source", "make_source"]

#: a reference at an array of times [s]
Source = Callable[[npt.ArrayLike], "JointReference | TaskReference"]

#: of the limits, with which an arm is led to where a file begins
_APPROACH = 0.2
_APPROACH_SPEED, _APPROACH_TIME = 0.5, 0.5
_MODEL_SEED, _MODEL_TRIALS, _SHRINKAGE = 0, 60, 0.1
_BOUNDARY_VELOCITY, _BOUNDARY_ACCELERATION = 0.2, 1.0


class InTurn:
    """References one after the other; the last one stays.

    Parameters
    ----------
    parts : sequence of (float, callable)
        When each begins [s], the first one at 0, and the reference.
    """

    def __init__(self, parts: Sequence[tuple[float, Source]]) -> None:
        self._starts = np.array([start for start, _ in parts])
        self._sources = [source for _, source in parts]

    def __call__(self, t: npt.ArrayLike) -> JointReference | TaskReference:
        """Return the reference at an array of times, (m,)."""
        times = np.asarray(t, dtype=np.float64)
        which = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, None)
        rows = [self._sources[k](times[which == k]) for k in np.unique(which)]
        made: JointReference | TaskReference = type(rows[0])(*(np.concatenate(x) for x in zip(*rows, strict=True)))
        return made


def _sinusoid(robot: Robot, given: Table, q: Array) -> Source:
    centre = given.get("centre")
    return Sinusoid(
        per_joint(given.get("amplitude", 0.2), robot.n, "reference: amplitude"),
        per_joint(given.get("frequency", 0.2), robot.n, "reference: frequency"),
        centre=q if centre is None else per_joint(centre, robot.n, "reference: centre"),
        phase=per_joint(given.get("phase", 0.0), robot.n, "reference: phase"),
    )


def _lissajous(robot: Robot, given: Table, q: Array) -> Source:
    start = robot.forward_kinematics(q, given.get("frame"))
    return Lissajous.starting_at(
        start, given.get("amplitude", [0.05, 0.08, 0.05]), given.get("frequency", [0.2, 0.1, 0.4])
    )


def _set_point(robot: Robot, given: Table, q: Array) -> Source:
    goal = given.get("q")
    return SetPoint(q if goal is None else array(goal, (robot.n,), "reference: q"))


def _set_pose(robot: Robot, given: Table, q: Array) -> Source:
    T = robot.forward_kinematics(q, given.get("frame")).copy()
    T[:3, 3] += array(given.get("offset", [0.0, 0.0, 0.0]), (3,), "reference: offset")
    return SetPose(T)


def _file(robot: Robot, given: Table, q: Array) -> Source:
    """Play a table of times and joint positions, after a straight way to where it begins."""
    t, points = read_table(given.text("path"), robot)
    played = spline(t - t[0], points)
    if np.abs(points[0] - q).max() < 1e-6:
        return played
    limits = robot.limits
    v = np.where(np.isfinite(limits.velocity), _APPROACH * limits.velocity, _APPROACH_SPEED)
    way = point_to_point(q, points[0], v_max=v, a_max=v / _APPROACH_TIME)
    return InTurn([(0.0, way), (way.duration, _later(played, way.duration))])


def _later(source: Source, by: float) -> Source:
    return lambda t: source(np.asarray(t) - by)


def read_table(path: str | Path, robot: Robot) -> tuple[Array, Array]:
    """Return times (m,) and joint positions (m, n) of a file.

    Parameters
    ----------
    path : str or path
        ``.npz`` with arrays ``t`` and ``q``, such as a saved `Result`; or ``.csv`` with a header ``t`` and the names of
        the joints, in any order.
    robot : Robot
        Whose joints they are.

    Raises
    ------
    FileFormatError
        If it is none of them.
    """
    path = Path(path)
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                t, q = np.asarray(file["t"]), np.asarray(file["q"])
        elif path.suffix == ".csv":
            rows = np.genfromtxt(path, delimiter=",", names=True, deletechars="")
            t, q = np.asarray(rows["t"]), np.stack([rows[name] for name in robot.joint_names], axis=1)
        else:
            raise FileFormatError("must end in .npz or .csv", path=path)
        return array(t, (None,), "t"), array(q, (len(t), robot.n), "q")
    except FileFormatError:
        raise
    except (ValueError, KeyError) as error:
        raise FileFormatError(f"is no table of t and joint positions: {error}", path=path) from error


def _human_like(robot: Robot, given: Table, q: Array) -> Source:
    """Move from goal to goal along functional components: positions of the hand, or joints."""
    from ..motion import FPCA, HumanLikePlanner

    model, goals, task = given.get("model"), given.get("goals"), given.text("space", "joint") == "task"
    fpca = (
        FPCA(shrinkage=_SHRINKAGE).fit(_demonstrations(None if task else robot)) if model is None else FPCA.load(model)
    )
    planner = HumanLikePlanner(fpca)
    if (planner.kind == "joints") == task:
        raise ThunderError(f"reference: model is one of {planner.kind}, which does not go with the space of the goals")
    seconds = given.positive("seconds", 2.0)
    T = robot.forward_kinematics(q, given.get("frame"))
    start = T[:3, 3] if task else q
    if not isinstance(goals, (list, tuple)) or not goals:
        raise ThunderError(f"reference: goals must be a list of displacements from the start, got {goals!r}")
    places = [start, *(start + array(goal, start.shape, "reference: goals") for goal in goals)]
    plans: list[tuple[float, Source]] = []
    for k in range(len(goals)):
        ends = [_pose_like(T, place) if task else place for place in places[k : k + 2]]
        plans.append((k * seconds, planner.plan(ends[0], ends[1], seconds, start_time=k * seconds)))
    return InTurn(plans)


def _pose_like(T: Array, position: Array) -> Array:
    pose = T.copy()
    pose[:3, 3] = position
    return pose


def _demonstrations(robot: Robot | None) -> Any:
    """Return synthetic reaches of the hand; for joints their coordinates take the joints' places, in turn."""
    from ..recordings import MotionSet, Trial
    from ..recordings.synthetic import minimum_jerk_reaches

    reaches = minimum_jerk_reaches(
        _MODEL_TRIALS,
        seed=_MODEL_SEED,
        boundary_velocity=_BOUNDARY_VELOCITY,
        boundary_acceleration=_BOUNDARY_ACCELERATION,
    )
    if robot is None:
        return reaches
    columns = np.arange(robot.n) % 3
    return MotionSet(Trial(r.t, np.asarray(r.x)[:, columns], dofs=robot.joint_names) for r in reaches)


#: by name: what makes it, and in which space it is
KINDS: dict[str, tuple[Callable[[Robot, Table, Array], Source], str]] = {
    "sinusoid": (_sinusoid, "joint"),
    "set_point": (_set_point, "joint"),
    "file": (_file, "joint"),
    "lissajous": (_lissajous, "task"),
    "set_pose": (_set_pose, "task"),
    "human_like": (_human_like, ""),
}


def make_source(robot: Robot, kind: str, given: Table, q: Array) -> Source:
    """Return the reference of this kind for an arm that starts at q."""
    source = KINDS[kind][0](robot, given, q)
    given.get("space")
    given.done()
    return source


#: how often a stream is sent, if nothing else is said [Hz]
_JOINT_RATE, _TASK_RATE = 20.0, 200.0


class JointSample(NamedTuple):
    """The next stretch of a joint trajectory.

    Attributes
    ----------
    stamp : int
        When it starts [ns].
    times : (m,) array
        From then on [s].
    q, dq, ddq : (m, n) array
        [rad or m] and derivatives.
    """

    stamp: int
    times: Array
    q: Array
    dq: Array
    ddq: Array


class PoseSample(NamedTuple):
    """A pose and its twist, world axes.

    Attributes
    ----------
    stamp : int
        When it is to be there [ns].
    position : (3,) array
        [m].
    quaternion : (4,) tuple
        x, y, z, w.
    linear, angular : (3,) array
        [m/s, rad/s].
    """

    stamp: int
    position: Array
    quaternion: Quaternion
    linear: Array
    angular: Array


class ReferenceGenerator(Stateful):
    """Plays a reference from where the arm is.

    In joint space each sample is the stretch of the next ``horizon`` seconds; the next sample replaces what is left of
    it. Should the generator die, the arm has the rest of one horizon to follow. In task space a sample is one pose with
    its twist.

    Parameters
    ----------
    options : mapping, str or path
        Plain data, or a YAML file that holds it. Keys: ``robot`` (name or file); ``reference``, a mapping with
        ``kind``, one of ``sinusoid``, ``set_point``, ``file``, ``lissajous``, ``set_pose``, ``human_like``, and what
        belongs to it (docs/ros.md); ``rate`` [Hz] (20, in task space 200); ``horizon`` (0.5 s); ``spacing`` of points
        (0.02 s).

    Attributes
    ----------
    robot : Robot
        For its joints and kinematics.
    task : bool
        Whether it gives poses.
    rate : float
        Samples in a second [Hz].
    """

    def __init__(self, options: Mapping[str, Any] | str | Path) -> None:
        given = Table(read_plain(options), "configuration")
        self.robot = Robot.load(given.text("robot"))
        self._options = given.get("reference", {})
        reference = Table(self._options, "reference")
        self._kind = reference.text("kind", among=tuple(KINDS))
        space = KINDS[self._kind][1] or reference.text("space", "joint", among=("joint", "task"))
        self.task = space == "task"
        self.rate = given.positive("rate", _TASK_RATE if self.task else _JOINT_RATE)
        self._horizon, spacing = given.positive("horizon", 0.5), given.positive("spacing", 0.02)
        if self._horizon < 2.0 / self.rate:
            raise ThunderError(
                f"configuration: horizon must be two periods at least, {2.0 / self.rate:g} s, got {self._horizon:g}"
            )
        given.done()
        self._times = np.linspace(0.0, self._horizon, max(2, round(self._horizon / spacing) + 1))
        self._order = JointOrder(self.robot.joint_names, others_allowed=True)
        self._source: Source | None = None
        self._begin = 0

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of `JointSample`, in their order."""
        return self.robot.joint_names

    @property
    def running(self) -> bool:
        """Whether it has begun."""
        return self._source is not None

    def begin(self, stamp: int, names: Sequence[str], q: npt.ArrayLike) -> str | None:
        """Begin at this time [ns], from these joint positions; return why not, if so."""
        places = self._order.places(names)
        positions = np.asarray(q, dtype=np.float64)
        if places is None or positions.shape != (len(names),) or not np.isfinite(positions[places]).all():
            return "a joint state must give finite positions of all joints, by name"
        reference = Table(self._options, "reference")
        reference.get("kind")
        self._source, self._begin = make_source(self.robot, self._kind, reference, positions[places]), stamp
        return None

    def joints(self, stamp: int) -> JointSample:
        """Return what comes next from this time on [ns]."""
        r = self._sample(1e-9 * (stamp - self._begin) + self._times)
        if not isinstance(r, JointReference):
            raise ThunderError(f"{self._kind} gives poses, not joints")
        return JointSample(stamp, self._times, r.q, r.dq, r.ddq)

    def pose(self, stamp: int) -> PoseSample:
        """Return the pose at this time [ns]."""
        r = self._sample(np.array([1e-9 * (stamp - self._begin)]))
        if not isinstance(r, TaskReference):
            raise ThunderError(f"{self._kind} gives joints, not poses")
        return PoseSample(stamp, r.p[0], from_matrix(r.R[0]), r.xi[0, :3], r.xi[0, 3:])

    def _sample(self, t: Array) -> JointReference | TaskReference:
        if self._source is None:
            raise ThunderError("the generator has not begun")
        return self._source(np.maximum(t, 0.0))
