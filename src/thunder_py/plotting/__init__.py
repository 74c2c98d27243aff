"""Figures. matplotlib is imported when the first one is drawn."""

from .result import plot_result

__all__ = ["plot_result"]
