"""Compilation of C source to shared libraries in the user's cache folder, by the system's C compiler."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import CompilerError

# without contraction the results are the interpreter's
FLAGS = ("-std=c99", "-O3", "-fPIC", "-shared", "-ffp-contract=off")
_CANDIDATES = ("cc", "gcc", "clang")
_TIMEOUT = 600.0  # s
_SHOWN = 4000  # characters of a compiler's output in messages
_END = b"thunder_py: whole\n"  # end marker, missing in truncated files


def find_compiler() -> list[str]:
    """Return the command of the C compiler: ``$CC`` with its options, or the first of cc, gcc, clang on the path.

    Raises
    ------
    CompilerError
        If there is none; the message names packages to install.
    """
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        try:
            command = shlex.split(chosen)
        except ValueError as error:
            raise CompilerError(f"environment variable CC must be a command, got {chosen!r}: {error}") from None
        if shutil.which(command[0]) is None:
            raise CompilerError(f"environment variable CC must name a program on the path, got {command[0]!r}")
        return command
    for name in _CANDIDATES:
        if shutil.which(name) is not None:
            return [name]
    raise CompilerError(
        f"no C compiler: none of {', '.join(_CANDIDATES)} is on the path. Install one (Debian, Ubuntu: "
        "apt install gcc; Fedora: dnf install gcc; conda: conda install c-compiler) or name one in "
        "the environment variable CC"
    )


def cache_folder() -> Path:
    """Return the folder of compiled libraries: ``thunder_py/compiled`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "thunder_py" / "compiled"


def compile_source(source: str, flags: Sequence[str] = FLAGS) -> Path:
    """Compile C source to a shared library, or return it from the cache.

    The name of a library is a hash of source, compiler and flags. Damaged libraries are compiled again. Concurrent
    compilation of the same source by several processes is safe.

    Parameters
    ----------
    source : str
        Complete C file.
    flags : sequence of str
        Options of the compiler.

    Returns
    -------
    Path
        Path of the library.

    Raises
    ------
    CompilerError
        If there is no compiler, it fails (with its output), or the cache folder cannot be written.
    """
    command = find_compiler()
    key = "\0".join([source, *command, _identity(tuple(command), os.environ.get("PATH", "")), *flags])
    path = cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"
    try:
        _own(path.parent)
        if not _is_whole(path):
            _build(command, flags, source, path)
    except OSError as error:
        raise CompilerError(
            f"cannot write compiled code to {path.parent}: {error.strerror or error}; "
            "XDG_CACHE_HOME names another folder"
        ) from None
    return path


def _build(command: Sequence[str], flags: Sequence[str], source: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="build-", dir=path.parent) as folder:
        text, library = Path(folder, "function.c"), Path(folder, "function.so")
        text.write_text(source, encoding="utf-8")
        _run([*command, *flags, "-o", str(library), str(text), "-lm"])
        if not library.is_file():
            raise CompilerError(f"{command[0]} reported success but wrote no library")
        with library.open("ab") as stream:
            digest = hashlib.sha256(library.read_bytes()).hexdigest().encode()
            stream.write(digest + _END)
        os.replace(library, path)


def _own(folder: Path) -> None:
    """Create the folder with access for the user only: other users must not be able to add libraries."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise CompilerError(f"{folder} belongs to another user; XDG_CACHE_HOME names another folder")
    if stat.S_IMODE(status.st_mode) != 0o700:
        folder.chmod(0o700)


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise CompilerError(f"{command[0]} took more than {_TIMEOUT:.0f} s") from None
    except OSError as error:
        raise CompilerError(f"cannot run {command[0]!r}: {error.strerror or error}") from None
    if done.returncode != 0:
        message = (done.stderr or done.stdout).strip()
        shown = message if len(message) <= _SHOWN else message[:_SHOWN] + " ..."
        reason = f"exit code {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise CompilerError(f"{command[0]} failed ({reason}):\n{shown}" if shown else f"{command[0]} failed ({reason})")


@functools.lru_cache(maxsize=16)
def _identity(command: tuple[str, ...], path: str) -> str:
    """Return the compiler's version; `path` is a cache key, as the program depends on it."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [*command, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
        return done.stdout
    return ""


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
        is_owned = path.stat().st_uid == os.getuid()
    except OSError:
        return False
    if not is_owned or not content.endswith(_END):
        return False
    library, digest = content[: -len(_END) - 64], content[-len(_END) - 64 : -len(_END)]
    return hashlib.sha256(library).hexdigest().encode() == digest
