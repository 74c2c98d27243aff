"""Files that are read whole: only regular ones, and only up to a size."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import tempfile
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .errors import FileFormatError, ThunderError

__all__ = [
    "LARGEST_MODEL",
    "MARKER",
    "as_file",
    "check_target",
    "read_archive",
    "read_whole",
    "whole_file",
    "write_archive",
    "write_folder",
    "write_whole",
]

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


#: says what a generated folder holds, a hash and a file a line: only such a folder is replaced, if nobody edited it
MARKER = ".thunder_generated"


def check_target(target: Path) -> None:
    """Refuse a place where the folder may not go, before any work is done.

    Raises
    ------
    ThunderError
        A file stands where a folder above it has to be made, or something stands there that was not generated.
    """
    above = next(folder for folder in (target.parent, *target.parent.parents) if folder.exists())
    if not above.is_dir():
        raise ThunderError(f"{str(above)!r} is a file; remove it or choose another folder")
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
    """Write files into a new folder next to the target, then move it into place; missing folders above are made.

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
    target.parent.mkdir(parents=True, exist_ok=True)
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
