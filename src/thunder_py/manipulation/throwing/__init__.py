"""Throwing (D4.2, section 3.3.3): flight, choice of the release, throwing motion, throw in simulation."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
