"""Dynamics, regressors and adaptive control of serial manipulators."""

import logging

from .public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())
