"""A client of the MegaPose server, which estimates poses of known objects in pictures.

MegaPose (Labbé et al. 2022) needs a graphics card and models of the objects, so it runs as a server: that of ViSP
(``visp-megapose``), whose requests and answers this client speaks over TCP.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
import struct
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import ROTATION_TOLERANCE, Array, array, pose, positive, whole
from ..errors import ThunderError
from ..values import Stateful, Value
from .camera import PinholeCamera
from .pose_source import PoseMeasurement, finite, probability

__all__ = [
    "CODES",
    "HEADER",
    "MegaPoseClient",
    "MegaPoseSource",
    "ObjectPose",
    "PoseServerError",
    "depth_bytes",
    "json_bytes",
    "message",
    "picture_bytes",
    "read_json",
    "read_pose",
    "read_text",
]

#: length of the data and code
HEADER = struct.Struct(">I4s")

CODES = {
    "set intrinsics": b"INTR",
    "done": b"OKOK",
    "error": b"RERR",
    "list objects": b"GLSO",
    "objects": b"RLSO",
    "get pose": b"GETP",
    "poses": b"RETP",
    "get score": b"GSCO",
    "scores": b"RSCO",
}

#: single precision leaves so much of the orthogonality of a rotation
_SINGLE = 1e-3


class PoseServerError(ThunderError):
    """The server cannot be reached, does not answer in time, says that it failed, or says what makes no sense."""


def message(code: bytes, data: bytes = b"") -> bytes:
    """Return a whole message."""
    return HEADER.pack(len(data), code) + data


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON in a text, ASCII as the server wants it."""
    characters = json.dumps(value, allow_nan=False).encode("ascii")
    return struct.pack(">I", len(characters)) + characters


def picture_bytes(picture: npt.NDArray[np.uint8]) -> bytes:
    """Return a picture (height, width) or (height, width, 3), grey or RGB, as RGB."""
    coloured = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture
    return struct.pack(">3I", *coloured.shape) + coloured.tobytes()


def depth_bytes(depth: npt.NDArray[np.uint16]) -> bytes:
    """Return a picture of depths (height, width)."""
    return struct.pack(">2I", *depth.shape) + b"<" + depth.astype("<u2").tobytes()


def read_text(data: bytes) -> str:
    """Return the text that is all of the data."""
    if len(data) < 4 or struct.unpack(">I", data[:4])[0] != len(data) - 4:
        raise PoseServerError(f"the pose server sent a text whose length is not what it says, {len(data)} bytes")
    try:
        return data[4:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise PoseServerError(f"the pose server sent a text that is none: {error}") from error


def read_json(data: bytes) -> Any:
    """Return the value of a text in JSON."""
    text = read_text(data)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PoseServerError(f"the pose server sent no JSON: {error}; it begins with {text[:80]!r}") from error


def read_pose(entry: Any) -> tuple[Array, float, tuple[float, ...]]:
    """Return pose (4, 4), score and box of an entry of the answer to a request for poses."""
    if not isinstance(entry, dict):
        raise PoseServerError(f"every pose of the pose server must be an object, got {type(entry).__name__}")
    numbers = _numbers(entry, "cTo", 16)
    T = np.array(numbers).reshape(4, 4)
    U, _, Vt = np.linalg.svd(T[:3, :3])
    R = U @ Vt
    far = max(np.abs(R - T[:3, :3]).max(), np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)).max())
    if far > _SINGLE or np.linalg.det(R) < 0.0:
        raise PoseServerError(f"cTo of the pose server must be a rigid transform, got {T.tolist()}")
    T[:3, :3], T[3] = R, (0.0, 0.0, 0.0, 1.0)
    assert np.abs(R.T @ R - np.eye(3)).max() <= ROTATION_TOLERANCE
    (score,) = _numbers({"score": [entry.get("score")]}, "score", 1)
    return T, score, _numbers(entry, "boundingBox", 4)


def _numbers(entry: dict[str, Any], key: str, count: int) -> tuple[float, ...]:
    values = entry.get(key)
    good = isinstance(values, list) and len(values) == count and all(_is_finite(v) for v in values)
    if not good or not isinstance(values, list):
        raise PoseServerError(f"{key} of the pose server must be {count} finite number(s), got {str(values)[:200]}")
    return tuple(float(v) for v in values)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


