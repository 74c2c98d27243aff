"""Runs on a Dask cluster: the outcomes of a loop, with workers that die, hang and come back, until it is lost."""

import os
import signal
import time
from functools import partial
from typing import Any

import pytest

from tests.parallel.functions import draw, environment, trouble, unpicklable, wait_until
from tests.parallel.test_tasks import collected, values, without
from thunder_py.errors import ThunderError
from thunder_py.parallel import connect, map_seeds, run_tasks


def test_outcomes_are_those_of_a_loop(dask_client: Any) -> None:
    found = collected(trouble, range(60), workers=dask_client)
    assert values(found) == without(5, 60)
    assert (repr(found[5].error), found[5].attempts) == ("ZeroDivisionError('item 5')", 2)
    scale = 3
    assert map_seeds(lambda seed: scale * seed, 3, workers=dask_client) == [0, 3, 6]
    assert values(collected(unpicklable, range(3), workers=dask_client)) == [0, None, 2]
    assert values(collected(environment, range(1), workers=dask_client)) == [["1", "1", "1"]]
    # nothing stays in the scheduler
    outcomes = run_tasks(draw, range(5000), workers=dask_client)
    next(outcomes)
    outcomes.close()
    wait_until(lambda: dask_client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0)


@pytest.mark.release
def test_runs_that_kill_their_workers_or_hang_cost_themselves_only(dask_client: Any) -> None:
    victim = next(iter(dask_client.run(os.getpid).values()))
    found: dict[int, Any] = {}
    for outcome in run_tasks(_slowly, range(40), workers=dask_client):
        found[outcome.index] = outcome.value
        if len(found) == 4:
            os.kill(victim, signal.SIGKILL)
    assert found == {k: draw(k) for k in range(40)}
    found = collected(partial(trouble, kind="die", at=1), range(9), workers=dask_client, retries=0)
    assert values(found) == without(1, 9)
    assert str(found[1].error).startswith("1 worker processes died, the last one at tcp://")
    found = collected(partial(trouble, kind="hang", at=2), range(4), workers=dask_client, timeout=2.0, retries=0)
    assert values(found) == without(2, 4)
    assert str(found[2].error).endswith("; a run is ended after timeout=2 s")


def _slowly(item: int) -> tuple[float, float]:
    time.sleep(0.02)
    return draw(item)


@pytest.mark.release
def test_a_lost_scheduler_is_reported(dask_client: Any) -> None:
    outcomes = run_tasks(_slowly, range(400), workers=dask_client)
    next(outcomes)
    dask_client.cluster.close()
    with pytest.raises(RuntimeError, match=r"the Dask scheduler .* was lost, and with it the runs in flight"):
        list(outcomes)
    with pytest.raises(RuntimeError, match="was lost"):
        list(run_tasks(draw, range(3), workers=dask_client))


@pytest.mark.filterwarnings("error:the Dask scheduler:RuntimeWarning")
def test_a_cluster_without_workers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("thunder_py.parallel.executors._PATIENCE", 0.0)
    with distributed.Client(n_workers=0, processes=False, dashboard_address=":0") as client:
        with pytest.raises(RuntimeWarning, match=r"the Dask scheduler inproc://.* has had no workers for 0 s"):
            list(run_tasks(draw, range(2), workers=client))
        with pytest.raises(ThunderError, match=r"timeout must be None with a Dask client whose workers are in this"):
            list(run_tasks(draw, range(2), workers=client, timeout=1.0))


def test_an_address_without_a_scheduler_is_reported() -> None:
    dask, _ = pytest.importorskip("dask"), pytest.importorskip("distributed")  # else its defaults go with the context
    message = r"no Dask scheduler answers at tcp://127\.0\.0\.1:1: "
    with dask.config.set({"distributed.comm.timeouts.connect": "0.1s"}), pytest.raises(ThunderError, match=message):
        connect("tcp://127.0.0.1:1")
