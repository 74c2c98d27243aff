"""Processing of recordings: filters, gaps, segments, sampling, registration; for a `Trial` or a `MotionSet`."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
