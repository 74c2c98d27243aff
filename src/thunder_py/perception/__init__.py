"""Perception: poses from several sources, and objects in point clouds."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
