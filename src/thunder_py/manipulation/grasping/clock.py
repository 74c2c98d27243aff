"""Clock of a camera, measured by the arm: the hand waves, and depth pictures show when."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...checks import Array, array, of_kind, positive
from ...errors import ThunderError
from ...perception.clouds import DepthCamera
from ...reference import TaskReference
from ...robot import Robot
from ...values import Stateful
from ..arm import follower

#: frequencies of the wave [Hz], their parts, and the time in which it begins [s]
_TONES, _PARTS, _FADE = (0.7, 1.1), (0.6, 0.4), 0.5
#: radius around the waiting hand in which points of the arm are looked for [m], and the fewest of them
_AROUND, _FEWEST = 0.18, 20
#: grid of offsets [s]; share of the motion of the points that the hand explains, below which it was not seen
_GRID, _EXPLAINED = 2e-3, 0.7
#: step of differences of the wave [s]
_STEP = 1e-4


class ClockOffset(NamedTuple):
    """Result of `CameraClock`.

    Attributes
    ----------
    offset : float
        The camera's clock, with the unknown part of its latency, less that of the arm [s].
    deviation : float
        Standard deviation of `offset` [s].
    pictures : int
        Number of pictures that it was found from.

    Examples
    --------
    >>> from thunder_py.manipulation import ClockOffset
    >>> found = ClockOffset(0.08, 0.002, 90)
    >>> found.offset
    0.08
    """

    offset: float
    deviation: float
    pictures: int


class CameraClock(Stateful):
    """A controller that moves the hand to and fro before a camera, whose pictures tell the offset of its clock.

    The stamp of a picture is ``t + offset``, where t is the time on the arm's clock at which it was taken: an unknown
    latency, or another clock. The mean of the points on the hand moves as ``b + A p(stamp - offset)`` with the hand's
    position p, which joint positions tell; the offset is that with the smallest residual. Errors of the camera's pose
    are in b and A.

    Parameters
    ----------
    robot : Robot
        The arm as far as it is known, with the hand as its load.
    camera : DepthCamera
        Lens and pose of the camera as calibrated; it must see the hand, with nothing but the arm around it.
    q : (n,) array_like
        Joint positions at the start [rad or m].
    along : (3,) array_like
        Direction of the motion.
    size : float
        Amplitude of the motion [m].
    duration : float
        Its duration [s].
    longest : float
        Largest magnitude of the offset [s]; below half a period of the motion, 0.7 s.
    law : Controller, optional
        Controller of the hand's pose; default `follower`.

    Attributes
    ----------
    duration : float
        Duration of the motion [s].

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.manipulation import CameraClock
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import DepthCamera, look_at
    >>> camera = DepthCamera(PinholeCamera.from_field_of_view(212, 120, 1.2), look_at((1.2, 0, 0.7), (0.5, 0, 0)))
    >>> clock = CameraClock(th.Robot.load("ur5e"), camera, [0.0, -2.0, 2.0, -1.6, -1.6, 0.0])
    >>> clock.duration
    4.0

    `thunder_py.mujoco.measure_camera_clock` moves it in a world.
    """

    def __init__(
        self,
        robot: Robot,
        camera: DepthCamera,
        q: npt.ArrayLike,
        *,
        along: npt.ArrayLike = (0.6, 0.8, 0.0),
        size: float = 0.05,
        duration: float = 4.0,
        longest: float = 0.3,
        law: _core.TaskController | None = None,
    ) -> None:
        self.robot, self.n = of_kind(robot, Robot, "robot"), robot.n
        self._camera = of_kind(camera, DepthCamera, "camera")
        direction = array(along, (3,), "along")
        self._along = direction / positive(float(np.linalg.norm(direction)), "along")
        self._size, self.duration = positive(size, "size", "m"), positive(duration, "duration", "s")
        self._longest = positive(longest, "longest", "s")
        self._start, self._limits = robot.forward_kinematics(q), robot.limits.effort
        self.law = follower(robot, q) if law is None else law
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.law.reset()
        self._began: float | None = None
        self._moved: list[tuple[float, Array]] = []
        self._seen: list[tuple[float, Array]] = []

    def see(self, taken: float, depth: npt.ArrayLike) -> None:
        """Take a depth picture when it is there; `taken` is its stamp on the camera's clock [s]."""
        points = self._camera.cloud(np.asarray(depth, dtype=np.float64)).reshape(-1, 3)
        near = points[np.linalg.norm(points - self._start[:3, 3], axis=1) < _AROUND + self._size]
        if len(near) >= _FEWEST:
            self._seen.append((taken, near.mean(axis=0)))

    def step(self, t: float, q: Array, dq: Array, reference: Any = None, /) -> Array:
        """Return the torque (n,) for the period from a time on, within the arm's limits; no reference is needed."""
        self._began = t if self._began is None else self._began
        self._moved.append((t, self.robot.forward_kinematics(q)[:3, 3]))
        before, now, after = (self._wave(t - self._began + k * _STEP) for k in (-1, 0, 1))
        v, a = (after - before) / (2.0 * _STEP), (after - 2.0 * now + before) / _STEP**2
        zero = np.zeros(3)
        wanted = TaskReference(
            self._start[:3, 3] + now, self._start[:3, :3], np.concatenate([v, zero]), np.concatenate([a, zero])
        )
        return np.clip(self.law.step(t, q, dq, wanted), -self._limits, self._limits)

    def _wave(self, t: float) -> Array:
        fade = np.sin(0.5 * np.pi * min(max(t, 0.0) / _FADE, 1.0)) ** 2
        tones = sum(part * np.sin(2.0 * np.pi * f * t) for f, part in zip(_TONES, _PARTS, strict=True))
        return np.asarray(self._size * fade * tones * self._along)

    def result(self) -> ClockOffset:
        """Return the offset from what was seen.

        Raises
        ------
        ThunderError
            If the pictures do not show the hand move, or the offset is larger than `longest`.
        """
        t, s = np.array([t for t, _ in self._moved]), np.array([p for _, p in self._moved]) @ self._along
        # whatever the offset: pictures whose instants are known
        kept = [each for each in self._seen if t[0] + self._longest < each[0] < t[-1] - self._longest]
        if len(kept) < _FEWEST:
            raise ThunderError(f"pictures must show the hand: {len(kept)} do, of at least {_FEWEST}")
        stamps, seen = np.array([t for t, _ in kept]), np.array([p for _, p in kept])
        seen = seen - seen.mean(axis=0)
        offsets = np.arange(-self._longest, self._longest + 0.5 * _GRID, _GRID)
        squares = np.array([_residual(np.interp(stamps - offset, t, s), seen) for offset in offsets])
        k = int(np.argmin(squares))
        total = float(np.sum(seen**2))
        if squares[k] > (1.0 - _EXPLAINED) * total:
            raise ThunderError("pictures must show the hand move, but the mean of the points around it does not")
        if k in (0, len(offsets) - 1):
            raise ThunderError(f"the offset must be less than {self._longest:g} s: give a larger value of longest")
        curvature = (squares[k + 1] - 2.0 * squares[k] + squares[k - 1]) / _GRID**2
        offset = offsets[k] - (squares[k + 1] - squares[k - 1]) / (2.0 * _GRID * curvature)
        variance = squares[k] / (3 * len(stamps) - 7)
        return ClockOffset(float(offset), float(np.sqrt(2.0 * variance / curvature)), len(stamps))


def _residual(s: Array, seen: Array) -> float:
    """Return the sum of squares of centered points (k, 3) that a signal (k,) does not explain."""
    centered = s - s.mean()
    return float(np.sum(seen**2) - np.sum((centered @ seen) ** 2) / max(centered @ centered, 1e-300))
