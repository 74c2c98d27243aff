"""A pose source that finds an object in the pictures of a depth camera."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array, of_kind
from ..pose_source import SampledPoseSource, function
from .detection import CloudPipeline, Detection
from .scenes import DepthCamera

#: objects are looked for near their last place if they were seen at most this long ago [s]
_MEMORY = 1.0
_KEPT = 64


class CloudPoseSource(SampledPoseSource):
    """Pose source that evaluates pictures of a depth camera with a `CloudPipeline`.

    Parameters
    ----------
    grab : callable
        Returns the depths (height, width) of a time [m], NaN where nothing was measured, or None. It is called at the
        first poll at or after that time.
    camera : DepthCamera
        Lens and pose of the camera as calibrated; its errors are not used.
    pipeline : CloudPipeline
        Detection.
    own : callable, optional
        For points (k, 3) in the world and the time of the picture [s], the mask (k,) of those on the robot itself,
        which are ignored.
    **timing
        Rate, latency, jitter, dropout, start and seed, see `thunder_py.perception.pose_source.SampledPoseSource`.

    Attributes
    ----------
    detections : dict of float to Detection
        Results of the last 64 pictures by their time.

    Raises
    ------
    ThunderError
        If an argument is invalid, or a picture has another size than the camera's.

    Notes
    -----
    The pose has the object's principal axis as x and the upward direction as z; of objects without a yaw, see
    `detections`, it is arbitrary. The quality of a measurement is the number of points of the object.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import PinholeCamera
    >>> from thunder_py.perception.clouds import CloudPipeline, CloudPoseSource, Cuboid, DepthCamera, look_at
    >>> from thunder_py.spatial import pose_from_rpy
    >>> belt = Cuboid((1.2, 0.5, 0.02), pose_from_rpy((0.0, 0.0, -0.01)))
    >>> box = Cuboid((0.18, 0.07, 0.10), pose_from_rpy((0.05, 0.02, 0.05), (0.0, 0.0, 0.6)))
    >>> camera = DepthCamera(PinholeCamera.from_field_of_view(212, 120, 1.2), look_at((0.5, -0.7, 0.7), (0, 0, 0)))
    >>> grab = lambda t: camera.depth([belt, box], np.random.default_rng(0))
    >>> source = CloudPoseSource(grab, camera, CloudPipeline(), rate=10.0, latency=0.05)
    >>> (measurement,) = source.poll(0.06)
    >>> bool(np.abs(measurement.pose[:3, 3] - [0.05, 0.02, 0.05]).max() < 0.005)
    True
    """

    def __init__(
        self,
        grab: Callable[[float], Any],
        camera: DepthCamera,
        pipeline: CloudPipeline,
        *,
        own: Callable[[Array, float], npt.NDArray[np.bool_]] | None = None,
        **timing: Any,
    ) -> None:
        self._camera = of_kind(camera, DepthCamera, "camera")
        self._pipeline = of_kind(pipeline, CloudPipeline, "pipeline")
        self._own = None if own is None else function(own, "own")
        super().__init__(grab, **timing)

    def reset(self) -> None:
        """Start again, without earlier detections."""
        super().reset()
        self.detections: dict[float, Detection] = {}
        self._place: Array | None = None
        self._seen = -np.inf

    def _see(self, picture: Any, taken: float) -> tuple[Array | None, float]:
        points = self._pipeline.inside(self._camera.cloud(picture))
        if self._own is not None:
            points = points[~self._own(points, taken)]
        found = self._pipeline(points, near=self._place if taken - self._seen <= _MEMORY else None)
        self.detections[taken] = found
        if len(self.detections) > _KEPT:
            del self.detections[next(iter(self.detections))]
        if found.pose is None:
            return None, 0.0
        self._place, self._seen = found.pose[:3, 3], taken
        return found.pose, float((found.groups == found.chosen).sum())
