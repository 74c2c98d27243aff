"""Dynamics, regressors and adaptive control of serial manipulators."""

from .public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
