"""Runs on a Dask cluster: the outcomes of this process, with workers that die, hang and come back, until it is lost."""

from __future__ import annotations

import os
import signal
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.parallel.cluster import dask_client
from tests.parallel.functions import draw, environment, trouble, unpicklable
from tests.parallel.test_tasks import collected, values
from thunder_py.errors import ThunderError
from thunder_py.parallel import connect, map_seeds, run_tasks

__all__ = ["dask_client"]


def test_outcomes_equal_those_of_this_process(dask_client: Any) -> None:
    found = collected(trouble, range(60), workers=dask_client)
    assert values(found) == [None if k == 5 else draw(k) for k in range(60)]
    assert (repr(found[5].error), found[5].attempts) == ("ZeroDivisionError('item 5')", 2)
    scale = 3
    assert map_seeds(lambda seed: scale * seed, 3, workers=dask_client) == [0, 3, 6]
    assert values(collected(unpicklable, range(3), workers=dask_client)) == [0, None, 2]
    assert values(collected(environment, range(1), workers=dask_client)) == [["1", "1", "1"]]


def test_nothing_stays_in_the_scheduler(dask_client: Any) -> None:
    collected(abs, range(5000), workers=dask_client)
    outcomes = run_tasks(draw, range(50), workers=dask_client)
    next(outcomes)
    outcomes.close()

    def tasks(dask_scheduler: Any) -> tuple[int, int]:
        return len(dask_scheduler.tasks), len(dask_scheduler.task_groups)

    start = time.monotonic()
    while dask_client.run_on_scheduler(tasks) != (0, 0):
        assert time.monotonic() - start < 20.0
        time.sleep(0.05)


@pytest.mark.release
def test_a_worker_that_is_killed_costs_nothing(dask_client: Any) -> None:
    victim = next(iter(dask_client.run(os.getpid).values()))
    found: dict[int, Any] = {}
    for outcome in run_tasks(_slowly, range(40), workers=dask_client):
        found[outcome.index] = outcome.value
        if len(found) == 4:
            os.kill(victim, signal.SIGKILL)
    assert found == {k: draw(k) for k in range(40)}


def _slowly(item: int) -> tuple[float, float]:
    time.sleep(0.02)
    return draw(item)


@pytest.mark.release
def test_runs_that_kill_their_workers_or_hang_are_reported(dask_client: Any, tmp_path: Path) -> None:
    found = collected(partial(trouble, kind="die", at=(1,)), range(9), workers=dask_client, retries=0)
    assert values(found) == [None if k == 1 else draw(k) for k in range(9)]
    assert str(found[1].error).startswith("1 worker processes died, the last one at tcp://")
    found = collected(partial(trouble, kind="hang", at=(2,)), range(4), workers=dask_client, timeout=0.3, retries=0)
    assert values(found) == [None if k == 2 else draw(k) for k in range(4)]
    assert str(found[2].error) == "the run must end within timeout=0.3 s; 1 worker processes were ended"


@pytest.mark.release
def test_a_lost_scheduler_is_told(dask_client: Any) -> None:
    outcomes = run_tasks(_slowly, range(400), workers=dask_client)
    next(outcomes)
    dask_client.cluster.close()
    with pytest.raises(RuntimeError, match=r"the Dask scheduler .* was lost, and with it the runs in flight"):
        list(outcomes)
    with pytest.raises(RuntimeError, match="was lost"):
        list(run_tasks(draw, range(3), workers=dask_client))


def test_a_cluster_without_workers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("thunder_py.parallel.cluster._PATIENCE", 0.0)
    options = {"n_workers": 0, "processes": False, "dashboard_address": ":0"}
    with distributed.Client(**options) as client:
        message = r"the Dask scheduler inproc://.* has had no workers for 0 s; the runs wait for them"
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with pytest.raises(RuntimeWarning, match=message):
                list(run_tasks(draw, range(2), workers=client))
        with pytest.raises(ThunderError, match=r"timeout must be None with a Dask client whose workers are in this"):
            list(run_tasks(draw, range(2), workers=client, timeout=1.0))


def test_an_address_without_a_scheduler_is_told() -> None:
    dask, _ = pytest.importorskip("dask"), pytest.importorskip("distributed")  # else its defaults go with the context
    message = r"no Dask scheduler answers at tcp://127\.0\.0\.1:1: "
    with dask.config.set({"distributed.comm.timeouts.connect": "0.1s"}), pytest.raises(ThunderError, match=message):
        connect("tcp://127.0.0.1:1")
