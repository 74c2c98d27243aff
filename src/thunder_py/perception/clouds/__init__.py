"""Objects in clouds of points: downsampling, planes, clusters, principal axes; and clouds of simple scenes."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
