"""Throwing with an elastic wrist (D4.2, section 4): models, optimal switching, base motion, joint optimization."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
