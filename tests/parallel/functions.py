"""Functions of one item that worker processes import."""

import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from thunder_py.errors import ReleaseError, ThunderError


def draw(seed: int) -> tuple[float, float]:
    """Return numbers of a seed."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(20, 20))
    return float(rng.normal()), float(np.linalg.solve(a, a[0])[0])


def trouble(item: int, kind: str = "raise", at: int = 5, once: str = "") -> tuple[float, float]:
    """Return numbers of a seed, but fail at one item, the first time only if `once` names a folder."""
    if item == at and not (once and count_call(once, item) > 1):
        if kind == "die":
            os._exit(3)
        if kind == "hang":  # in C, with the interpreter's lock
            re.match(r"(a+)+$", "a" * 60 + "b")
        if kind == "stop":  # no signal but SIGKILL ends it now
            os.kill(os.getpid(), signal.SIGSTOP)
        if kind == "exit":
            sys.exit(2)
        if kind == "interrupt":
            raise KeyboardInterrupt
        raise ZeroDivisionError(f"item {item}")
    return draw(item)


def count_call(folder: str, item: int) -> int:
    """Count the calls with an item in a file, over all processes."""
    with open(Path(folder, str(item)), "a+", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        return len(file.readlines())


def die_beside(folder: str, item: int) -> int:
    """End the process at item 1 while item 0 runs, which waits for it."""
    count_call(folder, item)
    if item == 0:
        wait_until(lambda: Path(folder, "1").exists())
        time.sleep(0.5)
    if item == 1:
        wait_until(lambda: Path(folder, "0").exists())
        os._exit(3)
    return item


def wait_until(done: Any) -> None:
    """Wait until a function returns something true."""
    start = time.monotonic()
    while not done():
        assert time.monotonic() - start < 60.0
        time.sleep(0.02)


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
    """Sleep, but not at item 0."""
    if item:
        count_call(folder, item)
        time.sleep(60.0)
    return item


def fail_from_3(seed: int, error: type[Exception] = ThunderError) -> int:
    """Raise an error for seeds of 3 and more."""
    if seed >= 3:
        raise error(f"no {seed}")
    return seed


def too_far(item: str) -> None:
    """Raise an error with an attribute."""
    raise ReleaseError("too far", "reach")
