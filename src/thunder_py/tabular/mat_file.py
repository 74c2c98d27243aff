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
from ..files import parsing, read_whole

#: bytes of a file, and of its content after decompression
_LARGEST, _MOST_BYTES = 1 << 28, 1 << 30
#: elements of cells and structures, and how deep they nest
_MOST_PARTS, _DEEPEST = 5_000_000, 32
#: data types of elements
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
#: classes of arrays
_CELL, _STRUCTURE = 1, 2
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_LOGICAL, _COMPLEX = 0x02, 0x08


def read_mat(path: str | Path) -> dict[str, Any]:
    """Return the variables of a MATLAB file by name.

    Real numbers are arrays, a cell array is an array of objects, a structure is a dictionary, an array of structures
    one of dictionaries. Texts, complex numbers, sparse matrices and objects are left out, or None inside of others.

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
    with parsing(path, "a MATLAB file of version 4 to 7"):
        if order is not None and 0 not in content[:4]:
            return _Reader(order).variables(content[128:])
        if 0 not in content[:4]:  # version 4 begins with a small number
            raise ValueError("it is none")
        from scipy.io import loadmat  # its reader of version 4 is Python

        old = {name: value for name, value in loadmat(str(path), appendmat=False).items() if name[:2] != "__"}
        full = {
            name: value for name, value in old.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
        }
        return {name: value.astype(np.float64) for name, value in full.items()}


class _Reader:
    """Reader of version 5 (6, 7), which counts what it reads; it raises ValueError and others on damage."""

    def __init__(self, order: str) -> None:
        self.order, self.bytes_left, self.parts_left = order, _MOST_BYTES, _MOST_PARTS

    def variables(self, content: bytes) -> dict[str, Any]:
        result: dict[str, Any] = {}
        at = 0
        while at + 8 <= len(content):
            kind, data, at = self.element(content, at)
            if kind == _COMPRESSED:
                stream = zlib.decompressobj()
                data = stream.decompress(data, self.bytes_left + 1)
                self.spend(len(data))
                if not stream.eof:
                    raise ValueError("compressed data is cut off")
                kind, data, _ = self.element(data, 0)
            name, value = self.matrix(kind, data, 0)
            if value is not None:
                result[name] = value
        return result

    def spend(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise ValueError(f"more than {_MOST_BYTES} bytes without compression")

    def element(self, content: bytes, at: int) -> tuple[int, bytes, int]:
        """Return type and data of the element at a place, and the place of the next."""
        kind, size = (int(word) for word in np.frombuffer(content, f"{self.order}u4", 2, at))
        first = at + 8
        if kind >> 16:  # up to four bytes of data in the tag
            kind, size, first = kind & 0xFFFF, kind >> 16, at + 4
            if size > 4:
                raise ValueError(f"an element of {size} bytes in a tag")
        after = at + 8 if first == at + 4 else first + (size if kind == _COMPRESSED else -(-size // 8) * 8)
        if first + size > len(content):
            raise ValueError(f"expected {size} bytes, got {len(content) - first}")
        return kind, content[first : first + size], after

    def matrix(self, kind: int, content: bytes, depth: int) -> tuple[str, Any]:
        """Return name and value of a matrix; None if it is of an unknown class."""
        self.parts_left -= 1
        if self.parts_left < 0 or depth > _DEEPEST:
            raise ValueError(f"more than {_MOST_PARTS} cells and fields, or {_DEEPEST} levels of them")
        if kind != _MATRIX:
            raise ValueError(f"expected a matrix, got type {kind}")
        if not content:
            return "", np.empty((0, 0))
        _, flags, at = self.element(content, 0)
        word = int(np.frombuffer(flags, f"{self.order}u4", 1)[0])
        kind, marks = word & 0xFF, word >> 8
        if kind not in (_CELL, _STRUCTURE, *_CLASSES) or marks & _COMPLEX:
            return "", None
        numbers, data, at = self.element(content, at)
        shape = tuple(self.numbers(numbers, data).tolist())
        if len(shape) < 2 or min(shape) < 0 or len(shape) > 32 or not all(isinstance(n, int) for n in shape):
            raise ValueError(f"dimensions {shape}")
        _, data, at = self.element(content, at)
        name = data.decode("latin-1").strip("\0")
        if kind == _CELL:
            return name, self.cells(content, at, shape, depth)
        if kind == _STRUCTURE:
            return name, self.structures(content, at, shape, depth)
        numbers, data, at = self.element(content, at)
        values = self.numbers(numbers, data)
        of = np.dtype(bool if marks & _LOGICAL else _CLASSES[kind])
        self.spend(len(values) * of.itemsize)
        with np.errstate(all="ignore"):  # doubles may be stored as integers, and damaged integers as doubles
            return name, values.astype(of).reshape(shape, order="F")

    def numbers(self, kind: int, data: bytes) -> npt.NDArray[Any]:
        return np.frombuffer(data, self.order + _NUMBERS[kind])

    def cells(self, content: bytes, at: int, shape: tuple[int, ...], depth: int) -> npt.NDArray[Any]:
        count = math.prod(shape)
        if count > self.parts_left or 8 * count > len(content) - at:
            raise ValueError(f"{count} cells in {len(content) - at} bytes")
        result = np.empty(count, dtype=object)
        for k in range(count):
            kind, data, at = self.element(content, at)
            result[k] = self.matrix(kind, data, depth + 1)[1]
        return result.reshape(shape, order="F")

    def structures(self, content: bytes, at: int, shape: tuple[int, ...], depth: int) -> Any:
        kind, data, at = self.element(content, at)
        (width,) = self.numbers(kind, data).tolist()
        _, data, at = self.element(content, at)
        names = [data[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(data), width)]
        if not names:
            return {}
        values = self.cells(content, at, (len(names), math.prod(shape)), depth)
        fields = np.empty(math.prod(shape), dtype=object)
        for k in range(len(fields)):
            fields[k] = dict(zip(names, values[:, k], strict=True))
        return fields[0] if len(fields) == 1 else fields.reshape(shape, order="F")
