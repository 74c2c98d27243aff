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
        if not self.content:
            raise self.error("file is empty")
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
        width, count, samples, start, frames = self.layout(point, parameters)
        kind = np.dtype(f"{self.order}f4" if width == 4 else f"{self.order}i2")
        rows = np.frombuffer(self.content, kind, frames * (4 * count + samples), start).reshape(frames, -1)
        rows = rows[:, : 4 * count]
        values = self.reals(rows.tobytes()) if width == 4 else self.scales(point)[2] * rows.astype(np.float64)
        with np.errstate(invalid="ignore"):
            points = values.reshape(frames, count, 4).astype(np.float64)
        # not <: a residual that is no number measures nothing
        points[~(points[..., 3] >= 0.0)] = np.nan
        if np.isinf(points[..., :3]).any():
            raise self.error("coordinates must be finite, got infinity: the file is damaged")
        rates = (_number(point, "RATE"), float(self.reals(self.content[20:24])[0]))
        return C3DPoints(points[..., :3], parameters, int(self.words[3]), rates)

    def scales(self, point: dict[str, Any]) -> dict[int, float]:
        """Return factors by the bytes of a number: negative factors mean reals; header and parameter may differ."""
        in_header = float(self.reals(self.content[12:16])[0])
        known = [scale for scale in (in_header, _number(point, "SCALE")) if np.isfinite(scale) and scale != 0.0]
        if not known:
            raise self.error(f"must be a number other than 0, got {in_header:g}", "POINT:SCALE")
        return {4 if scale < 0.0 else 2: scale for scale in known}

    def layout(self, point: dict[str, Any], parameters: Parameters) -> tuple[int, int, int, int, int]:
        """Return bytes of a number, points and analog samples of a frame, start of the data, and frames.

        Where header and parameters contradict each other, the one layout that fills the file is returned, with a
        warning. A file that is longer or shorter than what both say is read with a warning.
        """
        counts = [count for count in _distinct(self.words[1], _whole(point, "USED")) if count]
        if not counts:
            raise self.error("expected points, got none: analog signals are no motion", "POINT:USED")
        starts = _distinct(*(_BLOCK * (block - 1) for block in (int(self.words[8]), _whole(point, "DATA_START") or 0)))
        starts = [start for start in starts if self.start < start < len(self.content)]
        if not starts:
            text = f"the data must begin behind the parameters, in the file, got block {self.words[8]}"
            raise self.error(text, "POINT:DATA_START")
        samples = _distinct(self.words[2], _analog(parameters, point))
        layouts = list(itertools.product(self.scales(point), counts, samples, starts))
        claims = self.frames(point, parameters)
        texts, fitting, room = [], [], 0.0
        for layout in layouts:
            width, n, analog, start = layout
            size = width * (4 * n + analog)
            room = (len(self.content) - start) / size
            for T in claims:
                text = f"{T} frames of {n} points and {analog} analog samples, got room for {room:.6g}"
                texts.append(text + (f" of {8 * width} bits" if len(self.scales(point)) > 1 else ""))
                if room >= T:
                    fitting.append((len(self.content) - start - size * T, layout, T))
        text = " or ".join(texts)
        if len(layouts) > 1:  # one of them, and one only, must fill the file to a block
            filling = [each for each in fitting if each[0] < _BLOCK]
            if len({layout for _, layout, _ in filling}) != 1:
                raise self.error(f"header and parameters contradict each other: expected {text}")
            _, layout, T = min(filling)
            read = f"{T} frames of {layout[1]} points and {layout[2]} analog samples"
            self.warn(f"header and parameters contradict each other; read {read}, which fill the file")
        elif fitting:
            rest, _, T = min(fitting)
            if rest >= _PADDING + size:
                self.warn(f"expected {text}; the first {T} were read: the file was shortened, or is damaged")
        else:
            T = int(room)
            self.warn(f"expected {text}; the first {T} were read: the file is cut off, or damaged")
        return (*layout, T)

    def warn(self, message: str) -> None:
        warnings.warn(f"{self.path}: {message}", RecordingWarning, stacklevel=outer_level())

    def frames(self, point: dict[str, Any], parameters: Parameters) -> list[int]:
        """Return the numbers of frames that header and parameters claim."""
        first, last = int(self.words[3]), int(self.words[4])
        trial = parameters.get("TRIAL", {})
        start, end = (_long(trial, f"ACTUAL_{end}_FIELD") for end in ("START", "END"))
        claims = (
            last - first + 1,
            (end - start + 1) * bool(end),
            _whole(point, "FRAMES") or 0,
            _whole(point, "LONG_FRAMES") or 0,
        )
        frames = [claim for claim in _distinct(*claims) if claim > 0]
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


def _number(group: dict[str, Any], name: str) -> float:
    """Return the first entry of a parameter of numbers, NaN if it is missing, empty or text."""
    values = group.get(name, ())
    return float(values[0]) if isinstance(values, np.ndarray) and len(values) else np.nan


def _whole(group: dict[str, Any], name: str) -> int | None:
    """Return a number that is not negative; 16-bit numbers have no sign."""
    value = _number(group, name)
    if -0x8000 <= value < 0.0:
        value += 0x10000
    return int(value) if np.isfinite(value) and value >= 0.0 else None


def _long(group: dict[str, Any], name: str) -> int:
    """Return a number stored as two 16-bit words, low word first; 0 if it is missing."""
    values = group.get(name)
    if not isinstance(values, np.ndarray) or values.dtype.kind != "i" or len(values) < 2:
        return 0
    return (int(values[0]) & 0xFFFF) + ((int(values[1]) & 0xFFFF) << 16)


def _analog(parameters: Parameters, point: dict[str, Any]) -> int | None:
    """Return the analog samples of a frame according to the parameters."""
    group = parameters.get("ANALOG", {})
    used, ratio = _whole(group, "USED"), _number(group, "RATE") / (_number(point, "RATE") or np.nan)
    if used is None or not ratio > 0.0:  # NaN: the file has no rates
        return used
    return used * max(1, round(ratio)) if ratio < 1e6 else None
