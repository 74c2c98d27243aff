"""Poses of a target that carries an AprilTag, from pictures of a calibrated camera."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, pose
from ..errors import ThunderError
from ..motion.scalars import positive, whole
from ..values import Stateful
from .camera import PinholeCamera
from .options import finite, not_negative, probability, soon
from .pose_source import PoseMeasurement
from .tags import TAG_COUNT, TagDetection, detect_tags, render_tag

__all__ = ["FiducialPoseSource", "render_tag"]


class FiducialPoseSource(Stateful):
    """A camera that looks for one tag.

    Where both poses of the tag explain a picture nearly alike (`TagDetection.ambiguity`), the one is taken that is
    nearer in angle to what was seen shortly before; without that, the one with the smaller error.

    The quality of a measurement is ``1 / (1 + error)`` with the reprojection error in pixels: 1 is a perfect fit.

    Parameters
    ----------
    grab : callable
        Picture of a time [s], (height, width) or (height, width, 3) uint8 array, or None if there is none. It is asked
        when the source is first polled at or after that time.
    camera : PinholeCamera
    size : float
        Edge of the tag's black square [m].
    tag_id : int
        Number of the tag in the family tag36h11; other tags are ignored.
    rate : float
        Pictures per second [Hz].
    latency : float
        From the picture until its measurement can be used [s].
    camera_pose : (4, 4) array_like, optional
        Of the camera in the world; measurements are in the world then, otherwise in the camera's frame.
    target : (4, 4) array_like, optional
        Of the target in the tag's frame; default the tag itself is the target.
    max_error : float
        Measurements with a larger reprojection error count as nothing seen [pixel].
    ambiguous : float
        Ambiguity, 0 to 1, from which on the last pose decides.
    memory : float
        How long it does [s].
    start : float
        Time of the first picture [s].
    """

    def __init__(
        self,
        grab: Callable[[float], Any],
        camera: PinholeCamera,
        *,
        size: float,
        tag_id: int = 0,
        rate: float = 30.0,
        latency: float = 0.0,
        camera_pose: npt.ArrayLike | None = None,
        target: npt.ArrayLike | None = None,
        max_error: float = 2.0,
        ambiguous: float = 0.4,
        memory: float = 0.5,
        start: float = 0.0,
    ) -> None:
        if not callable(grab):
            raise ThunderError(f"grab must be callable with a time, got {grab!r}")
        if not isinstance(camera, PinholeCamera):
            raise ThunderError(f"camera must be a PinholeCamera, got {camera!r}")
        self._grab, self._camera = grab, camera
        self._size, self._rate = positive(size, "size", "m"), positive(rate, "rate", "Hz")
        self._tag_id = whole(tag_id, "tag_id", 0)
        if self._tag_id >= TAG_COUNT:
            raise ThunderError(f"tag_id must be below {TAG_COUNT}, got {tag_id}")
        self._latency, self._memory = not_negative(latency, "latency", "s"), not_negative(memory, "memory", "s")
        self._camera_pose = pose(np.eye(4) if camera_pose is None else camera_pose, "camera_pose")
        self._target = pose(np.eye(4) if target is None else target, "target")
        self._max_error = positive(max_error, "max_error", "pixel")
        self._ambiguous, self._start = probability(ambiguous, "ambiguous"), finite(start, "start")
        self.reset()

    def reset(self) -> None:
        """Start again, without a last pose."""
        self._taken = 0
        self._now = -np.inf
        self._last: tuple[float, Array] | None = None
        self._waiting: list[PoseMeasurement] = []

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return what became available since the last poll, up to time `t` [s], in order of availability.

        Raises
        ------
        ThunderError
            `t` is before the last one or more than 100000 pictures later, or a picture is not one of this camera.
        """
        now = soon(t, self._start + self._taken / self._rate, self._rate)
        if now < self._now:
            raise ThunderError(f"t must not go back, from {self._now:g} s to {now:g} s; reset() starts again")
        self._now = now
        while (taken := self._start + self._taken / self._rate) <= now:
            self._taken += 1
            self._waiting.append(self._measurement(taken))
        ready = [m for m in self._waiting if m.available <= now]
        self._waiting = self._waiting[len(ready) :]
        return ready

    def _measurement(self, taken: float) -> PoseMeasurement:
        picture = self._grab(taken)
        available = taken + self._latency
        tags = [] if picture is None else detect_tags(picture, self._camera, size=self._size)
        mine = [tag for tag in tags if tag.tag_id == self._tag_id]
        # two tags with one number: the one that fits better
        best = min(mine, key=lambda tag: tag.error, default=None)
        if best is None or best.error > self._max_error:
            return PoseMeasurement(taken, available, None, 0.0)
        T, error = self._chosen(best, taken)
        self._last = taken, T
        return PoseMeasurement(taken, available, self._camera_pose @ T @ self._target, 1.0 / (1.0 + error))

    def _chosen(self, tag: TagDetection, taken: float) -> tuple[Array, float]:
        """Return one of the tag's two poses, and its error."""
        recent = self._last is not None and taken - self._last[0] <= self._memory
        if recent and self._last is not None and tag.ambiguity > self._ambiguous and tag.other_error <= self._max_error:
            before = self._last[1]
            if _cosine(tag.other, before) > _cosine(tag.pose, before):
                return tag.other, tag.other_error
        return tag.pose, tag.error


def _cosine(A: Array, B: Array) -> float:
    """Return a number that grows as the angle between two poses shrinks."""
    return float((A[:3, :3] * B[:3, :3]).sum())
