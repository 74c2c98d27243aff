"""Runs on every kind of workers: equal outcomes, failures that cost only their runs, ends that leave nothing behind."""

from __future__ import annotations

import asyncio
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from tests.parallel import functions
from tests.parallel.functions import (
    Wordless,
    draw,
    environment,
    forget_work,
    process,
    raise_at_1,
    sleep_in,
    trouble,
    unpicklable,
)
from thunder_py.errors import ThunderError
from thunder_py.parallel import Outcome, Workers, available_threads, run_tasks, tasks, work
from thunder_py.parallel.tasks import _Batches

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(params=["here", "processes", "threads", "map", "executor"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    """Workers of each kind."""
    if request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "executor":
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            yield pool
    else:
        yield {"here": 1, "processes": 2, "map": map}[request.param]


def collected(*arguments: Any, **options: Any) -> dict[int, Outcome]:
    """Outcomes by index, each once."""
    found = list(run_tasks(*arguments, **options))
    assert sorted(outcome.index for outcome in found) == list(range(len(found)))
    return {outcome.index: outcome for outcome in sorted(found, key=lambda outcome: outcome.index)}


def values(outcomes: dict[int, Outcome]) -> list[Any]:
    return [outcome.value for outcome in outcomes.values()]


def elsewhere(function: Callable[[Any], Any], item: Any, timeout: float | None = None) -> Any:
    """Value of a run in this process as another one makes it."""
    work._use_one_thread.cache_clear()
    remote = work.RemoteWork(work.Work(function, 0, timeout, retry_errors=True).packed, "another process")
    (answer,) = remote([work.Entry(0, item)])
    work._use_one_thread.cache_clear()
    return work.unpacked(answer).value


def test_outcomes_do_not_depend_on_the_kind_of_workers(workers: Workers) -> None:
    expected = [draw(k) for k in range(40)]
    expected[5] = None  # type: ignore[call-overload]
    found = collected(trouble, range(40), workers=workers)
    assert values(found) == expected
    assert repr(found[5].error) == "ZeroDivisionError('item 5')"
    assert found[5].attempts == 2
    assert "in trouble" in found[5].trace
    assert {o.attempts for o in found.values() if o.index != 5} == {1}
    assert all(o.seconds >= 0.0 and (o.error is None) == (o.trace == "") for o in found.values())
    # a function without a name
    scale = 3
    assert values(collected(lambda k: scale * k, [2, 1], workers=workers)) == [6, 3]
    assert values(collected(draw, iter([4, 2]), workers=workers)) == [draw(4), draw(2)]
    assert values(collected(draw, [], workers=workers)) == []


def test_what_cannot_be_sent_back_is_the_error_of_its_run() -> None:
    found = collected(unpicklable, range(3), workers=2)
    assert values(found) == [0, None, 2]
    assert str(found[1].error).startswith("the returned lock cannot be pickled: TypeError")
    assert values(collected(unpicklable, range(3)))[::2] == [0, 2]
    sent = collected(type, [1, (k for k in "a"), 2.0], workers=2)
    assert values(sent) == [int, None, float]
    assert "pickle" in repr(sent[1].error).lower()
    with pytest.raises(ThunderError, match=r"the function must be picklable .* got functools.partial.*lock"):
        next(run_tasks(partial(draw, process=unpicklable(1)), range(3), workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_exits_has_failed(workers: int) -> None:
    found = collected(partial(trouble, kind="exit", at=(1,)), range(3), workers=workers)
    assert values(found) == [draw(0), None, draw(2)]
    assert repr(found[1].error) == "RuntimeError('the run called exit(2)')"


@pytest.mark.parametrize("kind", [asyncio.CancelledError, GeneratorExit, KeyboardInterrupt])
def test_exceptions_that_would_end_a_thread_end_their_run_only(kind: type[BaseException]) -> None:
    with ThreadPoolExecutor(1) as pool:
        kinds: list[Workers] = [2, pool, 1]
        for workers in kinds:
            outcomes = run_tasks(partial(raise_at_1, kind=kind), range(3), workers=workers)
            if workers == 1 and kind is KeyboardInterrupt:  # Ctrl-C
                with pytest.raises(KeyboardInterrupt):
                    list(outcomes)
                return
            found = {outcome.index: outcome for outcome in outcomes}
            assert [found[k].value for k in range(3)] == [0, None, 2]
            assert str(found[1].error).startswith("the run raised ")
            assert kind.__name__ in str(found[1].error)


def test_an_error_without_a_text_is_told() -> None:
    found = collected(raise_at_1, range(3), workers=2)
    assert values(found) == [0, None, 2]
    assert isinstance(found[1].error, Wordless)
    assert "Wordless: <exception str() failed>" in found[1].trace


@pytest.mark.parametrize("kind", ["raise", "die"])
def test_a_run_that_fails_once_is_tried_again(kind: str, tmp_path: Path) -> None:
    found = collected(partial(trouble, kind=kind, at=(3, 4), once=str(tmp_path)), range(12), workers=2)
    assert values(found) == [draw(k) for k in range(12)]
    found = collected(partial(trouble, at=(1,)), range(3), retries=0)
    assert [o.attempts for o in found.values()] == [1, 1, 1]
    found = collected(partial(trouble, at=(1,)), range(3), retry_errors=False)
    assert (found[1].attempts, found[1].value) == (1, None)


def test_a_process_that_dies_costs_its_run_only() -> None:
    found = collected(partial(trouble, kind="die", at=(31,)), range(60), workers=2)
    assert values(found) == [None if k == 31 else draw(k) for k in range(60)]
    assert repr(found[31].error) == "RuntimeError('the worker process died with the exit code EXIT(3)')"
    assert found[31].attempts == 2


def test_a_function_is_sent_once_to_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled: list[bool] = []
    reduce = work.Work.__reduce__

    def counted(self: work.Work) -> tuple[Any, ...]:
        pickled.append(True)
        return reduce(self)

    monkeypatch.setattr(work.Work, "__reduce__", counted)
    assert values(collected(draw, range(40), workers=2)) == [draw(k) for k in range(40)]
    assert 1 <= len(pickled) <= 2
    # a process that took the place of another one is sent it again
    outcomes = run_tasks(forget_work, range(12), workers=1, timeout=60.0)
    assert sorted(outcome.value for outcome in outcomes) == list(range(12))
    assert len(pickled) <= 6


@pytest.mark.parametrize("workers", [2, -1])
def test_a_single_run_is_made_in_a_worker_process_too(workers: int) -> None:
    """It could end the interpreter of its caller."""
    assert os.getpid() not in values(collected(process, [0], workers=workers))
    assert values(collected(process, [0], workers=1)) == [os.getpid()]


def test_a_run_that_hangs_costs_itself_only(tmp_path: Path) -> None:
    """The process holds the lock of its interpreter, so that no thread of it could end it."""
    once = partial(trouble, kind="hang", at=(2,), once=str(tmp_path))
    assert values(collected(once, range(8), workers=2, timeout=0.3)) == [draw(k) for k in range(8)]
    found = collected(partial(trouble, kind="hang", at=(2,)), range(4), workers=1, timeout=0.2, retries=0)
    assert values(found) == [None if k == 2 else draw(k) for k in range(4)]
    assert repr(found[2].error) == (
        "TimeoutError('the run must end within timeout=0.2 s; its worker process was ended')"
    )


def test_a_process_that_cannot_end_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thunder_py.parallel.processes._LATE", -1.0)
    found = collected(partial(trouble, kind="stop", at=(0,)), range(1), workers=1, timeout=0.2, retries=0)
    assert repr(found[0].error) == (
        "TimeoutError('the run must end within timeout=0.2 s; its worker process was ended')"
    )


def test_values_are_pickled_within_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float | None] = []

    @contextmanager
    def deadline(seconds: float | None) -> Iterator[None]:
        limits.append(seconds)
        yield
        limits.pop()

    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(work, "process_deadline", deadline)
    monkeypatch.setattr(functions, "limits", limits)
    assert elsewhere(functions.Watched, 1, timeout=5.0) == [5.0]
    assert limits == []


def test_a_time_limit_may_be_long() -> None:
    assert values(collected(draw, range(2), workers=1, timeout=1e10)) == [draw(0), draw(1)]


def test_a_broken_executor_is_told() -> None:
    message = "the executor given as workers broke, and only its owner can replace"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(RuntimeError, match=message):
        list(run_tasks(partial(trouble, kind="die", at=(0,)), range(4), workers=pool))


_SCRIPT = """
import os, signal, time
from functools import partial
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell started the tests in the background
from tests.parallel.functions import sleep_in
from thunder_py.parallel import run_tasks
outcomes = run_tasks(partial(sleep_in, {folder!r}), range({first}, 10), workers=1, timeout=300.0)
next(outcomes)
while len(os.listdir({folder!r})) < 1:
    time.sleep(0.02)
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL, None], ids=["Ctrl-C", "killed", "end of program"])
def test_nothing_runs_on_after_the_end(end: signal.Signals | None, tmp_path: Path) -> None:
    script = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT.format(folder=str(tmp_path), first=1 if end else 0)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    _until(lambda: len(list(tmp_path.iterdir())) == 1)
    if end == signal.SIGINT:  # as terminals do, to all processes
        os.killpg(script.pid, end)
    elif end == signal.SIGKILL:
        script.kill()
    _, text = script.communicate(timeout=50)  # less than the runs take
    assert end != signal.SIGINT or "KeyboardInterrupt" in text
    _until(lambda: not any(Path("/proc", mark.name).exists() for mark in tmp_path.iterdir()))


def test_an_error_in_the_loop_ends_the_runs(tmp_path: Path) -> None:
    outcomes = run_tasks(partial(sleep_in, str(tmp_path)), range(10), workers=2)
    assert next(outcomes).index == 0
    _until(lambda: len(list(tmp_path.iterdir())) == 2)
    outcomes.close()
    _until(lambda: not any(Path("/proc", mark.name).exists() for mark in tmp_path.iterdir()))


def _until(done: Callable[[], bool]) -> None:
    start = time.monotonic()
    while not done():
        assert time.monotonic() - start < 60.0
        time.sleep(0.02)


def test_threads_stop_after_the_run_in_progress() -> None:
    called: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        outcomes = run_tasks(lambda k: called.append(k), range(100_000), workers=pool)
        for _ in range(3):
            next(outcomes)
        outcomes.close()
    assert len(called) < 5000


@pytest.mark.parametrize("kind", ["executor", "map"])
def test_a_run_that_failed_after_the_end_is_not_tried_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "available_cores", lambda: 2)
    began, ended, called = threading.Event(), threading.Event(), []

    def stopped(item: int) -> None:
        called.append(item)
        if item == 1:
            began.set()
            ended.wait(60.0)
            raise InterruptedError("stopped")

    with ThreadPoolExecutor(2) as pool:
        outcomes = run_tasks(stopped, range(2), workers=pool if kind == "executor" else pool.map)
        assert next(outcomes).index == 0
        began.wait(60.0)
        outcomes.close()
        ended.set()
    assert sorted(called) == [0, 1]


def test_a_bounded_number_of_items_is_in_flight() -> None:
    most, items = 0, itertools.count()
    limited = itertools.takewhile(lambda k: k < 20_000, items)
    with ThreadPoolExecutor(2) as pool:
        for count, _ in enumerate(run_tasks(abs, limited, workers=pool)):
            most = max(most, int(repr(items)[6:-1]) - count)
    assert count == 19_999
    assert most <= 5 * 1000 + 1  # two batches for each thread, and the one of this outcome


def _run(index: int, seconds: float) -> Outcome:
    return Outcome(index, None, None, 1, seconds)


def test_batches_follow_the_duration_of_the_runs() -> None:
    batches = _Batches(range(10_000))
    assert [len(batches.take(2, 0)) for _ in range(3)] == [1, 1, 1]
    batches.learn([_run(0, 0.01)])
    assert [len(batches.take(2, 0)) for _ in range(8)] == [2, 4, 8, 16, 32, 50, 50, 50]
    batches.learn([_run(0, 2.0)])
    assert len(batches.take(2, 0)) == 1
    for _ in range(40):
        batches.learn([_run(0, 1e-6)])
    sizes = []
    while batch := batches.take(2, 0):
        sizes.append(len(batch))
    assert max(sizes) == 1000
    assert sizes[-4:] == [1, 1, 1, 1]  # equal work for all at the end
    assert sum(sizes) == 10_000 - 3 - 212 - 1


def test_a_batch_that_is_too_long_returns_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "BATCH_LIMIT", 0.0)
    here = work.Work(abs, 0, None, retry_errors=True)
    for task in (here, pickle.loads(pickle.dumps(here))):
        assert [answer.index for answer in task([work.Entry(k, -k) for k in range(3)])] == [0]
    with ThreadPoolExecutor(1) as pool:
        for workers in (pool, map):
            assert values(collected(draw, range(30), workers=workers)) == [draw(k) for k in range(30)]


def test_what_a_batch_returns_is_divided_anew() -> None:
    batches = _Batches(range(4))
    batches.learn([_run(0, 1e-6)])
    first = [batches.take(1, 0) for _ in range(2)]
    batches.give_back(first[0][1:] + first[1])
    again = list(iter(lambda: batches.take(1, 0), []))
    assert sorted(entry.number for batch in [first[0][:1], *again] for entry in batch) == [0, 1, 2, 3]


def test_processes_of_others_use_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have loaded their libraries before the first run."""
    mine = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    for chosen, expected in (({}, [1]), ({"OMP_NUM_THREADS": "2"}, [2])):
        monkeypatch.setattr(os, "environ", {**mine, **chosen})
        with threadpool_limits(2):
            assert elsewhere(functions.threads, 0) == expected
        assert os.environ["THUNDER_THREADS"] == "1"


def test_workers_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUNDER_THREADS", "3")
    assert available_threads() == 3
    assert values(collected(environment, range(2), workers=2)) == [["1", "1", "1"]] * 2
    assert os.environ["THUNDER_THREADS"] == "3"
    monkeypatch.setenv("THUNDER_THREADS", "many")
    with pytest.raises(ThunderError, match="environment variable THUNDER_THREADS must be a whole number of at least 1"):
        available_threads()
    monkeypatch.delenv("THUNDER_THREADS")
    assert available_threads() == len(os.sched_getaffinity(0))


def test_processes_are_shared_within_the_context() -> None:
    first = set(values(collected(process, range(30), workers=2)))
    assert len(first) == 2
    assert os.getpid() not in first
    assert set(values(collected(process, range(30), workers=2))) == first
    assert set(values(collected(process, range(3), workers=1, timeout=30.0))) <= first


def test_progress_counts_runs_of_all_workers() -> None:
    seen: list[float] = []
    assert len(list(run_tasks(abs, range(50), workers=2, progress=seen.append))) == 50
    assert seen == [(k + 1) / 50 for k in range(50)]
    assert len(list(run_tasks(abs, iter(range(5)), progress=True, description="runs"))) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"workers": 0},
            "workers must be a whole number of at least 1, -1 .*, a function like map, an Executor or a Dask",
        ),
        ({"workers": -2}, "workers must be a whole number"),
        ({"workers": 1.5}, "workers must be a whole number"),
        ({"workers": True}, "workers must be a whole number"),
        ({"workers": "tcp://here:1"}, "workers must be a whole number"),
        ({"workers": ThreadPoolExecutor}, "an Executor or a Dask client, got <class '.*ThreadPoolExecutor'>"),
        ({"retries": -1}, "retries must be a whole number of at least 0"),
        ({"timeout": 0.0}, "timeout must be a positive number"),
        ({"workers": map, "timeout": 1.0}, "timeout must be None unless workers is a number or a Dask client"),
    ],
)
def test_bad_arguments_are_refused_before_any_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ThunderError, match=message):
        run_tasks(draw, range(3), **options)
