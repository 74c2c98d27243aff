"""A client of the MegaPose server, which estimates poses of known objects in pictures.

MegaPose (Labbé et al. 2022) needs a graphics card and models of the objects, so it runs as a server. This client
implements the TCP protocol of ViSP's server (``visp-megapose``).
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, finite, of_kind, pose, positive, whole, within
from ..errors import ThunderError
from ..spatial.single import make_pose
from ..values import Stateful, Value
from .camera import PinholeCamera, check_picture
from .pose_source import PoseMeasurement, function, next_time

#: header of a message: length of the data, and code; length of a text
HEADER, _LENGTH = struct.Struct(">I4s"), struct.Struct(">I")
#: codes of requests with those of their answers; any may be answered with an error
ANSWERS = {b"INTR": b"OKOK", b"GLSO": b"RLSO", b"GETP": b"RETP"}
_ERROR = b"RERR"
#: tolerance on the orthogonality of a rotation in single precision
_SINGLE = 1e-3
#: largest answer in bytes; a pose takes some hundred
_MOST = 16 * 2**20


class PoseServerError(ThunderError):
    """The pose server cannot be reached, is late, reports an error, or sends an invalid answer.

    Examples
    --------
    >>> from thunder_py.perception import MegaPoseClient, PinholeCamera, PoseServerError
    >>> client = MegaPoseClient(PinholeCamera.from_field_of_view(640, 480, 1.0), port=1)  # no server there
    >>> try:
    ...     client.objects()
    ... except PoseServerError as error:
    ...     print(str(error).split(": ")[0])
    no connection to a pose server at 127.0.0.1:1
    """


@dataclass(frozen=True, eq=False)
class ObjectPose(Value):
    """Estimated pose of an object.

    Attributes
    ----------
    pose : (4, 4) array
        Pose of the object in the camera's frame (x right, y down, z forward) [m].
    score : float
        Quality of the fit, from 0 to 1.
    box : (4,) tuple of float
        Bounding box of the object at that pose: left, top, right, bottom [pixel].
    """

    pose: Array
    score: float
    box: tuple[float, ...]


def message(code: bytes, data: bytes = b"") -> bytes:
    """Return a whole message."""
    return HEADER.pack(len(data), code) + data


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON text in ASCII, as the server requires."""
    characters = json.dumps(value, allow_nan=False).encode("ascii")
    return _LENGTH.pack(len(characters)) + characters


def read_json(data: bytes) -> Any:
    """Return the value of a text in JSON."""
    try:
        if _LENGTH.unpack_from(data)[0] != len(data) - _LENGTH.size:
            raise ValueError("its length does not match its data")
        return json.loads(data[_LENGTH.size :].decode("utf-8"))
    except (ValueError, struct.error, RecursionError) as error:
        raise PoseServerError(f"the pose server must answer in JSON, got {data[:80]!r}: {error}") from error


def read_pose(entry: Any) -> ObjectPose:
    """Return the pose of an entry of the answer to a request for poses."""
    try:
        given = array(entry["cTo"], (16,), "cTo").reshape(4, 4)
        U, _, Vt = np.linalg.svd(given[:3, :3])
        T = pose(make_pose(U @ Vt, given[:3, 3]), "cTo")
        if np.abs(T - given).max() > _SINGLE:
            raise ThunderError(f"cTo must be a rigid transform, got {given.tolist()}")
        box = array(entry["boundingBox"], (4,), "boundingBox")
        return ObjectPose(T, finite(entry["score"], "score"), tuple(box.tolist()))
    except (ThunderError, KeyError, TypeError, OverflowError) as error:
        raise PoseServerError(f"the pose server must give cTo, score and boundingBox of every pose: {error}") from error


