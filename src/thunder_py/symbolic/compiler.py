"""The system's C compiler: source text to a shared library, kept in the user's cache folder."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import CompilerError

__all__ = ["FLAGS", "cache_folder", "clear_cache", "compile_source", "find_compiler"]

# without contraction the results are the interpreter's
FLAGS = ("-std=c99", "-O3", "-fPIC", "-shared", "-ffp-contract=off")
_CANDIDATES = ("cc", "gcc", "clang")
_TIMEOUT = 600.0  # s
_SHOWN = 4000  # characters of a compiler's message
_END = b"thunder_py: whole\n"  # follows the library, and is missing behind a truncated one


def find_compiler() -> list[str]:
    """Command of the C compiler: ``$CC`` (with its options), else the first of cc, gcc, clang on the path.

    Raises
    ------
    CompilerError
        There is none; the message says what to install.
    """
    chosen = os.environ.get("CC", "").strip()
    if chosen:
        try:
            command = shlex.split(chosen)
        except ValueError as error:
            raise CompilerError(f"the environment variable CC, {chosen!r}, is no command: {error}") from None
        if shutil.which(command[0]) is None:
            raise CompilerError(f"the environment variable CC names {command[0]!r}, which is no program on the path")
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
    """Where compiled libraries are kept: ``$XDG_CACHE_HOME``, or else ``~/.cache``, then ``thunder_py/compiled``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "thunder_py" / "compiled"


def clear_cache() -> int:
    """Delete all compiled libraries; functions in use keep theirs. Returns how many there were."""
    removed = 0
    folder = cache_folder()
    for path in folder.glob("*") if folder.is_dir() else ():
        if path.is_symlink() or path.is_file():
            path.unlink(missing_ok=True)
            removed += path.suffix == ".so"
    return removed


def compile_source(source: str, flags: Sequence[str] = FLAGS) -> Path:
    """Compile C source to a shared library, or find it in the cache.

    Libraries are named by a hash of source, compiler and flags. A damaged one is compiled again; two processes that
    compile the same source at once do not disturb each other.

    Parameters
    ----------
    source : str
        A whole file of C.
    flags : sequence of str
        Options of the compiler.

    Returns
    -------
    Path
        The library.

    Raises
    ------
    CompilerError
        No compiler, a compiler that fails (with its message), or a cache folder that cannot be written.
    """
    command = find_compiler()
    key = "\0".join([source, *command, _identity(tuple(command), os.environ.get("PATH", "")), *flags])
    path = cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.so"
    if not _is_whole(path):
        try:
            _build(command, flags, source, path)
        except OSError as error:
            raise CompilerError(
                f"cannot write compiled code to {path.parent}: {error.strerror or error}; "
                "XDG_CACHE_HOME names another folder"
            ) from None
    return path


def _build(command: Sequence[str], flags: Sequence[str], source: str, path: Path) -> None:
    _own(path.parent)
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
    """Make the folder ours alone, whatever the umask: others must not place libraries that we would load."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise CompilerError(f"{folder} belongs to another user; XDG_CACHE_HOME names another folder")
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
    """Ask the compiler what it is; `path` is there because one name may mean another program on another path."""
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
        ours = path.stat().st_uid == os.getuid()
    except OSError:
        return False
    if not ours or not content.endswith(_END):
        return False
    library, digest = content[: -len(_END) - 64], content[-len(_END) - 64 : -len(_END)]
    return hashlib.sha256(library).hexdigest().encode() == digest
