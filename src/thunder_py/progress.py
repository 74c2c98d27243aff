"""Progress bars, for terminals and notebooks only: logs of batch jobs stay clean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["percentage", "progress_bar"]

_FORMAT = "{l_bar}{bar}| {elapsed} < {remaining}"


@contextmanager
def progress_bar(total: int, **options: Any) -> Iterator[Callable[[float], object]]:
    """Show a bar while inside, and yield what takes the part that is done, from 0 to 1.

    Parameters
    ----------
    total : int
        What the bar counts to.
    **options
        Others of `tqdm`.
    """
    notebook = type(sys.stderr).__module__.startswith("ipykernel")
    drawn = notebook and find_spec("ipywidgets")
    tqdm: Any = import_module("tqdm.notebook" if drawn else "tqdm").tqdm
    shown = notebook or sys.stderr.isatty()  # tqdm's own question, disable=None, takes a notebook for no terminal
    with tqdm(total=total, disable=not shown, **options) as bar:
        yield lambda done: bar.update(round(done * total) - bar.n)


def percentage(**options: Any) -> AbstractContextManager[Callable[[float], object]]:
    """Return `progress_bar` in per cent."""
    return progress_bar(100, **{"unit": "%", "bar_format": _FORMAT, **options})
