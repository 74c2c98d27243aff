"""Many runs: simulated by workers, written to a store as they come, and shown as tables and datasets."""

from .runs import Runs
from .simulate import simulate_many
from .spec import RunSpec

__all__ = ["RunSpec", "Runs", "simulate_many"]
