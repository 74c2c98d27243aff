"""Progress bars for terminals and notebooks; without either, or with ``TQDM_DISABLE=1``, there is no output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_FORMAT = "{l_bar}{bar}| {elapsed} < {remaining}"


@contextmanager
def progress_bar(total: int, **options: Any) -> Iterator[Callable[[float], object]]:
    """Show a progress bar and yield a function that takes the completed fraction, from 0 to 1.

    Parameters
    ----------
    total : int
        Final count of the bar.
    **options
        Further options of `tqdm`.

    Examples
    --------
    >>> from thunder_py.progress import progress_bar
    >>> with progress_bar(10) as show:
    ...     for k in range(10):
    ...         _ = show((k + 1) / 10)
    """
    notebook = type(sys.stderr).__module__.startswith("ipykernel")
    drawn = notebook and find_spec("ipywidgets")
    tqdm: Any = import_module("tqdm.notebook" if drawn else "tqdm").tqdm
    if not (notebook or sys.stderr.isatty()):  # disable=None of tqdm does not recognize notebooks
        options["disable"] = True
    with tqdm(total=total, **options) as bar:
        yield lambda done: bar.update(round(done * total) - bar.n)


def percentage(**options: Any) -> AbstractContextManager[Callable[[float], object]]:
    """Return a `progress_bar` in per cent.

    Examples
    --------
    >>> from thunder_py.progress import percentage
    >>> with percentage(desc="solving") as show:
    ...     _ = show(1.0)
    """
    return progress_bar(100, **{"unit": "%", "bar_format": _FORMAT, **options})


def reporting(
    progress: bool | Callable[[float], object], bar: AbstractContextManager[Callable[[float], object]]
) -> AbstractContextManager[Callable[[float], object]]:
    """Return a context with the function that takes the completed fraction, as an argument ``progress`` asks for.

    Parameters
    ----------
    progress : bool or callable
        True for the bar, a callable for itself, False for a function that does nothing.
    bar : context manager
        A `progress_bar` or `percentage`, which is entered for True only.

    Examples
    --------
    >>> from thunder_py.progress import percentage, reporting
    >>> with reporting(print, percentage()) as report:
    ...     report(0.5)
    0.5
    """
    if callable(progress):
        return nullcontext(progress)
    return bar if progress else nullcontext(lambda _: None)
