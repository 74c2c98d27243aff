"""Data of an arm, validated, and what is computed from them alone: below the files of robots and the class `Robot`."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
