"""Items and seeds over processes: the order, the first error, the same numbers whatever the number of processes."""

import sys
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from tests.parallel.functions import draw, fail_from_3, too_far, trouble
from tests.refusals import assert_refused
from thunder_py.errors import ReleaseError, ThunderError
from thunder_py.optional import MissingExtraError
from thunder_py.parallel import map_items, map_seeds

pytestmark = pytest.mark.usefixtures("processes")


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_in_order(workers: int) -> None:
    assert map_seeds(draw, 23, workers=workers, progress=True, description="draws") == [draw(k) for k in range(23)]
    assert map_seeds(draw, [5, 2], workers=workers) == [draw(5), draw(2)]
    assert map_seeds(draw, np.arange(2), workers=workers) == [draw(0), draw(1)]
    assert map_seeds(draw, [], workers=workers) == []
    assert map_items(str.upper, ["a", "b"], workers=workers) == ["A", "B"]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_seed_that_fails_is_named(workers: int) -> None:
    with pytest.raises(ThunderError, match=r"^throws, seed 3: no 3$"):
        map_seeds(partial(fail_from_3, error=ThunderError), 40, workers=workers, description="throws")
    with pytest.raises(RuntimeError, match=r"^seed 3: ZeroDivisionError: no 3\n\nTraceback"):
        map_seeds(partial(fail_from_3, error=ZeroDivisionError), 40, workers=workers)
    with pytest.raises(MissingExtraError, match=r"^no 3$"):  # it says what to install
        map_seeds(partial(fail_from_3, error=MissingExtraError), 40, workers=workers)
    with pytest.raises(ReleaseError, match="too far") as caught:
        map_items(too_far, ["a", "b"], workers=workers)
    assert caught.value.limit == "reach"


def test_a_worker_that_dies_is_reported_and_others_take_its_place() -> None:
    message = r"^seed 0: RuntimeError: the worker process died with the exit code EXIT\(3\)$"
    with pytest.raises(RuntimeError, match=message):
        map_seeds(partial(trouble, kind="die", at=0), 2, workers=2)
    assert map_seeds(draw, 2, workers=2) == [draw(0), draw(1)]


def test_functions_of_notebooks_are_sent_those_of_lost_modules_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    main, here = ModuleType("__main__"), ModuleType("only_here")
    exec("scale = 3\ndef helper(x): return scale * x\ndef work(seed): return helper(seed) + 1", main.__dict__)
    exec("def work(seed): return seed", here.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", here)
    with pytest.raises(ThunderError, match=r"seed 0: a worker process cannot import the function.*only_here"):
        map_seeds(here.work, 2, workers=2)
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert map_seeds(main.work, 3, workers=2) == [1, 4, 7]


def test_bad_arguments_are_refused() -> None:
    assert_refused(
        *(({"seeds": bad}, "...seeds must be a whole number of at least 1...") for bad in (0, 2.5, "12")),
        ({"seeds": [1, -2]}, "...every seed must be a whole number of at least 0, got -2..."),
        ({"seeds": 1, "workers": 0}, "...workers must be a whole number of at least 1..."),
        call=partial(map_seeds, draw),
    )
