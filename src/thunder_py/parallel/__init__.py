"""Many independent runs: in this process, in worker processes, on a cluster."""

from ..public import publish
from .executors import connect
from .ordered import map_items, map_seeds
from .processes import shared_workers
from .tasks import Workers, run_tasks
from .work import Outcome, available_threads, one_blas_thread

__all__ = [
    "Outcome",
    "Workers",
    "available_threads",
    "connect",
    "map_items",
    "map_seeds",
    "one_blas_thread",
    "run_tasks",
    "shared_workers",
]

publish(__name__)
