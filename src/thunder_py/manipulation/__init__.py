"""Dynamic manipulation: throwing, throwing with an elastic wrist, interception of moving objects, visual picking."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
