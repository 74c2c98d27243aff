"""Reading of regular files up to a size, and atomic writing of files and folders."""

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

from .errors import FileFormatError, ThunderError, ThunderWarning

#: bytes of a file that describes a robot or a program; the largest known URDF has 2 MB
LARGEST_MODEL = 1 << 26
#: bytes of arrays in memory: a small file can declare any size
LARGEST_DATA = 1 << 33


def as_file(path: object, *, most: int | None = None) -> Path:
    """Return the path of a regular file, or of a missing file, on which opening fails.

    Parameters
    ----------
    path : str or path-like
        Path; file descriptors are refused.
    most : int, optional
        Largest size [bytes].

    Raises
    ------
    FileFormatError
        If it is a device, pipe or socket, where reading may never end, a loop of links, or too large.
    ThunderError
        If it is not a path.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.files import as_file
    >>> as_file(th.robots.path("panda"), most=1 << 20).name
    'panda.yaml'
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
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileFormatError("must be a regular file, got a loop of symbolic links", path=file) from None
        raise
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise FileFormatError("must be a regular file, got a device, pipe or socket", path=file)
    if most is not None and status.st_size > most:
        raise FileFormatError(f"must be at most {most} bytes, got {status.st_size}", path=file)
    return file


def read_whole(path: object, most: int = LARGEST_MODEL) -> bytes:
    """Return the content of a regular file of at most `most` bytes; errors as of `as_file`, and OSError.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.files import read_whole
    >>> read_whole(th.robots.path("panda"))[:20].decode()
    'format: thunder_py/1'
    """
    return as_file(path, most=most).read_bytes()


@contextmanager
def parsing(path: str | Path, expected: str) -> Iterator[None]:
    """Turn what a parser raises on a damaged file into a `FileFormatError` with its path.

    Errors of this package, of opening a file, which have its name, and of missing packages pass.

    Parameters
    ----------
    path : path-like
        The file.
    expected : str
        What it must be, for messages.

    Raises
    ------
    FileFormatError
        If the parser raises another exception, `MemoryError` included.

    Examples
    --------
    >>> from thunder_py.errors import FileFormatError
    >>> from thunder_py.files import parsing
    >>> try:
    ...     with parsing("log.txt", "a number"):
    ...         float("1.O")
    ... except FileFormatError as error:
    ...     print(error)
    log.txt: must be a number, could not convert string to float: '1.O'
    """
    try:
        yield
    except (ThunderError, ThunderWarning, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileFormatError(f"must be {expected}, {reason:.300}", path=path) from error


def write_archive(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a ``.npz`` file atomically.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.files import read_archive, write_archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_archive(Path(folder, "run.npz"), {"q": [0.1, 0.2]})
    ...     read_archive(Path(folder, "run.npz"), "write_archive")["q"].tolist()
    [0.1, 0.2]
    """
    target = Path(path)
    if target.suffix != ".npz":
        raise ThunderError(f"path must end in .npz, got {str(path)!r}")
    plain: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.hasobject:  # NumPy 2.0 and below have no option against pickles
            raise ThunderError(f"arrays must hold numbers or text, got objects in {name!r}")
    with whole_file(target) as temporary, open(temporary, "xb") as file:
        np.savez_compressed(file, **plain)


