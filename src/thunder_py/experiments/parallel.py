"""The same function for many seeds, in one process or several."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

from ..errors import ThunderError
from ..motion.scalars import whole
from ..progress import progress_bar

__all__ = ["map_seeds"]

T = TypeVar("T")

#: one thread of linear algebra in each worker: more would only fight over the same cores
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
#: pieces of work for each worker: enough that none waits long for the last, few enough that sending them costs nothing
_PIECES = 16


def map_seeds(
    function: Callable[[int], T],
    seeds: int | Sequence[int],
    *,
    jobs: int = 1,
    progress: bool = False,
    description: str = "",
) -> list[T]:
    """Call a function with every seed, and return what it returned, in the order of the seeds.

    Parameters
    ----------
    function : callable
        Of one seed. With several processes it is sent to each of them once, so it must be importable: of a module,
        or a `functools.partial` of one, neither a lambda nor a function of a notebook.
    seeds : int or sequence of int
        How many, ``0, 1, ...``, or which ones.
    jobs : int
        Processes; 1 calls the function here. Results do not depend on it as long as the function depends on nothing but
        its seed.
    progress : bool
        Show a bar.
    description : str
        In front of the bar, and in errors.

    Returns
    -------
    list

    Raises
    ------
    ThunderError
        Arguments that make no sense, a function that cannot be sent, or a `ThunderError` of the function with the seed.
    RuntimeError
        Anything else that went wrong in the function, with the seed, or a worker that died. It is the first seed in
        order that is told, whatever the number of processes.
    """
    given = _seeds(seeds)
    workers = min(whole(jobs, "jobs", 1), len(given))
    bar = progress_bar(len(given), desc=description or None, unit="seed") if progress else nullcontext(lambda _: None)
    results: list[T] = []
    with bar as report:
        answers = _answers_here(function, given) if workers <= 1 else _answers_of_workers(function, given, workers)
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
    """What is told of an exception: itself it might not survive the way between processes."""

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
    """Yield what the function returns, until it fails."""
    for seed in seeds:
        try:
            yield function(seed)
        except Exception as error:
            expected = isinstance(error, ThunderError)
            message = str(error) if expected else f"{type(error).__name__}: {error}"
            yield _Failure(seed, expected, message, traceback.format_exc())
            return


def _answers_here(function: Callable[[int], Any], seeds: Sequence[int]) -> Iterator[list[Any]]:
    for answer in _call(function, seeds):
        yield [answer]


def _answers_of_workers(function: Callable[[int], Any], seeds: list[int], workers: int) -> Iterator[list[Any]]:
    size = max(1, len(seeds) // (_PIECES * workers))
    pieces = [seeds[k : k + size] for k in range(0, len(seeds), size)]
    # spawned, not forked: the compiled core may have threads, and a fork would copy their locks
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start, initargs=(_packed(function),))
    try:
        with _environment(dict.fromkeys(_ONE_THREAD, "1")):  # workers are started by these calls
            waiting: list[Future[list[Any]]] = [pool.submit(_work, piece) for piece in pieces]
        for future in waiting:
            yield future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a worker process died, or could not import the function (functions of a notebook or an interactive "
            "session cannot be sent; jobs=1 calls them here)"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


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


_function: Callable[[int], Any] | None = None  # in a worker: what it calls


def _start(packed: bytes) -> None:
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted and stops us
    _function = pickle.loads(packed)


def _work(seeds: list[int]) -> list[Any]:
    assert _function is not None
    return list(_call(_function, seeds))
