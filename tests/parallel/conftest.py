"""Worker processes and a Dask cluster for tests of this folder: each takes seconds to start."""

from collections.abc import Iterator
from typing import Any

import pytest

from thunder_py.parallel import shared_workers


@pytest.fixture(scope="package")
def processes() -> Iterator[None]:
    """Keep worker processes between tests; started by the first one that needs them."""
    with shared_workers():
        yield


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Any]:
    """Client of two workers with one thread each, whose scheduler gives up a task with the first worker it kills."""
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.comm.timeouts.connect": "5s"}
    options = {"processes": True, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
