"""Experiments of the papers, ready to run: for the command line, tests, benchmarks and notebooks alike."""

from ..public import publish
from .lissajous.run import LissajousPanda, Run, run_lissajous_panda
from .registry import REGISTRY, run_experiment

__all__ = ["REGISTRY", "LissajousPanda", "Run", "run_experiment", "run_lissajous_panda"]

publish(__name__)
