"""Logs in bags of ROS 1 and ROS 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...files import as_file
from ...optional import require
from ...robot import Robot
from .names import Names, listed

_KIND = "sensor_msgs/msg/JointState"
#: bytes of the description of a bag, of which YAML of a megabyte takes seconds
_LARGEST_METADATA = 1 << 22


@dataclass(frozen=True)
class BagReader:
    """Reader of the messages ``sensor_msgs/JointState`` of a bag: position and effort of joints, by their names.

    Given names of columns are the names of the robot's joints in the messages.
    Messages without all joints of the robot, such as those of a gripper, are skipped.
    """

    expected: ClassVar[str] = "a bag of ROS 1 or 2"
    path: Path
    names: Names
    topic: str | None = None

    @property
    def rows(self) -> int:
        """Number of messages."""
        with self._open() as bag:
            return sum(int(connection.msgcount) for connection in self._connections(bag))

    @contextmanager
    def _open(self) -> Iterator[Any]:
        highlevel = require("rosbags.highlevel", "logs")
        typesys = require("rosbags.typesys", "logs")
        within = self.path.rglob("*") if self.path.is_dir() else ()
        for file in (self.path, *within):
            as_file(file, most=_LARGEST_METADATA if file.name == "metadata.yaml" else None)
        with highlevel.AnyReader([self.path], default_typestore=typesys.get_typestore(typesys.Stores.LATEST)) as bag:
            yield bag

    def _connections(self, bag: Any) -> Sequence[Any]:
        found = [connection for connection in bag.connections if connection.msgtype == _KIND]
        topics = sorted({connection.topic for connection in found})
        if self.topic is None and len(topics) > 1:
            raise FileFormatError(f"topic must be given, one of {', '.join(topics)}", path=self.path)
        chosen = [connection for connection in found if self.topic in (None, connection.topic)]
        if not chosen:
            listed = ", ".join(topics) or "none"
            raise FileFormatError(f"there must be a topic of {_KIND}, got {listed}", path=self.path)
        return chosen

    def topics(self) -> list[tuple[str, int, str]]:
        """Return topics of joint states, their numbers of messages, and the joints of their first ones."""
        found = []
        with self._open() as bag:
            for connection in (each for each in bag.connections if each.msgtype == _KIND):
                _, _, raw = next(bag.messages(connections=[connection]), (None, 0, b""))
                names = bag.deserialize(raw, _KIND).name if raw else ()
                found.append((connection.topic, int(connection.msgcount), ", ".join(names)))
        return found

    def chunks(self, robot: Robot, size: int) -> Iterator[dict[str, Array]]:
        """Yield the signals, with ``t``, in parts of `size` instants."""
        rows: list[Array] = []
        seen: set[str] = set()
        joints = self._joints(robot)
        with self._open() as bag:
            begun = False
            for connection, stamp, raw in bag.messages(connections=self._connections(bag)):
                message = bag.deserialize(raw, connection.msgtype)
                seen.update(message.name)
                if not set(joints) <= set(message.name):
                    continue
                rows.append(self._row(joints, message, stamp))
                begun = True
                if len(rows) == size:
                    yield self.names.scaled(robot, _signals(robot, np.array(rows)))
                    rows = []
        if not begun:
            missing = ", ".join(name for name in joints if name not in seen)
            raise FileFormatError(
                f"messages must have all joints of {robot.name}, never had {missing or 'all together'}, "
                f"got {listed(sorted(seen))}",
                path=self.path,
            )
        if rows:
            yield self.names.scaled(robot, _signals(robot, np.array(rows)))

    def _joints(self, robot: Robot) -> Sequence[str]:
        """Return the names of the joints in messages."""
        given = self.names.given
        if given is None:
            return robot.joint_names
        named = given.get("q", ())
        names = [named] if isinstance(named, str) else [str(name) for name in named]  # type: ignore[union-attr]
        if set(given) != {"q"} or len(names) != robot.n:
            raise FileFormatError(
                f"columns of a bag must be the names of {robot.n} joints in its messages, {{'q': [...]}}, "
                f"got {dict(given)}",
                path=self.path,
            )
        return names

    def _row(self, joints: Sequence[str], message: Any, stamp: int) -> Array:
        for name in ("position", "effort"):
            count = len(getattr(message, name))
            if count != len(message.name):
                raise FileFormatError(
                    f"messages must have {name} of all joints, got {count} of {len(message.name)}",
                    path=self.path,
                )
        place = [message.name.index(joint) for joint in joints]
        header = message.header.stamp
        measured = header.sec + 1e-9 * header.nanosec or 1e-9 * stamp
        return np.concatenate([[measured], message.position[place], message.effort[place]])


def _signals(robot: Robot, rows: Array) -> dict[str, Array]:
    return {"t": rows[:, 0], "q": rows[:, 1 : 1 + robot.n], "tau": rows[:, 1 + robot.n :]}
