"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(text: str, path: str | Path) -> None:
    """Write UTF-8 text in one step: whoever looks finds the old file or the new one.

    Parameters
    ----------
    text : str
        What the file will hold.
    path : path-like
        Replaced if it is there; a link keeps pointing at the file that is replaced.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
