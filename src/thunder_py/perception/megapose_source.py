"""A pose source that asks a pose server, and does not wait for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import array, pose
from ..errors import ThunderError
from ..motion.scalars import positive
from ..values import Stateful
from .megapose import MegaPoseClient, ObjectPose, PoseServerError
from .options import finite, probability
from .pose_source import PoseMeasurement

__all__ = ["MegaPoseSource"]


class MegaPoseSource(Stateful):
    """Poses of one object from a MegaPose server, asked from a thread of its own.

    One picture at a time is on its way; those that would be taken meanwhile are skipped. The object is looked for in
    its box until it is found, then from the pose of the picture before (faster), until that fails. A failure of the
    server is a measurement without a pose, and the source tries again with the next picture.

    The quality of a measurement is the server's score.

    Parameters
    ----------
    client : MegaPoseClient
        This source's own.
    grab : callable
        Picture of a time [s], uint8 array, or None if there is none; called by `poll`.
    label : str
        Name of the object.
    box : (4,) array_like
        Where it is looked for: left, top, right, bottom [pixel].
    rate : float
        Pictures per second, at most [Hz].
    camera_pose : (4, 4) array_like, optional
        Of the camera in the world; measurements are in the world then, otherwise in the camera's frame.
    least_score : float
        Poses with a lower score count as nothing seen.
    wait : bool
        Wait for the answer in `poll` instead, and call the measurement available at the time of its picture: for
        pictures that are not taken in real time.
    """

    def __init__(
        self,
        client: MegaPoseClient,
        grab: Callable[[float], Any],
        label: str,
        *,
        box: npt.ArrayLike,
        rate: float = 10.0,
        camera_pose: npt.ArrayLike | None = None,
        least_score: float = 0.3,
        wait: bool = False,
    ) -> None:
        if not callable(grab):
            raise ThunderError(f"grab must be callable with a time, got {grab!r}")
        self._client, self._grab, self._label = client, grab, label
        self._box, self._rate = array(box, (4,), "box"), positive(rate, "rate", "Hz")
        self._camera_pose = pose(np.eye(4) if camera_pose is None else camera_pose, "camera_pose")
        self._least_score, self._wait = probability(least_score, "least_score"), bool(wait)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pose server")
        self._pending: tuple[float, Future[ObjectPose]] | None = None
        self._closed = False
        #: what the server failed with last, None after a success
        self.error: PoseServerError | None = None
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the thread, and the request under way with its answer."""
        return {**self.__dict__, "_thread": None, "_pending": None, "_dropped": None}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Start a thread of its own."""
        self.__dict__.update(attributes, _thread=ThreadPoolExecutor(1, thread_name_prefix="pose server"))

    def reset(self) -> None:
        """Start again: look for the object in its box; an answer that is still on its way is dropped."""
        self._now = -np.inf
        self._due = -np.inf
        self._last: ObjectPose | None = None
        self._dropped = self._pending[1] if self._pending is not None else None
        self._pending = None

    def close(self) -> None:
        """Wait for the request under way and end the connection; there are no further measurements."""
        self._closed = True
        self._thread.shutdown(cancel_futures=True)
        self._client.close()

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return the measurement whose answer came since the last poll, if one did; then take the next picture.

        Raises
        ------
        ThunderError
            `t` is before the last one, the source is closed, or a picture is not one of the client's camera.
        """
        now = finite(t, "t")
        if self._closed:
            raise ThunderError("the source is closed: make another one")
        if now < self._now:
            raise ThunderError(f"t must not go back, from {self._now:g} s to {now:g} s; reset() starts again")
        self._now = now
        found = self._collected(now)
        busy = self._dropped is not None and not self._dropped.done()
        if self._pending is None and not busy and now >= self._due:
            self._due = now + 1.0 / self._rate
            picture = self._grab(now)
            if picture is None:
                found.append(PoseMeasurement(now, now, None, 0.0))
            else:
                self._pending = now, self._thread.submit(self._asked, picture, self._last)
                if self._wait:
                    found += self._collected(now)
        return found

    def _asked(self, picture: Any, last: ObjectPose | None) -> ObjectPose:
        if last is None:
            return self._client.poses(picture, [self._label], boxes=[self._box])[0]
        return self._client.poses(picture, [self._label], initial=[last.pose])[0]

    def _collected(self, now: float) -> list[PoseMeasurement]:
        if self._pending is None or not (self._wait or self._pending[1].done()):
            return []
        taken, future = self._pending
        self._pending = None
        try:
            seen = future.result()
            self.error = None
        except PoseServerError as error:
            self.error, self._last = error, None
            return [PoseMeasurement(taken, now, None, 0.0)]
        if seen.score < self._least_score:
            self._last = None
            return [PoseMeasurement(taken, now, None, max(seen.score, 0.0))]
        self._last = seen
        return [PoseMeasurement(taken, now, self._camera_pose @ seen.pose, seen.score)]
