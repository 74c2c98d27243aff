"""References as a stream of samples, for a controller in another process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array, apart, array, per_joint
from ..errors import FileFormatError, ThunderError
from ..files import LARGEST_MODEL, as_file, parsing
from ..reference import JointReference, Lissajous, SetPoint, SetPose, Sinusoid, TaskReference
from ..robot import Robot
from ..spatial.single import Quaternion, quaternion_of
from ..tabular.text import TextTable
from ..trajectory.joint import point_to_point, spline
from ..values import Stateful
from .joint_states import JointOrder
from .plain_data import Table, read_plain

#: a reference at an array of times [s]
Source = Callable[[npt.ArrayLike], "JointReference | TaskReference"]

#: fraction of the velocity limits with which an arm moves to the start of a file
_APPROACH = 0.2
_APPROACH_SPEED, _APPROACH_TIME = 0.5, 0.5
_MODEL_SEED, _MODEL_TRIALS, _SHRINKAGE = 0, 60, 0.1
#: rows of a table that are read at once
_ROWS = 100_000
_BOUNDARY_VELOCITY, _BOUNDARY_ACCELERATION = 0.2, 1.0


class InTurn:
    """Successive references; the last one has no end.

    Parameters
    ----------
    parts : sequence of (float, callable)
        Start of each [s], 0 for the first one, and the reference.
    """

    def __init__(self, parts: Sequence[tuple[float, Source]]) -> None:
        self._starts = np.array([start for start, _ in parts])
        self._sources = [source for _, source in parts]

    def __call__(self, t: npt.ArrayLike) -> JointReference | TaskReference:
        """Return the reference at an array of times, (m,)."""
        times = np.asarray(t, dtype=np.float64)
        which = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, None)
        rows = [self._sources[k](times[which == k]) for k in np.unique(which)]
        result: JointReference | TaskReference = type(rows[0])(*(np.concatenate(x) for x in zip(*rows, strict=True)))
        return result


def _sinusoid(robot: Robot, table: Table, q: Array) -> Source:
    center = table.get("center")
    return Sinusoid(
        per_joint(table.get("amplitude", 0.2), robot.n, "reference: amplitude"),
        per_joint(table.get("frequency", 0.2), robot.n, "reference: frequency"),
        center=q if center is None else per_joint(center, robot.n, "reference: center"),
        phase=per_joint(table.get("phase", 0.0), robot.n, "reference: phase"),
    )


def _lissajous(robot: Robot, table: Table, q: Array) -> Source:
    start = robot.forward_kinematics(q, table.get("frame"))
    return Lissajous.starting_at(
        start, table.get("amplitude", [0.05, 0.08, 0.05]), table.get("frequency", [0.2, 0.1, 0.4])
    )


def _set_point(robot: Robot, table: Table, q: Array) -> Source:
    goal = table.get("q")
    return SetPoint(q if goal is None else array(goal, (robot.n,), "reference: q"))


def _set_pose(robot: Robot, table: Table, q: Array) -> Source:
    T = robot.forward_kinematics(q, table.get("frame")).copy()
    T[:3, 3] += array(table.get("offset", [0.0, 0.0, 0.0]), (3,), "reference: offset")
    return SetPose(T)


def _file(robot: Robot, table: Table, q: Array) -> Source:
    """Play a table of times and joint positions, after a straight motion to its start."""
    t, points = read_table(table.text("path"), robot)
    if np.abs(points[0] - q).max() < 1e-6:
        return spline(t - t[0], points)
    limits = robot.limits
    v = np.where(np.isfinite(limits.velocity), _APPROACH * limits.velocity, _APPROACH_SPEED)
    way = point_to_point(q, points[0], v_max=v, a_max=v / _APPROACH_TIME)
    return InTurn([(0.0, way), (way.duration, spline(way.duration + (t - t[0]), points))])


def read_table(path: str | Path, robot: Robot) -> tuple[Array, Array]:
    """Return times (m,) and joint positions (m, n) of a file.

    Parameters
    ----------
    path : str or path
        ``.npz`` with arrays ``t`` and ``q``, such as a saved `SimulationResult`; or ``.csv`` with a header ``t`` and
        the names of the joints, in any order.
    robot : Robot
        Robot with these joints.

    Raises
    ------
    FileFormatError
        If the file is not such a table, of two rows at least whose times increase.
    """
    path, reader = as_file(path, most=LARGEST_MODEL), None
    with parsing(path, "a table of t and joint positions"):
        if path.suffix == ".npz":
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                t, q = np.asarray(file["t"]), np.asarray(file["q"])
        elif path.suffix == ".csv":
            reader = TextTable(path, strict=True)
            t, q = _read_csv(reader, robot.joint_names)
        else:
            raise FileFormatError("must end in .npz or .csv", path=path)
    try:
        t, q = array(t, (None,), "t"), array(q, (len(t), robot.n), "q")
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"must be a table of t and joint positions: {error}", path=path) from error
    if t.size < 2:
        raise FileFormatError(f"must have two rows of times and joint positions at least, got {t.size}", path=path)
    wrong = np.flatnonzero(~(np.diff(t) > 0.0))
    if wrong.size:
        k = int(wrong[0]) + 1
        now, before = apart(float(t[k]), float(t[k - 1]))
        line = None if reader is None else reader.line(k)
        raise FileFormatError(f"t must increase, got {now} after {before}", path=path, line=line)
    return t, q


def _read_csv(reader: TextTable, joint_names: Sequence[str]) -> tuple[Array, Array]:
    """Return times and joint positions."""
    names, wanted = reader.names, ["t", *joint_names]
    if any(names.count(name) != 1 for name in wanted):
        message = f"must be a table of {', '.join(wanted)}, one column each, got {', '.join(names)!r:.200}"
        raise FileFormatError(message, path=reader.path)
    parts = reader.parts([names.index(name) for name in wanted], _ROWS)
    table = np.concatenate([np.empty((0, len(wanted))), *parts])
    return table[:, 0], table[:, 1:]


def _human_like(robot: Robot, table: Table, q: Array) -> Source:
    """Move from goal to goal along functional components of hand positions or joints."""
    from ..motion import FPCA, HumanLikePlanner

    model, goals, task = table.get("model"), table.get("goals"), table.text("space", "joint") == "task"
    fpca = (
        FPCA(shrinkage=_SHRINKAGE).fit(_demonstrations(None if task else robot)) if model is None else FPCA.load(model)
    )
    planner = HumanLikePlanner(fpca)
    if (planner.kind == "joints") == task:
        raise ThunderError(f"reference: model must match the space of the goals, got one of {planner.kind}")
    seconds = table.positive("seconds", 2.0)
    T = robot.forward_kinematics(q, table.get("frame"))
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
    """Return synthetic reaches of the hand; for joints, their coordinates are assigned cyclically."""
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


#: constructor and space of each kind of reference
KINDS: dict[str, tuple[Callable[[Robot, Table, Array], Source], str]] = {
    "sinusoid": (_sinusoid, "joint"),
    "set_point": (_set_point, "joint"),
    "file": (_file, "joint"),
    "lissajous": (_lissajous, "task"),
    "set_pose": (_set_pose, "task"),
    "human_like": (_human_like, ""),
}


#: default rates of streams [Hz]
_JOINT_RATE, _TASK_RATE = 20.0, 200.0


class JointSample(NamedTuple):
    """The next segment of a joint trajectory.

    Attributes
    ----------
    stamp : int
        Start [ns].
    times : (m,) array
        Times after the start [s].
    q, dq, ddq : (m, n) array
        Positions [rad or m] and derivatives.

    Examples
    --------
    >>> from thunder_py.realtime import ReferenceGenerator
    >>> generator = ReferenceGenerator({"robot": "elbow", "reference": {"kind": "sinusoid", "amplitude": 0.2}})
    >>> refusal = generator.begin(0, generator.joint_names, [0.1] * len(generator.joint_names))
    >>> sample = generator.joints(10**9)  # 1 s later
    >>> sample.stamp, sample.times[[0, -1]].tolist(), sample.q.shape == (26, len(generator.joint_names))
    (1000000000, [0.0, 0.5], True)
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
        Time of the pose [ns].
    position : (3,) array
        Position [m].
    quaternion : (4,) tuple
        Orientation x, y, z, w.
    linear, angular : (3,) array
        Linear and angular velocity [m/s, rad/s].

    Examples
    --------
    >>> from thunder_py.realtime import ReferenceGenerator
    >>> generator = ReferenceGenerator({"robot": "panda", "reference": {"kind": "set_pose", "offset": [0, 0, 0.1]}})
    >>> refusal = generator.begin(0, generator.joint_names, [0, -0.3, 0, -2, 0, 1.8, 0.7])
    >>> sample = generator.pose(10**9)
    >>> sample.position.shape, len(sample.quaternion), sample.linear.tolist()
    ((3,), 4, [0.0, 0.0, 0.0])
    """

    stamp: int
    position: Array
    quaternion: Quaternion
    linear: Array
    angular: Array


class ReferenceGenerator(Stateful):
    """Stream of samples of a reference that starts at the present position of the arm.

    In joint space each sample covers the next ``horizon`` seconds and replaces the rest of the one before. If the
    generator fails, the arm follows the rest of its last sample. In task space a sample is one pose with its twist.

    Parameters
    ----------
    options : mapping, str or path
        Plain data, or a YAML file that holds it. Keys: ``robot`` (name or file); ``reference``, a mapping with
        ``kind``, one of ``sinusoid``, ``set_point``, ``file``, ``lissajous``, ``set_pose``, ``human_like``, and its
        arguments (docs/ros.md); ``rate`` [Hz] (20, in task space 200); ``horizon`` (0.5 s); ``spacing`` of points
        (0.02 s).

    Attributes
    ----------
    robot : Robot
        Robot with joints and kinematics.
    task : bool
        Whether the samples are poses.
    rate : float
        Samples per second [Hz].

    Raises
    ------
    ValueError
        If the configuration is invalid.

    Examples
    --------
    >>> from thunder_py.realtime import ReferenceGenerator
    >>> generator = ReferenceGenerator({"robot": "elbow", "reference": {"kind": "set_point"}})
    >>> generator.begin(0, generator.joint_names, [float("nan")] * len(generator.joint_names))
    'a joint state must give finite positions of all joints, by name'
    >>> generator.begin(0, generator.joint_names, [0.1] * len(generator.joint_names)) is None
    True
    >>> generator.joints(0).q[0, 0].item(), generator.rate, generator.task
    (0.1, 20.0, False)
    """

    def __init__(self, options: Mapping[str, Any] | str | Path) -> None:
        table = Table(read_plain(options), "configuration")
        self.robot = Robot.load(table.text("robot"))
        self._options = table.get("reference", {})
        reference = Table(self._options, "reference")
        self._kind = reference.text("kind", among=tuple(KINDS))
        space = KINDS[self._kind][1] or reference.text("space", "joint", among=("joint", "task"))
        self.task = space == "task"
        if self._kind == "file":
            read_table(reference.text("path"), self.robot)  # refused now rather than at the first state
        self.rate = table.positive("rate", _TASK_RATE if self.task else _JOINT_RATE)
        self._horizon, spacing = table.positive("horizon", 0.5), table.positive("spacing", 0.02)
        if self._horizon < 2.0 / self.rate:
            raise ThunderError(
                f"configuration: horizon must be two periods at least, {2.0 / self.rate:g} s, got {self._horizon:g}"
            )
        table.done()
        self._times = np.linspace(0.0, self._horizon, max(2, round(self._horizon / spacing) + 1))
        self._order = JointOrder(self.robot.joint_names, others_allowed=True)
        self._source: Source | None = None
        self._begin = 0

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of `JointSample`."""
        return self.robot.joint_names

    @property
    def running(self) -> bool:
        """True if the stream has begun."""
        return self._source is not None

    def begin(self, stamp: int, names: Sequence[str], q: npt.ArrayLike) -> str | None:
        """Begin at this time [ns] and these joint positions; return None, or the reason for a refusal."""
        places = self._order.places(names)
        positions = np.asarray(q, dtype=np.float64)
        if places is None or positions.shape != (len(names),) or not np.isfinite(positions[places]).all():
            return "a joint state must give finite positions of all joints, by name"
        reference = Table(self._options, "reference")
        for known in ("kind", "space"):
            reference.get(known)
        source = KINDS[self._kind][0](self.robot, reference, positions[places])
        reference.done()
        self._source, self._begin = source, stamp
        return None

    def joints(self, stamp: int) -> JointSample:
        """Return the segment that begins at this time [ns]."""
        r = self._sample(1e-9 * (stamp - self._begin) + self._times)
        if not isinstance(r, JointReference):
            raise ThunderError(f"{self._kind} gives poses, not joints")
        return JointSample(stamp, self._times, r.q, r.dq, r.ddq)

    def pose(self, stamp: int) -> PoseSample:
        """Return the pose at this time [ns]."""
        r = self._sample(np.array([1e-9 * (stamp - self._begin)]))
        if not isinstance(r, TaskReference):
            raise ThunderError(f"{self._kind} gives joints, not poses")
        return PoseSample(stamp, r.p[0], quaternion_of(r.R[0]), r.xi[0, :3], r.xi[0, 3:])

    def _sample(self, t: Array) -> JointReference | TaskReference:
        if self._source is None:
            raise ThunderError("the generator has not begun")
        return self._source(np.maximum(t, 0.0))
