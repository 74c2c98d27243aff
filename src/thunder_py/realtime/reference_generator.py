"""References as a stream of samples, for a controller that runs somewhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import Array
from ..errors import ThunderError
from ..reference import JointReference, TaskReference
from ..robot import Robot
from ..values import Stateful
from .joint_names import JointOrder
from .plain_data import Table, read_plain
from .quaternions import Quaternion, from_matrix
from .reference_sources import KINDS, Source, make_source

__all__ = ["JointSample", "PoseSample", "ReferenceGenerator"]

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
