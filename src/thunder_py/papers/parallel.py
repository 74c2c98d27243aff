"""Evaluation of a function for many seeds, in one process or several."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, TypeVar

from ..checks import whole
from ..errors import ThunderError
from ..progress import progress_bar

__all__ = ["map_seeds", "shared_workers"]

T = TypeVar("T")

#: one thread of linear algebra in each worker: more would compete for the same cores
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: pieces of work for each worker: enough to balance the load, few enough that sending them costs little
_PIECES = 16


def map_seeds(
    function: Callable[[int], T],
    seeds: int | Sequence[int],
    *,
    jobs: int = 1,
    progress: bool = False,
    description: str = "",
) -> list[T]:
    """Call a function with every seed and return its results in the order of the seeds.

    Parameters
    ----------
    function : callable
        Function of one seed. With several processes it must be importable: a function of a module, or a
        `functools.partial` of one, neither a lambda nor a function of a notebook.
    seeds : int or sequence of int
        Number of seeds, ``0, 1, ...``, or the seeds.
    jobs : int
        Number of processes, which end with the call unless it is within `shared_workers`; 1 calls the function in this
        process. Results do not depend on it if the function depends on its seed only.
    progress : bool
        Show a progress bar.
    description : str
        Label of the bar and of errors.

    Returns
    -------
    list

    Raises
    ------
    ThunderError
        If an argument is invalid, the function cannot be sent, or it raises a `ThunderError`; with the seed.
    RuntimeError
        For any other exception of the function, with the seed, or if a worker process died. The error is that of the
        first failing seed in order, whatever the number of processes.
    """
    given = _seeds(seeds)
    here = min(whole(jobs, "jobs", 1), len(given)) <= 1
    bar = progress_bar(len(given), desc=description or None, unit="seed") if progress else nullcontext(lambda _: None)
    results: list[T] = []
    answers = _answers_here(function, given) if here else _answers_of_workers(function, given, jobs)
    with bar as report, closing(answers):
        for part in answers:
            for answer in part:
                if isinstance(answer, _Failure):
                    raise answer.error(description)
                results.append(answer)
            report(len(results) / len(given))
    return results


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    if isinstance(seeds, Sequence) and not isinstance(seeds, str):
        return [whole(seed, "every seed", 0) for seed in seeds]
    return list(range(whole(seeds, "seeds", 1)))


@dataclass(frozen=True)
class _Failure:
    """Description of an exception, which itself might not be picklable."""

    seed: int
    expected: bool
    message: str
    trace: str

    def error(self, description: str) -> Exception:
        where = f"{description}, seed {self.seed}" if description else f"seed {self.seed}"
        if self.expected:
            return ThunderError(f"{where}: {self.message}")
        return RuntimeError(f"{where}: {self.message}\n\n{self.trace}")


def _call(function: Callable[[int], Any], seeds: Sequence[int]) -> Iterator[Any]:
    """Yield the results of the function until it fails."""
    for seed in seeds:
        try:
            yield function(seed)
        except Exception as error:
            expected = isinstance(error, ThunderError)
            message = str(error) if expected else f"{type(error).__name__}: {error}"
            yield _Failure(seed, expected, message, traceback.format_exc())
            return


def _answers_here(function: Callable[[int], Any], seeds: Sequence[int]) -> Generator[list[Any], None, None]:
    for answer in _call(function, seeds):
        yield [answer]


def _answers_of_workers(
    function: Callable[[int], Any], seeds: list[int], jobs: int
) -> Generator[list[Any], None, None]:
    packed = _packed(function)
    size = max(1, len(seeds) // (_PIECES * jobs))
    pieces = [seeds[k : k + size] for k in range(0, len(seeds), size)]
    waiting: list[Future[list[Any]]] = []
    with shared_workers():
        pool = _pool_of(jobs)
        try:
            with _environment(dict.fromkeys(_ONE_THREAD, "1")):  # workers are started by these calls
                waiting = [pool.submit(_work, packed, piece) for piece in pieces]
            for future in waiting:
                yield future.result()
        except BrokenProcessPool as error:
            _pools.pop(jobs).shutdown()
            raise RuntimeError("a worker process died") from error
        finally:
            for future in waiting:
                future.cancel()


_pools: dict[int, ProcessPoolExecutor] = {}
_sharing = 0  # number of open contexts of `shared_workers`


@contextmanager
def shared_workers() -> Iterator[None]:
    """Keep worker processes between calls of `map_seeds` within the context: each takes a second to start.

    They do not see later changes of modules, so they end with the context.
    """
    global _sharing
    _sharing += 1
    try:
        yield
    finally:
        _sharing -= 1
        if _sharing == 0:
            for jobs in list(_pools):
                _pools.pop(jobs).shutdown(cancel_futures=True)


def _pool_of(jobs: int) -> ProcessPoolExecutor:
    if jobs not in _pools:
        # spawned, not forked: the compiled core may have threads, and a fork would copy their locks
        _pools[jobs] = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_leave_interrupts)
    return _pools[jobs]


def _packed(function: Callable[[int], Any]) -> bytes:
    try:
        return pickle.dumps(function)
    except Exception as error:
        raise ThunderError(
            "with jobs > 1 the function must be one of a module, or a functools.partial of one; "
            f"got {function!r}: {error}"
        ) from error


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _leave_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles the interrupt and stops its workers


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[int], Any]:
    function: Callable[[int], Any] = pickle.loads(packed)
    return function


def _work(packed: bytes, seeds: list[int]) -> list[Any]:
    try:
        function = _unpacked(packed)
    except Exception as error:
        message = (
            "a worker process cannot import the function, which must be one of a module, not of a notebook or an "
            f"interactive session ({type(error).__name__}: {error}); jobs=1 calls it here"
        )
        return [_Failure(seeds[0], True, message, traceback.format_exc())]
    return list(_call(function, seeds))