#: bytes of an answer: poses take some hundred each
_MOST = 16 * 2**20


@dataclass(frozen=True, eq=False)
class ObjectPose(Value):
    """What the server says of an object.

    Attributes
    ----------
    pose : (4, 4) array
        Of the object in the camera's frame (x right, y down, z forward) [m].
    score : float
        How well it fits the picture, from 0 to 1.
    box : (4,) tuple of float
        Around the object at that pose: left, top, right, bottom [pixel].
    """

    pose: Array
    score: float
    box: tuple[float, ...]


class MegaPoseClient:
    """A connection to a MegaPose server, made when it is first needed and again after a failure.

    Every request ends within its time: with an answer or with a `PoseServerError`. Only looking up the name of a host
    is left to the system, and each of its addresses has the time that is left.

    Parameters
    ----------
    camera : PinholeCamera
        That takes the pictures; without distortion, which the server knows nothing of.
    host : str
        Where the server runs.
    port : int
        1 to 65535; the server's default is 5555.
    timeout : float
        For each request, its answer and, where needed, the connection [s]. A first estimate may take seconds.
    """

    def __init__(
        self, camera: PinholeCamera, *, host: str = "127.0.0.1", port: int = 5555, timeout: float = 10.0
    ) -> None:
        if not isinstance(camera, PinholeCamera):
            raise ThunderError(f"camera must be a PinholeCamera, got {camera!r}")
        if np.any(camera.distortion):
            raise ThunderError("camera must be without distortion: rectify the pictures first")
        if not isinstance(host, str) or not host:
            raise ThunderError(f"host must be a name or an address, got {host!r}")
        if whole(port, "port", 1) > 65535:
            raise ThunderError(f"port must be at most 65535, got {port}")
        self._camera, self._address = camera, (host, int(port))
        self._timeout = positive(timeout, "timeout", "s")
        self._socket: socket.socket | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection out: it is made again when it is needed."""
        return {**self.__dict__, "_socket": None}

    def poses(
        self,
        picture: npt.NDArray[np.uint8],
        labels: Sequence[str],
        *,
        boxes: npt.ArrayLike | None = None,
        initial: npt.ArrayLike | None = None,
        depth: npt.NDArray[np.uint16] | None = None,
        depth_scale: float = 1e-3,
        refinements: int | None = None,
    ) -> list[ObjectPose]:
        """Estimate the poses of objects in a picture.

        Parameters
        ----------
        picture : (height, width) or (height, width, 3) uint8 array
            Grey or RGB.
        labels : sequence of str
            Names of the objects, as the server knows them (`objects`).
        boxes : (n, 4) array_like, optional
            Where each object is seen: left, top, right, bottom [pixel]. Either these or `initial`.
        initial : (n, 4, 4) array_like, optional
            Poses to start from, of the picture before for instance, which is much faster.
        depth : (height, width) uint16 array, optional
            Depths, for models that use them.
        depth_scale : float
            Metres of a step of `depth`.
        refinements : int, optional
            Iterations; default the server's.

        Returns
        -------
        list of ObjectPose
            In the order of `labels`.

        Raises
        ------
        ThunderError
            Arguments that make no sense.
        PoseServerError
            No answer, or one that makes no sense.
        """
        given = _picture(picture, self._camera)
        request: dict[str, Any] = {"labels": _labels(labels), "use_depth": depth is not None}
        if (boxes is None) == (initial is None):
            raise ThunderError("either boxes or initial must be given, one of them")
        if boxes is not None:
            request["detections"] = array(boxes, (len(labels), 4), "boxes").tolist()
        else:
            starts = array(initial, (len(labels), 4, 4), "initial")
            request["initial_cTos"] = [pose(T, "initial").ravel().tolist() for T in starts]
        if refinements is not None:
            request["refiner_iterations"] = whole(refinements, "refinements", 0)
        data = picture_bytes(given)
        if depth is None:
            data += json_bytes(request)
        else:
            request["depth_scale_to_m"] = positive(depth_scale, "depth_scale", "m")
            data += json_bytes(request) + depth_bytes(_depths(depth, self._camera))
        answer = read_json(self._ask("get pose", data, "poses"))
        if not isinstance(answer, list) or len(answer) != len(labels):
            raise PoseServerError(f"the pose server must give {len(labels)} pose(s), got {str(answer)[:200]}")
        return [ObjectPose(*read_pose(entry)) for entry in answer]

    def objects(self) -> list[str]:
        """Return the names of the objects that the server has models of."""
        answer = read_json(self._ask("list objects", b"", "objects"))
        if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
            raise PoseServerError(f"the pose server must give a list of names, got {str(answer)[:200]}")
        return answer

    def close(self) -> None:
        """End the connection; a further request makes a new one."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
        self._socket = None

    def __enter__(self) -> MegaPoseClient:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _ask(self, request: str, data: bytes, answer: str) -> bytes:
        """Return the data of an answer."""
        deadline = time.monotonic() + self._timeout
        if self._socket is not None and _has_news(self._socket):
            self.close()  # more than one answer to the last request, of an old picture; or the server has gone
        try:
            if self._socket is None:
                self._connect(deadline)
            return self._exchange(request, data, answer, deadline)
        except TimeoutError as error:
            self.close()
            where = "{}:{}".format(*self._address)
            raise PoseServerError(f"the pose server at {where} did not answer within {self._timeout:g} s") from error
        except OSError as error:
            self.close()
            where = "{}:{}".format(*self._address)
            raise PoseServerError(f"no connection to a pose server at {where}: {error}") from error

    def _connect(self, deadline: float) -> None:
        self._socket = socket.create_connection(self._address, timeout=_left(deadline))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c = self._camera
        known = {"px": c.fx, "py": c.fy, "u0": c.cx, "v0": c.cy, "h": c.height, "w": c.width}
        try:
            self._exchange("set intrinsics", json_bytes(known), "done", deadline)
        except PoseServerError:
            self.close()
            raise

    def _exchange(self, request: str, data: bytes, answer: str, deadline: float) -> bytes:
        assert self._socket is not None
        self._socket.settimeout(_left(deadline))
        self._socket.sendall(message(CODES[request], data))
        length, code = HEADER.unpack(self._receive(HEADER.size, deadline))
        if code not in CODES.values() or length > _MOST:
            self.close()  # whatever it speaks, where its next message begins is unknown
            raise PoseServerError(f"the pose server sent {code!r} with {length} bytes, which is no answer")
        content = self._receive(length, deadline)
        if code == CODES["error"]:
            raise PoseServerError(f"the pose server says: {read_text(content)[:500]}")
        if code != CODES[answer]:
            self.close()
            raise PoseServerError(f"the pose server must answer {CODES[answer]!r} to {CODES[request]!r}, got {code!r}")
        return content

    def _receive(self, count: int, deadline: float) -> bytes:
        assert self._socket is not None
        received = bytearray()
        while len(received) < count:
            # the time is that of the whole answer: a server that sends byte by byte does not hold us
            self._socket.settimeout(_left(deadline))
            part = self._socket.recv(min(count - len(received), 2**16))
            if not part:
                raise ConnectionError(f"it closed the connection after {len(received)} of {count} bytes")
            received += part
        return bytes(received)


