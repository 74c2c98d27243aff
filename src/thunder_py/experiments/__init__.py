"""Experiments of the papers, ready to run: for the command line, tests, benchmarks and notebooks alike."""

from .lissajous_panda import LissajousPanda, Run, run_lissajous_panda

__all__ = ["LissajousPanda", "Run", "run_lissajous_panda"]
