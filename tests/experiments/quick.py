"""Results of experiments in their short forms, which several tests look at."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from thunder_py.papers import run_experiment
from thunder_py.papers.human_like.run import PARTS
from thunder_py.papers.moving_objects.sweeps import TIMES


@contextmanager
def one_time_of_each_kind() -> Iterator[None]:
    """Make the single plans of moving objects at one time of each kind."""
    with pytest.MonkeyPatch.context() as patch:
        for time, values in TIMES.items():
            patch.setitem(TIMES, time, values[2:3])
        yield


@cache
def quick(name: str) -> Any:
    """Return the short form with two draws; parts of "human-like" are those of the whole."""
    part = name.removeprefix("human-like-")
    return quick("human-like").parts[part] if part in PARTS else run_experiment(name, True, seeds=2)
