"""Seeds over processes: the order, the errors and the same numbers whatever the number of processes."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.parallel.functions import die_at_0, draw_with_threads, fail_from_3, process, too_far
from thunder_py.errors import ReleaseError, ThunderError
from thunder_py.optional import MissingExtraError
from thunder_py.parallel import map_items, map_seeds, shared_workers


def test_workers_may_be_shared_by_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thunder_py.parallel.processes._sharing", 0)  # as without those of the other tests
    monkeypatch.setattr("thunder_py.parallel.processes._idle", [])
    with shared_workers():
        first = set(map_seeds(process, 8, workers=2))
        with pytest.raises(ThunderError, match="seed 3"):
            map_seeds(partial(fail_from_3, error=ThunderError), 8, workers=2)
        assert map_seeds(draw_with_threads, 3, workers=2) == [(*draw_with_threads(seed)[:2], "1") for seed in range(3)]
        assert os.getpid() not in first
        assert first & set(map_seeds(process, 8, workers=2))
    start = time.monotonic()
    while any(Path("/proc", str(number)).exists() for number in first):
        assert time.monotonic() - start < 60.0
        time.sleep(0.02)


@pytest.mark.usefixtures("processes")
def test_results_are_in_order_and_do_not_depend_on_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    here = map_seeds(partial(draw_with_threads, scale=2.0), 23)
    workers = map_seeds(partial(draw_with_threads, scale=2.0), 23, workers=2, progress=True, description="draws")
    assert [row[:2] for row in here] == [row[:2] for row in workers]
    assert len({row[0] for row in here}) == 23
    # one thread of linear algebra for each worker, and this process keeps what it had
    assert {row[2] for row in workers} == {"1"}
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


def test_seeds_may_be_given_one_by_one() -> None:
    assert map_seeds(draw_with_threads, [5, 2]) == [draw_with_threads(5), draw_with_threads(2)]
    assert map_seeds(draw_with_threads, []) == []
    assert map_seeds(draw_with_threads, np.arange(2)) == [draw_with_threads(0), draw_with_threads(1)]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_seed_that_fails_is_named(workers: int) -> None:
    with pytest.raises(ThunderError, match=r"^throws, seed 3: no 3$"):
        map_seeds(partial(fail_from_3, error=ThunderError), 40, workers=workers, description="throws")
    with pytest.raises(RuntimeError, match=r"^seed 3: ZeroDivisionError: no 3\n\nTraceback"):
        map_seeds(partial(fail_from_3, error=ZeroDivisionError), 40, workers=workers)
    with pytest.raises(MissingExtraError, match=r"^no 3$"):  # it says what to install
        map_seeds(partial(fail_from_3, error=MissingExtraError), 40, workers=workers)


@pytest.mark.usefixtures("processes")
def test_a_worker_that_dies_is_told_and_others_take_its_place() -> None:
    message = r"^seed 0: RuntimeError: the worker process died with the exit code EXIT\(3\)$"
    with pytest.raises(RuntimeError, match=message):
        map_seeds(die_at_0, 2, workers=2)
    assert map_seeds(fail_from_3, 2, workers=2) == [0, 1]


@pytest.mark.usefixtures("processes")
def test_a_function_that_workers_cannot_import_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    here = ModuleType("only_here")
    exec("def work(seed): return seed", here.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", here)
    with pytest.raises(ThunderError, match=r"seed 0: a worker process cannot import the function.*only_here"):
        map_seeds(here.work, 2, workers=2)
    assert map_seeds(here.work, 2) == [0, 1]


@pytest.mark.usefixtures("processes")
def test_functions_of_notebooks_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = "scale = 3\ndef helper(x): return scale * x\ndef work(seed): return helper(seed) + 1"
    main = ModuleType("__main__")
    exec(cell, main.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert map_seeds(main.work, 3, workers=2) == [1, 4, 7]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("workers", [1, 2])
def test_items_raise_their_own_error(workers: int) -> None:
    with pytest.raises(ReleaseError, match="too far") as caught:
        map_items(too_far, ["a", "b"], workers=workers)
    assert caught.value.limit == "reach"
    assert map_items(str.upper, ["a", "b"], workers=workers) == ["A", "B"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"seeds": 2.5}, "seeds must be a whole number"),
        ({"seeds": [1, -2]}, "every seed must be a whole number of at least 0, got -2"),
        ({"seeds": "12"}, "seeds must be a whole number"),
        ({"seeds": np.zeros(2)}, "every seed must be a whole number of at least 0, got 0.0"),
        ({"seeds": 3, "workers": 0}, "workers must be a whole number of at least 1"),
        ({"seeds": 3, "workers": True}, "workers must be a whole number"),
    ],
)
def test_nonsense_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ThunderError, match=message):
        map_seeds(draw_with_threads, **arguments)  # type: ignore[arg-type]
