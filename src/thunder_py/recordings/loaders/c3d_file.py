"""Points and parameters of C3D files: Intel, DEC and MIPS processors, integers and reals.

A bounded reader: everything is compared with the size of the file before it is read. Where header and parameters of
the file contradict each other, the size of the file decides, or the file is refused.

Format: C3D User Guide, Motion Lab Systems (c3d.org).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import Array
from ...errors import FileFormatError
from ...files import read_whole
from ..plausibility import warn_about
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
        self.start, data = _BLOCK * (self.content[0] - 1), 0
        if len(self.content) >= self.start + _BLOCK:
            processor = self.content[self.start + 3]
            if processor not in _PROCESSORS:
                raise self.error(f"processor must be one of {', '.join(map(str, _PROCESSORS))}, got {processor}")
            self.order, self.vax = _PROCESSORS[processor]
            self.words = np.frombuffer(self.content, f"{self.order}u2", 12).astype(np.int64)
            data = _BLOCK * (int(self.words[8]) - 1)
        if len(self.content) < max(data, self.start + _BLOCK):
            raise self.error(f"cut off before its data: {len(self.content)} bytes")
        self.parameters = self.walked(data if data > self.start else len(self.content))

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        return FileFormatError(message, path=self.path, key=key)

    def warn(self, message: str) -> None:
        warn_about(self.path, message)

    def reals(self, data: bytes) -> npt.NDArray[np.float32]:
        """Return 32-bit reals; those of the VAX have their halves exchanged and are four times as large."""
        if self.vax:
            data = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1].tobytes()
        with np.errstate(invalid="ignore"):  # bits of NaN in damaged files
            values = np.frombuffer(data, f"{self.order}f4").astype(np.float32)
            return values * np.float32(0.25) if self.vax else values

    def read(self) -> C3DPoints:
        # factors by the bytes of a number: negative ones mean reals; header and parameter may differ
        in_header = float(self.reals(self.content[12:16])[0])
        known = [scale for scale in (in_header, self.number("POINT", "SCALE")) if np.isfinite(scale) and scale != 0.0]
        scales = {4 if scale < 0.0 else 2: scale for scale in known}
        if not scales:
            raise self.error(f"must be a number other than 0, got {in_header:g}", "POINT:SCALE")
        width, count, samples, start, frames = self.layout(list(scales))
        kind = np.dtype(f"{self.order}f4" if width == 4 else f"{self.order}i2")
        rows = np.frombuffer(self.content, kind, frames * (4 * count + samples), start).reshape(frames, -1)
        rows = rows[:, : 4 * count]
        values = self.reals(rows.tobytes()) if width == 4 else scales[2] * rows.astype(np.float64)
        with np.errstate(invalid="ignore"):
            points = values.reshape(frames, count, 4).astype(np.float64)
        # not <: a residual that is no number measures nothing
        points[~(points[..., 3] >= 0.0)] = np.nan
        if np.isinf(points[..., :3]).any():
            raise self.error("coordinates must be finite, got infinity: the file is damaged")
        rates = (self.number("POINT", "RATE"), float(self.reals(self.content[20:24])[0]))
        return C3DPoints(points[..., :3], self.parameters, int(self.words[3]), rates)

    def layout(self, widths: list[int]) -> tuple[int, int, int, int, int]:
        """Return bytes of a number, points and analog samples of a frame, start of the data, and frames.

        Where header and parameters contradict each other, the one layout that fills the file is returned, with a
        warning. A file that is longer or shorter than what both say is read with a warning.
        """
        _, in_header, analog, first, last, *_ = (int(word) for word in self.words)
        counts = [count for count in _distinct(in_header, self.whole("POINT", "USED")) if count]
        if not counts:
            raise self.error("expected points, got none: analog signals are no motion", "POINT:USED")
        blocks = _distinct(int(self.words[8]), self.whole("POINT", "DATA_START"))
        starts = [at for block in blocks if self.start < (at := _BLOCK * (block - 1)) < len(self.content)]
        if not starts:
            text = f"the data must begin behind the parameters, in the file, got block {self.words[8]}"
            raise self.error(text, "POINT:DATA_START")
        used = self.whole("ANALOG", "USED")
        ratio = self.number("ANALOG", "RATE") / (self.number("POINT", "RATE") or np.nan)
        if used is not None and ratio > 0.0:  # without rates, NaN, there is one sample a frame
            used = used * max(1, round(ratio)) if ratio < 1e6 else None
        ends = [self.whole("TRIAL", f"ACTUAL_{end}_FIELD") or 0 for end in ("START", "END")]
        written = [self.whole("POINT", name) for name in ("FRAMES", "LONG_FRAMES")]
        spans = [last - first + 1, ends[1] - ends[0] + 1 if ends[1] else 0]
        claims = [T for T in _distinct(*spans, *written) if T > 0]
        if not claims:
            raise self.error("expected frames of points, got none", "POINT:FRAMES")
        layouts = list(itertools.product(widths, counts, _distinct(analog, used), starts))
        texts, fitting, room = [], [], 0.0
        for layout in layouts:
            width, n, samples, start = layout
            size = width * (4 * n + samples)
            room = (len(self.content) - start) / size
            bits = f" of {8 * width} bits" if len(widths) > 1 else ""
            texts += [
                f"{T} frames of {n} points and {samples} analog samples{bits}, got room for {room:.6g}" for T in claims
            ]
            fitting += [(len(self.content) - start - size * T, layout, T) for T in claims if room >= T]
        text, rest, T = " or ".join(texts), 0, int(room)
        if len(layouts) > 1:  # one of them, and one only, must fill the file to a block
            filling = [each for each in fitting if each[0] < _BLOCK]
            if len({layout for _, layout, _ in filling}) != 1:
                raise self.error(f"header and parameters contradict each other: expected {text}")
            _, layout, T = min(filling)
            read = f"{T} frames of {layout[1]} points and {layout[2]} analog samples"
            self.warn(f"header and parameters contradict each other; read {read}, which fill the file")
        elif fitting:
            rest, _, T = min(fitting)
        if rest >= _PADDING + size or not fitting:
            why = "cut off" if rest == 0 else "shortened"
            self.warn(f"expected {text}; the first {T} were read: the file was {why}, or is damaged")
        return (*layout, T)

    # --- parameters ---------------------------------------------------------------------------------------------

    def walked(self, end: int) -> Parameters:
        """Walk the chain of groups and parameters, to its end, to the data, or to damage, which is told."""
        names: dict[int, str] = {}
        found: list[tuple[int, str, Any]] = []
        at, step = self.start + 4, 2
        try:
            while at + 2 <= end and self.content[at] and step:
                length, group = (int(number) for number in np.frombuffer(self.content, "i1", 2, at))
                tail = at + 2 + abs(length)  # offset of the next, counted from here
                name = _text(self.content[at + 2 : tail]).strip().upper()
                step = int(np.frombuffer(self.content[:end], f"{self.order}u2", 1, tail)[0])
                if group == 0 or step == 1:
                    raise ValueError(f"group {group}, offset {step}")
                if group < 0:
                    names[-group] = name
                else:
                    found.append((group, name, self.value(tail + 2, end)))
                at = tail + step
        except (ValueError, IndexError) as error:
            self.warn(f"the parameters are damaged; those from byte {at} on were left out: {error}")
        result: Parameters = {}
        for group, name, value in found:
            result.setdefault(names.get(group, ""), {}).setdefault(name, value)
        return result

    def value(self, at: int, end: int) -> Any:
        """Return a parameter: a list of texts, or an array of numbers."""
        kind, rank = int(np.frombuffer(self.content, "i1", 1, at)[0]), self.content[at + 1]
        dimensions, first = self.content[at + 2 : at + 2 + rank], at + 2 + rank
        data = self.content[first : first + math.prod(dimensions) * abs(kind)]
        if kind not in _TYPES or first + math.prod(dimensions) * abs(kind) > end:
            raise ValueError(f"type {kind}, dimensions {list(dimensions)}")
        if kind == -1:
            width = dimensions[0] if dimensions else 1
            return [_text(data[k : k + width]).strip("\0 ") for k in range(0, len(data), width or 1)]
        return self.reals(data) if kind == 4 else np.frombuffer(data, f"{self.order}{_TYPES[kind]}")

    def number(self, group: str, name: str) -> float:
        """Return the first entry of a parameter of numbers, NaN if it is missing, empty or text."""
        values = self.parameters.get(group, {}).get(name, ())
        return float(values[0]) if isinstance(values, np.ndarray) and len(values) else np.nan

    def whole(self, group: str, name: str) -> int | None:
        """Return a number that is not negative: 16-bit ones have no sign; two of them are one, low word first."""
        words = self.parameters.get(group, {}).get(name, ())
        if isinstance(words, np.ndarray) and words.dtype.kind == "i" and 1 <= len(words) <= 2:
            return sum((int(word) & 0xFFFF) << 16 * k for k, word in enumerate(words))
        value = self.number(group, name)
        return int(value) if np.isfinite(value) and value >= 0.0 else None


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _distinct(*values: int | None) -> list[int]:
    return list(dict.fromkeys(value for value in values if value is not None))