class MegaPoseClient(contextlib.AbstractContextManager["MegaPoseClient"]):
    """A connection to a MegaPose server, opened on first use and again after a failure.

    Every request ends within its time-out, with an answer or with a `PoseServerError`. The time-out does not cover the
    system's look-up of the host name; each address is tried within the remaining time.

    Parameters
    ----------
    camera : PinholeCamera
        Camera of the pictures; without distortion, which the server does not support.
    host : str
        Host name or address of the server.
    port : int
        1 to 65535; the server's default is 5555.
    timeout : float
        Time-out of each request, including its answer and a new connection [s]. A first estimate may take seconds.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> import socket, threading
    >>> from thunder_py.perception import MegaPoseClient, PinholeCamera
    >>> from thunder_py.perception.megapose import json_bytes, message
    >>> server = socket.create_server(("127.0.0.1", 0))
    >>> def serve():  # stand-in for a server with one object
    ...     with server, server.accept()[0] as connection:
    ...         for answer in (message(b"OKOK"), message(b"RLSO", json_bytes(["cube"]))):
    ...             connection.recv(4096)
    ...             connection.sendall(answer)
    >>> thread, port = threading.Thread(target=serve), server.getsockname()[1]
    >>> thread.start()
    >>> with MegaPoseClient(PinholeCamera.from_field_of_view(64, 48, 1.0), port=port) as client:
    ...     client.objects()
    ['cube']
    >>> thread.join()
    """

    def __init__(
        self, camera: PinholeCamera, *, host: str = "127.0.0.1", port: int = 5555, timeout: float = 10.0
    ) -> None:
        if np.any(of_kind(camera, PinholeCamera, "camera").distortion):
            raise ThunderError("camera must be without distortion: rectify the pictures first")
        if not isinstance(host, str) or not host:
            raise ThunderError(f"host must be a name or an address, got {host!r}")
        self._camera, self._address = camera, (host, whole(port, "port", 1, 65535))
        self._timeout = positive(timeout, "timeout", "s")
        self._socket: socket.socket | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the connection out: it is opened again on use."""
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
            Gray or RGB.
        labels : sequence of str
            Names of the objects, as the server knows them (`objects`).
        boxes : (n, 4) array_like, optional
            Bounding boxes of the objects: left, top, right, bottom [pixel]. Either these or `initial`.
        initial : (n, 4, 4) array_like, optional
            Initial poses, such as those of the picture before, which is much faster.
        depth : (height, width) uint16 array, optional
            Depths, for models that use them.
        depth_scale : float
            Unit of `depth` [m].
        refinements : int, optional
            Number of iterations; default the server's.

        Returns
        -------
        list of ObjectPose
            In the order of `labels`.

        Raises
        ------
        ThunderError
            If an argument is invalid.
        PoseServerError
            If there is no answer, or an invalid one.
        """
        pixels = check_picture(picture, self._camera)
        good = not isinstance(labels, str) and len(labels) > 0
        if not good or not all(isinstance(name, str) and name and name.isascii() for name in labels):
            raise ThunderError(f"labels must be at least one name of ASCII characters, got {labels!r}")
        count = len(labels)
        request: dict[str, Any] = {"labels": list(labels), "use_depth": depth is not None}
        if (boxes is None) == (initial is None):
            raise ThunderError("exactly one of boxes and initial must be given")
        if boxes is not None:
            request["detections"] = array(boxes, (count, 4), "boxes").tolist()
        else:
            starts = array(initial, (count, 4, 4), "initial")
            request["initial_cTos"] = [pose(T, "initial").ravel().tolist() for T in starts]
        if refinements is not None:
            request["refiner_iterations"] = whole(refinements, "refinements", 0)
        depths = b""
        if depth is not None:
            request["depth_scale_to_m"] = positive(depth_scale, "depth_scale", "m")
            image = check_picture(depth, self._camera, "depth", "uint16")
            depths = struct.pack(">2I", *image.shape) + b"<" + image.astype("<u2").tobytes()
        colored = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
        data = struct.pack(">3I", *colored.shape) + colored.tobytes() + json_bytes(request) + depths
        answer = read_json(self._ask(b"GETP", data))
        if not isinstance(answer, list) or len(answer) != count:
            raise PoseServerError(f"the pose server must give {count} pose(s), got {str(answer)[:200]}")
        return [read_pose(entry) for entry in answer]

    def objects(self) -> list[str]:
        """Return the names of the objects that the server knows."""
        answer = read_json(self._ask(b"GLSO"))
        if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
            raise PoseServerError(f"the pose server must give a list of names, got {str(answer)[:200]}")
        return answer

    def close(self) -> None:
        """Close the connection; a further request opens a new one."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
        self._socket = None

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _ask(self, request: bytes, data: bytes = b"") -> bytes:
        """Return the data of the answer to a request."""
        deadline = time.monotonic() + self._timeout
        if self._socket is not None and _has_news(self._socket):
            self.close()  # a second answer to the last request, of an old picture; or the server has closed
        try:
            if self._socket is None:
                self._socket = socket.create_connection(self._address, timeout=_left(deadline))
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                c = self._camera
                known = {"px": c.fx, "py": c.fy, "u0": c.cx, "v0": c.cy, "h": c.height, "w": c.width}
                _exchange(self._socket, b"INTR", json_bytes(known), deadline)
            return _exchange(self._socket, request, data, deadline)
        except PoseServerError:
            self.close()  # the beginning of the next message may be unknown
            raise
        except OSError as error:
            self.close()
            where = "{}:{}".format(*self._address)
            reason = f"no connection to a pose server at {where}: {error}"
            if isinstance(error, TimeoutError):
                reason = f"the pose server at {where} did not answer within {self._timeout:g} s"
            raise PoseServerError(reason) from error


def _exchange(connection: socket.socket, request: bytes, data: bytes, deadline: float) -> bytes:
    """Return the data of the answer to one message."""
    connection.settimeout(_left(deadline))
    connection.sendall(message(request, data))
    length, code = HEADER.unpack(_receive(connection, HEADER.size, deadline))
    if code not in (ANSWERS[request], _ERROR) or length > _MOST:
        raise PoseServerError(
            f"the pose server must answer {ANSWERS[request]!r} to {request!r}, got {code!r} with {length} bytes"
        )
    content = _receive(connection, length, deadline)
    if code == _ERROR:
        raise PoseServerError(f"the pose server reported: {content[_LENGTH.size :][:500].decode('utf-8', 'replace')}")
    return content


def _receive(connection: socket.socket, count: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < count:
        # the deadline is that of the whole answer, also if the server sends byte by byte
        connection.settimeout(_left(deadline))
        part = connection.recv(min(count - len(received), 2**16))
        if not part:
            raise ConnectionError(f"it closed the connection after {len(received)} of {count} bytes")
        received += part
    return bytes(received)


def _has_news(connection: socket.socket) -> bool:
    """Return whether there is data, or an end of the stream, before a request."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(0.0))


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0.0:
        raise TimeoutError
    return left


