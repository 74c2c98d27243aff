"""Perception: poses from several sources, and what a cloud of points says about an object."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
