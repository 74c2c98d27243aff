"""Files of plain arrays (``.npz``): written whole or not at all, read without pickles."""

from __future__ import annotations

import os
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FileFormatError, ThunderError
from .files import as_file

__all__ = ["read_archive", "write_archive"]

#: bytes that the arrays of a file may fill in memory: a small file can promise any number
_LARGEST = 1 << 33


def write_archive(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a ``.npz`` file, complete or not at all."""
    target = Path(path)
    if target.suffix != ".npz":
        raise ThunderError(f"path must end in .npz, got {str(path)!r}")
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "xb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def read_archive(path: str | Path, writer: str) -> dict[str, Any]:
    """Return the arrays of a ``.npz`` file.

    Parameters
    ----------
    path : path-like
        The file.
    writer : str
        What writes such files, for messages.

    Raises
    ------
    FileFormatError
        If it is no archive of plain arrays, damaged, or larger than 8 GiB in memory.
    OSError
        If it cannot be opened.
    """
    with as_file(path).open("rb") as stream:  # ours: NumPy leaves files open that it cannot read
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            if size > _LARGEST:
                raise FileFormatError(f"holds {size} bytes, {_LARGEST} at the most", path=path)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except FileFormatError:
            raise
        except Exception:  # NumPy's texts tell of pickles, which these files never are
            raise FileFormatError(f"not a file of {writer}: no archive of plain arrays", path=path) from None
