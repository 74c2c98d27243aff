"""A folder that appears whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import ThunderError

__all__ = ["MARKER", "check_target", "write_folder"]

#: says what a generated folder holds, a hash and a file a line: only such a folder is replaced, if nobody edited it
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
    ours = _written(target)
    for what, names in (
        ("what thunder did not write", _foreign(target, ours)),
        ("edited files", _edited(target, ours)),
    ):
        if names:
            listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            raise ThunderError(f"{str(target)!r} holds {what} ({listed}); move it away or choose another folder")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _written(target: Path) -> dict[str, str]:
    """Files that the marker of a folder names, with their hashes."""
    try:
        lines = (target / MARKER).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _edited(target: Path, ours: Mapping[str, str]) -> list[str]:
    """Files that are no longer what was written."""
    return [
        name
        for name, digest in ours.items()
        if (target / name).is_file() and _digest((target / name).read_bytes()) != digest
    ]


def _foreign(target: Path, written: Mapping[str, str]) -> list[str]:
    """Files and links in a folder that its marker does not name, and folders without any file that it names."""
    ours = {*written, MARKER} if written else set()
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
        marker = "".join(f"{_digest(files[name].encode())}  {name}\n" for name in sorted(files))
        _fill(fresh, {**files, MARKER: marker})
        _move_into_place(fresh, target)
    except OSError as error:
        if error.filename is None:  # such as of a full disk
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise
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
