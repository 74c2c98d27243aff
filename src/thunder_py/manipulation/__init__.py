"""Dynamic manipulation: throwing, throwing with an elastic wrist, interception of moving objects, visual picking."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
