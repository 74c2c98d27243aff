"""What a reference generator plays: made from plain data and the arm's position when it begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array
from ..errors import FileFormatError, ThunderError
from ..reference import JointReference, Lissajous, SetPoint, SetPose, Sinusoid, TaskReference
from ..robot import Robot
from ..trajectory.joint import point_to_point, spline
from .plain_data import Table, per_joint

__all__ = ["KINDS", "Source", "make_source"]

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
        plans.append((k * seconds, planner.plan(*ends, seconds, start_time=k * seconds)))
    return InTurn(plans)


def _pose_like(T: Array, position: Array) -> Array:
    pose = T.copy()
    pose[:3, 3] = position
    return pose


def _demonstrations(robot: Robot | None) -> Any:
    """Return synthetic reaches of the hand; for joints their coordinates take the joints' places, in turn."""
    from ..motion import MotionSet, Trial
    from ..motion.synthetic import minimum_jerk_reaches

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
