"""Options of commands with many independent runs, which select where these are made."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from ..checks import whole
from ..errors import ThunderError
from .text import argument

if TYPE_CHECKING:
    from ..parallel import Workers


count = argument(lambda text: whole(int(text), "count", 1), "must be a whole number of at least 1")
_jobs = argument(
    lambda text: -1 if text == "-1" else whole(int(text), "jobs", 1), "must be a whole number of at least 1, or -1"
)


def add_worker_options(parser: Any, default: str) -> None:
    """Add the options; `default` describes the number of processes without them."""
    parser.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help=f"number of processes, -1: one per processor (default: {default}); results do not depend on it",
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster that makes the runs instead, such as tcp://host:8786",
    )


def chosen_workers(arguments: argparse.Namespace, default: int) -> AbstractContextManager[Workers]:
    """Return the cluster or the number of processes."""
    from ..parallel import connect

    if arguments.cluster is None:
        return nullcontext(arguments.jobs or default)
    if arguments.jobs is not None:
        raise ThunderError("--jobs and --cluster exclude each other")
    return cast("AbstractContextManager[Workers]", connect(arguments.cluster))