class MegaPoseSource(Stateful):
    """Pose source of one object that queries a MegaPose server from its own thread.

    One request at a time is pending; pictures due meanwhile are skipped. The object is searched in its box until it is
    found, then from the pose of the picture before (faster), until that fails. A failure of the server gives a
    measurement without a pose, and the source tries again with the next picture.

    The quality of a measurement is the server's score.

    Parameters
    ----------
    client : MegaPoseClient
        Client, used by this source only.
    grab : callable
        Returns the picture of a time [s], uint8 array, or None; called by `poll`.
    label : str
        Name of the object.
    box : (4,) array_like
        Box in which it is searched: left, top, right, bottom [pixel].
    rate : float
        Largest number of pictures per second [Hz].
    camera_pose : (4, 4) array_like, optional
        Pose of the camera in the world; measurements are in the world then, otherwise in the camera's frame.
    least_score : float
        Poses with a lower score count as nothing seen.
    wait : bool
        Wait for the answer in `poll`, and make the measurement available at the time of its picture; for pictures
        that are not taken in real time.

    Raises
    ------
    ThunderError
        If an argument is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from thunder_py.perception import MegaPoseClient, MegaPoseSource, PinholeCamera
    >>> client = MegaPoseClient(PinholeCamera.from_field_of_view(64, 48, 1.0), port=1)  # no server there
    >>> picture = np.zeros((48, 64), dtype=np.uint8)
    >>> source = MegaPoseSource(client, lambda t: picture, "cube", box=(10, 10, 50, 40), wait=True)
    >>> [m.usable for m in source.poll(0.0)], type(source.error).__name__
    ([False], 'PoseServerError')
    >>> source.close()
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
        self._client, self._grab, self._label = client, function(grab, "grab"), label
        self._box, self._rate = array(box, (4,), "box"), positive(rate, "rate", "Hz")
        self._camera_pose = pose(np.eye(4) if camera_pose is None else camera_pose, "camera_pose")
        self._least_score, self._wait = within(least_score, "least_score", 0.0, 1.0), bool(wait)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pose server")
        self._pending: tuple[float, Future[ObjectPose]] | None = None
        self._closed = False
        #: latest error of the server, None after a success
        self.error: PoseServerError | None = None
        self.reset()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the thread and the pending request."""
        return {**self.__dict__, "_thread": None, "_pending": None, "_dropped": None}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Start a new thread."""
        self.__dict__.update(attributes, _thread=ThreadPoolExecutor(1, thread_name_prefix="pose server"))

    def reset(self) -> None:
        """Start again: search the object in its box; a pending answer is dropped."""
        self._now = -np.inf
        self._due = -np.inf
        self._last: ObjectPose | None = None
        self._dropped = self._pending[1] if self._pending is not None else None
        self._pending = None

    def close(self) -> None:
        """Wait for the pending request and close the connection; no measurements follow."""
        self._closed = True
        self._thread.shutdown(cancel_futures=True)
        self._client.close()

    def poll(self, t: float) -> list[PoseMeasurement]:
        """Return the measurement that was answered since the last poll, if any; then take the next picture.

        Raises
        ------
        ThunderError
            If `t` decreases, the source is closed, or a picture does not fit the client's camera.
        """
        if self._closed:
            raise ThunderError("the source is closed; create a new one")
        now = self._now = next_time(t, self._now)
        measurements = self._collected(now)
        busy = self._dropped is not None and not self._dropped.done()
        if self._pending is None and not busy and now >= self._due:
            self._due = now + 1.0 / self._rate
            picture = self._grab(now)
            if picture is None:
                measurements.append(PoseMeasurement(now, now, None, 0.0))
            else:
                self._pending = now, self._thread.submit(self._asked, picture, self._last)
                if self._wait:
                    measurements += self._collected(now)
        return measurements

    def _asked(self, picture: Any, last: ObjectPose | None) -> ObjectPose:
        start: Any = {"boxes": [self._box]} if last is None else {"initial": [last.pose]}
        return self._client.poses(picture, [self._label], **start)[0]

    def _collected(self, now: float) -> list[PoseMeasurement]:
        if self._pending is None or not (self._wait or self._pending[1].done()):
            return []
        (taken, future), self._pending = self._pending, None
        result, self.error = None, None
        try:
            result = future.result()
        except PoseServerError as error:
            self.error = error
        self._last = None if result is None or result.score < self._least_score else result
        found = None if self._last is None else self._camera_pose @ self._last.pose
        return [PoseMeasurement(taken, now, found, 0.0 if result is None else max(result.score, 0.0))]