def read_archive(path: str | Path, writer: str) -> dict[str, Any]:
    """Return the arrays of a ``.npz`` file.

    Parameters
    ----------
    path : path-like
        The file.
    writer : str
        Name of the function that writes such files, for messages.

    Raises
    ------
    FileFormatError
        If it is not an archive of plain arrays, damaged, or larger than 8 GiB in memory.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import thunder_py as th
    >>> from thunder_py.files import read_archive
    >>> try:
    ...     read_archive(th.robots.path("panda"), "SimulationResult.save")
    ... except th.errors.FileFormatError as error:
    ...     print(str(error).partition(": ")[2])
    not a file of SimulationResult.save: no archive of plain arrays
    """
    with as_file(path).open("rb") as stream:  # opened here: NumPy does not close files that it cannot read
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            if size > LARGEST_DATA:
                raise FileFormatError(f"must hold at most {LARGEST_DATA} bytes, got {size}", path=path)
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            if not all(isinstance(value, np.ndarray) for value in arrays.values()):  # bytes of damaged members
                raise ValueError
            return arrays
        except FileFormatError:
            raise
        except Exception:  # NumPy's messages mention pickles, which are never read here
            raise FileFormatError(f"not a file of {writer}: no archive of plain arrays", path=path) from None


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary name in the folder of a file; on exit the temporary file replaces the file.

    Parameters
    ----------
    path : path-like
        File to replace; a link stays and its target is replaced. The temporary name has the same suffix.

    Raises
    ------
    OSError
        If the folder is missing or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.files import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "notes.txt")) as temporary:
    ...         _ = temporary.write_text("done")
    ...     Path(folder, "notes.txt").read_text()
    'done'
    """
    target = Path(path).resolve()
    if not target.parent.is_dir():  # the message would name the temporary file
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # such as of a full disk
            raise OSError(error.errno, error.strerror or str(error), str(target)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(text: str, path: str | Path) -> None:
    """Write UTF-8 text atomically: readers see the old file or the new one.

    Parameters
    ----------
    text : str
        Content of the file.
    path : path-like
        As for `whole_file`.

    Raises
    ------
    OSError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.files import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole("a: 1", Path(folder, "a.yaml"))
    ...     Path(folder, "a.yaml").read_text()
    'a: 1'
    """
    with whole_file(path) as temporary, open(temporary, "x", encoding="utf-8", newline="\n") as file:
        file.write(text)


#: lists a generated folder, a hash and a file per line; only unedited generated folders are replaced
MARKER = ".thunder_generated"


def check_target(target: Path) -> None:
    """Refuse a target that must not be replaced by a generated folder.

    Raises
    ------
    ThunderError
        If a folder above the target is a file, or the target has content that was not generated or was edited.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.files import check_target
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_target(Path(folder, "panda_generatedFiles"))
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
        ("files that were not generated", _foreign(target, ours)),
        ("edited files", _edited(target, ours)),
    ):
        if names:
            listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            raise ThunderError(f"{str(target)!r} holds {what} ({listed}); move it away or choose another folder")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _written(target: Path) -> dict[str, str]:
    """Return the files in the marker of a folder, with their hashes."""
    try:
        lines = (target / MARKER).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _edited(target: Path, ours: Mapping[str, str]) -> list[str]:
    """Return the files that changed since they were written."""
    return [
        name
        for name, digest in ours.items()
        if (target / name).is_file() and _digest((target / name).read_bytes()) != digest
    ]


def _foreign(target: Path, written: Mapping[str, str]) -> list[str]:
    """Return files and links that the marker does not list, and folders without a listed file."""
    ours = {*written, MARKER} if written else set()
    folders = {str(parent) for name in ours for parent in Path(name).parents}
    names = []
    for path in sorted(target.rglob("*")):
        name = path.relative_to(target).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if name not in (folders if is_folder else ours):
            names.append(name)
    return names


def write_folder(target: Path, files: Mapping[str, str]) -> None:
    """Write files into a temporary folder, then move it to the target; missing folders above it are created.

    On an error the previous content is restored.

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
        If the disk is full, or the parent folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from thunder_py.files import MARKER, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Path(folder, "out"), {"src/a.c": "int a;"})
    ...     sorted(p.name for p in Path(folder, "out").rglob("*") if p.is_file()) == [MARKER, "a.c"]
    True
    """
    check_target(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        marker = "".join(f"{_digest(files[name].encode())}  {name}\n" for name in sorted(files))
        _fill(temporary, {**files, MARKER: marker})
        _move_into_place(temporary, target)
    except OSError as error:
        if error.filename is None:  # such as of a full disk
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)  # mkdtemp creates it private
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


def _move_into_place(folder: Path, target: Path) -> None:
    if not target.exists():
        folder.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    kept = old / target.name
    try:
        target.rename(kept)
        folder.rename(target)
    except BaseException:
        if kept.exists() and not target.exists():
            kept.rename(target)
        raise
    finally:
        # keep the old folder where it is the only copy
        if target.exists():
            with contextlib.suppress(OSError):
                shutil.rmtree(old)
