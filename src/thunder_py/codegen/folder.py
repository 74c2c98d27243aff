"""A folder that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import ThunderError

__all__ = ["MARKER", "check_target", "write_folder"]

#: names what a generated folder holds, one file a line: only such a folder is ever replaced
MARKER = ".thunder_generated"


def check_target(target: Path) -> None:
    """Refuse a place where the folder may not go, before any work is done.

    Raises
    ------
    ThunderError
        The folder around it is missing, or something stands there that was not generated.
    """
    if not target.parent.is_dir():
        raise ThunderError(f"there is no folder {str(target.parent)!r}; make it first or choose another")
    if target.is_symlink():
        raise ThunderError(f"{str(target)!r} is a symbolic link; remove it or choose another folder")
    if not target.exists():
        return
    if not target.is_dir():
        raise ThunderError(f"{str(target)!r} is a file; remove it or choose another folder")
    foreign = _foreign(target)
    if foreign:
        listed = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise ThunderError(
            f"{str(target)!r} holds what thunder did not write ({listed}); move it away or choose another folder"
        )


def _foreign(target: Path) -> list[str]:
    """Files and links in a folder that its marker does not name, and folders without any file that it names."""
    try:
        ours = set((target / MARKER).read_text(encoding="utf-8").splitlines()) | {MARKER}
    except (OSError, UnicodeDecodeError):
        ours = set()
    folders = {str(parent) for name in ours for parent in Path(name).parents}
    found = []
    for path in sorted(target.rglob("*")):
        name = path.relative_to(target).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if name not in (folders if is_folder else ours):
            found.append(name)
    return found


def write_folder(target: Path, files: Mapping[str, str]) -> None:
    """Write files into a new folder beside the target, then move it into place.

    What stood there comes back if anything goes wrong.

    Parameters
    ----------
    target : Path
        The folder; may exist if this function wrote it.
    files : mapping of str to str
        Path inside the folder and text.

    Raises
    ------
    ThunderError
        See `check_target`.
    OSError
        The disk is full, or the folder around the target cannot be written.
    """
    check_target(target)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _fill(fresh, {**files, MARKER: "".join(f"{name}\n" for name in sorted(files))})
        _move_into_place(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)  # mkdtemp makes it private
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


def _move_into_place(fresh: Path, target: Path) -> None:
    if not target.exists():
        fresh.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    kept = old / target.name
    try:
        target.rename(kept)
        fresh.rename(target)
    except BaseException:
        if kept.exists() and not target.exists():
            kept.rename(target)
        raise
    finally:
        # never together with the only copy: if it could not be moved back, it stays
        if target.exists():
            with contextlib.suppress(OSError):
                shutil.rmtree(old)
