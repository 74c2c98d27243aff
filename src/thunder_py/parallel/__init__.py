"""Many independent runs: in this process, in worker processes, on a cluster."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
