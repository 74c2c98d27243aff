"""Functions of one item that worker processes import."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from thunder_py.errors import ReleaseError, ThunderError
from thunder_py.parallel import processes


def draw(seed: int) -> tuple[float, float]:
    """Return numbers of a seed."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(20, 20))
    return float(rng.normal()), float(np.linalg.solve(a, a[0])[0])


def trouble(item: int, kind: str = "raise", at: tuple[int, ...] = (5,), once: str = "") -> tuple[float, float]:
    """Return numbers of a seed, but fail at some items, at each the first time only if `once` names a folder."""
    if item in at and not (once and _again(Path(once) / str(item))):
        if kind == "die":
            os._exit(3)
        if kind == "hang":  # in C, with the interpreter's lock
            re.match(r"(a+)+$", "a" * 60 + "b")
        if kind == "stop":  # no signal but SIGKILL ends it now
            os.kill(os.getpid(), signal.SIGSTOP)
        if kind == "exit":
            sys.exit(2)
        raise ZeroDivisionError(f"item {item}")
    return draw(item)


def _again(mark: Path) -> bool:
    if mark.exists():
        return True
    mark.touch()
    return False


class Wordless(Exception):
    """Error whose text cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no text")


def raise_at_1(item: int, kind: type[BaseException] = Wordless) -> int:
    """Raise an exception at item 1."""
    if item == 1:
        raise kind
    return item


def forget_work(item: int) -> int:
    """Return the item; at item 2 the process loses its function."""
    if item == 2:
        processes._works.clear()
    return item


def threads(item: int) -> list[int]:
    """Return the numbers of threads of the libraries of linear algebra."""
    np.linalg.solve(np.eye(2), np.ones(2))
    return sorted({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})


limits: list[Any] = []  # time limits that hold


class Watched:
    """Value whose pickle is the list of the time limits under which it was made."""

    def __init__(self, item: int) -> None:
        self.item = item

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (tuple(limits),)


def unpicklable(item: int) -> Any:
    """Return something that no other process can have at item 1."""
    return threading.Lock() if item == 1 else item


def process(item: int) -> int:
    """Return the process, after a while."""
    time.sleep(0.002)
    return os.getpid()


def environment(item: int) -> list[str]:
    """Return the numbers of threads."""
    return [os.environ.get(name, "") for name in ("THUNDER_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")]


def sleep_in(folder: str, item: int) -> int:
    """Leave the number of the process in a folder, and sleep, but not at item 0."""
    if item == 0:
        return item
    Path(folder, str(os.getpid())).touch()
    time.sleep(60.0)
    return item


def draw_with_threads(seed: int, scale: float = 1.0) -> tuple[float, float, str]:
    """Return numbers of a seed, and the threads of linear algebra of the process."""
    number, solved = draw(seed)
    return scale * number, solved, os.environ.get("OPENBLAS_NUM_THREADS", "")


def fail_from_3(seed: int, error: type[Exception] = ThunderError) -> int:
    """Raise an error for seeds of 3 and more."""
    if seed >= 3:
        raise error(f"no {seed}")
    return seed


def die_at_0(seed: int) -> int:
    """End the process at seed 0."""
    if seed == 0:
        os._exit(3)
    return seed


def too_far(item: str) -> None:
    """Raise an error with an attribute."""
    raise ReleaseError("too far", "reach")
