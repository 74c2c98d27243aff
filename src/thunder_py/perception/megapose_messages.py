"""Messages of the MegaPose server: length of the data (4 bytes), code (4 letters), data; numbers are big-endian.

A text is its length and its characters; a picture its height, width and channels and its bytes, row by row; a picture
of depths its height and width, ``<`` or ``>`` for the order of the bytes of each depth, and depths as 16-bit numbers.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import ROTATION_TOLERANCE, Array
from ..errors import ThunderError

__all__ = [
    "CODES",
    "HEADER",
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
