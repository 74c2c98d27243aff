"""Plain text for terminals, and checks of what is typed there."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import ThunderError

T = TypeVar("T")


def argument(read: Callable[[str], T], expected: str) -> Callable[[str], T]:
    """Return a type of `argparse`: what `read` makes of a text, or the error that says what was expected."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{expected}, got {text!r}") from None

    return parse


def check_target(path: Path, option: str, suffixes: Sequence[str]) -> None:
    """Refuse now what could not be written after a long run."""
    if path.suffix not in suffixes:
        raise ThunderError(f"{option} must end in {' or '.join(suffixes)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise ThunderError(f"{option}: there is no folder {str(path.parent)!r}; make it first or choose another")
    if path.is_dir():
        raise ThunderError(f"{option}: {str(path)!r} is a folder; give the name of a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):  # permissions say little about what a file system lets us do
            pass
    except OSError as error:
        raise ThunderError(f"{option}: the folder {str(path.parent)!r} cannot be written: {error.strerror}") from error


def check_picture(path: Path, option: str) -> None:
    """Refuse now what no figure could be written to."""
    check_target(path, option, (".png", ".pdf", ".svg"))


def number(value: float, digits: int = 4) -> str:
    """Return a number with some significant digits, without noise: zero is ``0``."""
    return f"{value:.{digits}g}" if value else "0"
