"""Points and parameters of C3D files: Intel, DEC and MIPS processors, integers and reals.

A bounded reader: everything is compared with the size of the file before it is read. Where header and parameters of
the file contradict each other, the size of the file decides, or the file is refused.

Format: C3D User Guide, Motion Lab Systems (c3d.org).
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import FileFormatError, outer_level
from ...files import read_whole
from ..plausibility import RecordingWarning
from .text import LARGEST

#: bytes of a block, second byte of every file
_BLOCK, _KEY = 512, 0x50
#: fourth byte of the parameters: byte order, and whether reals are those of the VAX
_PROCESSORS = {84: ("<", False), 85: ("<", True), 86: (">", False)}
#: types of parameters, by bytes of an element
_TYPES = {-1: "S1", 1: "u1", 2: "i2", 4: "f4"}
#: bytes that may follow the data: writers pad to blocks, some by several
_PADDING = 16 * _BLOCK

Parameters = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class C3DPoints:
    """Points of a file.

    Attributes
    ----------
    points : (T, n, 3) array
        Coordinates in the unit of the file; NaN where the residual is negative.
    parameters : dict
        ``{group: {name: values}}`` in capitals; texts as lists of str, numbers as arrays.
    first_frame : int
        Number of the first frame in the header, counted from 1.
    rates : tuple of float
        POINT:RATE and that of the header [Hz]; 0 or NaN where missing.
    """

    points: Array
    parameters: Parameters
    first_frame: int
    rates: tuple[float, float]


def read_c3d(path: str | Path) -> C3DPoints:
    """Read the points of a C3D file.

    Raises
    ------
    FileFormatError
        If it is no C3D file, damaged, cut off, or contradicts itself.
    """
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.content = read_whole(path, LARGEST)
        if len(self.content) < _BLOCK or self.content[1] != _KEY or self.content[0] < 1:
            raise self.error("not a C3D file: its second byte must be 0x50")
        self.start = _BLOCK * (self.content[0] - 1)
        if len(self.content) < self.start + _BLOCK:
            raise self.error(f"cut off before its data: {len(self.content)} bytes")
        processor = self.content[self.start + 3]
        if processor not in _PROCESSORS:
            raise self.error(f"processor must be one of {', '.join(map(str, _PROCESSORS))}, got {processor}")
        self.order, self.vax = _PROCESSORS[processor]
        self.words = np.frombuffer(self.content, f"{self.order}u2", 12).astype(np.int64)
        if len(self.content) < _BLOCK * (int(self.words[8]) - 1):
            raise self.error(f"cut off before its data: {len(self.content)} bytes")

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        return FileFormatError(message, path=self.path, key=key)

    def reals(self, data: bytes) -> npt.NDArray[np.float32]:
        """Return 32-bit reals; those of the VAX have their halves exchanged and are four times as large."""
        if self.vax:
            data = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1].tobytes()
        with np.errstate(invalid="ignore"):  # bits of NaN in damaged files
            values = np.frombuffer(data, f"{self.order}f4").astype(np.float32)
            return values * np.float32(0.25) if self.vax else values

    def read(self) -> C3DPoints:
        parameters = self.parameters()
        point = parameters.get("POINT", {})
        scale = self.scale(point)
        width = 4 if scale < 0.0 else 2
        count, samples, frames, start = self.layout(point, parameters, width)
        kind = np.dtype(f"{self.order}f4" if width == 4 else f"{self.order}i2")
        rows = np.frombuffer(self.content, kind, frames * (4 * count + samples), start).reshape(frames, -1)[
            :, : 4 * count
        ]
        values = self.reals(rows.tobytes()).reshape(frames, count, 4) if width == 4 else rows.reshape(frames, count, 4)
        with np.errstate(invalid="ignore"):
            points = values[..., :3].astype(np.float64) * (1.0 if width == 4 else scale)
        # not <: a residual that is no number measures nothing
        points[~(values[..., 3] >= 0)] = np.nan
        if np.isinf(points).any():
            raise self.error("coordinates must be finite, got infinity: the file is damaged")
        rates = (float(_first(point, "RATE", np.nan)), float(self.reals(self.content[20:24])[0]))
        return C3DPoints(points, parameters, int(self.words[3]), rates)

    def scale(self, point: dict[str, Any]) -> float:
        """Return the factor of integers, negative for reals; header and parameter agree on the type."""
        in_header = float(self.reals(self.content[12:16])[0])
        scale = float(_first(point, "SCALE", in_header))
        if not (np.isfinite(scale) and scale != 0.0):
            scale = in_header
        if not (np.isfinite(scale) and scale != 0.0):
            raise self.error(f"must be a number other than 0, got {scale:g}", "POINT:SCALE")
        if np.isfinite(in_header) and in_header != 0.0 and (in_header < 0.0) != (scale < 0.0):
            raise self.error(
                f"must be as in the header, {in_header:g}, got {scale:g}: reals or integers", "POINT:SCALE"
            )
        return scale

    def layout(self, point: dict[str, Any], parameters: Parameters, width: int) -> tuple[int, int, int, int]:
        """Return points and analog samples of a frame, frames, and the start of the data.

        Where header and parameters contradict each other, the one layout that fills the file is returned, with a
        warning. A file longer than what both say is read with a warning.
        """
        counts = _distinct(self.words[1], _whole(point, "USED"))
        samples = _distinct(self.words[2], _analog(parameters, point))
        starts = _distinct(*(_BLOCK * (block - 1) for block in (int(self.words[8]), _whole(point, "DATA_START") or 0)))
        starts = [start for start in starts if start > self.start]
        if not starts:
            raise self.error(
                f"the data must begin behind the parameters, got block {self.words[8]}", "POINT:DATA_START"
            )
        frames = self.frames(point, parameters)
        if not any(counts):
            raise self.error("expected points, got none", "POINT:USED")
        texts, fitting = [], []
        for n, analog, start, T in itertools.product(counts, samples, starts, frames):
            size, room = width * (4 * n + analog), len(self.content) - start
            if n > 0:
                texts.append(f"{T} frames of {n} points and {analog} analog samples, got room for {room / size:.6g}")
                if (rest := room - size * T) >= 0:
                    fitting.append((rest, (n, analog, start), T))
        text = " or ".join(dict.fromkeys(texts))
        if not fitting:
            raise self.error(f"expected {text}")
        rest, (n, analog, start), T = min(fitting)
        if len(counts) * len(samples) * len(starts) > 1:  # one of them, and one only, must fill the file to a block
            if len({layout for left, layout, _ in fitting if left < _BLOCK}) != 1:
                raise self.error(f"header and parameters contradict each other: expected {text}")
            read = f"{T} frames of {n} points and {analog} analog samples"
            self.warn(f"header and parameters contradict each other; read {read}, which fill the file")
        elif rest >= _PADDING + width * (4 * n + analog):
            self.warn(f"expected {text}; the first {T} were read: the file was shortened, or is damaged")
        return n, analog, T, start

    def warn(self, message: str) -> None:
        warnings.warn(f"{self.path}: {message}", RecordingWarning, stacklevel=outer_level())

    def frames(self, point: dict[str, Any], parameters: Parameters) -> list[int]:
        """Return the numbers of frames that header and parameters claim."""
        first, last = int(self.words[3]), int(self.words[4])
        trial = parameters.get("TRIAL", {})
        ends = [_long(trial, f"ACTUAL_{end}_FIELD") for end in ("START", "END")]
        claims = [
            last - first + 1 if first <= last else 0,
            ends[1] - ends[0] + 1 if None not in ends else 0,  # type: ignore[operator]
            _whole(point, "FRAMES") or 0,
            _whole(point, "LONG_FRAMES") or 0,
        ]
        frames = _distinct(*(claim for claim in claims if claim > 0))
        if not frames:
            raise self.error("expected frames of points, got none", "POINT:FRAMES")
        return frames

    # --- parameters ---------------------------------------------------------------------------------------------

    def parameters(self) -> Parameters:
        """Walk the chain of groups and parameters, to its end or to the data."""
        names: dict[int, str] = {}
        found: list[tuple[int, str, Any]] = []
        end = _BLOCK * (int(self.words[8]) - 1)
        end = end if self.start < end <= len(self.content) else len(self.content)
        at = self.start + 4
        while at + 2 <= end and self.content[at]:
            length, group = abs(self.byte(at)), self.byte(at + 1)
            tail = at + 2 + length  # offset of the next, counted from here
            if tail + 2 > end or group == 0:
                raise self.error(f"damaged parameters at byte {at}")
            name = self.text(at + 2, tail).strip().upper()
            step = int(np.frombuffer(self.content, f"{self.order}u2", 1, tail)[0])
            if group < 0:
                names[-group] = name
            else:
                found.append((group, name, self.value(tail + 2, end, name)))
            if step == 0:
                break
            if step < 2:
                raise self.error(f"damaged parameters at byte {at}")
            at = tail + step
        result: Parameters = {}
        for group, name, value in found:
            result.setdefault(names.get(group, ""), {}).setdefault(name, value)
        return result

    def byte(self, at: int) -> int:
        return int.from_bytes(self.content[at : at + 1], "big", signed=True)

    def text(self, at: int, end: int) -> str:
        data = self.content[at:end]
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def value(self, at: int, end: int, name: str) -> Any:
        """Return a parameter: a list of texts, or an array of numbers."""
        kind = self.byte(at) if at + 2 <= end else 0
        if kind not in _TYPES:
            raise self.error(f"type must be one of {', '.join(map(str, _TYPES))}, got {kind}", name)
        dimensions = self.content[at + 2 : at + 2 + self.content[at + 1]]
        first = at + 2 + self.content[at + 1]
        size = 1
        for dimension in dimensions:
            size *= dimension
        if first + size * abs(kind) > end:
            raise self.error("is longer than the parameters of the file", name)
        if kind == -1:
            width = dimensions[0] if dimensions else 1
            starts = range(first, first + size, width) if width else ()
            return [self.text(k, k + width).strip("\0 ") for k in starts]
        data = self.content[first : first + size * kind]
        return self.reals(data) if kind == 4 else np.frombuffer(data, f"{self.order}{_TYPES[kind]}")


def _distinct(*values: int | None) -> list[int]:
    return list(dict.fromkeys(int(value) for value in values if value is not None))


def _first(group: dict[str, Any], name: str, otherwise: Any) -> Any:
    """Return the first entry of a parameter of numbers, `otherwise` if it is missing, empty or text."""
    values = group.get(name, ())
    return values[0] if isinstance(values, np.ndarray) and len(values) else otherwise


def _whole(group: dict[str, Any], name: str) -> int | None:
    """Return a number that is not negative; 16-bit numbers have no sign."""
    value = float(_first(group, name, np.nan))
    if -0x8000 <= value < 0.0:
        value += 0x10000
    return int(value) if np.isfinite(value) and value >= 0.0 else None


def _long(group: dict[str, Any], name: str) -> int | None:
    """Return a number stored as two 16-bit words, low word first."""
    values = group.get(name)
    if not isinstance(values, np.ndarray) or values.dtype.kind != "i" or len(values) < 2:
        return None
    low, high = (int(word) & 0xFFFF for word in values[:2])
    return low + (high << 16)


def _analog(parameters: Parameters, point: dict[str, Any]) -> int | None:
    """Return the analog samples of a frame according to the parameters."""
    group = parameters.get("ANALOG", {})
    used, rate, frame_rate = _whole(group, "USED"), float(_first(group, "RATE", 0.0)), float(_first(point, "RATE", 0.0))
    if used is None or not (rate > 0.0 and frame_rate > 0.0):
        return used
    ratio = rate / frame_rate
    return used * max(1, round(ratio)) if np.isfinite(ratio) and ratio < 1e6 else None
