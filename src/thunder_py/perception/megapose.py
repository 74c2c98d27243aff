"""A client of the MegaPose server, which estimates poses of known objects in pictures.

MegaPose (Labbé et al. 2022) needs a graphics card and models of the objects, so it runs as a server: that of ViSP
(``visp-megapose``), whose requests and answers this client speaks over TCP.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import Array, array, pose
from ..errors import ThunderError
from ..motion.scalars import positive, whole
from ..values import Value
from .camera import PinholeCamera
from .megapose_messages import (
    CODES,
    HEADER,
    PoseServerError,
    depth_bytes,
    json_bytes,
    message,
    picture_bytes,
    read_json,
    read_pose,
    read_text,
)

__all__ = ["MegaPoseClient", "ObjectPose", "PoseServerError"]

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
