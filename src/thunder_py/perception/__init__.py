"""Perception: poses from several sources, and objects in point clouds."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
