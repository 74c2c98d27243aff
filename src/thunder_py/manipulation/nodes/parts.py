"""Common parts of the nodes of manipulation: clock, reports, poses of configurations and messages, measurements."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...checks import Array, array
from ...errors import ThunderError
from ...perception import PoseMeasurement
from ...realtime.nodes.middleware import Middleware, diagnostics_message
from ...realtime.plain_data import Table
from ...spatial import pose_from_rpy
from ...spatial.single import make_pose

#: period of reports [s]
_REPORT_PERIOD = 0.2


class TaskNode:
    """Clock, lock and reports of a node; a subclass answers `_report` with level, text and values.

    Parameters
    ----------
    ros : Middleware
        The node.
    """

    def __init__(self, ros: Middleware) -> None:
        self.ros, self._begin, self._lock = ros, ros.now(), threading.RLock()
        self._diagnostics = ros.publisher("/diagnostics", ros.kinds.DiagnosticArray)

    def _seconds(self, stamp: int) -> float:
        """Return a time in seconds since the node began."""
        return 1e-9 * (stamp - self._begin)

    def _tell(self) -> None:
        with self._lock:
            level, text, values = self._report()
        self._diagnostics.send(diagnostics_message(self.ros, level, text, values))

    def _report(self) -> tuple[str, str, dict[str, Any]]:
        raise NotImplementedError

    def _tell_periodically(self) -> None:
        self.ros.every(_REPORT_PERIOD, self._tell)


class MeasurementQueue:
    """Pose source of measurements that messages bring."""

    def __init__(self) -> None:
        self._waiting: list[PoseMeasurement] = []

    def add(self, measurement: PoseMeasurement) -> None:
        """Append a measurement."""
        self._waiting.append(measurement)

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return all measurements since the last poll."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def reset(self) -> None:
        """Discard all measurements."""
        self._waiting = []


def configured_pose(values: Any, what: str) -> Array:
    """Return the pose of a configuration: x, y, z [m], roll, pitch, yaw [rad]; without values the identity."""
    row = array([0.0] * 6 if values is None else values, (6,), f"configuration: {what}")
    return pose_from_rpy(row[:3], row[3:])


def made(kind: Callable[..., Any], table: Table, key: str) -> Any:
    """Return what a mapping of a configuration describes by its arguments."""
    arguments = table.get(key, {})
    if not isinstance(arguments, dict):
        raise ThunderError(f"configuration: {key} must be a mapping, got {arguments!r}")
    try:
        return kind(**arguments)
    except TypeError as error:  # a name that is unknown or missing
        raise ThunderError(f"configuration: {key} must hold arguments: {error}") from error


def read_pose(message: Any) -> Array:
    """Return a pose (4, 4) of geometry_msgs/Pose; NaN if the quaternion is not one."""
    p, o = message.position, message.orientation
    quaternion = np.array([o.x, o.y, o.z, o.w])
    if not abs(np.linalg.norm(quaternion) - 1.0) < 1e-3:
        return np.full((4, 4), np.nan)
    return make_pose(Rotation.from_quat(quaternion).as_matrix(), np.array([p.x, p.y, p.z]))
