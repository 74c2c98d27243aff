"""Runs on every kind of workers: equal outcomes, failures that cost only their runs, ends that leave nothing behind."""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tests.parallel.functions import (
    die_beside,
    draw,
    environment,
    process,
    sleep_in,
    trouble,
    unpicklable,
    wait_until,
)
from tests.refusals import assert_refused
from thunder_py.errors import ThunderError
from thunder_py.parallel import Outcome, Workers, available_threads, run_tasks, work

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("processes")


@pytest.fixture(params=["here", "processes", "threads", "map", "executor"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
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


def without(item: int, count: int) -> list[Any]:
    """Values of a serial loop in which one item fails."""
    return [None if k == item else draw(k) for k in range(count)]


def test_outcomes_are_those_of_a_loop(workers: Workers) -> None:
    found = collected(trouble, range(40), workers=workers)
    assert values(found) == without(5, 40)
    assert (repr(found[5].error), found[5].attempts) == ("ZeroDivisionError('item 5')", 2)
    assert "in trouble" in found[5].trace
    assert {o.attempts for o in found.values() if o.index != 5} == {1}
    assert all(o.seconds >= 0.0 and (o.error is None) == (o.trace == "") for o in found.values())
    scale = 3  # of a function without a name
    assert values(collected(lambda k: scale * k, [2, 1], workers=workers)) == [6, 3]
    assert values(collected(draw, iter([4, 2]), workers=workers)) == [draw(4), draw(2)]
    assert values(collected(draw, [], workers=workers)) == []


def test_what_cannot_be_sent_is_the_error_of_its_run() -> None:
    found = collected(unpicklable, range(3), workers=2)
    assert values(found) == [0, None, 2]
    assert str(found[1].error).startswith("the returned lock cannot be pickled: TypeError")
    sent = collected(type, [1, (k for k in "a"), 2.0], workers=2)
    assert values(sent) == [int, None, float]
    assert "pickle" in repr(sent[1].error).lower()
    with pytest.raises(ThunderError, match=r"the function must be picklable .* got functools.partial.*lock"):
        next(run_tasks(partial(draw, process=unpicklable(1)), range(3), workers=2))


@pytest.mark.parametrize("kind", ["exit", "interrupt"])
def test_exceptions_that_end_programs_end_their_run_only(kind: str) -> None:
    work = partial(trouble, kind=kind, at=1)
    with ThreadPoolExecutor(1) as pool:
        for workers in (2, pool):
            found = collected(work, range(3), workers=workers)
            assert values(found) == without(1, 3)
            assert str(found[1].error).startswith("the run raised ")
    if kind == "interrupt":  # Ctrl-C in this process
        with pytest.raises(KeyboardInterrupt):
            list(run_tasks(work, range(3)))


@pytest.mark.parametrize("kind", ["raise", "die", "hang"])
def test_a_run_that_fails_costs_itself_only(kind: str, tmp_path: Path) -> None:
    timeout = 1.0 if kind == "hang" else None
    once = partial(trouble, kind=kind, at=3, once=str(tmp_path))
    assert values(collected(once, range(12), workers=2, timeout=timeout)) == without(-1, 12)
    found = collected(partial(trouble, kind=kind, at=3), range(12), workers=2, timeout=timeout, retries=0)
    assert values(found) == without(3, 12)
    assert [o.attempts for o in found.values()] == [1] * 12
    assert (
        repr(found[3].error)
        == {
            "raise": "ZeroDivisionError('item 3')",
            "die": "RuntimeError('the worker process died with the exit code EXIT(3)')",
            "hang": "TimeoutError('the run must end within timeout=1 s; its worker process was ended')",
        }[kind]
    )


def test_runs_of_other_workers_go_on_when_one_dies(tmp_path: Path) -> None:
    found = collected(partial(die_beside, str(tmp_path)), range(2), workers=2, retries=0)
    assert values(found) == [0, None]
    assert [len((tmp_path / f"{k}").read_text().splitlines()) for k in range(2)] == [1, 1]  # calls


def test_a_process_that_cannot_end_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thunder_py.parallel.processes._LATE", -1.0)
    found = collected(partial(trouble, kind="stop", at=0), range(1), workers=1, timeout=0.2, retries=0)
    assert isinstance(found[0].error, TimeoutError)
    assert values(collected(draw, range(2), workers=1, timeout=1e10)) == without(-1, 2)


def test_a_broken_executor_is_reported() -> None:
    message = "the executor given as workers broke, and only its owner can replace"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(RuntimeError, match=message):
        list(run_tasks(partial(trouble, kind="die", at=0), range(4), workers=pool))


SCRIPT = """
import os, signal, sys
from functools import partial
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell started the tests in the background
from tests.parallel.functions import sleep_in, wait_until
from thunder_py.parallel import run_tasks
folder, first = sys.argv[1], int(sys.argv[2])
outcomes = run_tasks(partial(sleep_in, folder), range(first, 10), workers=1, timeout=300.0)
next(outcomes)
wait_until(lambda: os.listdir(folder))
"""


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGKILL, id="killed", marks=pytest.mark.release),
        pytest.param(None, id="end of program", marks=pytest.mark.release),
    ],
)
def test_nothing_runs_on_after_the_end(end: signal.Signals | None, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), "1" if end else "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True) as script:
        wait_until(lambda: list(tmp_path.iterdir()))
        if end == signal.SIGINT:  # as terminals do, to all processes
            os.killpg(script.pid, end)
        elif end == signal.SIGKILL:
            script.kill()
        _, text = script.communicate(timeout=50)  # less than the runs take
    assert end != signal.SIGINT or "KeyboardInterrupt" in text
    _all_ended(tmp_path)


