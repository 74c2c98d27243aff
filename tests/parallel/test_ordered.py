"""Items and seeds over processes: the order, the first error, the same numbers whatever the number of processes."""

import sys
from functools import partial
from types import ModuleType

import numpy as np
import pytest

from tests.parallel.functions import draw, fail_from_3, too_far
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
    def seeds(error: type[Exception], description: str = "") -> list[int]:
        return map_seeds(partial(fail_from_3, error=error), 40, workers=workers, description=description)

    assert_refused(
        (lambda: seeds(ThunderError, "throws"), "throws, seed 3: no 3"),
        (lambda: seeds(ZeroDivisionError), "seed 3: ZeroDivisionError: no 3\n\nTraceback...", RuntimeError),
        (lambda: seeds(MissingExtraError), "no 3", MissingExtraError),  # it says what to install
        *(
            (lambda bad=bad: map_seeds(draw, bad), "...seeds must be a whole number of at least 1...")
            for bad in (0, 2.5, "12")
        ),
        (lambda: map_seeds(draw, [1, -2]), "...every seed must be a whole number of at least 0, got -2..."),
    )
    with pytest.raises(ReleaseError, match="too far") as caught:
        map_items(too_far, ["a", "b"], workers=workers)
    assert caught.value.limit == "reach"


def test_functions_of_notebooks_are_sent_those_of_lost_modules_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    main, here = ModuleType("__main__"), ModuleType("only_here")
    exec("scale = 3\ndef helper(x): return scale * x\ndef work(seed): return helper(seed) + 1", main.__dict__)
    exec("def work(seed): return seed", here.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", here)
    with pytest.raises(ThunderError, match=r"seed 0: a worker process cannot import the function.*only_here"):
        map_seeds(here.work, 2, workers=2)
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert map_seeds(main.work, 3, workers=2) == [1, 4, 7]
