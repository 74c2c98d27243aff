"""Drawing with matplotlib, imported with the first figure: arms, meshes, workspaces, animation."""

from .animation import animate, save_animation
from .arm import draw_arm
from .ellipsoid import draw_ellipsoid, plot_ellipsoid
from .meshes import Meshes
from .workspace import Workspace, plot_workspace, sample_workspace

__all__ = [
    "Meshes",
    "Workspace",
    "animate",
    "draw_arm",
    "draw_ellipsoid",
    "plot_ellipsoid",
    "plot_workspace",
    "sample_workspace",
    "save_animation",
]
