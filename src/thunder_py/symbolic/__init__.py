"""Symbolic models: quantities of a robot as expressions, derivatives, and functions that evaluate and compile."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
