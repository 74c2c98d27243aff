"""Results of experiments in their short forms, which several tests look at."""

from functools import cache
from typing import Any

from thunder_py.papers import run_experiment
from thunder_py.papers.human_like.run import PARTS


@cache
def quick(name: str) -> Any:
    """Return the short form with two draws; parts of "human-like" are those of the whole."""
    part = name.removeprefix("human-like-")
    return quick("human-like").parts[part] if part in PARTS else run_experiment(name, True, seeds=2)
