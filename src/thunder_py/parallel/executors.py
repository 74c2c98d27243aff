"""Workers that belong to the caller: any `concurrent.futures.Executor`, and the client of a Dask cluster."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

from ..errors import ThunderError
from ..optional import require
from .work import Entry, Outcome, Work, WorkerFailure, available_cores, pickled

#: a cluster without workers is reported after this time [s]
_PATIENCE = 10.0


class AnyExecutor:
    """Executor of the caller, which is neither shut down nor replaced."""

    deaths_are_shared = False

    def __init__(self, executor: Executor, work: Work) -> None:
        if not isinstance(executor, ThreadPoolExecutor):
            work.packed  # noqa: B018  raises before any work
        self.slots: int = 2 * (getattr(executor, "_max_workers", None) or available_cores())
        self.executor, self.work = executor, work
        self._running: set[Future[list[Outcome]]] = set()

    def submit(self, batch: list[Entry]) -> Future[list[Outcome]]:
        """Give a batch to the executor."""
        try:
            future = self.executor.submit(self.work, batch)
        except BrokenExecutor as error:
            raise _broken(error) from error
        self._running.add(future)
        return future

    def collect(self, future: Future[list[Outcome]]) -> list[Outcome] | WorkerFailure:
        """Return the outcomes of a batch."""
        self._running.discard(future)
        try:
            return future.result()
        except BrokenExecutor as error:
            raise _broken(error) from error
        except Exception as error:
            return WorkerFailure(error)

    def check(self) -> None:
        """Do nothing: executors set their futures when they break."""

    def close(self) -> None:
        """Cancel batches that wait; threads stop after the run in progress."""
        self.work.stopped = True
        for future in self._running:
            future.cancel()


def _broken(error: BrokenExecutor) -> RuntimeError:
    return RuntimeError(
        "the executor given as workers broke, and only its owner can replace it (workers=N starts processes that are "
        f"replaced): {error}"
    )


class Cluster:
    """Workers of a Dask cluster. Its nannies replace workers that die; its scheduler gives their batches to others."""

    deaths_are_shared = True  # all batches that a worker had when it died come under suspicion

    def __init__(self, client: Any, work: Work) -> None:
        if client.asynchronous:
            raise ThunderError("workers must be a synchronous Dask client, got an asynchronous one")
        self._address = str(getattr(client.scheduler, "address", ""))
        if work.timeout is not None and self._address.startswith("inproc:"):
            raise ThunderError(
                "timeout must be None with a Dask client whose workers are in this process (processes=False), which "
                f"could not be ended, got {work.timeout:g}"
            )
        self.client, self.work = client, work
        self._counted, self._alone_since, self._warned = -1.0, time.monotonic(), False
        self._running: dict[Future[Any], Any] = {}
        self.check()
        work.packed  # noqa: B018  raises before any work

    def submit(self, batch: list[Entry]) -> Future[Any]:
        """Give a batch to the scheduler; the future that is returned holds that of Dask."""
        future: Future[Any] = Future()
        try:
            packed = pickled((self.work, batch))  # which Dask does not search for tasks
        except Exception as error:
            future.set_exception(error)
            return future
        self._running[future] = self.client.submit(_call, packed, pure=False)
        self._running[future].add_done_callback(future.set_result)
        return future

    def collect(self, future: Future[Any]) -> list[Outcome] | WorkerFailure:
        """Return the outcomes of a batch."""
        found = self._running.pop(future, None)
        if found is None:
            return WorkerFailure(RuntimeError(f"the item cannot be pickled: {future.exception()}"))
        distributed = sys.modules["distributed"]
        try:
            outcomes: list[Outcome] = found.result()
            return outcomes
        except distributed.CancelledError as error:
            raise self._lost() from error
        except distributed.scheduler.KilledWorker as error:
            deaths = error.allowed_failures + 1
            text = f"{deaths} worker processes died, the last one at {error.last_worker.address}"
            if self.work.timeout is not None:
                text += f"; a run is ended after timeout={self.work.timeout:g} s"
            return WorkerFailure(RuntimeError(text), deaths)
        except Exception as error:
            return WorkerFailure(error)
        finally:
            found.release()

    def check(self) -> None:
        """Count the threads of the workers; raise an error if the scheduler is lost, warn once without workers."""
        if self.client.status != "running":
            raise self._lost()
        now = time.monotonic()
        if now < self._counted + 1.0:
            return
        try:
            threads, self._counted = sum(self.client.nthreads().values()), now
        except OSError as error:
            raise self._lost() from error
        self.slots = 2 * max(1, threads)
        if threads:
            self._alone_since = now
        elif not self._warned and now >= self._alone_since + _PATIENCE:
            self._warned = True
            warnings.warn(
                f"the Dask scheduler {self._address} has had no workers for {_PATIENCE:g} s; the runs wait for them",
                RuntimeWarning,
                stacklevel=2,
            )

    def _lost(self) -> RuntimeError:
        return RuntimeError(f"the Dask scheduler {self._address} was lost, and with it the runs in flight")

    def close(self) -> None:
        """Cancel all batches; workers finish the one in progress."""
        if self.client.status == "running":
            self.client.cancel(list(self._running.values()), force=True)


def _call(packed: bytes) -> list[Outcome]:
    work, batch = pickle.loads(packed)
    outcomes: list[Outcome] = work(batch)
    return outcomes


def is_client(workers: object) -> bool:
    """Return True for a client of `dask.distributed`, which is not imported."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)


def connect(address: str) -> Any:
    """Return a Dask client of a cluster, for ``workers=``; close it, or use it as a context, when it is not needed.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``"tcp://host:8786"``.

    Raises
    ------
    ThunderError
        If no scheduler answers.
    MissingExtraError
        If `distributed` is not installed.

    Examples
    --------
    >>> from thunder_py.parallel import connect
    >>> try:
    ...     connect("tcp://localhost")
    ... except ValueError as error:
    ...     print(error)
    cluster must be the address of a Dask scheduler such as tcp://host:8786, got 'tcp://localhost'
    """
    distributed = require("distributed", "cluster")
    if not address.rpartition(":")[2].isdecimal():
        raise ThunderError(f"cluster must be the address of a Dask scheduler such as tcp://host:8786, got {address!r}")
    try:
        return distributed.Client(address)
    except (OSError, ValueError) as error:
        raise ThunderError(f"no Dask scheduler answers at {address}: {error}") from error
