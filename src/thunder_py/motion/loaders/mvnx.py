"""Frames of an Xsens MVN file (.mvnx), read element by element: files are large, and nothing of them stays but numbers.

The parser is Python's expat. A document type is refused where it is declared, before anything in it can take effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from ...checks import Array
from ...errors import FileFormatError
from ...files import as_file

__all__ = ["MvnxFrames", "read_mvnx"]


@dataclass(frozen=True, eq=False)
class MvnxFrames:
    """What an .mvnx file holds about its frames of type ``normal``.

    Attributes
    ----------
    rate : float
        [Hz].
    index : (F,) integer array
        Numbers of the frames, increasing; frames can be missing.
    time : (F,) array
        Time stamps [s], NaN where a frame has none.
    segments, joints : tuple of str
        Labels.
    values : dict
        ``"position"`` (F, segments, 3) [m], ``"orientation"`` (F, segments, 4) quaternions with the scalar first,
        ``"jointAngleXZY"`` (F, joints, 3) [deg]: those that were asked for.
    """

    rate: float
    index: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    time: Array
    segments: tuple[str, ...]
    joints: tuple[str, ...]
    values: dict[str, Array]


def read_mvnx(path: str | Path, wanted: tuple[str, ...]) -> MvnxFrames:
    """Read the elements `wanted` of every frame.

    Frames without an index, or of another type than ``normal``, are those of the calibration: they are skipped.

    Raises
    ------
    FileFormatError
        With the line, if the file is not well-formed XML, declares a document type, has no frame rate or labels, or a
        frame does not hold as many numbers as it should.
    """
    file = as_file(path)
    reader = _Reader(file, wanted)
    with file.open("rb") as stream:
        try:
            reader.parser.ParseFile(stream)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise FileFormatError(f"not well-formed XML: {reason}", path=file, line=error.lineno) from None
        except LookupError as error:
            raise FileFormatError(f"not well-formed XML: {error}", path=file) from None
    return reader.result()


@dataclass(eq=False)
class _Reader:
    """Expat's callbacks."""

    path: Path
    wanted: tuple[str, ...]
    rate: float = np.nan
    index: list[int] = field(default_factory=list)
    time: list[float] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=lambda: {"segment": [], "joint": []})

    def __post_init__(self) -> None:
        self.rows: dict[str, list[Array]] = {name: [] for name in self.wanted}
        self.open: str | None = None
        self.words: list[str] = []
        self.in_frame = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype

    def error(self, message: str, key: str | None = None) -> FileFormatError:
        return FileFormatError(message, path=self.path, line=self.parser.CurrentLineNumber, key=key)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "subject":
            self.rate = self.number(attributes.get("frameRate", ""), "frameRate")
        elif tag in self.labels:
            if not attributes.get("label"):
                raise self.error("expected a label", f"<{tag}>")
            self.labels[tag].append(attributes["label"])
        elif tag == "frame":
            self.start_frame(attributes)
        elif self.in_frame and tag in self.rows:
            self.open, self.words = tag, []

    def start_frame(self, attributes: dict[str, str]) -> None:
        text = attributes.get("index", "").strip()
        self.in_frame = bool(text) and attributes.get("type", "normal") == "normal"
        if not self.in_frame:
            return
        index = self.number(text, "index")
        if index != int(index) or (self.index and index <= self.index[-1]):
            before = self.index[-1] if self.index else "none"
            raise self.error(f"expected whole, increasing numbers of frames, got {text} after {before}", "index")
        self.index.append(int(index))
        stamp = attributes.get("time", "").strip()
        self.time.append(1e-3 * self.number(stamp, "time") if stamp else np.nan)

    def text(self, data: str) -> None:
        if self.open is not None:
            self.words.append(data)

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if tag == self.open:
            self.rows[tag].append(self.numbers("".join(self.words), tag))
            self.open = None
        elif tag == "frame" and self.in_frame:
            self.in_frame = False
            for wanted, rows in self.rows.items():
                if len(rows) != len(self.index):
                    raise self.error(f"expected one <{wanted}> in frame {self.index[-1]}", f"<{wanted}>")

    def doctype(self, name: str, system: str | None, public: str | None, has_subset: bool) -> None:
        raise self.error("document type declarations (DTD, entities) are refused; remove <!DOCTYPE ...>")

    def number(self, text: str, key: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise self.error(f"expected a number, got {text!r}", key)
        return value

    def numbers(self, text: str, tag: str) -> Array:
        """Return the numbers of an element, shape (labels, 3 or 4)."""
        labels = self.labels["joint" if tag.startswith("joint") else "segment"]
        width = 4 if tag == "orientation" else 3
        try:
            values = np.array(text.split(), dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if values.size != width * len(labels) or not labels or not np.isfinite(values).all():
            raise self.error(f"expected {width} finite numbers for each of {len(labels)} labels", f"<{tag}>")
        return values.reshape(len(labels), width)

    def result(self) -> MvnxFrames:
        if len(self.index) < 2:
            raise FileFormatError("expected two frames with an index or more", path=self.path)
        if not self.rate > 0.0:
            raise FileFormatError("expected <subject frameRate=...>", path=self.path)
        values = {name: np.array(rows) for name, rows in self.rows.items()}
        segments, joints = tuple(self.labels["segment"]), tuple(self.labels["joint"])
        return MvnxFrames(self.rate, np.array(self.index), np.array(self.time), segments, joints, values)
