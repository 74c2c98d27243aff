"""Objects in point clouds (downsampling, planes, clusters, principal axes), and clouds of simple scenes."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
