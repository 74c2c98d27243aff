"""Objects in point clouds (downsampling, planes, clusters, principal axes), and clouds of simple scenes."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
