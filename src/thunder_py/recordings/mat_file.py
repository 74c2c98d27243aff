"""Variables of MATLAB files, versions 4 to 7.

A bounded reader: parsers in C end the process on some damaged files. Sizes are compared with the file before anything
is allocated; decompressed data and elements are limited.

Format: MathWorks, "MAT-File Format", R2021a.
"""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FileFormatError
from ..files import read_whole

#: bytes of a file, and of its content after decompression
_LARGEST, _MOST_BYTES = 1 << 28, 1 << 30
#: elements of cells and structures, and how deep they nest
_MOST_PARTS, _DEEPEST = 5_000_000, 32
#: data types of elements
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
#: classes of arrays
_CELL, _STRUCTURE, _CHAR = 1, 2, 4
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_LOGICAL, _COMPLEX = 0x02, 0x08
#: numbers of files of version 4, by the tens digit of their type
_OLD = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}


def read_mat(path: str | Path) -> dict[str, Any]:
    """Return the variables of a MATLAB file by name.

    Numbers are arrays, a cell array is an array of objects, a structure is a dictionary, an array of structures one of
    dictionaries, a text is a str, several rows of text are an array of str. Sparse matrices and objects are left out,
    or None inside of others.

    Raises
    ------
    FileFormatError
        If it is not a file of version 4 to 7, damaged, or larger than 1 GiB without compression.
    OSError
        If it cannot be opened.
    """
    content = read_whole(path, _LARGEST)
    if b"MATLAB 7.3" in content[:19] or content[:4] == b"\x89HDF":
        raise FileFormatError("a MATLAB file of version 7.3; save it with -v7", path=path)
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    try:
        if order is not None and 0 not in content[:4]:
            return _Reader(order).variables(content[128:])
        return _old_variables(content)
    except _DamagedError as error:
        raise FileFormatError(f"not a MATLAB file of version 4 to 7: {error}", path=path) from None


class _DamagedError(Exception):
    """Damage, for the message."""


