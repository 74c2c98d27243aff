"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file", "write_whole"]


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary name beside a file to write to; afterwards what was written takes the file's place.

    Parameters
    ----------
    path : path-like
        Replaced if it is there; a link keeps pointing at the file that is replaced. The temporary name ends alike.

    Raises
    ------
    OSError
        If the folder is not there or cannot be written.
    """
    target = Path(path).resolve()
    if not target.parent.is_dir():  # the message would name the temporary file
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(text: str, path: str | Path) -> None:
    """Write UTF-8 text in one step: whoever looks finds the old file or the new one.

    Parameters
    ----------
    text : str
        What the file will hold.
    path : path-like
        As for `whole_file`.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    with whole_file(path) as temporary, open(temporary, "x", encoding="utf-8", newline="\n") as file:
        file.write(text)
