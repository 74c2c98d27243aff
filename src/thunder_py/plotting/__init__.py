"""Figures. matplotlib is imported when the first one is drawn."""

from .clik import plot_clik
from .ellipsoid import plot_ellipsoid
from .experiment import plot_lissajous_panda, save_lissajous_panda
from .result import plot_result
from .runs import plot_comparison, plot_energy, plot_lyapunov

__all__ = [
    "plot_clik",
    "plot_comparison",
    "plot_ellipsoid",
    "plot_energy",
    "plot_lissajous_panda",
    "plot_lyapunov",
    "plot_result",
    "save_lissajous_panda",
]
