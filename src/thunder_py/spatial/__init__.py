"""Rotations, rotation vectors, poses and Denavit-Hartenberg transforms."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