def _has_news(connection: socket.socket) -> bool:
    """Tell whether there is something to read, or an end, before anything was asked."""
    try:
        connection.settimeout(0.0)
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0.0:
        raise TimeoutError
    return left


def _labels(labels: Sequence[str]) -> list[str]:
    good = not isinstance(labels, str) and len(labels) > 0
    if not good or not all(isinstance(name, str) and name and name.isascii() for name in labels):
        raise ThunderError(f"labels must be at least one name of ASCII characters, got {labels!r}")
    return list(labels)


def _picture(picture: Any, camera: PinholeCamera) -> npt.NDArray[np.uint8]:
    given = np.asarray(picture)
    expected = (camera.height, camera.width)
    if given.dtype != np.uint8 or given.shape not in (expected, (*expected, 3)):
        raise ThunderError(
            f"picture must be bytes (uint8) of shape {expected} or {(*expected, 3)}, got {given.dtype} of {given.shape}"
        )
    return given


def _depths(depth: Any, camera: PinholeCamera) -> npt.NDArray[np.uint16]:
    given = np.asarray(depth)
    if given.dtype != np.uint16 or given.shape != (camera.height, camera.width):
        raise ThunderError(
            f"depth must be uint16 of shape {(camera.height, camera.width)}, got {given.dtype} of {given.shape}"
        )
    return given


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
