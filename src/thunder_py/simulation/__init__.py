"""Closed-loop simulation: plant, sampled controller, reference, sensors, actuators, payloads; results, comparisons."""

from ..public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