def test_an_error_in_the_loop_ends_the_runs(tmp_path: Path) -> None:
    outcomes = run_tasks(partial(sleep_in, str(tmp_path)), range(10), workers=2)
    assert next(outcomes).index == 0
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    outcomes.close()
    _all_ended(tmp_path)


def _all_ended(folder: Path) -> None:
    numbers = [int(file.read_text()) for file in folder.iterdir()]
    wait_until(lambda: not any(Path(f"/proc/{number}").exists() for number in numbers))


def test_a_bounded_number_of_items_is_in_flight() -> None:
    items, called = itertools.count(), []
    with ThreadPoolExecutor(2) as pool:
        outcomes = run_tasks(called.append, items, workers=pool)
        for _ in range(3000):
            next(outcomes)
        taken = next(items)
        outcomes.close()
    assert taken <= 3000 + 8 * 1000  # two batches for each thread, and those whose outcomes are given out
    assert len(called) <= taken


def test_a_batch_that_is_too_long_returns_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "BATCH_LIMIT", 0.0)
    assert [o.index for o in work.Work(abs, 0, None, True)([work.Entry(k, -k) for k in range(3)])] == [0]
    with ThreadPoolExecutor(1) as pool:
        for workers in (pool, map):
            assert values(collected(draw, range(30), workers=workers)) == without(-1, 30)


def test_workers_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUNDER_THREADS", "3")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert available_threads() == 3
    assert values(collected(environment, range(2), workers=2)) == [["1", "1", "1"]] * 2
    assert environment(0)[::2] == ["3", "3"]  # this process keeps what it had
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


def test_bad_arguments_are_refused_before_any_run() -> None:
    assert_refused(
        *(
            ({"workers": bad}, "workers must be a whole number of at least 1, -1 ...")
            for bad in (0, -2, 1.5, True, "a:1")
        ),
        ({"workers": ThreadPoolExecutor}, "...an Executor or a Dask client, got <class '...ThreadPoolExecutor'>..."),
        ({"retries": -1}, "retries must be a whole number of at least 0..."),
        ({"timeout": 0.0}, "timeout must be positive..."),
        ({"workers": map, "timeout": 1.0}, "timeout must be None unless workers is a number or a Dask client..."),
        call=partial(run_tasks, draw, range(3)),
    )
