"""Batches given to a cluster by a client of `dask.distributed`."""

from __future__ import annotations

import pickle
import sys
import time
import uuid
import warnings
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

import cloudpickle

from ..errors import ThunderError
from ..optional import require
from .work import Entry, Lost, Outcome, RemoteWork, Work, process_name

__all__ = ["Cluster", "connect", "is_client"]

#: a cluster without workers is told after so long [s]
_PATIENCE = 10.0


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


def is_client(workers: object) -> bool:
    """Return True for a client of `dask.distributed`, which is not imported."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)


class Cluster:
    """Workers of a Dask cluster. Its nannies replace workers that die; its scheduler gives their batches to others."""

    exact = False  # a worker that dies brings all its batches under suspicion

    def __init__(self, client: Any, work: Work) -> None:
        if client.asynchronous:
            raise ThunderError("workers must be a synchronous Dask client, got an asynchronous one")
        if work.timeout is not None and getattr(client.scheduler, "address", "").startswith("inproc:"):
            raise ThunderError(
                "timeout must be None with a Dask client whose workers are in this process (processes=False), which "
                f"could not be ended, got {work.timeout:g}"
            )
        self.client, self.timeout = client, work.timeout
        self._name, self._count = f"thunder-{uuid.uuid4().hex}", 0
        self._started: dict[Any, float] = {}
        self._size, self._counted = 1, -1.0
        self._lonely: float | None = time.monotonic()  # since when there are no workers, None once that was told
        self.check()
        # the scheduler can compute it again wherever a worker needs it
        self._work = client.submit(RemoteWork, work.packed, process_name(), key=f"{self._name}-function", pure=False)

    @property
    def size(self) -> int:
        """Number of threads of all workers, which may change; 1 before there are any."""
        self.check()
        return max(1, self._size)

    def room(self, seconds: float | None) -> bool:
        """Return True while there are less than two batches for each thread."""
        return len(self._started) < 2 * self.size

    def submit(self, batch: list[Entry]) -> Any:
        """Give a batch to the scheduler."""
        self._count += 1
        self.check()
        key = (self._name, self._count)
        try:
            packed = cloudpickle.dumps(batch)  # which Dask does not search for tasks
        except Exception as error:
            unsent: Future[list[Outcome]] = Future()
            unsent.set_exception(error)
            return unsent
        future = self.client.submit(run_batch, self._work, packed, key=key, pure=False)
        self._started[future] = time.monotonic()
        return future

    def collect(self, future: Any) -> list[Outcome] | Lost:
        """Return the outcomes of a batch."""
        start = self._started.pop(future, None)
        if start is None:  # of a batch that could not be pickled
            return Lost(future.exception())
        distributed = sys.modules["distributed"]
        try:
            answers: list[Outcome] = pickle.loads(future.result())
            return answers
        except distributed.scheduler.KilledWorker as error:
            return Lost(self._death(error, time.monotonic() - start), error.allowed_failures + 1)
        except distributed.CancelledError as error:
            self.check()
            raise self._gone() from error
        except Exception as error:
            return Lost(error)
        finally:
            future.release()

    def _death(self, error: Any, seconds: float) -> Exception:
        deaths = error.allowed_failures + 1
        if self.timeout is not None and seconds >= deaths * self.timeout:
            return TimeoutError(
                f"the run must end within timeout={self.timeout:g} s; {deaths} worker processes were ended"
            )
        return RuntimeError(f"{deaths} worker processes died, the last one at {error.last_worker.address}")

    def check(self) -> None:
        """Raise an error if the scheduler is lost; warn once if it has no workers for some time."""
        if self.client.status != "running":
            raise self._gone()
        now = time.monotonic()
        if now < self._counted + 1.0:
            return
        try:
            self._size, self._counted = sum(self.client.nthreads().values()), now
        except OSError as error:
            raise self._gone() from error
        if self._size:
            self._lonely = now
        elif self._lonely is not None and now >= self._lonely + _PATIENCE:
            self._lonely = None
            warnings.warn(
                f"the Dask scheduler {self._address} has had no workers for {_PATIENCE:g} s; the runs wait for them",
                RuntimeWarning,
                stacklevel=2,
            )

    def _gone(self) -> RuntimeError:
        return RuntimeError(f"the Dask scheduler {self._address} was lost, and with it the runs in flight")

    @property
    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", ""))

    def close(self, running: Iterable[Any]) -> None:
        """Cancel all batches; workers finish the run in progress."""
        if self.client.status == "running":
            self.client.cancel([*self._started, self._work], force=True)


def run_batch(work: RemoteWork, packed: bytes) -> bytes:
    """Run a pickled batch in a Dask worker until it is cancelled; return its outcomes, pickled."""
    worker = sys.modules["distributed"].get_worker()
    key = worker.get_current_task()

    def cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return pickle.dumps(work(cloudpickle.loads(packed), cancelled))
