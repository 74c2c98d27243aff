"""Many independent runs: in this process, in worker processes, on a cluster."""

from .cluster import connect
from .processes import shared_workers
from .seeds import map_seeds
from .tasks import Workers, run_tasks
from .work import Outcome, available_threads

__all__ = ["Outcome", "Workers", "available_threads", "connect", "map_seeds", "run_tasks", "shared_workers"]
