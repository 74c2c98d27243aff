"""A stand-in for the MegaPose server on loopback: its messages, without a network that knows objects."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_OBJECTS = ["cube", "pneumatic tool"]


def packed(code: str, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + code.encode() + data


def text(characters: str) -> bytes:
    return struct.pack(">I", len(characters)) + characters.encode()


def entry(pose: Any = None, score: Any = 0.9, **others: Any) -> dict[str, Any]:
    """Return a pose as the server tells it."""
    T = np.eye(4) if pose is None else np.asarray(pose)
    return {"cTo": T.astype(np.float32).ravel().tolist(), "score": score, "boundingBox": [1.0, 2.0, 3.0, 4.0]} | others


class StandInServer:
    """Answers requests for poses with `reply`, after `delay` [s], bytes `trickle` [s] apart; keeps the requests."""

    def __init__(
        self, reply: Callable[[dict[str, Any]], bytes | None], *, delay: float = 0.0, trickle: float = 0.0
    ) -> None:
        self.reply, self.delay, self.trickle = reply, delay, trickle
        self.requests: list[dict[str, Any]] = []
        self.intrinsics: list[dict[str, float]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> StandInServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, as if the process had died."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._thread.join(5.0)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self._connections.append(connection)
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), connection:
            while True:
                length, code = struct.unpack(">I4s", _receive(connection, 8))
                answer = self._answer(code.decode(), _receive(connection, length))
                if answer is None:
                    time.sleep(0.01)
                    continue
                if not self.trickle:
                    connection.sendall(answer)
                    continue
                for k in range(len(answer)):
                    connection.sendall(answer[k : k + 1])
                    time.sleep(self.trickle)

    def _answer(self, code: str, data: bytes) -> bytes | None:
        if code == "INTR":
            self.intrinsics.append(json.loads(data[4:]))
            return packed("OKOK")
        if code == "GLSO":
            return packed("RLSO", text(json.dumps(_OBJECTS)))
        assert code == "GETP"
        height, width, channels = struct.unpack(">3I", data[:12])
        size = height * width * channels
        picture = np.frombuffer(data[12 : 12 + size], np.uint8).reshape(height, width, channels)
        rest = data[12 + size :]
        (length,) = struct.unpack(">I", rest[:4])
        request: dict[str, Any] = json.loads(rest[4 : 4 + length].decode("ascii"))
        request["picture"], rest = picture, rest[4 + length :]
        if request["use_depth"]:
            rows, columns = struct.unpack(">2I", rest[:8])
            depth = np.frombuffer(rest[9:], np.dtype(np.uint16).newbyteorder(rest[8:9].decode()))
            request["depth"] = depth.reshape(rows, columns) * request["depth_scale_to_m"]
            rest = b""
        assert not rest
        self.requests.append(request)
        time.sleep(self.delay)
        return self.reply(request)


def _receive(connection: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = connection.recv(count - len(received))
        if not part:
            raise EOFError
        received += part
    return received
