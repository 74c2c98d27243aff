"""Bags of ROS 1 and ROS 2 as tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..checks import Array
from ..errors import FileFormatError
from ..files import as_file
from ..optional import require

#: endings of bags
BAGS = (".bag", ".db3", ".mcap")
_KIND = "sensor_msgs/msg/JointState"
_FIELDS = ("position", "velocity", "effort")
#: bytes of the description of a bag, of which YAML of a megabyte takes seconds
_LARGEST_METADATA = 1 << 22
#: messages in which joints and their signals are looked for
_FIRST = 1000


@dataclass(frozen=True)
class BagTable:
    """Messages ``sensor_msgs/JointState`` of a topic: ``t``, ``position/joint``, ``velocity/joint``, ``effort/joint``.

    Messages without all joints that are read, such as those of a gripper, are skipped.
    """

    texts: ClassVar[frozenset[int]] = frozenset()
    expected: ClassVar[str] = "a bag of ROS 1 or 2"
    path: Path
    topic: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return ["t", *(f"{field}/{joint}" for field, joints in self._joints.items() for joint in joints)]

    @property
    def rows(self) -> int:
        """Number of messages."""
        with self._open() as bag:
            return sum(int(connection.msgcount) for connection in self._connections(bag))

    def parts(self, columns: Sequence[int], size: int) -> Iterator[Array]:
        """Yield the numbers of columns."""
        places = [(field, joint) for field, joints in self._joints.items() for joint in joints]
        wanted = [places[k - 1] for k in columns if k]
        joints, fields = {joint for _, joint in wanted}, {field for field, _ in wanted}
        with self._open() as bag:
            rows = self._rows(bag, columns, places, joints, fields)
            while part := list(itertools.islice(rows, size)):
                yield np.array(part)

    def check_joints(self, joints: Sequence[str]) -> None:
        """Raise unless messages have joints of these names."""
        seen = self._joints["position"]
        if missing := [name for name in joints if name not in seen]:
            message = f"messages must have all joints, never had {', '.join(missing)}, got {', '.join(seen)}"
            raise FileFormatError(f"{message}; give their names with columns=, {{'q': [...]}}", path=self.path)

    def topics(self) -> list[tuple[str, str, int]]:
        """Return all topics, their types and numbers of messages."""
        with self._open() as bag:
            return sorted({(each.topic, each.msgtype, int(each.msgcount)) for each in bag.connections})

    def joint_topics(self) -> list[str]:
        """Return the topics of joint states, those with the most torques and joints first."""
        topics = {topic for topic, kind, _ in self.topics() if kind == _KIND}
        joints = {topic: BagTable(self.path, topic)._joints for topic in topics}
        return sorted(topics, key=lambda topic: (-len(joints[topic]["effort"]), -len(joints[topic]["position"]), topic))

    def _rows(
        self, bag: Any, columns: Sequence[int], places: Sequence[tuple[str, str]], joints: set[str], fields: set[str]
    ) -> Iterator[list[float]]:
        for message, stamp in self._messages(bag):
            names = list(message.name)
            if not joints <= set(names):
                continue
            for field in fields:
                if (count := len(getattr(message, field))) != len(names):
                    text = f"messages must have {field} of all joints, got {count} of {len(names)}"
                    raise FileFormatError(text, path=self.path)
            header = message.header.stamp
            found = {field: dict(zip(names, getattr(message, field), strict=True)) for field in fields}
            time = header.sec + 1e-9 * header.nanosec or 1e-9 * stamp
            yield [found[places[k - 1][0]][places[k - 1][1]] if k else time for k in columns]

    def _messages(self, bag: Any) -> Iterator[tuple[Any, int]]:
        for connection, stamp, raw in bag.messages(connections=self._connections(bag)):
            yield bag.deserialize(raw, connection.msgtype), stamp

    @cached_property
    def _joints(self) -> dict[str, list[str]]:
        """Return the joints of each field in the first messages."""
        found: dict[str, dict[str, None]] = {field: {} for field in _FIELDS}
        with self._open() as bag:
            for message, _ in itertools.islice(self._messages(bag), _FIRST):
                for field in _FIELDS:
                    if len(getattr(message, field)) == len(message.name):
                        found[field].update(dict.fromkeys(message.name))
        return {field: list(joints) for field, joints in found.items()}

    @contextmanager
    def _open(self) -> Iterator[Any]:
        highlevel = require("rosbags.highlevel", "logs")
        typesys = require("rosbags.typesys", "logs")
        within = sorted(self.path.rglob("*")) if self.path.is_dir() else []
        for file in (self.path, *within):
            as_file(file, most=_LARGEST_METADATA if file.name == "metadata.yaml" else None)
        several = [file for file in within if file.suffix in BAGS]
        paths = several if several and not (self.path / "metadata.yaml").exists() else [self.path]
        with highlevel.AnyReader(paths, default_typestore=typesys.get_typestore(typesys.Stores.LATEST)) as bag:
            yield bag

    def _connections(self, bag: Any) -> Sequence[Any]:
        found = [connection for connection in bag.connections if connection.msgtype == _KIND]
        topics = sorted({connection.topic for connection in found})
        if self.topic is None and len(topics) > 1:
            raise FileFormatError(f"topic must be given, one of {', '.join(topics)}", path=self.path)
        chosen = [connection for connection in found if self.topic in (None, connection.topic)]
        if not chosen:
            listed = ", ".join(topics) or ", ".join(sorted({each.topic for each in bag.connections})) or "none"
            raise FileFormatError(f"there must be a topic of {_KIND}, got {listed}", path=self.path)
        return chosen