class _Reader:
    """Reader of version 5 (6, 7), which counts what it reads."""

    def __init__(self, order: str) -> None:
        self.order, self.bytes_left, self.parts_left = order, _MOST_BYTES, _MOST_PARTS

    def variables(self, content: bytes) -> dict[str, Any]:
        result: dict[str, Any] = {}
        at = 0
        while at + 8 <= len(content):
            kind, data, at = self.element(content, at)
            if kind == _COMPRESSED:
                kind, data, _ = self.element(self.decompressed(data), 0)
            if kind != _MATRIX:
                raise _DamagedError(f"expected a matrix, got type {kind}")
            name, value = self.matrix(data, 0)
            if value is not None:
                result[name] = value
        return result

    def decompressed(self, data: bytes) -> bytes:
        stream = zlib.decompressobj()
        try:
            result = stream.decompress(data, self.bytes_left + 1)
        except zlib.error as error:
            raise _DamagedError(str(error)) from None
        if len(result) > self.bytes_left:
            raise _DamagedError(f"more than {_MOST_BYTES} bytes without compression")
        if not stream.eof:
            raise _DamagedError("compressed data is cut off")
        self.bytes_left -= len(result)
        return result

    def element(self, content: bytes, at: int) -> tuple[int, bytes, int]:
        """Return type and data of the element at a place, and the place of the next."""
        if at + 8 > len(content):
            raise _DamagedError("cut off")
        kind, size = (int(word) for word in np.frombuffer(content, f"{self.order}u4", 2, at))
        first = at + 8
        if kind >> 16:  # up to four bytes of data in the tag
            kind, size, first = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise _DamagedError(f"an element of {size} bytes in a tag")
        after = at + 8 if first == at + 4 else first + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if first + size > len(content):
            raise _DamagedError(f"expected {size} bytes, got {len(content) - first}")
        return kind, content[first : first + size], after

    def matrix(self, content: bytes, depth: int) -> tuple[str, Any]:
        """Return name and value of a matrix; None if it is of an unknown class."""
        self.parts_left -= 1
        if self.parts_left < 0 or depth > _DEEPEST:
            raise _DamagedError(f"more than {_MOST_PARTS} cells and fields, or {_DEEPEST} levels of them")
        if not content:
            return "", np.empty((0, 0))
        _, flags, at = self.element(content, 0)
        if len(flags) < 4:
            raise _DamagedError("array flags are cut off")
        word = int(np.frombuffer(flags, f"{self.order}u4", 1)[0])
        kind, marks = word & 0xFF, word >> 8
        if kind not in (_CELL, _STRUCTURE, _CHAR, *_CLASSES):
            return "", None
        numbers, data, at = self.element(content, at)
        shape = tuple(self.numbers(numbers, data).tolist())
        if len(shape) < 2 or min(shape) < 0 or len(shape) > 32 or not all(isinstance(n, int) for n in shape):
            raise _DamagedError(f"dimensions {shape}")
        _, data, at = self.element(content, at)
        name = data.decode("latin-1").strip("\0")
        if kind == _CELL:
            return name, self.cells(content, at, shape, depth)
        if kind == _STRUCTURE:
            return name, self.structures(content, at, shape, depth)
        numbers, data, at = self.element(content, at)
        if kind == _CHAR:
            return name, self.texts(numbers, data, shape)
        value = self.array(numbers, data, shape, _CLASSES[kind])
        if marks & _COMPLEX:
            numbers, data, at = self.element(content, at)
            value = value + 1j * self.array(numbers, data, shape, _CLASSES[kind])
        return name, value.astype(bool) if marks & _LOGICAL else value

    def numbers(self, kind: int, data: bytes) -> npt.NDArray[Any]:
        if kind not in _NUMBERS:
            raise _DamagedError(f"expected numbers, got type {kind}")
        number = np.dtype(self.order + _NUMBERS[kind])
        if len(data) % number.itemsize:
            raise _DamagedError(f"{len(data)} bytes of numbers of {number.itemsize}")
        return np.frombuffer(data, number)

    def array(self, kind: int, data: bytes, shape: tuple[int, ...], of: str) -> npt.NDArray[Any]:
        values = self.numbers(kind, data)
        if len(values) != math.prod(shape):
            raise _DamagedError(f"{len(values)} numbers for dimensions {shape}")
        self.bytes_left -= len(values) * np.dtype(of).itemsize
        if self.bytes_left < 0:
            raise _DamagedError(f"more than {_MOST_BYTES} bytes")
        with np.errstate(all="ignore"):  # doubles may be stored as integers, and damaged integers as doubles
            return values.astype(of).reshape(shape, order="F")

    def texts(self, kind: int, data: bytes, shape: tuple[int, ...]) -> Any:
        """Return a text, or an array of texts of several rows, which are stored column by column."""
        text, encoding = self.text(kind, data)
        if math.prod(shape[:-1]) == 1 or not data:
            return text
        if not encoding.startswith("utf-16"):
            encoding, data = "utf-32-le", text.encode("utf-32-le")
        width = 2 if encoding.startswith("utf-16") else 4
        if len(data) != width * math.prod(shape):
            raise _DamagedError(f"{len(data) // width} characters for dimensions {shape}")
        rows = np.frombuffer(data, f"<u{width}").reshape(shape, order="F").reshape(-1, shape[-1])
        return np.array([row.tobytes().decode(encoding, "replace") for row in rows]).reshape(shape[:-1])

    def text(self, kind: int, data: bytes) -> tuple[str, str]:
        """Return a text and its encoding."""
        if kind not in _TEXTS:
            raise _DamagedError(f"expected text, got type {kind}")
        encoding = _TEXTS[kind] + ({"<": "-le", ">": "-be"}[self.order] if _TEXTS[kind][-2:] in ("16", "32") else "")
        return data.decode(encoding, errors="replace"), encoding

    def cells(self, content: bytes, at: int, shape: tuple[int, ...], depth: int) -> npt.NDArray[Any]:
        count = math.prod(shape)
        if count > self.parts_left or 8 * count > len(content) - at:
            raise _DamagedError(f"{count} cells in {len(content) - at} bytes")
        result = np.empty(count, dtype=object)
        for k in range(count):
            kind, data, at = self.element(content, at)
            if kind != _MATRIX:
                raise _DamagedError(f"expected a matrix in a cell, got type {kind}")
            result[k] = self.matrix(data, depth + 1)[1]
        return result.reshape(shape, order="F")

    def structures(self, content: bytes, at: int, shape: tuple[int, ...], depth: int) -> Any:
        kind, data, at = self.element(content, at)
        lengths = self.numbers(kind, data).tolist()
        _, data, at = self.element(content, at)
        if len(lengths) != 1 or not isinstance(lengths[0], int) or lengths[0] < 1:
            raise _DamagedError(f"names of fields of length {lengths}")
        width = lengths[0]
        names = [data[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(data), width)]
        if not names:
            return {}
        values = self.cells(content, at, (len(names), math.prod(shape)), depth)
        fields = np.empty(math.prod(shape), dtype=object)
        for k in range(len(fields)):
            fields[k] = dict(zip(names, values[:, k], strict=True))
        return fields[0] if len(fields) == 1 else fields.reshape(shape, order="F")


def _old_variables(content: bytes) -> dict[str, Any]:
    """Return the full matrices of a file of version 4."""
    result: dict[str, Any] = {}
    at = 0
    while at + 20 <= len(content):
        order = "<" if int.from_bytes(content[at : at + 4], "little") < 10000 else ">"
        kind, rows, columns, is_complex, length = (int(n) for n in np.frombuffer(content, f"{order}i4", 5, at))
        thousands, rest = divmod(kind, 1000)
        number, form = rest // 10, rest % 10
        if thousands not in (0, 1) or number not in _OLD or form > 2 or min(rows, columns) < 0 or length < 1:
            raise _DamagedError(f"type {kind}, dimensions ({rows}, {columns}) and a name of {length} bytes")
        of = np.dtype(("<", ">")[thousands] + _OLD[number])
        first = at + 20 + length
        size = rows * columns * of.itemsize
        after = first + size * (2 if is_complex else 1)
        if after > len(content):
            raise _DamagedError(f"expected {after - first} bytes, got {len(content) - first}")
        if form == 0 and not is_complex:
            name = content[at + 20 : first].split(b"\0")[0].decode("latin-1")
            values = np.frombuffer(content, of, rows * columns, first)
            result[name] = values.astype(np.float64).reshape((rows, columns), order="F")
        at = after
    if not result:
        raise _DamagedError("no matrices")
    return result
