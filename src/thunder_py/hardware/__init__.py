"""Drives of real arms: one protocol, adapters of published packages, a loop for any controller, limits and stops.

Nothing here was tried on a robot: the adapters were tested with substitutes that have the published signatures
(docs/hardware.md).
"""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
