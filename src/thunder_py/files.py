"""Files that are read whole: only regular ones, and only up to a size."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .errors import FileFormatError, ThunderError

__all__ = ["LARGEST_MODEL", "as_file", "read_whole"]

#: bytes of a file that describes a robot or a program; the largest known URDF has 2 MB
LARGEST_MODEL = 1 << 26


def as_file(path: object, *, most: int | None = None) -> Path:
    """Return the path of a regular file, or of one that is not there: opening that says so.

    Parameters
    ----------
    path : str or path-like
        A descriptor, which `open` takes, is not one.
    most : int, optional
        Bytes that it may have.

    Raises
    ------
    FileFormatError
        If it is a device, pipe or socket, from which reading may never end, or too large.
    ThunderError
        If it is no path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ThunderError(f"path must be a str or path-like, got {type(path).__name__}: {path!r:.80}")
    file = Path(path)
    try:
        status = file.stat()
    except FileNotFoundError:
        return file
    except ValueError as error:  # a null character
        raise ThunderError(f"path must be the name of a file, got {str(path)!r:.80}: {error}") from error
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise FileFormatError("must be a regular file, got a device, pipe or socket", path=file)
    if most is not None and status.st_size > most:
        raise FileFormatError(f"must be at most {most} bytes, got {status.st_size}", path=file)
    return file


def read_whole(path: object, most: int = LARGEST_MODEL) -> bytes:
    """Return the bytes of a regular file of at most so many; errors as of `as_file`, and OSError."""
    return as_file(path, most=most).read_bytes()
