"""Figures. matplotlib is imported when the first one is drawn."""

from .experiment import plot_lissajous_panda, save_lissajous_panda
from .result import plot_result

__all__ = ["plot_lissajous_panda", "plot_result", "save_lissajous_panda"]
