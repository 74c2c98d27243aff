"""Throwing with an elastic wrist (D4.2, section 4): models, optimal switching, base motion, both together."""

from .model import ElasticWrist
from .oscillator import WristOscillator
from .switching import closed_form, free_switching, one_switch
from .throw import WristThrow

__all__ = ["ElasticWrist", "WristOscillator", "WristThrow", "closed_form", "free_switching", "one_switch"]
