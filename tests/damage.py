"""Files as disks, links and senders damage them, from seeds."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from thunder_py.errors import ThunderError

#: time within which a damaged file is answered [s]
_LONGEST = 20.0


def damaged(data: bytes, seed: int) -> bytes:
    """Return the content of a file that is cut off, or has other bits or bytes."""
    rng = np.random.default_rng(seed)
    found = bytearray(data)
    start = int(rng.integers(len(data)))
    match rng.integers(4):
        case 0:
            return data[:start]
        case 1:
            for place in rng.integers(len(data), size=rng.integers(1, 9)):
                found[place] ^= 1 << int(rng.integers(8))
        case 2:
            found[start : start + 64] = rng.integers(256, size=rng.integers(1, 65), dtype=np.uint8).tobytes()
        case _:  # a length or a number of rows that is absurd
            found[start : start + 8] = b"\xff" * 8
    return bytes(found)


def answers(path: Path, read: Callable[[], object], seeds: range) -> tuple[int, int]:
    """Return how many damaged versions of a file, or of one in a folder, were read and refused, with errors of ours."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    count = [0, 0]
    for seed in seeds:
        file = files[seed % len(files)]
        whole = file.read_bytes()
        file.write_bytes(damaged(whole, seed))
        try:
            with in_time():
                read()
            count[0] += 1
        except ThunderError as error:
            str(error).encode()  # can be printed
            count[1] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} of {file.name}: {type(error).__name__}") from error
        finally:
            file.write_bytes(whole)
    return count[0], count[1]


@contextmanager
def in_time() -> Iterator[None]:
    """Fail where what is within does not end."""

    def late(*_: object) -> None:
        raise AssertionError(f"it took more than {_LONGEST} s")

    before, start = signal.signal(signal.SIGALRM, late), time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, _LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        assert time.monotonic() - start < _LONGEST
