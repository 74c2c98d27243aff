"""Processing of recordings: filters, gaps, segments, sampling, registration; for a `Trial` or a `MotionSet`."""

from ...public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
