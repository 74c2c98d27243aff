"""Drawing of arrays with matplotlib, which is imported with the first figure: panels, shapes, ellipsoids, animation."""

from ..public import publish
from .animation import animate_view
from .ellipsoid import plot_ellipsoid

__all__ = ["animate_view", "plot_ellipsoid"]

publish(__name__)
