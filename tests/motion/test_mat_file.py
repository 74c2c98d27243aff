"""MATLAB files, against scipy.io.loadmat."""

import io
import struct
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from tests.refusals import assert_refused
from thunder_py.errors import FileFormatError
from thunder_py.tabular import mat_file
from thunder_py.tabular.mat_file import read_mat

RNG = np.random.default_rng(0)
CELLS = np.empty((2, 3), dtype=object)
CELLS[:] = [[np.eye(2), "text", np.arange(3.0)], [np.empty((0, 0)), RNG.normal(size=(2, 3, 4)), np.float32(1.5)]]
VALUES = {
    "double": RNG.normal(size=(3, 101, 2)),
    "single": RNG.normal(size=(4, 5)).astype(np.float32),
    "small": np.arange(3.0),  # stored as bytes by some writers
    "logical": np.array([True, False, True]),
    "complex": np.array([1.0 + 2.0j, 3.0]),
    "cells": CELLS,
    "structure": {"S": RNG.normal(size=(2, 3)), "deep": {"a": np.arange(4), "b": "x"}},
    **{f"whole_{kind}": np.arange(7).astype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")},
}


def same(ours, theirs):
    if isinstance(ours, dict):
        entry = theirs.ravel()[0] if isinstance(theirs, np.ndarray) else theirs
        assert set(ours) == set(entry.dtype.names)
        return all(same(ours[name], entry[name]) for name in ours)
    if ours is None:
        return theirs.dtype.kind == "U"  # texts are left out
    if ours.dtype == object:
        return ours.shape == theirs.shape and all(map(same, ours.ravel(), theirs.ravel()))
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)
    return True


@pytest.mark.parametrize("compressed", [False, True])
def test_version_5(tmp_path, compressed):
    path = tmp_path / "a.mat"
    savemat(path, VALUES, do_compression=compressed)
    ours, theirs = read_mat(path), loadmat(path)
    assert set(ours) == set(VALUES) - {"complex"}
    for name, value in ours.items():
        assert same(value, theirs[name]), name
        if name not in ("structure", "logical", "cells"):
            assert np.asarray(value).dtype == theirs[name].dtype


def test_version_4(tmp_path):
    path = tmp_path / "a.mat"
    numbers = {name: RNG.normal(size=(3, 4)) for name in "ab"}
    savemat(path, numbers, format="4")
    ours = read_mat(path)
    assert set(ours) == set(numbers)
    for name, value in numbers.items():
        np.testing.assert_array_equal(ours[name], value)


def test_other_byte_order(tmp_path):
    """A matrix as MATLAB on a big-endian machine writes it; its numbers fit in bytes and are stored so."""
    tag = lambda kind, data: struct.pack(">II", kind, len(data)) + data.ljust(-(-len(data) // 8) * 8, b"\0")  # noqa: E731
    body = (
        tag(6, struct.pack(">II", 6, 0)) + tag(5, struct.pack(">ii", 2, 3)) + tag(1, b"abc") + tag(2, bytes(range(6)))
    )
    content = b"MATLAB 5.0".ljust(124) + b"\1\0MI" + tag(14, body)
    path = tmp_path / "a.mat"
    path.write_bytes(content)
    np.testing.assert_array_equal(read_mat(path)["abc"], loadmat(path)["abc"])
    np.testing.assert_array_equal(read_mat(path)["abc"], [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]])


def test_files_that_take_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(mat_file, "_MOST_BYTES", 1 << 20)
    stream = io.BytesIO()
    savemat(stream, {"zeros": np.zeros(200_000)}, do_compression=True)
    path = tmp_path / "a.mat"
    path.write_bytes(stream.getvalue())
    assert_refused((lambda: read_mat(path), "...more than 1048576 bytes without compression..."), error=FileFormatError)
    head = stream.getvalue()[:128]
    empty = struct.pack("<II", 14, 0)
    flags = struct.pack("<IIII", 6, 8, 1, 0)
    for count, message in ((1 << 31) - 1, "cells in 80 bytes"), (10, None):
        body = flags + struct.pack("<IIii", 5, 8, count, 1) + struct.pack("<II", 1, 0) + 10 * empty
        path.write_bytes(head + struct.pack("<II", 14, len(body)) + body)
        if message:
            with pytest.raises(FileFormatError, match=message):
                read_mat(path)
        else:
            assert read_mat(path)[""].shape == (10, 1)
    monkeypatch.setattr(mat_file, "_MOST_PARTS", 5)
    with pytest.raises(FileFormatError, match=r"10 cells in|more than 5 cells"):
        read_mat(path)
    for _ in range(60):
        body = flags + struct.pack("<IIii", 5, 8, 1, 1) + struct.pack("<II", 1, 0) + (body if _ else empty)
        body = struct.pack("<II", 14, len(body)) + body
    monkeypatch.setattr(mat_file, "_MOST_PARTS", 500)
    path.write_bytes(head + body)
    assert_refused((lambda: read_mat(path), "...32 levels..."), error=FileFormatError)
    path.write_bytes(head + struct.pack("<II", 15, 3) + b"abc")
    assert_refused((lambda: read_mat(path), "...must be a MATLAB file of version 4 to 7, ..."), error=FileFormatError)
    path.write_bytes(head + (lambda z: struct.pack("<II", 15, len(z)) + z)(zlib.compress(b"\0" * 64)))
    assert_refused((lambda: read_mat(path), "...expected a matrix, got type 0..."), error=FileFormatError)
