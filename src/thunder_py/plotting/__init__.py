"""Figures. matplotlib is imported when the first one is drawn."""

from .animation import animate, save_animation
from .arm import draw_arm
from .clik import plot_clik
from .ellipsoid import draw_ellipsoid, plot_ellipsoid
from .experiment import plot_lissajous_panda, save_lissajous_panda
from .meshes import Meshes
from .result import plot_result
from .runs import plot_comparison, plot_energy, plot_lyapunov
from .workspace import Workspace, plot_workspace, sample_workspace

__all__ = [
    "Meshes",
    "Workspace",
    "animate",
    "draw_arm",
    "draw_ellipsoid",
    "plot_clik",
    "plot_comparison",
    "plot_ellipsoid",
    "plot_energy",
    "plot_lissajous_panda",
    "plot_lyapunov",
    "plot_result",
    "plot_workspace",
    "sample_workspace",
    "save_animation",
    "save_lissajous_panda",
]
