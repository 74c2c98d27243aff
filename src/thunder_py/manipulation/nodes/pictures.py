"""The nodes of a simulated camera, and of poses of an object from the pictures of any camera."""

from __future__ import annotations

from array import array as octets
from typing import Any

import numpy as np

from ...checks import array
from ...errors import ThunderError
from ...perception import PinholeCamera, PoseMeasurement, TagTracker, detect_tags, render_tag
from ...realtime.nodes.middleware import Middleware
from ...realtime.plain_data import Table
from ...spatial.single import quaternion_of
from ..servoing.pose_filter import PoseFilter
from ..servoing.tracker import SourceFault, TargetTracker
from .parts import MeasurementQueue, TaskNode, configured_pose

#: bytes per pixel of the encodings that are read
_CHANNELS = {"mono8": 1, "rgb8": 3, "bgr8": 3}
_SILENT = SourceFault.silent


class CameraNode:
    """Simulated camera: publishes pictures of a tag that moves at constant velocity.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        ``size`` of the tag [m] (0.08), ``tag_id`` (0), ``camera_pose`` and ``object_pose`` in the world (x, y, z,
        roll, pitch, yaw), ``velocity`` [m/s] of the object after ``move``, ``rate`` (15 Hz), ``latency`` (0.05 s),
        ``width``, ``height`` and ``angle`` of view [rad] (320, 240, 1.0), ``noise`` in gray levels (2).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.manipulation.nodes import CameraNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> node = CameraNode(ros, {"object_pose": [0.5, 0.0, 0.1, 0.0, 0.0, 0.0]})
    >>> [call.args[0] for call in ros.publisher.call_args_list]
    ['camera_info', 'image']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        self.ros, table = ros, Table(configuration, "configuration")
        width, height = table.whole("width", 320), table.whole("height", 240)
        self.camera = PinholeCamera.from_field_of_view(width, height, table.positive("angle", 1.0))
        self._tag = {"size": table.positive("size", 0.08), "tag_id": table.get("tag_id", 0)}
        self._noise, self._rng = table.get("noise", 2.0), np.random.default_rng(table.get("seed", 0))
        self._to_camera = np.linalg.inv(configured_pose(table.get("camera_pose"), "camera_pose"))
        self._object = configured_pose(table.get("object_pose"), "object_pose")
        self._velocity = array(table.get("velocity", [0.0, 0.0, 0.0]), (3,), "configuration: velocity")
        self._latency = round(1e9 * float(table.get("latency", 0.05)))
        rate = table.positive("rate", 15.0)
        table.done()
        self._covered, self._moves_from = False, 0
        self._infos = ros.publisher("camera_info", ros.kinds.CameraInfo)
        self._images = ros.publisher("image", ros.kinds.Image)
        ros.service("cover", "SetBool", self._cover)
        ros.service("move", "Trigger", self._move)
        ros.every(1.0 / rate, self._tick)

    def _cover(self, request: Any) -> None:
        self._covered = bool(request.data)

    def _move(self, _: Any) -> None:
        self._moves_from = self.ros.now()

    def _tick(self) -> None:
        """Publish the picture that was taken a latency ago."""
        if self._covered:
            return
        taken, kinds = self.ros.now() - self._latency, self.ros.kinds
        pose = self._object.copy()
        if self._moves_from:
            pose[:3, 3] += 1e-9 * max(0, taken - self._moves_from) * self._velocity
        picture = render_tag(self.camera, self._to_camera @ pose, noise=self._noise, rng=self._rng, **self._tag)
        info = kinds.CameraInfo(height=self.camera.height, width=self.camera.width, distortion_model="plumb_bob")
        for name, values in (("k", self.camera.matrix.ravel()), ("d", np.zeros(5))):
            setattr(info, name if hasattr(info, name) else name.upper(), values.tolist())
        image = kinds.Image(height=info.height, width=info.width, encoding="mono8", step=info.width)
        raw = picture.tobytes()  # an array in ROS 2, bytes in ROS 1
        image.data = octets("B", raw) if isinstance(image.data, octets) else raw
        for message, publisher in ((info, self._infos), (image, self._images)):
            message.header.stamp, message.header.frame_id = self.ros.to_time(taken), "camera"
            publisher.send(message)


class PoseNode(TaskNode):
    """Publish the filtered pose of a tagged object with its covariance, at the time of each picture.

    Parameters
    ----------
    ros : Middleware
        The node.
    configuration : dict
        ``size`` of the tag [m] (0.08), ``tag_id`` (0), ``camera_pose`` and ``target`` (pose of the object in the tag's
        frame), ``late``, the age from which pictures are not used (0.5 s), ``silence`` after which their absence is
        told (0.5 s), ``position_noise`` (0.003 m), ``rotation_noise`` (0.03 rad), ``speed`` (0.3 m/s), ``max_error``
        of a detection (2 pixels), ``frame`` (``world``).

    Examples
    --------
    >>> from unittest.mock import MagicMock
    >>> from thunder_py.manipulation.nodes import PoseNode
    >>> ros = MagicMock()  # stand-in for a ROS node
    >>> ros.now.return_value = 0
    >>> node = PoseNode(ros, {"size": 0.08})
    >>> [call.args[0] for call in ros.subscribe.call_args_list]
    ['camera_info', 'image']
    """

    def __init__(self, ros: Middleware, configuration: dict[str, Any]) -> None:
        super().__init__(ros)
        table, kinds = Table(configuration, "configuration"), ros.kinds
        self._size, self._tag_id = table.positive("size", 0.08), table.get("tag_id", 0)
        self._camera_pose = configured_pose(table.get("camera_pose"), "camera_pose")
        self._target = configured_pose(table.get("target"), "target")
        self._late, self._max_error = table.positive("late", 0.5), table.positive("max_error", 2.0)
        noise = table.positive("position_noise", 0.003), table.positive("rotation_noise", 0.03)
        belief = PoseFilter(*noise, speed=table.positive("speed", 0.3))
        self._source, self._tags, self._frame = MeasurementQueue(), TagTracker(), table.text("frame", "world")
        self.tracker = TargetTracker(self._source, belief, silence=table.positive("silence", 0.5))
        table.done()
        self.camera: PinholeCamera | None = None
        self._last, self._now, self._why = -np.inf, 0.0, ""
        self._counts = dict.fromkeys(("pictures", "late", "refused"), 0)
        self._poses = ros.publisher("object_pose", kinds.PoseWithCovarianceStamped)
        ros.subscribe("camera_info", kinds.CameraInfo, self._on_info)
        ros.subscribe("image", kinds.Image, self._on_image)
        self._tell_periodically()

    def _on_info(self, message: Any) -> None:
        K, D = (message.K, message.D) if hasattr(message, "K") else (message.k, message.d)
        try:
            found = PinholeCamera(message.width, message.height, K[0], K[4], K[2], K[5], tuple(D) or (0.0,) * 5)
        except ValueError as error:
            self.ros.warn(f"camera_info refused: {error}")
            return
        self.camera = found

    def _on_image(self, message: Any) -> None:
        with self._lock:
            stamp, now = self.ros.nanoseconds(message.header.stamp), self.ros.now()
            taken, at = self._seconds(stamp), self._seconds(now)
            self._counts["pictures"] += 1
            self._why = self._judge(taken, at)
            if self._why:
                return
            try:
                measurement = self._measure(message, taken, at)
            except ValueError as error:
                self._counts["refused"] += 1
                self._why = f"picture refused: {error}"
                return
            self._last = taken
            self._source.add(measurement)
            self._now = max(self._now, at)
            track = self.tracker.update(self._now)
            if track.trouble is SourceFault.none:
                self._publish(taken)

    def _judge(self, taken: float, now: float) -> str:
        """Return why a picture is not used, or nothing."""
        if self.camera is None:
            return "no camera_info"
        if not 0.0 <= now - taken <= self._late or taken <= self._last:
            self._counts["late"] += 1
            return f"late picture: {now - taken:.3f} s old"
        return ""

    def _measure(self, message: Any, taken: float, now: float) -> PoseMeasurement:
        assert self.camera is not None
        picture = _read_picture(message)
        tags = [tag for tag in detect_tags(picture, self.camera, size=self._size) if tag.tag_id == self._tag_id]
        best = min(tags, key=lambda tag: tag.error, default=None)
        if best is None or best.error > self._max_error:
            return PoseMeasurement(taken, now, None)
        T, error = self._tags.choose(taken, best)
        return PoseMeasurement(taken, now, self._camera_pose @ T @ self._target, 1.0 / (1.0 + error))

    def _publish(self, taken: float) -> None:
        estimate = self.tracker.belief.estimate(taken)
        message = self.ros.kinds.PoseWithCovarianceStamped()
        stamp = self._begin + round(1e9 * estimate.time)
        message.header.stamp, message.header.frame_id = self.ros.to_time(stamp), self._frame
        p, o = message.pose.pose.position, message.pose.pose.orientation
        p.x, p.y, p.z = estimate.pose[:3, 3].tolist()
        o.x, o.y, o.z, o.w = quaternion_of(estimate.pose[:3, :3])
        message.pose.covariance = estimate.covariance[:6, :6].ravel().tolist()
        self._poses.send(message)

    def _report(self) -> tuple[str, str, dict[str, Any]]:
        self._now = max(self._now, self._seconds(self.ros.now()))
        track = self.tracker.update(self._now)
        text = self._why or ("seen" if track.trouble is SourceFault.none else track.trouble.value)
        level = "OK" if text == "seen" else "STALE" if track.trouble is _SILENT else "WARN"
        return level, text, {**self._counts, "age": track.age}


def _read_picture(message: Any) -> Any:
    """Return the picture of a sensor_msgs/Image."""
    channels, height, width = _CHANNELS.get(message.encoding), message.height, message.width
    if channels is None:
        raise ThunderError(f"encoding must be one of {', '.join(_CHANNELS)}, got {message.encoding!r}")
    data, row = np.frombuffer(message.data, dtype=np.uint8), width * channels
    if message.step < row or data.size != height * message.step:
        raise ThunderError(f"data must hold {height} rows of {message.step} bytes, got {data.size} bytes")
    picture = data.reshape(height, message.step)[:, :row]
    return picture if channels == 1 else picture.reshape(height, width, channels)
